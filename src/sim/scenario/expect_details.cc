#include "sim/scenario/expect_details.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "sim/scenario/once.h"
#include "sim/scenario/time_text.h"

namespace fairlead::sim {
namespace {

bool at_bound(const Cursor& cursor) {
  return cursor.at_number() || cursor.at_keyword("at") || cursor.at_keyword("exactly");
}

std::string singular(std::string text) {
  if (text.ends_with("ches"))
    text.resize(text.size() - 2);  // switches
  else if (text.ends_with("s") && text.size() > 1)
    text.pop_back();
  return text;
}

// in one rack | in 2 racks | in rack r1 | in pool p, with "per 4 tasks"
Result<void> read_in(Cursor& cursor, const Reading& reading, Once& stated, ExpectWorkloads& e) {
  if (cursor.at_keyword("pool")) {
    FAIRLEAD_TRY(stated.note(cursor, cursor.take(), "pool"));
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
Result<void> read_on(Cursor& cursor, const Reading& reading, Once& stated, ExpectWorkloads& e) {
  if (at_bound(cursor)) {
    FAIRLEAD_ASSIGN(const Bound bound, read_bound(cursor, "how many"));
    if (cursor.done()) return cursor.fail_here("'nodes' or 'devices' is missing", "on 3 nodes");
    const Word& counted = cursor.peek();
    const bool of_devices = cursor.at_keyword("device") || cursor.at_keyword("devices");
    FAIRLEAD_TRY(stated.note(cursor, counted, of_devices ? "on N devices" : "on N nodes"));
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
    FAIRLEAD_TRY(stated.note(cursor, word, "on device"));
    e.devices = split_list(word.text);
    return {};
  }
  if (!cursor.accept("node")) cursor.accept("nodes");
  if (!cursor.done()) FAIRLEAD_TRY(stated.note(cursor, cursor.peek(), "on node"));
  FAIRLEAD_ASSIGN(e.nodes, read_node_names(cursor, reading));
  return {};
}

// with 3 tasks | with 3 of 5 tasks | with 500 milli | with 2000 mib | with 2 failures |
// with 3 succeeded | with near cpus | with slices 0,4
Result<void> read_with(Cursor& cursor, Once& stated, ExpectWorkloads& e) {
  if (cursor.accept("near")) {
    FAIRLEAD_TRY(cursor.expect_keyword("cpus", "'near'"));
    e.near_cpus = true;
    return {};
  }
  if (cursor.accept("slices") || cursor.accept("slice")) {
    FAIRLEAD_ASSIGN(const Word word, cursor.expect_word("the first memory slices"));
    FAIRLEAD_TRY(stated.note(cursor, word, "with slices"));
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
  if (cursor.at_keyword("tasks") || cursor.at_keyword("task")) {
    FAIRLEAD_TRY(stated.note(cursor, cursor.take(), "with tasks"));
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
    if (!cursor.at_keyword(word)) continue;
    FAIRLEAD_TRY(stated.note(
        cursor, cursor.take(),
        std::string_view(word) == "failure" ? "with failures" : fmt::format("with {}", word)));
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

}  // namespace

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

Result<void> read_details(Cursor& cursor, const Reading& reading, ExpectWorkloads& e) {
  Once stated;
  while (!cursor.done()) {
    const Word& word = cursor.peek();
    if (word.quoted) {
      e.texts.push_back(cursor.take().text);
    } else if (cursor.accept("on")) {
      FAIRLEAD_TRY(read_on(cursor, reading, stated, e));
    } else if (cursor.accept("in")) {
      FAIRLEAD_TRY(read_in(cursor, reading, stated, e));
    } else if (cursor.accept("with")) {
      FAIRLEAD_TRY(read_with(cursor, stated, e));
    } else if (cursor.at_keyword("device") || cursor.at_keyword("devices")) {
      FAIRLEAD_TRY(read_on(cursor, reading, stated, e));
    } else if (cursor.accept("among")) {
      FAIRLEAD_TRY(stated.note(cursor, word, "among"));
      if (!cursor.accept("nodes")) cursor.accept("node");
      FAIRLEAD_ASSIGN(e.among, read_node_names(cursor, reading));
    } else if (cursor.accept("not")) {
      if (cursor.at_keyword("now")) {
        FAIRLEAD_TRY(stated.note(cursor, cursor.take(), "never"));
        e.never = false;
        continue;
      }
      if (cursor.accept("reserved")) {
        e.reserved = false;
        continue;
      }
      FAIRLEAD_TRY(cursor.expect_keyword("on", "'not'"));
      FAIRLEAD_TRY(stated.note(cursor, word, "not on"));
      if (!cursor.accept("node")) cursor.accept("nodes");
      FAIRLEAD_ASSIGN(e.avoided, read_node_names(cursor, reading));
    } else if (cursor.accept("reserved")) {
      e.reserved = true;
      if (cursor.accept("at")) {
        FAIRLEAD_ASSIGN(const Word at, cursor.expect_word("the time of the start"));
        FAIRLEAD_ASSIGN(e.reserved_at,
                        cursor.placed(at, parse_instant(at.text, reading.scenario.start)));
      }
      if (cursor.accept("on")) {
        if (!cursor.accept("node")) cursor.accept("nodes");
        FAIRLEAD_ASSIGN(e.reserved_nodes, read_node_names(cursor, reading));
      }
    } else if (cursor.accept("starts")) {
      const bool by = cursor.accept("by");
      if (!by) FAIRLEAD_TRY(cursor.expect_keyword("from", "'starts'"));
      FAIRLEAD_ASSIGN(const Word at, cursor.expect_word("the time of the start"));
      FAIRLEAD_ASSIGN((by ? e.starts_by : e.starts_from),
                      cursor.placed(at, parse_instant(at.text, reading.scenario.start)));
    } else if (cursor.accept("never")) {
      FAIRLEAD_TRY(stated.note(cursor, word, "never"));
      e.never = true;
    } else if (cursor.accept("change")) {
      FAIRLEAD_ASSIGN(const Word change, cursor.expect_word("the change"));
      e.changes.push_back(change.text);
    } else if (cursor.accept("cure")) {
      FAIRLEAD_TRY(cursor.expect_keyword("works", "'cure'"));
      e.cure_works = true;
    } else if (cursor.accept("since")) {
      FAIRLEAD_TRY(stated.note(cursor, word, "since"));
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
          "never, not now, reserved at 10m on n1,n2, not reserved, starts from 5m, starts by 10m, "
          " change KIND, cure works");
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
  const bool explained =
      e.never || e.reserved || e.starts_from || e.starts_by || !e.changes.empty() || e.cure_works;
  if (explained && e.state != ExpectedState::kPending && e.state != ExpectedState::kRunning) {
    return cursor.fail_here("only what waits has an explanation", "write 'pending'");
  }
  return {};
}

}  // namespace fairlead::sim
