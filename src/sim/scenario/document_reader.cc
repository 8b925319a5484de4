#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "model/document.h"
#include "sim/scenario/document.h"
#include "sim/scenario/document_parts.h"
#include "sim/scenario/reader.h"
#include "sim/scenario/time_text.h"

namespace fairlead::sim {
namespace {

void read_events(ObjectReader& in, Reading& reading) {
  in.each("events", [&](const Value& item) { read_document_event(item, in.findings(), reading); });
}

void read_expectations(ObjectReader& in, Reading& reading) {
  in.each("expect", [&](const Value& item) {
    auto expectation = read_document_expectation(item, in.findings(), reading);
    if (expectation) reading.add_step(item.line(), std::move(*expectation));
  });
}

// {at: 10m, events: […], expect: […]}
void read_step(const Value& value, Findings& findings, Reading& reading) {
  ObjectReader in(value, findings);
  if (!in.ok()) return;
  const Value* at = in.get("at");
  const Value* after = in.get("after");
  ClockMoved move{reading.symbols.now, in.boolean("asleep").value_or(false)};
  if (at != nullptr) {
    move.to = as_scenario_time(*at, findings, reading.scenario.start).value_or(move.to);
  }
  if (after != nullptr) {
    move.to = reading.symbols.now + as_duration(*after, findings).value_or(Duration{});
  }
  if (at != nullptr && after != nullptr) {
    findings.error(*after, ErrorCode::kInvalidArgument, "\"at\" says the time already",
                   "remove one of \"at\" and \"after\"");
  }
  if (move.to < reading.symbols.now) {
    findings.error(at != nullptr ? *at : *after, ErrorCode::kInvalidArgument,
                   "time does not run backwards",
                   fmt::format("it is {} after the start here",
                               instant_text(reading.symbols.now, reading.scenario.start)));
    return;
  }
  if (at != nullptr || after != nullptr) {
    reading.symbols.now = move.to;
    reading.add_step(value.line(), move);
  }
  read_events(in, reading);
  read_expectations(in, reading);
}

void read_head(ObjectReader& in, Reading& reading) {
  Scenario& scenario = reading.scenario;
  const auto version = in.string("apiVersion");
  if (version && *version != "fairlead/v1") {
    in.findings().error(*in.get("apiVersion"), ErrorCode::kInvalidArgument,
                        in.get("apiVersion")->brief() + " is not a version this program reads",
                        "write apiVersion: fairlead/v1");
  }
  in.allow({"kind"});
  scenario.title = in.string("title").value_or("");
  if (const Value* story = in.get("story")) {
    if (story->is_list()) {
      for (const Value& line : story->items()) {
        scenario.story.push_back(as_string(line, in.findings()).value_or(""));
      }
    } else {
      std::string_view rest = story->text();
      while (!rest.empty()) {
        const std::size_t end = rest.find('\n');
        scenario.story.emplace_back(rest.substr(0, end));
        rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
      }
    }
  }
  reading.symbols.unchecked = in.boolean("unchecked").value_or(false);
  scenario.rules = in.names("rules");
  scenario.start = in.instant("start").value_or(kScenarioStart);
  reading.symbols.now = scenario.start;
  scenario.options.placement = in.name("placement").value_or(scenario.options.placement);
  scenario.options.seed =
      static_cast<std::uint64_t>(in.integer("seed", 0, std::int64_t{1} << 62)
                                     .value_or(static_cast<std::int64_t>(scenario.options.seed)));
  scenario.options.search_steps =
      in.integer("searchSteps", 1).value_or(scenario.options.search_steps);
}

void read_root(const Value& root, Findings& findings, Reading& reading) {
  ObjectReader in(root, findings);
  if (!in.ok()) return;
  read_head(in, reading);
  read_document_cluster(in, true, reading);
  read_events(in, reading);
  read_expectations(in, reading);
  in.each("steps", [&](const Value& item) { read_step(item, findings, reading); });
}

bool ends_with_any(std::string_view text, std::initializer_list<std::string_view> ends) {
  return std::any_of(ends.begin(), ends.end(), [&](auto end) { return text.ends_with(end); });
}

}  // namespace

std::optional<Statement> statement_of(const Value& value, Findings& findings,
                                      std::string_view first_word) {
  const auto text = as_string(value, findings);
  if (!text) return std::nullopt;
  // A block scalar has lines: those after the first go on with it.
  std::string joined(first_word);
  joined += ' ';
  for (const char c : *text) joined += c == '\n' ? ' ' : c;
  if (const std::size_t begin = joined.find_first_not_of(' '); begin != std::string::npos) {
    joined.erase(0, begin);
  }
  Result<Lexed> lexed = lex_scenario(joined, "");
  if (!lexed) {
    findings.error(value,
                   Error{lexed.error().code, lexed.error().message, {}, {}, lexed.error().cure});
    return std::nullopt;
  }
  if (lexed->statements.empty()) {
    findings.error(value, ErrorCode::kInvalidArgument, "an empty text says nothing",
                   "write a statement of the readable language, or a map");
    return std::nullopt;
  }
  Statement statement = std::move(lexed->statements.front());
  for (Word& word : statement.words) word.line = value.line();
  return statement;
}

std::optional<Instant> as_scenario_time(const Value& value, Findings& findings, Instant start) {
  const auto text = as_string(value, findings);
  if (!text) return std::nullopt;
  const Result<Instant> at = parse_instant(*text, start);
  if (at) return *at;
  findings.error(value, at.error());
  return std::nullopt;
}

std::expected<Scenario, std::vector<Error>> parse_scenario_document(std::string_view text,
                                                                    std::string file) {
  auto document = Document::parse(text, file);
  if (!document) return std::unexpected(document.error());
  Findings findings(file);
  Reading reading;
  reading.scenario.file = file;
  const auto roots = document->roots();
  if (roots.size() != 1 || document_kind(roots.front()) != "Scenario") {
    const std::string kind = roots.empty() ? "" : document_kind(roots.front());
    Error error{ErrorCode::kInvalidArgument,
                roots.empty()      ? "the document is empty"
                : roots.size() > 1 ? fmt::format("the file holds {} documents", roots.size())
                : kind.empty()     ? "the document does not say that it is a scenario"
                                   : fmt::format("the document is a {}, no scenario", kind),
                file,
                {},
                "a scenario file holds one document, with \"kind: Scenario\"; `fairlead validate` "
                "checks documents of every kind"};
    return std::unexpected(std::vector<Error>{std::move(error)});
  }
  read_root(roots.front(), findings, reading);
  if (findings.ok() && reading.scenario.steps.empty()) {
    findings.error(roots.front(), ErrorCode::kInvalidArgument, "the scenario is empty",
                   "state nodes, queues, events and what is expected");
  }
  if (!findings.ok()) return std::unexpected(findings.take_errors());
  return std::move(reading.scenario);
}

std::expected<Scenario, std::vector<Error>> parse_scenario(std::string_view text,
                                                           std::string file) {
  bool document = ends_with_any(file, {".yaml", ".yml", ".json"});
  if (!document && !file.ends_with(".scn")) {
    const std::size_t begin = text.find_first_not_of(" \t\r\n");
    const std::string_view start = begin == std::string_view::npos ? "" : text.substr(begin);
    document = start.starts_with('{') || start.starts_with("---") ||
               start.starts_with("apiVersion:") || start.starts_with("kind:") ||
               text.find("\nkind: Scenario") != std::string_view::npos;
  }
  if (document) return parse_scenario_document(text, std::move(file));
  return read_whole_scenario(text, file);
}

}  // namespace fairlead::sim
