#include "cli/client/list.h"

#include <algorithm>
#include <chrono>
#include <ostream>
#include <thread>
#include <utility>

#include "base/check.h"
#include "cli/client/answer.h"
#include "cli/client/client_options.h"
#include "cli/client/interrupt.h"
#include "cli/client/outside.h"
#include "cli/client/tables.h"

namespace fairlead::cli {
namespace {

constexpr auto kPause = std::chrono::milliseconds(300);
constexpr int kTriesWhileAway = 60;  // seconds that a server may be away

std::string table_of(const Resource& resource, const Items& items, const ListOptions& options,
                     const Connection& connection, const std::string& program) {
  const bool wide = options.format == OutputFormat::kWide;
  const Instant now = wall_clock();
  if (resource.name == "jobs") {
    const Columns columns = wide                 ? Columns::kWide
                            : program == "runai" ? Columns::kClassic
                                                 : Columns::kUsual;
    return workload_table(items, columns, now);
  }
  if (resource.name == "nodes") return node_table(items, wide);
  if (resource.name == "projects") return queue_table(items, connection.project);
  if (resource.name == "departments") return queue_table(items, "");
  if (resource.name == "nodepools") return pool_table(items);
  if (resource.name == "reservations") return reservation_table(items);
  if (resource.name == "devices") return device_table(items);
  if (resource.name == "users") return user_table(items, now);
  if (resource.name == "tokens") return token_table(items, now);
  return event_table(items, now);
}

Query query_of(const Resource& resource, const ListOptions& options, const Connection& connection) {
  Query query;
  if (resource.name != "jobs" && resource.name != "events") return query;
  const std::string project = meant_project(options, connection);
  if (!project.empty()) query.emplace_back("project", project);
  if (resource.name == "jobs" && !options.phase.empty()) query.emplace_back("phase", options.phase);
  return query;
}

// What the server cannot choose by.
void narrow(Listing& listing, const ListOptions& options) {
  std::erase_if(listing.items, [&](const Value* item) {
    if (!options.name.empty() && text_at(*item, "name") != options.name) return true;
    return !options.types.empty() &&
           std::count(options.types.begin(), options.types.end(), text_at(*item, "type")) == 0;
  });
}

// The server's text is right only if nothing was left out of it.
std::string json_of(const Listing& listing, const ListOptions& options) {
  if (options.types.empty() && options.name.empty()) return listing.json();
  Tree out = Tree::map();
  Tree& items = out.add("items", Tree::list());
  for (const Value* item : listing.items) items.push(tree_of(*item));
  return to_json(out);
}

// `before` is printed once the answer is there.
Result<std::int64_t> show(ApiClient& api, const Resource& resource, const ListOptions& options,
                          CliContext& context, std::string_view before = {}) {
  FAIRLEAD_ASSIGN(Listing listing, api.list(api_path({std::string(resource.collection)}),
                                            query_of(resource, options, api.connection())));
  narrow(listing, options);
  if (!options.name.empty() && listing.items.empty()) {
    return fail(ErrorCode::kNotFound,
                "there is no " + std::string(resource.singular) + " \"" + options.name + "\"");
  }
  context.out << before;
  if (options.format == OutputFormat::kJson) {
    const std::string text = json_of(listing, options);
    context.out << text << (text.ends_with('\n') ? "" : "\n");
  } else {
    if (listing.items.empty() && options.format != OutputFormat::kName) {
      context.err << "There are none.\n";
    }
    print_listing(context, options.format, listing,
                  table_of(resource, listing.items, options, api.connection(), context.program));
  }
  context.out << std::flush;
  return number_at(listing.pages.front().root(), "revision").value_or(0);
}

// The list again whenever something changed; as JSON each change as it is told, one a line.
class Watch {
 public:
  Watch(ApiClient& api, const Resource& resource, const ListOptions& options, CliContext& context)
      : api_(api), resource_(resource), options_(options), context_(context) {}

  int run() {
    Interrupt interrupt([this] { api_.cancel(); });
    while (!interrupt.came()) {
      const Result<void> turn = look(interrupt);
      if (interrupt.came()) break;
      if (turn) {
        std::this_thread::sleep_for(kPause);
        continue;
      }
      // Only what has answered once is waited for.
      if (turn.error().code != ErrorCode::kUnavailable || !seen_ || ++away_ > kTriesWhileAway) {
        return report(context_, turn.error());
      }
      if (away_ == 1) context_.err << "the server is away; waiting for it\n" << std::flush;
      for (int i = 0; i < 10 && !interrupt.came(); ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
      }
    }
    return kExitInterrupted;
  }

 private:
  bool json() const { return options_.format == OutputFormat::kJson; }

  // Shows the list and waits for a change; JSON whose changes are known up to `last_` goes on
  // there.
  Result<void> look(const Interrupt& interrupt) {
    if (!json() || last_.empty()) FAIRLEAD_TRY(list_all());
    if (interrupt.came()) return {};
    Query query{{"kinds", std::string(resource_.kind)}};
    if (!last_.empty()) query.emplace_back("since", last_);
    bool changed = false;
    const auto watched = api_.events(
        api_path({"watch"}), query,
        [&](std::string_view name, std::string_view data) {
          answered();
          if (name == "bookmark") return true;
          changed = true;
          reset_ = name == "reset";
          if (!json() || reset_) return false;
          context_.out << data << "\n" << std::flush;
          return !interrupt.came();
        },
        json() ? &last_ : nullptr);
    if (std::exchange(reset_, false)) last_.clear();
    if (changed && !context_.out_terminal && !json()) context_.out << "\n";
    return watched;
  }

  void answered() {
    if (std::exchange(away_, 0) > 0) {
      context_.err << "the server is back; going on where it was\n" << std::flush;
    }
    seen_ = true;
  }

  Result<void> list_all() {
    const bool screen = context_.out_terminal && !json();
    FAIRLEAD_ASSIGN(const std::int64_t revision,
                    show(api_, resource_, options_, context_, screen ? "\x1b[H\x1b[2J" : ""));
    answered();
    last_ = revision > 0 ? std::to_string(revision) : "";
    return {};
  }

  ApiClient& api_;
  const Resource& resource_;
  const ListOptions& options_;
  CliContext& context_;
  std::string last_;    // the revision up to which all is told
  int away_ = 0;        // tries since it answered last
  bool seen_ = false;   // the server has answered
  bool reset_ = false;  // it no longer knows what was since then
};

}  // namespace

const Resource& resource_of(std::string_view word) {
  for (const Resource& resource : kResources) {
    if (resource.name == word || resource.singular == word || resource.collection == word ||
        resource.kind == word) {
      return resource;
    }
  }
  check_failed("word", __FILE__, __LINE__, "the words of resources are closed");
}

std::string meant_project(const ListOptions& options, const Connection& connection) {
  if (options.all_projects) return {};
  return options.project.empty() ? connection.project : options.project;
}

int list(const Resource& resource, const ListOptions& options, CliContext& context) {
  auto api = connect(options.connection, context);
  if (!api) return report(context, api.error());
  if (options.watch) {
    if (!resource.kind.empty()) return Watch(*api, resource, options, context).run();
    return report(context, Error{ErrorCode::kInvalidArgument,
                                 std::string(resource.name) + " cannot be watched",
                                 {},
                                 "--watch",
                                 "leave it out"});
  }
  const auto shown = show(*api, resource, options, context);
  return shown ? 0 : report(context, shown.error());
}

}  // namespace fairlead::cli
