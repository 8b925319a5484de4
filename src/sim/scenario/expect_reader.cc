// expect statements.

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "sim/scenario/reading.h"
#include "sim/scenario/time_text.h"
#include "sim/scenario/units_text.h"

namespace fairlead::sim {
namespace {

constexpr std::array<std::pair<const char*, ExpectedState>, 6> kStates{
    {{"running", ExpectedState::kRunning},
     {"pending", ExpectedState::kPending},
     {"refused", ExpectedState::kRefused},
     {"finished", ExpectedState::kFinished},
     {"failed", ExpectedState::kFailed},
     {"gone", ExpectedState::kGone}}};

bool at_state(const Cursor& cursor) {
  return std::any_of(kStates.begin(), kStates.end(),
                     [&](const auto& state) { return cursor.at_keyword(state.first); });
}

// [exactly|at least|at most] N
Result<Bound> read_bound(Cursor& cursor, std::string_view what) {
  Bound bound;
  if (cursor.accept("at")) {
    if (cursor.accept("most")) {
      bound.comparison = Comparison::kAtMost;
    } else {
      FAIRLEAD_TRY(cursor.expect_keyword("least", "'at'"));
      bound.comparison = Comparison::kAtLeast;
    }
  } else {
    cursor.accept("exactly");
  }
  FAIRLEAD_ASSIGN(bound.value, cursor.expect_number(what));
  return bound;
}

bool at_bound(const Cursor& cursor) {
  return cursor.at_number() || cursor.at_keyword("at") || cursor.at_keyword("exactly");
}

// Workload names, checked: a pattern must match something, a name must have been said above.
Result<std::vector<std::string>> read_names(Cursor& cursor, const Reading& reading) {
  std::vector<std::string> names;
  while (!cursor.done() && !at_state(cursor) && !cursor.at_keyword("role") &&
         !cursor.at_keyword("share")) {
    const Word word = cursor.take();
    FAIRLEAD_ASSIGN(auto expanded, cursor.placed(word, expand_names(word.text)));
    for (std::string& name : expanded) {
      const auto& known = reading.symbols.workloads;
      const bool found = std::any_of(known.begin(), known.end(),
                                     [&](const auto& entry) { return matches(name, entry.first); });
      if (!found) {
        Word unknown = word;
        unknown.text = name;
        return cursor.unknown(
            unknown, "a workload of this scenario", names_of(known),
            "after 'expect' comes a workload, or free, queue, pool, node, device, "
            "start order, error");
      }
      names.push_back(std::move(name));
    }
  }
  if (names.empty()) return cursor.fail_here("the name of a workload is missing");
  return names;
}

Result<std::vector<std::string>> read_node_list(Cursor& cursor, const Reading& reading) {
  FAIRLEAD_ASSIGN(const Word word, cursor.expect_word("the name of a node"));
  FAIRLEAD_ASSIGN(auto names, cursor.placed(word, expand_names(word.text)));
  for (const std::string& name : names) {
    if (reading.symbols.nodes.contains(name)) continue;
    Word unknown = word;
    unknown.text = name;
    return cursor.unknown(unknown, "a node", names_of(reading.symbols.nodes));
  }
  return names;
}

std::string singular(std::string text) {
  if (text.ends_with("ches"))
    text.resize(text.size() - 2);  // switches
  else if (text.ends_with("s") && text.size() > 1)
    text.pop_back();
  return text;
}

// in one rack | in 2 racks | in rack r1 | in pool p, with "per 4 tasks"
Result<void> read_in(Cursor& cursor, const Reading& reading, ExpectWorkloads& e) {
  if (cursor.accept("pool")) {
    FAIRLEAD_ASSIGN(const Word pool, cursor.expect_word("the name of the pool"));
    e.pool = pool.text;
    return {};
  }
  DomainCheck check;
  bool counted = true;
  if (cursor.at_number()) {
    FAIRLEAD_ASSIGN(check.count, cursor.expect_number("how many"));
  } else if (!cursor.accept("one")) {
    counted = false;
  }
  FAIRLEAD_ASSIGN(const Word word, cursor.expect_word("a topology level"));
  std::vector<std::string> levels = reading.symbols.levels;
  levels.insert(levels.end(), {"host", "numa", "pcie", "nvlink"});
  check.level = word.text;
  if (std::find(levels.begin(), levels.end(), check.level) == levels.end()) {
    check.level = singular(word.text);
  }
  if (std::find(levels.begin(), levels.end(), check.level) == levels.end()) {
    return cursor.unknown(word, "a topology level", levels, "in one rack, in 2 racks, in rack r1");
  }
  if (!counted) {
    FAIRLEAD_ASSIGN(const Word domain, cursor.expect_word("the name of the domain"));
    check.domain = domain.text;
  }
  if (cursor.accept("per")) {
    FAIRLEAD_ASSIGN(const std::int64_t per, cursor.expect_number("how many tasks"));
    if (per < 1 || per > 1'000'000) return cursor.fail_here("a segment has at least one task");
    check.per = static_cast<std::int32_t>(per);
    if (!cursor.accept("task")) FAIRLEAD_TRY(cursor.expect_keyword("tasks", "the number"));
  }
  e.domains.push_back(std::move(check));
  return {};
}

// on 3 nodes | on node n1 | on nodes n1,n2 | on 2 devices | on devices 0,1
Result<void> read_on(Cursor& cursor, const Reading& reading, ExpectWorkloads& e) {
  if (at_bound(cursor)) {
    FAIRLEAD_ASSIGN(const Bound bound, read_bound(cursor, "how many"));
    if (cursor.accept("nodes") || cursor.accept("node") || cursor.accept("hosts") ||
        cursor.accept("host")) {
      e.hosts = bound;
      return {};
    }
    if (!cursor.accept("device")) FAIRLEAD_TRY(cursor.expect_keyword("devices", "the number"));
    e.device_count = bound;
    return {};
  }
  if (cursor.accept("device") || cursor.accept("devices")) {
    FAIRLEAD_ASSIGN(const Word word, cursor.expect_word("the device"));
    e.devices = split_list(word.text);
    return {};
  }
  if (!cursor.accept("node")) cursor.accept("nodes");
  FAIRLEAD_ASSIGN(e.nodes, read_node_list(cursor, reading));
  return {};
}

// with 3 tasks | with 3 of 5 tasks | with 500 milli | with 2000 mib | with 2 failures |
// with 3 succeeded | with near cpus | with slices 0,4
Result<void> read_with(Cursor& cursor, ExpectWorkloads& e) {
  if (cursor.accept("near")) {
    FAIRLEAD_TRY(cursor.expect_keyword("cpus", "'near'"));
    e.near_cpus = true;
    return {};
  }
  if (cursor.accept("slices") || cursor.accept("slice")) {
    FAIRLEAD_ASSIGN(const Word word, cursor.expect_word("the first memory slices"));
    for (const std::string& part : split_list(word.text)) {
      FAIRLEAD_ASSIGN(const std::int64_t n, cursor.placed(word, parse_count(part, 0, 15)));
      e.slices.push_back(static_cast<std::int32_t>(n));
    }
    return {};
  }
  FAIRLEAD_ASSIGN(const Bound bound, read_bound(cursor, "how many"));
  if (cursor.accept("of")) {
    FAIRLEAD_ASSIGN(e.wanted, cursor.expect_number("how many tasks are wanted"));
  }
  if (cursor.accept("tasks") || cursor.accept("task")) {
    e.tasks = bound;
    return {};
  }
  if (e.wanted) return cursor.fail_here("'tasks' is missing", "with 3 of 5 tasks");
  const std::array<std::pair<const char*, std::optional<std::int64_t>*>, 5> amounts{
      {{"milli", &e.milli},
       {"mib", &e.mib},
       {"failures", &e.failures},
       {"failure", &e.failures},
       {"succeeded", &e.succeeded}}};
  for (const auto& [word, amount] : amounts) {
    if (!cursor.accept(word)) continue;
    if (bound.comparison != Comparison::kExactly) {
      return cursor.fail_here(fmt::format("'at least' and 'at most' do not go with {}", word));
    }
    *amount = bound.value;
    return {};
  }
  return cursor.fail_here(
      "what the number counts is missing",
      "with 3 tasks, 3 of 5 tasks, 500 milli, 2000 mib, 2 failures, 3 succeeded");
}

Result<void> read_details(Cursor& cursor, const Reading& reading, ExpectWorkloads& e) {
  while (!cursor.done()) {
    const Word& word = cursor.peek();
    if (word.quoted) {
      e.texts.push_back(cursor.take().text);
    } else if (cursor.accept("on")) {
      FAIRLEAD_TRY(read_on(cursor, reading, e));
    } else if (cursor.accept("in")) {
      FAIRLEAD_TRY(read_in(cursor, reading, e));
    } else if (cursor.accept("with")) {
      FAIRLEAD_TRY(read_with(cursor, e));
    } else if (cursor.at_keyword("device") || cursor.at_keyword("devices")) {
      FAIRLEAD_TRY(read_on(cursor, reading, e));
    } else if (cursor.accept("among")) {
      if (!cursor.accept("nodes")) cursor.accept("node");
      FAIRLEAD_ASSIGN(e.among, read_node_list(cursor, reading));
    } else if (cursor.accept("not")) {
      if (cursor.accept("now")) {
        e.never = false;
        continue;
      }
      FAIRLEAD_TRY(cursor.expect_keyword("on", "'not'"));
      if (!cursor.accept("node")) cursor.accept("nodes");
      FAIRLEAD_ASSIGN(e.avoided, read_node_list(cursor, reading));
    } else if (cursor.accept("never")) {
      e.never = true;
    } else if (cursor.accept("change")) {
      FAIRLEAD_ASSIGN(const Word change, cursor.expect_word("the change"));
      e.changes.push_back(change.text);
    } else if (cursor.accept("cure")) {
      FAIRLEAD_TRY(cursor.expect_keyword("works", "'cure'"));
      e.cure_works = true;
    } else if (cursor.accept("since")) {
      FAIRLEAD_ASSIGN(const Word at, cursor.expect_word("the time of the start"));
      FAIRLEAD_ASSIGN(e.started_at,
                      cursor.placed(at, parse_instant(at.text, reading.scenario.start)));
    } else if (cursor.accept("and")) {
      continue;
    } else {
      return cursor.fail(
          word, fmt::format("'{}' means nothing here", word.text),
          "allowed: on N nodes, on node n1, on devices 0,1, in one LEVEL, in pool P, among n1,n2, "
          "not on n1, with N tasks, with N milli, with N mib, with near cpus, since 10m, \"text\", "
          "never, not now, change KIND, cure works");
    }
  }
  return {};
}

// Details that say something of what runs need something that runs.
Result<void> check_details(const Cursor& cursor, const ExpectWorkloads& e) {
  const bool runs = e.state == ExpectedState::kRunning;
  const bool of_running = e.tasks || e.hosts || e.device_count || !e.nodes.empty() ||
                          !e.among.empty() || !e.avoided.empty() || !e.devices.empty() ||
                          !e.domains.empty() || !e.pool.empty() || e.near_cpus || e.milli ||
                          e.mib || !e.slices.empty() || e.started_at;
  if (of_running && !runs) {
    return cursor.fail_here("places, devices and task counts are those of what runs",
                            "write 'running', or leave them out");
  }
  const bool explained = e.never || !e.changes.empty() || e.cure_works;
  if (explained && e.state != ExpectedState::kPending && e.state != ExpectedState::kRunning) {
    return cursor.fail_here("only what waits has an explanation", "write 'pending'");
  }
  return {};
}

Result<Expectation> read_workloads(Cursor& cursor, const Reading& reading) {
  ExpectWorkloads e;
  const Word* second = cursor.peek_second();
  const bool counted = (cursor.at_number() && second != nullptr && second->text == "of") ||
                       cursor.at_keyword("exactly") ||
                       (cursor.at_keyword("at") && second != nullptr &&
                        (second->text == "least" || second->text == "most"));
  if (counted) {
    FAIRLEAD_ASSIGN(e.of, read_bound(cursor, "how many"));
    FAIRLEAD_TRY(cursor.expect_keyword("of", "the number"));
  } else if (cursor.at_keyword("none") && second != nullptr && second->text == "of") {
    cursor.take();
    cursor.take();
    e.of = Bound{Comparison::kExactly, 0};
  } else if (cursor.at_keyword("all") && second != nullptr && second->text == "of") {
    cursor.take();
    cursor.take();
  }
  FAIRLEAD_ASSIGN(e.names, read_names(cursor, reading));
  if (!e.of && cursor.accept("share")) {
    ExpectShared shared;
    shared.names = std::move(e.names);
    if (cursor.accept("no")) {
      shared.shared = false;
    } else {
      FAIRLEAD_TRY(cursor.expect_keyword("a", "'share'"));
    }
    shared.device = cursor.accept("device");
    if (!shared.device) FAIRLEAD_TRY(cursor.expect_keyword("node", "'share'"));
    FAIRLEAD_TRY(cursor.expect_end("nothing more"));
    return shared;
  }
  if (cursor.accept("role")) {
    FAIRLEAD_ASSIGN(const Word role, cursor.expect_word("the name of the role"));
    e.role = role.text;
    if (cursor.at_number()) {
      FAIRLEAD_ASSIGN(const std::int64_t index, cursor.expect_number("the number of the task"));
      if (index > 1'000'000) return cursor.fail_here("no role has so many tasks");
      e.index = static_cast<std::int32_t>(index);
    }
  }
  if (cursor.done()) {
    return cursor.fail_here("what is expected is missing",
                            "allowed: running, pending, refused, finished, failed, gone");
  }
  const Word word = cursor.take();
  const auto state = std::find_if(kStates.begin(), kStates.end(), [&](const auto& s) {
    return !word.quoted && word.text == s.first;
  });
  if (state == kStates.end()) {
    const std::vector<std::string> known = {"running",  "pending", "refused",
                                            "finished", "failed",  "gone"};
    return cursor.unknown(word, "a state", known);
  }
  e.state = state->second;
  FAIRLEAD_TRY(read_details(cursor, reading, e));
  FAIRLEAD_TRY(check_details(cursor, e));
  return e;
}

// RESOURCE AMOUNT …, up to what is no resource.
Result<std::map<std::string, std::int64_t>> read_amounts(Cursor& cursor) {
  std::map<std::string, std::int64_t> amounts;
  while (!cursor.done() && !cursor.at_keyword("on") && !cursor.at_keyword("in")) {
    const Word* second = cursor.peek_second();
    if (second == nullptr || second->text.empty() || second->text[0] < '0' ||
        second->text[0] > '9') {
      if (second == nullptr || second->text != "unlimited") break;
    }
    const Word resource = cursor.take();
    const Word amount = cursor.take();
    if (amount.text == "unlimited") {
      amounts[resource.text] = kUnlimited;
      continue;
    }
    FAIRLEAD_ASSIGN(amounts[resource.text],
                    cursor.placed(amount, parse_amount(resource.text, amount.text)));
  }
  if (amounts.empty()) return cursor.fail_here("a resource and its amount are missing", "gpu 8");
  return amounts;
}

// free gpu 8 [on n1 | on n1:0]
Result<Expectation> read_free(Cursor& cursor, const Reading& reading) {
  ExpectFree e;
  FAIRLEAD_ASSIGN(e.amounts, read_amounts(cursor));
  if (e.amounts.contains("gpu")) {
    if (e.amounts["gpu"] % kMilli != 0) {
      return cursor.fail_here("free gpu counts whole free devices",
                              "for parts write: free milli 500");
    }
    e.amounts["gpu"] /= kMilli;
  }
  if (cursor.accept("on")) {
    if (!cursor.accept("node")) cursor.accept("device");
    FAIRLEAD_ASSIGN(const Word word, cursor.expect_word("the node or device"));
    if (word.text.find(':') != std::string::npos) {
      FAIRLEAD_ASSIGN(auto device, read_device_name(cursor, word, reading.symbols));
      e.node = std::move(device.first);
      e.device = std::move(device.second);
    } else if (reading.symbols.nodes.contains(word.text)) {
      e.node = word.text;
    } else {
      return cursor.unknown(word, "a node", names_of(reading.symbols.nodes));
    }
  }
  FAIRLEAD_TRY(cursor.expect_end("on NODE or on NODE:DEVICE"));
  return e;
}

// queue Q allocated gpu 4 cpu 8, fair-share gpu 6, in pool P
Result<Expectation> read_figures(bool of_pool, Cursor& cursor, const Reading& reading) {
  ExpectFigures e;
  e.of_pool = of_pool;
  FAIRLEAD_ASSIGN(const Word name, cursor.expect_word("the name"));
  e.name = name.text;
  if (!of_pool && !reading.symbols.queues.contains(e.name)) {
    return cursor.unknown(name, "a queue", names_of(reading.symbols.queues));
  }
  const std::vector<std::string> known =
      of_pool ? std::vector<std::string>{"capacity", "allocated"}
              : std::vector<std::string>{"allocated",  "non-preemptible", "requested",
                                         "fair-share", "quota",           "limit"};
  while (!cursor.done()) {
    if (cursor.accept("in")) {
      FAIRLEAD_TRY(cursor.expect_keyword("pool", "'in'"));
      FAIRLEAD_ASSIGN(const Word pool, cursor.expect_word("the name of the pool"));
      e.pool = pool.text;
      continue;
    }
    const Word figure = cursor.take();
    if (std::find(known.begin(), known.end(), figure.text) == known.end()) {
      return cursor.unknown(figure, "a figure", known);
    }
    FAIRLEAD_ASSIGN(e.figures[figure.text], read_amounts(cursor));
  }
  if (e.figures.empty()) return cursor.fail_here("a figure is missing", "allocated gpu 4");
  return e;
}

Result<Expectation> read_node(Cursor& cursor) {
  ExpectNode e;
  FAIRLEAD_ASSIGN(const Word name, cursor.expect_word("the name of the node"));
  e.node = name.text;
  FAIRLEAD_ASSIGN(const Word word, cursor.expect_word("up, down, cordoned or gone"));
  if (word.text == "up" || word.text == "down") {
    e.ready = word.text == "up";
  } else if (word.text == "cordoned" || word.text == "uncordoned") {
    e.schedulable = word.text == "uncordoned";
  } else if (word.text == "gone") {
    e.gone = true;
  } else {
    const std::vector<std::string> known = {"up", "down", "cordoned", "uncordoned", "gone"};
    return cursor.unknown(word, "a condition of a node", known);
  }
  FAIRLEAD_TRY(cursor.expect_end("nothing more"));
  return e;
}

// device n1:0 healthy | unhealthy | free | held by a,b
Result<Expectation> read_device(Cursor& cursor, const Reading& reading) {
  ExpectDevice e;
  FAIRLEAD_ASSIGN(const Word name, cursor.expect_word("the device, as NODE:DEVICE"));
  FAIRLEAD_ASSIGN(auto device, read_device_name(cursor, name, reading.symbols));
  e.node = std::move(device.first);
  e.device = std::move(device.second);
  if (cursor.done()) return cursor.fail_here("healthy, unhealthy, free or held by is missing");
  while (!cursor.done()) {
    const Word word = cursor.take();
    if (word.text == "healthy" || word.text == "unhealthy") {
      e.healthy = word.text == "healthy";
    } else if (word.text == "free") {
      e.holders.emplace();
    } else if (word.text == "held") {
      FAIRLEAD_TRY(cursor.expect_keyword("by", "'held'"));
      FAIRLEAD_ASSIGN(const Word holders, cursor.expect_word("who holds it"));
      FAIRLEAD_ASSIGN(e.holders, cursor.placed(holders, expand_names(holders.text)));
    } else {
      const std::vector<std::string> known = {"healthy", "unhealthy", "free", "held"};
      return cursor.unknown(word, "a condition of a device", known);
    }
  }
  return e;
}

Result<Expectation> read_error(Cursor& cursor) {
  ExpectError e;
  while (!cursor.done()) {
    if (!cursor.peek().quoted) {
      return cursor.fail(cursor.peek(), "a part of the message must be here, in quotes",
                         "expect error \"in use\"");
    }
    e.texts.push_back(cursor.take().text);
  }
  return e;
}

}  // namespace

Result<Expectation> read_expectation(Cursor& cursor, const Reading& reading) {
  if (cursor.done()) {
    return cursor.fail_here("what is expected is missing", "expect train-a running on 3 nodes");
  }
  if (cursor.accept("free")) return read_free(cursor, reading);
  if (cursor.accept("queue") || cursor.accept("project") || cursor.accept("department")) {
    return read_figures(false, cursor, reading);
  }
  if (cursor.accept("pool")) return read_figures(true, cursor, reading);
  if (cursor.accept("node")) return read_node(cursor);
  if (cursor.accept("device")) return read_device(cursor, reading);
  if (cursor.accept("error")) return read_error(cursor);
  if (cursor.accept("start")) {
    FAIRLEAD_TRY(cursor.expect_keyword("order", "'start'"));
    ExpectStartOrder e;
    FAIRLEAD_ASSIGN(e.names, read_names(cursor, reading));
    FAIRLEAD_TRY(cursor.expect_end("names of workloads"));
    return e;
  }
  return read_workloads(cursor, reading);
}

}  // namespace fairlead::sim
