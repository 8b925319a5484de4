// expect statements.

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/nearest.h"
#include "sim/scenario/expect_details.h"
#include "sim/scenario/once.h"
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

const std::vector<std::string>& state_names() {
  static const std::vector<std::string> names = {"running",  "pending", "refused",
                                                 "finished", "failed",  "gone"};
  return names;
}

bool at_state(const Cursor& cursor) {
  return std::any_of(kStates.begin(), kStates.end(),
                     [&](const auto& state) { return cursor.at_keyword(state.first); });
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
      const bool found = name.find('*') == std::string::npos
                             ? known.contains(name)
                             : std::any_of(known.begin(), known.end(), [&](const auto& entry) {
                                 return matches(name, entry.first);
                               });
      if (!found && !names.empty()) {
        const std::string state = nearest_name(name, state_names());
        if (!state.empty()) {
          return cursor.fail(word, fmt::format("'{}' is neither a workload nor a state", name),
                             fmt::format("did you mean '{}'?", state));
        }
      }
      if (!found && !reading.symbols.unchecked) {
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
    return cursor.unknown(word, "a state", state_names());
  }
  e.state = state->second;
  FAIRLEAD_TRY(read_details(cursor, reading, e));
  FAIRLEAD_TRY(check_details(cursor, e));
  return e;
}

// RESOURCE AMOUNT …, up to what is no resource.
Result<std::map<std::string, std::int64_t>> read_amounts(Cursor& cursor) {
  std::map<std::string, std::int64_t> amounts;
  Once stated;
  while (!cursor.done() && !cursor.at_keyword("on") && !cursor.at_keyword("in")) {
    const Word* second = cursor.peek_second();
    if (second == nullptr || second->text.empty() || second->text[0] < '0' ||
        second->text[0] > '9') {
      if (second == nullptr || (second->text != "unlimited" && second->text != "-1")) break;
    }
    const Word resource = cursor.take();
    FAIRLEAD_TRY(stated.note(cursor, resource, resource.text));
    const Word amount = cursor.take();
    if (amount.text == "unlimited" || amount.text == "-1") {
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
    } else if (reading.symbols.unchecked || reading.symbols.nodes.contains(word.text)) {
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
  if (!of_pool && !reading.symbols.unchecked && !reading.symbols.queues.contains(e.name)) {
    return cursor.unknown(name, "a queue", names_of(reading.symbols.queues));
  }
  const std::vector<std::string> known =
      of_pool ? std::vector<std::string>{"capacity", "allocated"}
              : std::vector<std::string>{"allocated",  "non-preemptible", "requested",
                                         "fair-share", "quota",           "limit"};
  Once stated;
  while (!cursor.done()) {
    if (cursor.accept("in")) {
      FAIRLEAD_TRY(cursor.expect_keyword("pool", "'in'"));
      FAIRLEAD_ASSIGN(const Word pool, cursor.expect_word("the name of the pool"));
      FAIRLEAD_TRY(stated.note(cursor, pool, "in pool"));
      e.pool = pool.text;
      continue;
    }
    const Word figure = cursor.take();
    if (std::find(known.begin(), known.end(), figure.text) == known.end()) {
      return cursor.unknown(figure, "a figure", known);
    }
    FAIRLEAD_TRY(stated.note(cursor, figure, figure.text));
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
  Once stated;
  while (!cursor.done()) {
    const Word word = cursor.take();
    if (word.text == "healthy" || word.text == "unhealthy") {
      FAIRLEAD_TRY(stated.note(cursor, word, "health"));
      e.healthy = word.text == "healthy";
    } else if (word.text == "free") {
      FAIRLEAD_TRY(stated.note(cursor, word, "holders"));
      e.holders.emplace();
    } else if (word.text == "held") {
      FAIRLEAD_TRY(stated.note(cursor, word, "holders"));
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
