#include "cli/client/describe.h"

#include <ostream>

#include "cli/client/answer.h"
#include "cli/client/client_options.h"
#include "cli/client/details.h"
#include "cli/client/lookup.h"
#include "cli/client/outside.h"

namespace fairlead::cli {
namespace {

std::string text_of(const std::string& collection, const Value& item) {
  if (collection == "nodes") return node_details(item);
  if (collection == "node-pools") return pool_details(item);
  if (collection == "reservations") return reservation_details(item);
  if (collection == "users") return user_table({&item}, wall_clock());
  return queue_details(item);
}

}  // namespace

int describe_workload(const DescribeOptions& options, CliContext& context) {
  auto api = connect(options.connection, context);
  if (!api) return report(context, api.error());
  const std::string project = options.project.empty() ? api->connection().project : options.project;
  const auto found = find_workload(*api, options.name, project);
  if (!found) return report(context, found.error());
  if (options.format == OutputFormat::kJson || options.format == OutputFormat::kYaml) {
    const auto reply = api->get(api_path({"workloads", found->id()}));
    return reply ? print_reply(context, options.format, *reply) : report(context, reply.error());
  }
  const auto tasks = api->list(api_path({"workloads", found->id(), "tasks"}));
  if (!tasks) return report(context, tasks.error());
  const auto events = api->list(api_path({"workloads", found->id(), "events"}));
  if (!events) return report(context, events.error());
  context.out << workload_details(*found->value, tasks->items, events->items, wall_clock());
  return 0;
}

int describe_item(const std::string& collection, const DescribeOptions& options,
                  CliContext& context) {
  auto api = connect(options.connection, context);
  if (!api) return report(context, api.error());
  const auto reply = api->get(api_path({collection, options.name}));
  if (!reply) return report(context, reply.error());
  return print_item(context, options.format, *reply, text_of(collection, reply->root()));
}

}  // namespace fairlead::cli
