// submit, running and mix statements, and changes of a workload.

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/scenario/once.h"
#include "sim/scenario/reading.h"
#include "sim/scenario/role_settings.h"
#include "sim/scenario/time_text.h"
#include "sim/scenario/units_text.h"

namespace fairlead::sim {
namespace {

constexpr const char* kDefaultQueue = "default";

const std::vector<std::pair<std::string, WorkloadKind>> kKinds = {
    {"training", WorkloadKind::kTraining},
    {"workspace", WorkloadKind::kWorkspace},
    {"distributed", WorkloadKind::kDistributed},
    {"inference", WorkloadKind::kInference},
    {"external", WorkloadKind::kExternal}};

const std::vector<std::string> kWorkloadSettings = {
    "queue",       "kind",        "priority",      "pools",
    "completions", "parallelism", "backoff-limit", "expected-runtime",
    "max-runtime", "grace",       "stale-grace",   "order",
    "user",        "template",    "submitted",     "started",
    "failures"};

// One task that already runs: "n1", "n1:0+1", "n1@-2h" with when it started; "-" for one that
// waits, "done" for one that has succeeded.
struct PlaceOf {
  std::string role;
  Word word;
  std::string text;
};

// A workload statement as far as it is read: what is not stated has its default at the end.
struct Draft {
  WorkloadSpec spec;
  std::vector<std::string> names;
  std::optional<std::int32_t> priority;
  std::optional<Preemptibility> preemptibility;
  std::vector<PlaceOf> places;
  std::int32_t failures = 0;
  std::optional<Instant> submitted;
  std::optional<Instant> started;
  bool roles_named = false;
  std::optional<Word> counted;  // the setting that states how many tasks of a role there are
  Once stated;
  Once of_role;  // of the role being read
};

Result<std::int32_t> parse_priority(const std::string& text) {
  if (const auto of_class = priority_of_class(text)) return *of_class;
  Result<std::int64_t> number = parse_count(text, -1'000'000'000, 1'000'000'000);
  if (number) return static_cast<std::int32_t>(*number);
  Error error = number.error();
  error.cure = "write a number, or train, build-preemptible, build, inference";
  return std::unexpected(std::move(error));
}

Result<bool> read_workload_setting(const Cursor& cursor, const Setting& s, const Reading& reading,
                                   Draft& draft) {
  WorkloadSpec& spec = draft.spec;
  const auto count = [&](std::int32_t& out, std::int64_t low) -> Result<void> {
    FAIRLEAD_ASSIGN(const std::int64_t n,
                    cursor.placed(s.word, parse_count(s.value, low, 1'000'000)));
    out = static_cast<std::int32_t>(n);
    return {};
  };
  if (s.key == "queue") {
    spec.queue = s.value;
    if (!reading.symbols.unchecked && !reading.symbols.queues.contains(s.value)) {
      Word word = s.word;
      word.text = s.value;
      return cursor.unknown(word, "a queue defined above", names_of(reading.symbols.queues),
                            fmt::format("define it: project {} quota=8", s.value));
    }
  } else if (s.key == "kind") {
    const auto it = std::find_if(kKinds.begin(), kKinds.end(),
                                 [&](const auto& kind) { return kind.first == s.value; });
    if (it == kKinds.end()) {
      return cursor.fail(s.word, fmt::format("'{}' is not a kind of workload", s.value),
                         "allowed: training, workspace, distributed, inference, external");
    }
    spec.kind = it->second;
  } else if (s.key == "priority") {
    FAIRLEAD_ASSIGN(draft.priority, cursor.placed(s.word, parse_priority(s.value)));
  } else if (s.key == "pools" || s.key == "pool") {
    spec.pools = split_list(s.value);
  } else if (s.key == "completions") {
    FAIRLEAD_TRY(count(spec.completions, 1));
  } else if (s.key == "parallelism") {
    FAIRLEAD_TRY(count(spec.parallelism, 1));
  } else if (s.key == "backoff-limit") {
    FAIRLEAD_TRY(count(spec.backoff_limit, 0));
  } else if (s.key == "expected-runtime") {
    FAIRLEAD_ASSIGN(spec.expected_runtime, cursor.placed(s.word, parse_duration(s.value)));
  } else if (s.key == "max-runtime") {
    FAIRLEAD_ASSIGN(spec.max_runtime, cursor.placed(s.word, parse_duration(s.value)));
  } else if (s.key == "grace") {
    FAIRLEAD_ASSIGN(spec.grace_period, cursor.placed(s.word, parse_duration(s.value)));
  } else if (s.key == "stale-grace" && s.value == "never") {
    spec.staleness_grace_period = kNeverStale;
  } else if (s.key == "stale-grace") {
    FAIRLEAD_ASSIGN(spec.staleness_grace_period, cursor.placed(s.word, parse_duration(s.value)));
  } else if (s.key == "order") {
    FAIRLEAD_ASSIGN(spec.order_key,
                    cursor.placed(s.word, parse_count(s.value, -kMaxAmount, kMaxAmount)));
  } else if (s.key == "user") {
    spec.user = s.value;
  } else if (s.key == "template") {
    spec.template_name = s.value;
  } else if (s.key == "failures") {
    FAIRLEAD_TRY(count(draft.failures, 0));
  } else if (s.key == "submitted" || s.key == "started") {
    FAIRLEAD_ASSIGN((s.key == "started" ? draft.started : draft.submitted),
                    cursor.placed(s.word, parse_instant(s.value, reading.scenario.start)));
  } else {
    return false;
  }
  return true;
}

Result<bool> accept_flag(Cursor& cursor, Draft& draft) {
  if (cursor.done()) return false;
  const Word word = cursor.peek();
  if (cursor.accept("preemptible")) {
    draft.preemptibility = Preemptibility::kPreemptible;
  } else if (cursor.accept("non-preemptible")) {
    draft.preemptibility = Preemptibility::kNonPreemptible;
  } else if (cursor.accept("semi-preemptible")) {
    draft.preemptibility = Preemptibility::kSemiPreemptible;
  } else {
    return false;
  }
  FAIRLEAD_TRY(draft.stated.note(cursor, word, "preemptible"));
  return true;
}

// A setting of a workload or of its role is stated once; a goal is one of the workload until a role
// is named.
Result<void> note_setting(const Cursor& cursor, const Setting& s, Draft& draft) {
  const std::string name = s.key == "pool" ? "pools" : role_setting_once(s);
  if (name.empty()) return {};
  const bool of_workload = std::find(kWorkloadSettings.begin(), kWorkloadSettings.end(), name) !=
                           kWorkloadSettings.end();
  Once& stated = draft.roles_named && !of_workload ? draft.of_role : draft.stated;
  return stated.note(cursor, s.word, name);
}

// "on n1:0+1 n2" up to the next setting or keyword.
Result<void> read_places(Cursor& cursor, const Reading& reading, const std::string& role,
                         Draft& draft) {
  const std::size_t before = draft.places.size();
  while (!cursor.done() && !cursor.at_setting() && !cursor.at_keyword("role")) {
    const Word word = cursor.take();
    for (const std::string& place : split_list(word.text)) {
      const std::string node = place.substr(0, place.find_first_of(":@"));
      const bool is_place = place != "-" && place != "done";
      if (is_place && !reading.symbols.unchecked && !reading.symbols.nodes.contains(node)) {
        Word named = word;
        named.text = node;
        return cursor.unknown(named, "a node", names_of(reading.symbols.nodes));
      }
      draft.places.push_back({role, word, place});
    }
  }
  if (draft.places.size() == before) {
    return cursor.fail_here("'on' names no node", "on n1:0+1 n2:0+1");
  }
  return {};
}

// All settings of the statement. Those of a goal belong to the workload until a role is named.
Result<void> read_workload(Cursor& cursor, const Reading& reading, bool running, Draft& draft) {
  FAIRLEAD_ASSIGN(const Word word, cursor.expect_word("the name of the workload"));
  FAIRLEAD_ASSIGN(draft.names, cursor.placed(word, expand_names(word.text)));
  draft.spec.roles.emplace_back();
  bool role_settings = false;
  while (!cursor.done()) {
    RoleSpec& role = draft.spec.roles.back();
    TopologyGoal& goal = draft.roles_named ? role.topology : draft.spec.topology;
    FAIRLEAD_ASSIGN(const bool flag, accept_flag(cursor, draft));
    if (flag) continue;
    if (cursor.accept("fewest-hosts")) {
      goal.fewest_hosts = true;
    } else if (cursor.accept("segment-fewest-hosts")) {
      role.segment_topology.fewest_hosts = true;
    } else if (running && cursor.accept("on")) {
      FAIRLEAD_TRY(read_places(cursor, reading, role.name, draft));
    } else if (cursor.at_keyword("role")) {
      const Word keyword = cursor.take();
      if (!draft.roles_named && (role_settings || !draft.places.empty())) {
        return cursor.fail(keyword, "settings of a role stand before the first role",
                           "move gpu=, cpu=, workers=, … behind the role they belong to");
      }
      FAIRLEAD_ASSIGN(const Word name, cursor.expect_word("the name of the role"));
      FAIRLEAD_TRY(draft.stated.note(cursor, name, "role " + name.text));
      if (draft.roles_named) draft.spec.roles.emplace_back();
      draft.roles_named = true;
      draft.of_role = Once();
      draft.spec.roles.back().name = name.text;
    } else if (cursor.at_setting()) {
      const Setting setting = cursor.take_setting();
      FAIRLEAD_TRY(note_setting(cursor, setting, draft));
      if (read_goal_setting(setting, "", goal)) continue;
      FAIRLEAD_ASSIGN(const bool of_role, read_role_setting(cursor, setting, role));
      role_settings = role_settings || of_role;
      if (setting.key == "workers" || setting.key == "count" || setting.key == "tasks")
        draft.counted = setting.word;
      if (of_role) continue;
      FAIRLEAD_ASSIGN(const bool of_workload,
                      read_workload_setting(cursor, setting, reading, draft));
      if (of_workload) continue;
      std::vector<std::string> known = role_setting_names();
      known.insert(known.end(), kWorkloadSettings.begin(), kWorkloadSettings.end());
      return cursor.unknown_setting(setting, "a workload", known);
    } else {
      return cursor.fail(
          cursor.peek(), fmt::format("'{}' means nothing here", cursor.peek().text),
          "allowed: KEY=VALUE, role NAME, fewest-hosts, preemptible, non-preemptible, "
          "semi-preemptible, and on NODE after running");
    }
  }
  return {};
}

// Defaults that depend on what was stated.
Result<void> finish_draft(const Cursor& cursor, Reading& reading, Draft& draft) {
  WorkloadSpec& spec = draft.spec;
  if (spec.queue.empty()) {
    if (!reading.symbols.queues.contains(kDefaultQueue)) {
      if (!reading.symbols.queues.empty()) {
        return cursor.fail_here("the workload names no queue",
                                "add queue=NAME: this scenario has queues of its own");
      }
      QueueSpec queue;
      queue.name = kDefaultQueue;
      queue.pools["default"]["gpu"].quota = kUnlimited;
      reading.add(cursor.line(), sched::QueueUpserted{std::move(queue)});
    }
    spec.queue = kDefaultQueue;
  }
  spec.priority = draft.priority.value_or(default_priority(spec.kind));
  spec.preemptibility = draft.preemptibility.value_or(default_preemptibility(spec.priority));
  if (spec.completions > 0) {
    if (spec.roles.size() != 1) return cursor.fail_here("completions= goes with one role only");
    if (draft.counted) {
      return cursor.fail(*draft.counted,
                         "with completions= the tasks are independent and parallelism= says how "
                         "many run at once",
                         "remove it");
    }
    RoleSpec& role = spec.roles.front();
    if (spec.parallelism == 0) spec.parallelism = 1;
    role.count = spec.parallelism;
    role.min = 1;  // nothing is a gang
  } else if (spec.parallelism > 0) {
    return cursor.fail_here("parallelism= goes with completions=",
                            "for tasks that start together write workers=");
  }
  return {};
}

Result<void> fill_running(const Cursor& cursor, const Reading& reading, const Draft& draft,
                          WorkloadEntry& entry) {
  for (const RoleSpec& role : draft.spec.roles) {
    std::int32_t index = 0;
    for (const PlaceOf& place : draft.places) {
      if (place.role != role.name) continue;
      const std::int32_t tasks = std::max(role.count, draft.spec.completions);
      if (index >= tasks) {
        return cursor.fail(
            place.word,
            fmt::format("role {} has {} tasks, and this is place {}", role.name, tasks, index + 1),
            fmt::format("raise its count, or leave out the place"));
      }
      RunningTask task;
      task.role = role.name;
      task.index = index++;
      if (place.text == "-") continue;
      if (place.text == "done") {
        entry.succeeded.push_back({task.role, task.index});
        continue;
      }
      const std::size_t at = place.text.find('@');
      if (at != std::string::npos) {
        FAIRLEAD_ASSIGN(task.started,
                        cursor.placed(place.word, parse_instant(place.text.substr(at + 1),
                                                                reading.scenario.start)));
      }
      const std::string where = place.text.substr(0, at);
      const std::size_t colon = where.find(':');
      task.node = where.substr(0, colon);
      if (colon != std::string::npos) {
        for (const std::string& device : split_list(where.substr(colon + 1), '+')) {
          Word word = place.word;
          word.text = task.node + ":" + device;
          FAIRLEAD_ASSIGN(auto named, read_device_name(cursor, word, reading.symbols));
          task.devices.push_back(std::move(named.second));
        }
      }
      entry.running.push_back(std::move(task));
    }
  }
  return {};
}

}  // namespace

Result<void> read_submit(Cursor& cursor, Reading& reading) {
  Draft draft;
  FAIRLEAD_TRY(read_workload(cursor, reading, false, draft));
  FAIRLEAD_TRY(finish_draft(cursor, reading, draft));
  for (const std::string& name : draft.names) {
    draft.spec.name = name;
    reading.add(cursor.line(), sched::WorkloadSubmitted{draft.spec});
  }
  return {};
}

Result<void> read_running(Cursor& cursor, Reading& reading) {
  Draft draft;
  FAIRLEAD_TRY(read_workload(cursor, reading, true, draft));
  FAIRLEAD_TRY(finish_draft(cursor, reading, draft));
  for (const std::string& name : draft.names) {
    WorkloadEntry entry;
    entry.spec = draft.spec;
    entry.spec.name = name;
    entry.submitted = draft.submitted.value_or(draft.started.value_or(reading.symbols.now));
    entry.failures = draft.failures;
    FAIRLEAD_TRY(fill_running(cursor, reading, draft, entry));
    if (!entry.running.empty()) entry.started = draft.started.value_or(entry.submitted);
    reading.add(cursor.line(), sched::WorkloadAdopted{std::move(entry)});
  }
  return {};
}

// change W [priority=] [order=] [workers=] [role NAME count=]
Result<void> read_workload_change(Cursor& cursor, Reading& reading) {
  FAIRLEAD_ASSIGN(const Word name, cursor.expect_word("the name of the workload"));
  const auto it = reading.symbols.workloads.find(name.text);
  if (it == reading.symbols.workloads.end() && !reading.symbols.unchecked) {
    return cursor.unknown(name, "a workload", names_of(reading.symbols.workloads),
                          "to change a node, pool or queue write: change node NAME …");
  }
  sched::WorkloadChanged change;
  change.workload = name.text;
  std::string role = it == reading.symbols.workloads.end() ? "worker" : "";
  if (role.empty() && it->second.roles.size() == 1) role = it->second.roles.front().name;
  Once stated;
  while (!cursor.done()) {
    if (cursor.accept("role")) {
      FAIRLEAD_ASSIGN(const Word word, cursor.expect_word("the name of the role"));
      role = word.text;
      continue;
    }
    if (!cursor.at_setting()) {
      return cursor.fail(cursor.peek(), fmt::format("'{}' means nothing here", cursor.peek().text),
                         "allowed: priority=, order=, workers=, role NAME count=");
    }
    const Setting s = cursor.take_setting();
    if (s.key == "priority" || s.key == "order") FAIRLEAD_TRY(stated.note(cursor, s.word, s.key));
    if (s.key == "priority") {
      FAIRLEAD_ASSIGN(change.priority, cursor.placed(s.word, parse_priority(s.value)));
    } else if (s.key == "order") {
      FAIRLEAD_ASSIGN(change.order_key,
                      cursor.placed(s.word, parse_count(s.value, -kMaxAmount, kMaxAmount)));
    } else if (s.key == "workers" || s.key == "count" || s.key == "tasks" || s.key == "min" ||
               s.key == "max") {
      FAIRLEAD_ASSIGN(const auto counts, cursor.placed(s.word, parse_role_count(s.value)));
      if (role.empty()) {
        return cursor.fail(s.word, fmt::format("{} has several roles", name.text),
                           "name one: role worker count=4");
      }
      if (s.key != "max") FAIRLEAD_TRY(stated.note(cursor, s.word, "min of " + role));
      if (s.key != "min") FAIRLEAD_TRY(stated.note(cursor, s.word, "max of " + role));
      sched::RoleChange of_role{role, counts.second, counts.first};
      if (s.key == "min") of_role.count.reset();
      if (s.key == "max") of_role.min.reset();
      change.roles.push_back(std::move(of_role));
    } else {
      const std::vector<std::string> known = {"priority", "order", "workers",
                                              "count",    "min",   "max"};
      return cursor.unknown_setting(s, "a change of a workload", known);
    }
  }
  reading.add(cursor.line(), std::move(change));
  return {};
}

// mix entry [times=N] ROLE-SETTINGS… entry …
Result<void> read_mix(Cursor& cursor, Reading& reading) {
  sched::MixStated mix;
  while (!cursor.done()) {
    FAIRLEAD_TRY(cursor.expect_keyword("entry", "mix"));
    sched::MixStated::Entry entry;
    RoleSpec role;
    Once stated;
    while (cursor.at_setting()) {
      const Setting s = cursor.take_setting();
      if (const std::string name = role_setting_once(s); !name.empty()) {
        FAIRLEAD_TRY(stated.note(cursor, s.word, name));
      }
      if (s.key == "times") {
        FAIRLEAD_ASSIGN(entry.count, cursor.placed(s.word, parse_count(s.value, 1, kMaxAmount)));
        continue;
      }
      FAIRLEAD_ASSIGN(const bool taken, read_role_setting(cursor, s, role));
      if (!taken) return cursor.unknown_setting(s, "an entry of a mix", role_setting_names());
    }
    entry.request = role.request;
    entry.constraints = role.constraints;
    mix.entries.push_back(std::move(entry));
  }
  reading.add(cursor.line(), std::move(mix));
  return {};
}

}  // namespace fairlead::sim
