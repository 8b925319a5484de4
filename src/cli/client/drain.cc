#include "cli/client/drain.h"

#include <algorithm>
#include <chrono>
#include <ostream>
#include <set>
#include <thread>

#include "base/nearest.h"
#include "cli/client/answer.h"
#include "cli/client/client_options.h"
#include "cli/client/edit.h"
#include "cli/client/interrupt.h"
#include "cli/client/outside.h"

namespace fairlead::cli {
namespace {

class Drain {
 public:
  Drain(ApiClient& api, const DrainOptions& options, CliContext& context)
      : api_(api), options_(options), context_(context) {}

  int run() {
    const Interrupt interrupt([this] { api_.cancel(); });
    const Instant begin = wall_clock();
    while (!interrupt.came()) {
      const auto left = look();
      if (interrupt.came()) break;
      if (!left) return report(context_, left.error());
      if (left->empty()) {
        context_.out << "node " << options_.node << " is empty\n";
        return 0;
      }
      if (options_.timeout && wall_clock() - begin >= *options_.timeout) {
        return report(context_,
                      Error{ErrorCode::kTimeout,
                            "on node " + options_.node + " runs still " + listing(*left),
                            {},
                            {},
                            "it stays cordoned: fairlead node uncordon " + options_.node});
      }
      for (int i = 0; i < 10 && !interrupt.came(); ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
      }
    }
    context_.err << "it stays cordoned: fairlead node uncordon " << options_.node << "\n";
    return kExitInterrupted;
  }

 private:
  // What runs on the node, by name; suspended, if that was asked for.
  Result<std::vector<std::string>> look() {
    FAIRLEAD_ASSIGN(
        const Listing listing,
        api_.list(api_path({"workloads"}), {{"phase", "starting,running,frozen,stopping"}}));
    std::vector<std::string> names;
    for (const Value* item : listing.items) {
      const auto nodes = list_at(*item, "status.nodes");
      const bool here = std::any_of(nodes.begin(), nodes.end(), [&](const Value& node) {
        return node.text() == options_.node;
      });
      if (!here) continue;
      names.push_back(text_at(*item, "project") + "/" + text_at(*item, "name"));
      const std::string id = text_at(*item, "id");
      if (!told_.insert(id).second) continue;
      if (options_.suspend) {
        FAIRLEAD_TRY(api_.send("POST", api_path({"workloads", id, "suspend"}), {}, {}));
      }
      context_.err << (options_.suspend ? "suspended " : "waiting for ") << names.back() << "\n";
    }
    return names;
  }

  ApiClient& api_;
  const DrainOptions& options_;
  CliContext& context_;
  std::set<std::string> told_;
};

}  // namespace

int drain(const DrainOptions& options, CliContext& context) {
  const int cordoned = update_item("nodes", options.node, {{"schedulable", Tree::boolean(false)}},
                                   options.connection, context);
  if (cordoned != 0) return cordoned;
  auto api = connect(options.connection, context);
  if (!api) return report(context, api.error());
  return Drain(*api, options, context).run();
}

}  // namespace fairlead::cli
