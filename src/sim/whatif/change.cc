#include "sim/whatif/change.h"

#include <algorithm>
#include <set>
#include <utility>
#include <variant>

#include "base/decimal.h"
#include "base/nearest.h"
#include "sim/scenario/cursor.h"
#include "sim/scenario/units_text.h"

namespace fairlead::sim {
namespace {

constexpr std::int64_t kMostNodes = 100'000;

std::unexpected<Error> unknown(const std::string& what, const std::string& name,
                               const std::vector<std::string>& known, const std::string& flag) {
  const std::string near = nearest_name(name, known);
  return fail(
      Error{ErrorCode::kNotFound,
            "there is no " + what + " \"" + name + "\" when the change takes place",
            {},
            flag,
            near.empty() ? "choose another time with --at" : "did you mean \"" + near + "\"?"});
}

const char* flag_of(EntitlementPart part) {
  switch (part) {
    case EntitlementPart::kQuota:
      return "--set-quota";
    case EntitlementPart::kLimit:
      return "--set-limit";
    case EntitlementPart::kWeight:
      return "--set-weight";
  }
  return "";
}

Result<std::int64_t> node_count(std::string_view text, const std::string& flag) {
  auto count = parse_count(text, 1, kMostNodes);
  if (count) return count;
  Error error = std::move(count).error();
  error.field = flag;
  return fail(std::move(error));
}

bool digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::string pool_of(const SetEntitlement& set, const QueueSpec& queue) {
  if (!set.pool.empty()) return set.pool;
  return queue.pools.size() == 1 ? queue.pools.begin()->first : "default";
}

void apply_to(QueueSpec& queue, const SetEntitlement& set) {
  Entitlements& of_pool = queue.pools[pool_of(set, queue)];
  Entitlement& entitlement =
      of_pool.try_emplace(set.resource, default_entitlement(set.resource)).first->second;
  switch (set.part) {
    case EntitlementPart::kQuota:
      entitlement.quota = set.amount;
      return;
    case EntitlementPart::kLimit:
      entitlement.limit = set.amount;
      return;
    case EntitlementPart::kWeight:
      entitlement.over_quota_weight = set.amount;
      return;
  }
}

Result<void> add_nodes(const AddNodes& add, const sched::Scheduler& core, const Symbols& symbols,
                       std::set<std::string>& names, std::vector<sched::Event>& out) {
  if (!core.node(add.like)) return unknown("node", add.like, core.node_names(), "--add-nodes");
  NodeSpec node = symbols.nodes.at(add.like);
  node.ready = node.schedulable = true;
  for (DeviceSpec& device : node.devices) device.health = DeviceHealth::kHealthy;
  std::int64_t number = 0;
  for (std::int64_t i = 0; i < add.count; ++i) {
    do {
      node.name = add.like + "-copy-" + std::to_string(++number);
    } while (!names.insert(node.name).second);
    out.emplace_back(sched::NodeUpserted{node});
  }
  return {};
}

Result<void> remove_nodes(const RemoveNodes& remove, const sched::Scheduler& core,
                          std::vector<sched::Event>& out) {
  std::vector<std::string> names = remove.names;
  const std::vector<std::string> there = core.node_names();
  if (names.empty()) {
    if (static_cast<std::size_t>(remove.count) > there.size()) {
      return fail(Error{ErrorCode::kOutOfRange,
                        std::to_string(remove.count) + " nodes shall go; there are " +
                            std::to_string(there.size()),
                        {},
                        "--remove-nodes",
                        "name fewer"});
    }
    names.assign(there.end() - remove.count, there.end());
  }
  for (std::string& name : names) {
    if (!core.node(name)) return unknown("node", name, there, "--remove-nodes");
    out.emplace_back(sched::NodeRemoved{std::move(name)});
  }
  return {};
}

}  // namespace

Result<AddNodes> parse_added_nodes(std::string_view text) {
  AddNodes add;
  add.like = std::string(text);
  const std::size_t x = text.find('x');
  if (x != std::string_view::npos && digits(text.substr(0, x))) {
    FAIRLEAD_ASSIGN(add.count, node_count(text.substr(0, x), "--add-nodes"));
    add.like = std::string(text.substr(x + 1));
  }
  if (!add.like.empty()) return add;
  return fail(Error{ErrorCode::kInvalidArgument,
                    "\"" + std::string(text) + "\" names no node to copy",
                    {},
                    "--add-nodes",
                    "write 4xNODE, or NODE for one copy"});
}

Result<RemoveNodes> parse_removed_nodes(std::string_view text) {
  RemoveNodes remove;
  if (digits(text)) {
    FAIRLEAD_ASSIGN(remove.count, node_count(text, "--remove-nodes"));
    return remove;
  }
  remove.names = split_list(text);
  const std::set<std::string> distinct(remove.names.begin(), remove.names.end());
  if (!distinct.contains("") && distinct.size() == remove.names.size() && !distinct.empty()) {
    return remove;
  }
  return fail(Error{ErrorCode::kInvalidArgument,
                    "\"" + std::string(text) + "\" is neither a number of nodes nor names of them",
                    {},
                    "--remove-nodes",
                    "write 3, or node-1,node-2, each once"});
}

Result<SetEntitlement> parse_entitlement(EntitlementPart part, std::string_view text) {
  SetEntitlement set;
  set.part = part;
  const auto refuse = [&](const std::string& message) {
    return fail(Error{ErrorCode::kInvalidArgument,
                      "\"" + std::string(text) + "\": " + message,
                      {},
                      flag_of(part),
                      "write team-a=16, team-a=64:cpu or team-a=16:gpu@pool"});
  };
  const std::size_t equals = text.rfind('=');
  if (equals == std::string_view::npos || equals == 0) return refuse("names no queue");
  set.queue = std::string(text.substr(0, equals));
  std::string_view rest = text.substr(equals + 1);
  if (const std::size_t at = rest.find('@'); at != std::string_view::npos) {
    set.pool = std::string(rest.substr(at + 1));
    rest = rest.substr(0, at);
    if (set.pool.empty()) return refuse("names no pool after @");
  }
  if (const std::size_t colon = rest.find(':'); colon != std::string_view::npos) {
    set.resource = std::string(rest.substr(colon + 1));
    rest = rest.substr(0, colon);
    if (set.resource.empty()) return refuse("names no resource after the colon");
  }
  if (part == EntitlementPart::kWeight) {
    const auto weight = parse_decimal(rest, 3);
    if (!weight || *weight < 0 || *weight > kMaxAmount) return refuse("is no weight from 0");
    set.amount = *weight;
  } else if (rest == "unlimited") {
    set.amount = kUnlimited;
  } else {
    const auto amount = parse_amount(set.resource, rest);
    if (!amount) return refuse(amount.error().message);
    if (*amount < 0) return refuse("is below 0; no bound is \"unlimited\"");
    set.amount = *amount;
  }
  return set;
}

sched::SchedulerOptions changed_options(sched::SchedulerOptions options, const Change& change) {
  options.placement = change.placement.value_or(options.placement);
  options.reclaim = change.reclaim.value_or(options.reclaim);
  options.preempt = change.preempt.value_or(options.preempt);
  options.consolidate = change.consolidate.value_or(options.consolidate);
  options.plan = change.plan.value_or(options.plan);
  return options;
}

Result<std::vector<sched::Event>> change_events(const Change& change, const sched::Scheduler& core,
                                                const Symbols& symbols) {
  std::vector<sched::Event> out;
  std::set<std::string> names;
  for (const auto& [name, node] : symbols.nodes) names.insert(name);
  for (const AddNodes& add : change.added) {
    FAIRLEAD_TRY(add_nodes(add, core, symbols, names, out));
  }
  for (const RemoveNodes& remove : change.removed) FAIRLEAD_TRY(remove_nodes(remove, core, out));
  std::map<std::string, QueueSpec> queues;
  std::vector<std::string> order;
  for (const SetEntitlement& set : change.entitlements) {
    const auto known = core.queue_names();
    if (std::find(known.begin(), known.end(), set.queue) == known.end()) {
      return unknown("queue", set.queue, known, flag_of(set.part));
    }
    const auto [it, fresh] = queues.try_emplace(set.queue, symbols.queues.at(set.queue));
    if (fresh) order.push_back(set.queue);
    const std::string pool = pool_of(set, it->second);
    if (!core.pool(pool)) return unknown("pool", pool, core.pool_names(), flag_of(set.part));
    apply_to(it->second, set);
  }
  for (const std::string& name : order) out.emplace_back(sched::QueueUpserted{queues.at(name)});
  for (const WorkloadSpec& workload : change.submitted) {
    out.emplace_back(sched::WorkloadSubmitted{workload});
  }
  return out;
}

std::optional<sched::Event> changed_event(const sched::Event& event, const Change& change,
                                          const std::vector<std::string>& removed_nodes) {
  const auto away = [&](const std::string& node) {
    return std::find(removed_nodes.begin(), removed_nodes.end(), node) != removed_nodes.end();
  };
  if (const auto* queue = std::get_if<sched::QueueUpserted>(&event)) {
    sched::QueueUpserted changed = *queue;
    for (const SetEntitlement& set : change.entitlements) {
      if (set.queue == changed.queue.name) apply_to(changed.queue, set);
    }
    return changed;
  }
  const auto* node = std::get_if<sched::NodeUpserted>(&event);
  const auto* condition = std::get_if<sched::NodeConditionChanged>(&event);
  const auto* health = std::get_if<sched::DeviceHealthChanged>(&event);
  const auto* removed = std::get_if<sched::NodeRemoved>(&event);
  if ((node != nullptr && away(node->node.name)) ||
      (condition != nullptr && away(condition->node)) ||
      (health != nullptr && away(health->node)) || (removed != nullptr && away(removed->node))) {
    return std::nullopt;
  }
  return event;
}

}  // namespace fairlead::sim
