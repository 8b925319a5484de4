// What happens to a cluster: tasks that end, nodes and devices that fail, starts that are refused,
// time that passes.

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/scenario/reading.h"
#include "sim/scenario/time_text.h"

namespace fairlead::sim {
namespace {

// Names of workloads known, given as names, ranges and patterns.
Result<std::vector<std::string>> read_workload_names(Cursor& cursor, const Reading& reading) {
  FAIRLEAD_ASSIGN(const Word word, cursor.expect_word("the name of the workload"));
  FAIRLEAD_ASSIGN(const auto names, cursor.placed(word, expand_names(word.text)));
  std::vector<std::string> found;
  for (const std::string& name : names) {
    const std::size_t before = found.size();
    if (name.find('*') == std::string::npos) {
      if (reading.symbols.workloads.contains(name)) found.push_back(name);
    } else {
      for (const auto& entry : reading.symbols.workloads) {
        if (matches(name, entry.first)) found.push_back(entry.first);
      }
    }
    if (static_cast<std::int64_t>(found.size()) > ScenarioSize::kMostSteps) {
      return cursor.fail(word,
                         fmt::format("names more than {} workloads", ScenarioSize::kMostSteps),
                         "name each once");
    }
    if (found.size() == before && reading.symbols.unchecked) found.push_back(name);
    if (found.size() == before) {
      return cursor.unknown(word, "a workload", names_of(reading.symbols.workloads));
    }
  }
  return found;
}

// W [ROLE [INDEX]]: of each workload named, the tasks that are meant.
Result<std::vector<TasksEnd>> read_tasks(Cursor& cursor, Reading& reading) {
  FAIRLEAD_ASSIGN(const auto names, read_workload_names(cursor, reading));
  TasksEnd end;
  cursor.accept("role");
  if (!cursor.done()) {
    const Word word = cursor.take();
    end.role = word.text;
    for (const std::string& name : names) {
      if (reading.symbols.unchecked) break;
      const WorkloadSpec& spec = reading.symbols.workloads.at(name);
      std::vector<std::string> roles;
      for (const RoleSpec& role : spec.roles) roles.push_back(role.name);
      if (std::find(roles.begin(), roles.end(), end.role) == roles.end()) {
        return cursor.unknown(word, fmt::format("a role of {}", name), roles);
      }
    }
  }
  if (!cursor.done()) {
    FAIRLEAD_ASSIGN(const std::int64_t index, cursor.expect_number("the number of the task"));
    if (index > 1'000'000) return cursor.fail_here("no role has so many tasks");
    end.index = static_cast<std::int32_t>(index);
  }
  FAIRLEAD_TRY(cursor.expect_end("a role and the number of one of its tasks"));
  std::vector<TasksEnd> out;
  for (const std::string& name : names) {
    end.workload = name;
    out.push_back(end);
  }
  return out;
}

// finish|fail|lose W [ROLE [INDEX]]
Result<void> read_end(sched::TaskOutcome outcome, Cursor& cursor, Reading& reading) {
  FAIRLEAD_ASSIGN(auto ends, read_tasks(cursor, reading));
  for (TasksEnd& end : ends) {
    end.outcome = outcome;
    reading.add_step(cursor.line(), std::move(end));
  }
  return {};
}

// checkpoint W [ROLE [INDEX]]
Result<void> read_checkpoint(Cursor& cursor, Reading& reading) {
  FAIRLEAD_ASSIGN(const auto saved, read_tasks(cursor, reading));
  for (const TasksEnd& tasks : saved)
    reading.add(cursor.line(), sched::CheckpointSaved{tasks.workload, tasks.role, tasks.index});
  return {};
}

Result<void> read_condition(const std::string& verb, Cursor& cursor, Reading& reading) {
  FAIRLEAD_ASSIGN(const auto names, read_node_names(cursor, reading));
  FAIRLEAD_TRY(cursor.expect_end("names of nodes: n1, n1,n2 or n1..n4"));
  for (const std::string& name : names) {
    sched::NodeConditionChanged change{name, true, true};
    const auto node = reading.symbols.nodes.find(name);
    if (node != reading.symbols.nodes.end()) {
      change.ready = node->second.ready;
      change.schedulable = node->second.schedulable;
    }
    if (verb == "down") change.ready = false;
    if (verb == "up") change.ready = true;
    if (verb == "cordon") change.schedulable = false;
    if (verb == "uncordon") change.schedulable = true;
    reading.add(cursor.line(), std::move(change));
  }
  return {};
}

// unhealthy|healthy n1:0
Result<void> read_health(DeviceHealth health, Cursor& cursor, Reading& reading) {
  FAIRLEAD_ASSIGN(const Word word, cursor.expect_word("the device, as NODE:DEVICE"));
  for (const std::string& part : split_list(word.text)) {
    Word one = word;
    one.text = part;
    FAIRLEAD_ASSIGN(auto device, read_device_name(cursor, one, reading.symbols));
    reading.add(cursor.line(), sched::DeviceHealthChanged{std::move(device.first),
                                                          std::move(device.second), health});
  }
  return cursor.expect_end("one word: n1:0 or n1:0,n1:1");
}

// remove W | remove node N | remove queue Q
Result<void> read_remove(Cursor& cursor, Reading& reading) {
  if (cursor.accept("node")) {
    FAIRLEAD_ASSIGN(auto names, read_node_names(cursor, reading));
    for (std::string& name : names) reading.add(cursor.line(), sched::NodeRemoved{std::move(name)});
  } else if (cursor.accept("queue") || cursor.accept("project") || cursor.accept("department")) {
    FAIRLEAD_ASSIGN(const Word word, cursor.expect_word("the name of the queue"));
    if (!reading.symbols.unchecked && !reading.symbols.queues.contains(word.text)) {
      return cursor.unknown(word, "a queue", names_of(reading.symbols.queues));
    }
    reading.add(cursor.line(), sched::QueueRemoved{word.text});
  } else {
    FAIRLEAD_ASSIGN(auto names, read_workload_names(cursor, reading));
    for (std::string& name : names) {
      reading.add(cursor.line(), sched::WorkloadRemoved{std::move(name)});
    }
  }
  return cursor.expect_end("a workload, node NAME or queue NAME");
}

// refuse-start W retry=30s
Result<void> read_refuse(Cursor& cursor, Reading& reading) {
  FAIRLEAD_ASSIGN(const auto names, read_workload_names(cursor, reading));
  if (!cursor.at_setting()) {
    return cursor.fail_here("when the start may be tried again is missing", "retry=30s");
  }
  const Setting setting = cursor.take_setting();
  if (setting.key != "retry") {
    const std::vector<std::string> known = {"retry"};
    return cursor.unknown_setting(setting, "a refused start", known);
  }
  FAIRLEAD_ASSIGN(const Duration wait, cursor.placed(setting.word, parse_duration(setting.value)));
  for (const std::string& name : names) {
    reading.add(cursor.line(), sched::StartRefused{name, reading.symbols.now + wait});
  }
  return cursor.expect_end("retry=30s");
}

// reserve NAME nodes=n1,n2 from=2h until=4h for=team-a
Result<void> read_reservation(Cursor& cursor, Reading& reading) {
  FAIRLEAD_ASSIGN(const Word name, cursor.expect_word("the name of the reservation"));
  ReservationSpec spec;
  spec.name = name.text;
  bool from = false;
  bool until = false;
  while (cursor.at_setting()) {
    const Setting s = cursor.take_setting();
    const auto names = [&](const auto& known, const char* what,
                           std::vector<std::string>& out) -> Result<void> {
      for (const std::string& part : split_list(s.value)) {
        FAIRLEAD_ASSIGN(const auto expanded, cursor.placed(s.word, expand_names(part)));
        for (const std::string& one : expanded) {
          Word unknown = s.word;
          unknown.text = one;
          if (!reading.symbols.unchecked && !known.contains(one))
            return cursor.unknown(unknown, what, names_of(known));
          out.push_back(one);
        }
      }
      return {};
    };
    if (s.key == "nodes") {
      FAIRLEAD_TRY(names(reading.symbols.nodes, "a node", spec.nodes));
    } else if (s.key == "for") {
      FAIRLEAD_TRY(names(reading.symbols.queues, "a queue", spec.queues));
    } else if (s.key == "from" || s.key == "until") {
      FAIRLEAD_ASSIGN(const Instant at,
                      cursor.placed(s.word, parse_instant(s.value, reading.scenario.start)));
      (s.key == "from" ? spec.from : spec.until) = at;
      (s.key == "from" ? from : until) = true;
    } else {
      const std::vector<std::string> known = {"nodes", "from", "until", "for"};
      return cursor.unknown_setting(s, "a reservation", known);
    }
  }
  FAIRLEAD_TRY(cursor.expect_end("nodes=, from=, until=, for="));
  if (spec.nodes.empty() || !from || !until)
    return cursor.fail(name, "a reservation needs nodes and times", "nodes=n1,n2 from=2h until=4h");
  reading.add(cursor.line(), sched::ReservationUpserted{std::move(spec)});
  return {};
}

// at 10m [asleep] | after 30s [asleep]
Result<void> read_time(bool relative, Cursor& cursor, Reading& reading) {
  FAIRLEAD_ASSIGN(const Word word, cursor.expect_word("the time"));
  ClockMoved move;
  if (relative) {
    FAIRLEAD_ASSIGN(const Duration wait, cursor.placed(word, parse_duration(word.text)));
    move.to = reading.symbols.now + wait;
  } else {
    FAIRLEAD_ASSIGN(move.to, cursor.placed(word, parse_instant(word.text, reading.scenario.start)));
  }
  if (move.to < reading.symbols.now) {
    return cursor.fail(word, "time does not run backwards",
                       fmt::format("it is {} after the start here",
                                   instant_text(reading.symbols.now, reading.scenario.start)));
  }
  move.asleep = cursor.accept("asleep");
  FAIRLEAD_TRY(cursor.expect_end("asleep"));
  reading.symbols.now = move.to;
  reading.add_step(cursor.line(), move);
  return {};
}

}  // namespace

Result<std::vector<std::string>> read_node_names(Cursor& cursor, const Reading& reading) {
  FAIRLEAD_ASSIGN(const Word word, cursor.expect_word("the name of the node"));
  FAIRLEAD_ASSIGN(auto names, cursor.placed(word, expand_names(word.text)));
  for (const std::string& name : names) {
    if (reading.symbols.unchecked || reading.symbols.nodes.contains(name)) continue;
    Word unknown = word;
    unknown.text = name;
    return cursor.unknown(unknown, "a node", names_of(reading.symbols.nodes));
  }
  return names;
}

Result<std::pair<std::string, std::string>> read_device_name(const Cursor& cursor, const Word& word,
                                                             const Symbols& symbols) {
  const std::size_t colon = word.text.find(':');
  if (colon == std::string::npos) {
    return cursor.fail(word, fmt::format("'{}' is not a device", word.text),
                       "write the node and the position or id: n1:0");
  }
  Word node_word = word;
  node_word.text = word.text.substr(0, colon);
  const std::string device = word.text.substr(colon + 1);
  const auto node = symbols.nodes.find(node_word.text);
  if (node == symbols.nodes.end() && symbols.unchecked) return std::pair(node_word.text, device);
  if (node == symbols.nodes.end()) {
    return cursor.unknown(node_word, "a node", names_of(symbols.nodes));
  }
  const std::vector<DeviceSpec>& devices = node->second.devices;
  for (const DeviceSpec& spec : devices) {
    if (spec.id == device) return std::pair(node->first, spec.id);
  }
  const Result<std::int64_t> position =
      parse_count(device, 0, static_cast<std::int64_t>(devices.size()) - 1);
  if (!position && symbols.unchecked) return std::pair(node->first, device);
  if (!position) {
    return cursor.fail(word, fmt::format("{} has no device '{}'", node->first, device),
                       fmt::format("it has {}, counted from 0", devices.size()));
  }
  return std::pair(node->first, devices[static_cast<std::size_t>(*position)].id);
}

Result<void> read_event(const Word& verb, Cursor& cursor, Reading& reading) {
  const std::string& name = verb.text;
  if (name == "finish") return read_end(sched::TaskOutcome::kSucceeded, cursor, reading);
  if (name == "fail") return read_end(sched::TaskOutcome::kFailed, cursor, reading);
  if (name == "lose") return read_end(sched::TaskOutcome::kLost, cursor, reading);
  if (name == "checkpoint") return read_checkpoint(cursor, reading);
  if (name == "down" || name == "up" || name == "cordon" || name == "uncordon") {
    return read_condition(name, cursor, reading);
  }
  if (name == "unhealthy") return read_health(DeviceHealth::kUnhealthy, cursor, reading);
  if (name == "healthy") return read_health(DeviceHealth::kHealthy, cursor, reading);
  if (name == "remove") return read_remove(cursor, reading);
  if (name == "refuse-start") return read_refuse(cursor, reading);
  if (name == "reserve") return read_reservation(cursor, reading);
  if (name == "release") {
    FAIRLEAD_ASSIGN(const Word word, cursor.expect_word("the name of the reservation"));
    reading.add(cursor.line(), sched::ReservationRemoved{word.text});
    return cursor.expect_end("the name of a reservation");
  }
  if (name == "requeue") {
    FAIRLEAD_ASSIGN(const auto names, read_workload_names(cursor, reading));
    for (const std::string& workload : names) {
      reading.add(cursor.line(), sched::WorkloadRequeued{workload});
    }
    return cursor.expect_end("the name of a workload");
  }
  if (name == "at" || name == "after") return read_time(name == "after", cursor, reading);
  if (name == "decide") {
    reading.add_step(cursor.line(), DecideNow{});
    return cursor.expect_end("nothing");
  }
  const std::vector<std::string> known = {
      "unchecked",  "rule",    "start",        "placement", "seed",       "levels",    "class",
      "pool",       "cluster", "node",         "nodes",     "department", "project",   "queue",
      "submit",     "running", "mix",          "change",    "finish",     "fail",      "lose",
      "checkpoint", "down",    "up",           "cordon",    "uncordon",   "unhealthy", "healthy",
      "remove",     "requeue", "refuse-start", "reserve",   "release",    "at",        "after",
      "decide",     "expect"};
  return cursor.unknown(verb, "a statement", known);
}

}  // namespace fairlead::sim
