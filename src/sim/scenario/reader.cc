#include "sim/scenario/reader.h"

#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/time.h"
#include "sim/scenario/reading.h"

namespace fairlead::sim {
namespace {

// rule 6.4 [6.5 …]
Result<void> read_rules(Cursor& cursor, Reading& reading) {
  if (cursor.done()) return cursor.fail_here("the number of the rule is missing", "rule 6.4");
  while (!cursor.done()) {
    const Word word = cursor.take();
    for (std::string& rule : split_list(word.text)) {
      if (rule.empty() || rule.find_first_not_of("0123456789.I") != std::string::npos) {
        return cursor.fail(word, fmt::format("'{}' is not the number of a rule", word.text),
                           "quote the rule of docs/semantics.md: rule 6.4");
      }
      reading.scenario.rules.push_back(std::move(rule));
    }
  }
  return {};
}

// start 2026-01-05T08:00:00Z
Result<void> read_start(Cursor& cursor, Reading& reading) {
  FAIRLEAD_ASSIGN(const Word word, cursor.expect_word("the time of the start"));
  if (!reading.scenario.steps.empty()) {
    return cursor.fail(word, "the clock is set after something happened",
                       "put 'start' above the first statement that builds the cluster");
  }
  FAIRLEAD_TRY(reading.stated.note(cursor, word, "start"));
  FAIRLEAD_ASSIGN(reading.scenario.start, cursor.placed(word, parse_rfc3339(word.text)));
  reading.symbols.now = reading.scenario.start;
  return cursor.expect_end("nothing more");
}

Result<void> read_options(const Word& verb, Cursor& cursor, Reading& reading) {
  if (!reading.scenario.steps.empty()) {
    return cursor.fail(verb, fmt::format("'{}' comes after something happened", verb.text),
                       "put it above the first statement that builds the cluster");
  }
  FAIRLEAD_TRY(reading.stated.note(cursor, verb, verb.text));
  FAIRLEAD_ASSIGN(const Word word, cursor.expect_word("its value"));
  sched::SchedulerOptions& options = reading.scenario.options;
  if (verb.text == "placement") {
    options.placement = word.text;
  } else {
    FAIRLEAD_ASSIGN(const std::int64_t n,
                    cursor.placed(word, parse_count(word.text, 0, std::int64_t{1} << 62)));
    if (verb.text == "seed") {
      options.seed = static_cast<std::uint64_t>(n);
    } else {
      options.search_steps = n;
    }
  }
  return cursor.expect_end("nothing more");
}

Result<void> read_change(Cursor& cursor, Reading& reading) {
  if (cursor.accept("node") || cursor.accept("nodes")) return read_nodes(cursor, reading, true);
  if (cursor.accept("queue") || cursor.accept("project") || cursor.accept("department")) {
    return read_queue(cursor, reading, true);
  }
  if (cursor.accept("pool")) return read_pool(cursor, reading, true);
  return read_workload_change(cursor, reading);
}

}  // namespace

Result<void> read_statement(const Statement& statement, Reading& reading) {
  Cursor cursor(statement, reading.scenario.file);
  const Word& verb = cursor.take();
  const std::string& name = verb.text;
  if (name == "expect") {
    FAIRLEAD_ASSIGN(Expectation expectation, read_expectation(cursor, reading));
    reading.add_step(cursor.line(), std::move(expectation));
    return {};
  }
  if (name == "rule" || name == "rules") return read_rules(cursor, reading);
  if (name == "unchecked") {
    reading.symbols.unchecked = true;
    return cursor.expect_end("nothing");
  }
  if (name == "start") return read_start(cursor, reading);
  if (name == "placement" || name == "seed" || name == "search-steps") {
    return read_options(verb, cursor, reading);
  }
  if (name == "levels") return read_levels(cursor, reading);
  if (name == "class") return read_class(cursor, reading);
  if (name == "pool") return read_pool(cursor, reading, false);
  if (name == "cluster") return read_cluster(cursor, reading);
  if (name == "node" || name == "nodes") return read_nodes(cursor, reading, false);
  if (name == "department" || name == "project" || name == "queue") {
    return read_queue(cursor, reading, false);
  }
  if (name == "submit") return read_submit(cursor, reading);
  if (name == "running") return read_running(cursor, reading);
  if (name == "mix") return read_mix(cursor, reading);
  if (name == "change") return read_change(cursor, reading);
  return read_event(verb, cursor, reading);
}

std::expected<Scenario, std::vector<Error>> read_whole_scenario(std::string_view text,
                                                                std::string_view file) {
  constexpr std::size_t kMostErrors = 20;
  Result<Lexed> read = lex_scenario(text, file);
  if (!read) return std::unexpected(std::vector<Error>{std::move(read).error()});
  Lexed& lexed = *read;
  std::vector<Error> errors;
  Reading reading;
  reading.scenario.file = file;
  reading.symbols.now = reading.scenario.start;
  if (!lexed.opening.empty()) {
    reading.scenario.title = std::move(lexed.opening.front());
    lexed.opening.erase(lexed.opening.begin());
    reading.scenario.story = std::move(lexed.opening);
  }
  for (const Statement& statement : lexed.statements) foresee_queue(statement, reading);
  for (const Statement& statement : lexed.statements) {
    Result<void> taken = read_statement(statement, reading);
    if (std::optional<Error> excess = reading.size.excess()) {
      excess->where = Cursor(statement, file).place(statement.words.front());
      errors.push_back(std::move(*excess));
      break;
    }
    if (taken) continue;
    errors.push_back(std::move(taken).error());
    if (errors.size() == kMostErrors) break;
    if (statement.words.front().text != "expect") reading.symbols.unchecked = true;
  }
  if (errors.empty() && reading.scenario.steps.empty()) {
    errors.push_back(Error{ErrorCode::kInvalidArgument,
                           "the scenario is empty",
                           std::string(file),
                           {},
                           "begin with: cluster 1 node, 8 gpu"});
  }
  if (!errors.empty()) return std::unexpected(std::move(errors));
  return std::move(reading.scenario);
}

Result<Scenario> read_scenario(std::string_view text, std::string_view file) {
  auto scenario = read_whole_scenario(text, file);
  if (!scenario) return std::unexpected(std::move(scenario.error().front()));
  return std::move(*scenario);
}

}  // namespace fairlead::sim
