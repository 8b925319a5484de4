// Events of a scenario document.

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "model/readers.h"
#include "sim/scenario/document_parts.h"
#include "sim/scenario/queue_order.h"

namespace fairlead::sim {
namespace {

// "running" of a workload with times stated as offsets: those near the epoch are from the start.
Instant settled(Instant at, const Reading& reading) {
  constexpr Instant kLongAgo{10LL * 365 * 24 * 3'600'000};
  return at < kLongAgo ? reading.scenario.start + Duration{at.ms} : at;
}

void settle_times(WorkloadEntry& entry, const Reading& reading) {
  entry.submitted =
      entry.submitted == Instant{} ? reading.symbols.now : settled(entry.submitted, reading);
  if (entry.started) entry.started = settled(*entry.started, reading);
  if (!entry.started && !entry.running.empty()) entry.started = entry.submitted;
}

void add_workload(const Value& value, WorkloadEntry entry, Reading& reading) {
  settle_times(entry, reading);
  if (!entry.running.empty()) {
    reading.add(value.line(), sched::WorkloadAdopted{std::move(entry)});
  } else {
    reading.add(value.line(), sched::WorkloadSubmitted{std::move(entry.spec)});
  }
}

void use_classes(const Value& place, const NodeSpec& node, Findings& findings, Reading& reading) {
  for (const DeviceSpec& device : node.devices) {
    if (reading.symbols.classes.contains(device.device_class)) continue;
    const DeviceClass* known = known_device_class(device.device_class);
    if (known == nullptr) {
      report_unknown(place, findings, "device class", device.device_class,
                     known_device_class_names());
      return;
    }
    reading.add(place.line(), sched::DeviceClassDefined{*known});
  }
}

// NAME, or {workload: NAME, role: R, index: I}.
TasksEnd read_tasks(const Value& value, Findings& findings) {
  TasksEnd end;
  if (value.is_scalar()) {
    end.workload = as_name(value, findings).value_or("");
    return end;
  }
  ObjectReader in(value, findings);
  end.workload = in.name("workload", kRequired).value_or("");
  end.role = in.name("role").value_or("");
  end.index = in.int32("index").value_or(-1);
  return end;
}

void read_condition(const Value& value, Findings& findings, std::string_view verb,
                    Reading& reading) {
  const auto name = as_name(value, findings);
  if (!name) return;
  const auto node = reading.symbols.nodes.find(*name);
  sched::NodeConditionChanged change{*name, true, true};
  if (node != reading.symbols.nodes.end()) {
    change.ready = node->second.ready;
    change.schedulable = node->second.schedulable;
  } else if (!reading.symbols.unchecked) {
    report_unknown(value, findings, "node", *name, names_of(reading.symbols.nodes));
    return;
  }
  if (verb == "down" || verb == "up") change.ready = verb == "up";
  if (verb == "cordon" || verb == "uncordon") change.schedulable = verb == "uncordon";
  reading.add(value.line(), std::move(change));
}

void read_health(const Value& value, Findings& findings, DeviceHealth health, Reading& reading) {
  auto device = as_device(value, findings, reading);
  if (!device) return;
  reading.add(value.line(), sched::DeviceHealthChanged{std::move(device->first),
                                                       std::move(device->second), health});
}

void read_change(const Value& value, Findings& findings, Reading& reading) {
  ObjectReader in(value, findings);
  sched::WorkloadChanged change;
  change.workload = in.name("workload", kRequired).value_or("");
  change.priority = in.int32("priority", -1'000'000'000, 1'000'000'000);
  change.order_key = in.integer("orderKey", -kMaxAmount, kMaxAmount);
  in.each("roles", [&](const Value& item) {
    ObjectReader role(item, findings);
    sched::RoleChange of_role;
    of_role.role = role.name("name").value_or("worker");
    of_role.count = role.int32("count");
    of_role.min = role.int32("min");
    change.roles.push_back(std::move(of_role));
  });
  if (in.ok()) reading.add(value.line(), std::move(change));
}

void read_reservation(const Value& value, Findings& findings, Reading& reading) {
  ObjectReader in(value, findings);
  ReservationSpec spec;
  spec.name = in.name("name", kRequired).value_or("");
  spec.nodes = in.names("nodes");
  const auto time = [&](std::string_view field) {
    const Value* at = in.get(field);
    if (at == nullptr) {
      findings.error(value, ErrorCode::kInvalidArgument,
                     fmt::format("the field \"{}\" is missing", field), "from: 2h, until: 4h");
      return Instant{};
    }
    return as_scenario_time(*at, findings, reading.scenario.start).value_or(Instant{});
  };
  spec.from = time("from");
  spec.until = time("until");
  spec.queues = in.names("for");
  if (in.ok()) reading.add(value.line(), sched::ReservationUpserted{std::move(spec)});
}

void read_mix(ObjectReader& in, const Value& value, Reading& reading) {
  sched::MixStated mix;
  in.each("mix", [&](const Value& item) {
    ObjectReader entry(item, in.findings());
    sched::MixStated::Entry of_mix;
    of_mix.count = entry.integer("count", 1).value_or(1);
    read_task_request(entry, of_mix.request);
    read_constraints(entry, of_mix.constraints);
    mix.entries.push_back(std::move(of_mix));
  });
  reading.add(value.line(), std::move(mix));
}

void read_refusal(const Value& value, Findings& findings, Reading& reading) {
  ObjectReader in(value, findings);
  const auto name = in.name("workload", kRequired);
  const auto retry = in.duration("retry", kRequired);
  if (!name || !retry) return;
  reading.add(value.line(), sched::StartRefused{*name, reading.symbols.now + *retry});
}

// Of queues that come to those that there are; a whole cluster is checked by the model.
void check_cycles(const ClusterDraft& draft, Findings& findings, const Reading& reading) {
  if (reading.symbols.unchecked) return;
  std::map<std::string, std::string> stated;
  for (const QueueSpec& queue : draft.cluster.queues) stated[queue.name] = queue.parent;
  const auto parent_of = [&](const std::string& name) -> std::string {
    if (const auto it = stated.find(name); it != stated.end()) return it->second;
    const auto known = reading.symbols.queues.find(name);
    return known == reading.symbols.queues.end() ? "" : known->second.parent;
  };
  for (std::size_t i = 0; i < draft.cluster.queues.size(); ++i) {
    const std::string cycle = cycle_above(draft.cluster.queues[i].name, parent_of);
    if (cycle.empty()) continue;
    findings.error(*draft.places.queues[i], cycle_error(cycle));
    return;
  }
}

}  // namespace

std::optional<std::pair<std::string, std::string>> as_device(const Value& value, Findings& findings,
                                                             const Reading& reading) {
  const auto name = as_name(value, findings);
  if (!name) return std::nullopt;
  Statement statement;
  statement.words.push_back({*name, value.line(), 1, false});
  const Cursor cursor(statement, "");
  auto device = read_device_name(cursor, statement.words.front(), reading.symbols);
  if (device) return std::move(*device);
  const Error& error = device.error();
  findings.error(value, Error{error.code, error.message, {}, {}, error.cure});
  return std::nullopt;
}

void read_document_cluster(ObjectReader& in, bool whole, Reading& reading) {
  ClusterDraft draft;
  if (!whole) draft.cluster.topology_levels = reading.symbols.levels;
  const std::size_t before = in.findings().error_count();
  read_cluster_fields(in, draft);
  if (whole && in.findings().error_count() == before) check_cluster(draft, in.findings());
  if (!whole) check_cycles(draft, in.findings(), reading);
  if (in.findings().error_count() != before) return;
  ClusterSpec& cluster = draft.cluster;
  const auto line = [](const Value* place) { return place == nullptr ? 0 : place->line(); };
  if (whole && (!cluster.topology_levels.empty() || !cluster.nodes.empty())) {
    reading.add(in.value().line(), sched::TopologyDefined{std::move(cluster.topology_levels)});
  }
  for (std::size_t i = 0; i < cluster.device_classes.size(); ++i) {
    reading.add(line(draft.places.device_classes[i]),
                sched::DeviceClassDefined{std::move(cluster.device_classes[i])});
  }
  for (std::size_t i = 0; i < cluster.pools.size(); ++i) {
    reading.add(line(draft.places.pools[i]), sched::PoolDefined{std::move(cluster.pools[i])});
  }
  for (std::size_t i = 0; i < cluster.nodes.size(); ++i) {
    use_classes(*draft.places.nodes[i], cluster.nodes[i], in.findings(), reading);
    reading.add(line(draft.places.nodes[i]), sched::NodeUpserted{std::move(cluster.nodes[i])});
  }
  for (const std::size_t i : parents_first(cluster.queues)) {
    reading.add(line(draft.places.queues[i]), sched::QueueUpserted{std::move(cluster.queues[i])});
  }
  for (std::size_t i = 0; i < cluster.reservations.size(); ++i) {
    ReservationSpec& reservation = cluster.reservations[i];
    reservation.from = settled(reservation.from, reading);
    reservation.until = settled(reservation.until, reading);
    reading.add(line(draft.places.reservations[i]),
                sched::ReservationUpserted{std::move(reservation)});
  }
  // What runs is there before anything is submitted.
  for (const bool runs : {true, false}) {
    for (std::size_t i = 0; i < cluster.workloads.size(); ++i) {
      if (cluster.workloads[i].running.empty() == runs) continue;
      add_workload(*draft.places.workloads[i], cluster.workloads[i], reading);
    }
  }
}

namespace {

void read_one_event(const Value& value, Findings& findings, Reading& reading) {
  if (value.is_scalar()) {
    const auto statement = statement_of(value, findings);
    if (!statement) return;
    const Result<void> read = read_statement(*statement, reading);
    if (!read) {
      findings.error(value,
                     Error{read.error().code, read.error().message, {}, {}, read.error().cure});
    }
    return;
  }
  ObjectReader in(value, findings);
  if (!in.ok()) return;
  const std::size_t before = reading.scenario.steps.size() + findings.error_count();
  for (const char* field :
       {"deviceClasses", "pools", "nodes", "queues", "departments", "reservations", "workloads"}) {
    if (in.has(field)) {
      read_document_cluster(in, false, reading);
      break;
    }
  }
  if (const Value* item = in.get("submit")) {
    add_workload(*item, read_workload(*item, findings), reading);
  }
  constexpr std::pair<const char*, sched::TaskOutcome> kEnds[] = {
      {"finish", sched::TaskOutcome::kSucceeded},
      {"fail", sched::TaskOutcome::kFailed},
      {"lose", sched::TaskOutcome::kLost}};
  for (const auto& [field, outcome] : kEnds) {
    if (const Value* item = in.get(field)) {
      TasksEnd end = read_tasks(*item, findings);
      end.outcome = outcome;
      reading.add_step(item->line(), std::move(end));
    }
  }
  if (const Value* item = in.get("checkpoint")) {
    TasksEnd tasks = read_tasks(*item, findings);
    reading.add(item->line(), sched::CheckpointSaved{std::move(tasks.workload),
                                                     std::move(tasks.role), tasks.index});
  }
  for (const char* verb : {"down", "up", "cordon", "uncordon"}) {
    if (const Value* item = in.get(verb)) read_condition(*item, findings, verb, reading);
  }
  if (const Value* item = in.get("unhealthy")) {
    read_health(*item, findings, DeviceHealth::kUnhealthy, reading);
  }
  if (const Value* item = in.get("healthy")) {
    read_health(*item, findings, DeviceHealth::kHealthy, reading);
  }
  const std::int32_t line = value.line();
  if (auto name = in.name("remove")) reading.add(line, sched::WorkloadRemoved{*name});
  if (auto name = in.name("removeNode")) reading.add(line, sched::NodeRemoved{*name});
  if (auto name = in.name("removeQueue")) reading.add(line, sched::QueueRemoved{*name});
  if (auto name = in.name("requeue")) reading.add(line, sched::WorkloadRequeued{*name});
  if (const Value* item = in.get("refuseStart")) read_refusal(*item, findings, reading);
  if (const Value* item = in.get("change")) read_change(*item, findings, reading);
  if (const Value* item = in.get("reserve")) read_reservation(*item, findings, reading);
  if (auto name = in.name("release")) reading.add(line, sched::ReservationRemoved{*name});
  if (in.has("mix")) read_mix(in, value, reading);
  if (in.boolean("decide").value_or(false)) reading.add_step(line, DecideNow{});
  in.finish();
  if (reading.scenario.steps.size() + findings.error_count() == before) {
    findings.error(value, ErrorCode::kInvalidArgument, "the event says nothing",
                   "name one: submit, workloads, finish, fail, lose, checkpoint, remove, requeue, "
                   "refuseStart, "
                   "change, nodes, removeNode, down, up, cordon, uncordon, unhealthy, healthy, "
                   "queues, removeQueue, pools, deviceClasses, reserve, release, mix, decide");
  }
}

}  // namespace

void read_document_event(const Value& value, Findings& findings, Reading& reading) {
  if (reading.size.excess()) return;  // said where it became too large
  read_one_event(value, findings, reading);
  if (auto excess = reading.size.excess()) findings.error(value, std::move(*excess));
}

}  // namespace fairlead::sim
