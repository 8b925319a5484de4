#include "cli/client/list.h"

#include <algorithm>
#include <chrono>
#include <ostream>
#include <thread>

#include "base/check.h"
#include "cli/client/answer.h"
#include "cli/client/client_options.h"
#include "cli/client/interrupt.h"
#include "cli/client/outside.h"
#include "cli/client/tables.h"

namespace fairlead::cli {
namespace {

constexpr auto kPause = std::chrono::milliseconds(300);

std::string table_of(const Resource& resource, const Items& items, const ListOptions& options,
                     const Connection& connection) {
  const bool wide = options.format == OutputFormat::kWide;
  const Instant now = wall_clock();
  if (resource.name == "jobs") return workload_table(items, wide, now);
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

Result<std::int64_t> show(ApiClient& api, const Resource& resource, const ListOptions& options,
                          CliContext& context) {
  FAIRLEAD_ASSIGN(Listing listing, api.list(api_path({std::string(resource.collection)}),
                                            query_of(resource, options, api.connection())));
  narrow(listing, options);
  if (!options.name.empty() && listing.items.empty()) {
    return fail(ErrorCode::kNotFound,
                "there is no " + std::string(resource.singular) + " \"" + options.name + "\"");
  }
  if (options.format == OutputFormat::kJson) {
    const std::string text = json_of(listing, options);
    context.out << text << (text.ends_with('\n') ? "" : "\n");
  } else {
    if (listing.items.empty() && options.format != OutputFormat::kName) {
      context.err << "There are none.\n";
    }
    print_listing(context, options.format, listing,
                  table_of(resource, listing.items, options, api.connection()));
  }
  context.out << std::flush;
  return number_at(listing.pages.front().root(), "revision").value_or(0);
}

// The list again whenever something changed; as JSON each change as it is told, one a line.
int watch(ApiClient& api, const Resource& resource, const ListOptions& options,
          CliContext& context) {
  Interrupt interrupt([&api] { api.cancel(); });
  const bool json = options.format == OutputFormat::kJson;
  while (!interrupt.came()) {
    if (context.out_terminal && !json) context.out << "\x1b[H\x1b[2J";
    const auto revision = show(api, resource, options, context);
    if (interrupt.came()) break;
    if (!revision) return report(context, revision.error());
    Query query{{"kinds", std::string(resource.kind)}};
    if (*revision > 0) query.emplace_back("since", std::to_string(*revision));
    bool changed = false;
    const auto watched =
        api.events(api_path({"watch"}), query, [&](std::string_view name, std::string_view data) {
          if (name == "bookmark") return true;
          changed = true;
          if (!json || name == "reset") return false;
          context.out << data << "\n" << std::flush;
          return !interrupt.came();
        });
    if (interrupt.came()) break;
    if (!watched) return report(context, watched.error());
    std::this_thread::sleep_for(kPause);
    if (changed && !context.out_terminal && !json) context.out << "\n";
  }
  return kExitInterrupted;
}

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
    if (!resource.kind.empty()) return watch(*api, resource, options, context);
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
