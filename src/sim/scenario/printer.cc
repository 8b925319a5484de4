#include "sim/scenario/printer.h"

#include <optional>

#include <fmt/format.h>

#include "sim/scenario/cursor.h"
#include "sim/scenario/lexer.h"
#include "sim/scenario/reader.h"
#include "sim/scenario/spec_printer.h"
#include "sim/scenario/symbols.h"
#include "sim/scenario/time_text.h"

namespace fairlead::sim {
namespace {

// A statement in parts, so that equal ones about n1, n2, n3 become one about n1..n3.
struct Line {
  std::string verb;
  std::string name;
  std::string rest;
};

std::string times(std::string_view verb, std::string_view name) {
  return fmt::format("{} {}", verb, word_text(name));
}

// [ROLE [INDEX]]
std::string tasks_text(const std::string& role, std::int32_t index) {
  std::string text = role.empty() ? "" : " " + word_text(role);
  if (index >= 0) text += fmt::format(" {}", index);
  return text;
}

struct EventPrinter {
  Symbols& symbols;
  Instant start;

  using Printed = std::optional<Line>;

  Printed operator()(const sched::TopologyDefined& e) const {
    if (e.levels.empty()) return std::nullopt;  // the reader adds it
    std::string levels;
    for (const std::string& level : e.levels) levels += (levels.empty() ? "" : ",") + level;
    return Line{"levels " + levels, {}, {}};
  }
  Printed operator()(const sched::DeviceClassDefined& e) const {
    const DeviceClass* known = known_device_class(e.device_class.name);
    if (known != nullptr && *known == e.device_class) return std::nullopt;  // likewise
    return Line{"class", e.device_class.name, class_text(e.device_class)};
  }
  Printed operator()(const sched::PoolDefined& e) const {
    return Line{"pool", e.pool.name, pool_text(e.pool)};
  }
  Printed operator()(const sched::NodeUpserted& e) const {
    return Line{"node", e.node.name, node_text(e.node, symbols.levels)};
  }
  Printed operator()(const sched::NodeRemoved& e) const { return Line{"remove node", e.node, {}}; }
  Printed operator()(const sched::NodeConditionChanged& e) const {
    const auto it = symbols.nodes.find(e.node);
    const bool ready = it == symbols.nodes.end() || it->second.ready;
    const bool schedulable = it == symbols.nodes.end() || it->second.schedulable;
    std::string text;
    if (ready != e.ready || schedulable == e.schedulable) text = e.ready ? "up" : "down";
    if (schedulable != e.schedulable) {
      const char* verb = e.schedulable ? "uncordon" : "cordon";
      if (text.empty()) return Line{verb, e.node, {}};
      return Line{times(text, e.node) + "\n" + times(verb, e.node), {}, {}};
    }
    return Line{text, e.node, {}};
  }
  Printed operator()(const sched::DeviceHealthChanged& e) const {
    return Line{e.health == DeviceHealth::kHealthy ? "healthy" : "unhealthy",
                {},
                " " + word_text(e.node + ":" + e.device)};
  }
  Printed operator()(const sched::QueueUpserted& e) const {
    return Line{"queue", e.queue.name, queue_text(e.queue)};
  }
  Printed operator()(const sched::QueueRemoved& e) const {
    return Line{"remove queue", e.queue, {}};
  }
  Printed operator()(const sched::WorkloadSubmitted& e) const {
    return Line{"submit", e.workload.name, workload_text(e.workload, start)};
  }
  Printed operator()(const sched::WorkloadAdopted& e) const {
    return Line{"running", e.entry.spec.name, running_text(e.entry, start)};
  }
  Printed operator()(const sched::WorkloadChanged& e) const {
    std::string text;
    if (e.priority) text += fmt::format(" priority={}", *e.priority);
    if (e.order_key) text += fmt::format(" order={}", *e.order_key);
    for (const sched::RoleChange& role : e.roles) {
      text += " role " + word_text(role.role);
      if (role.count && role.min) {
        text += fmt::format(" count={}..{}", *role.min, *role.count);
      } else if (role.count) {
        text += fmt::format(" max={}", *role.count);
      } else if (role.min) {
        text += fmt::format(" min={}", *role.min);
      }
    }
    return Line{"change", e.workload, text};
  }
  Printed operator()(const sched::WorkloadRemoved& e) const {
    return Line{"remove", e.workload, {}};
  }
  Printed operator()(const sched::TaskEnded& e) const {
    const char* verb = e.outcome == sched::TaskOutcome::kSucceeded ? "finish"
                       : e.outcome == sched::TaskOutcome::kFailed  ? "fail"
                                                                   : "lose";
    return Line{verb, e.workload, tasks_text(e.role, e.index)};
  }
  Printed operator()(const sched::CheckpointSaved& e) const {
    return Line{"checkpoint", e.workload, tasks_text(e.role, e.index)};
  }
  Printed operator()(const sched::WorkloadRequeued& e) const {
    return Line{"requeue", e.workload, {}};
  }
  Printed operator()(const sched::StartRefused& e) const {
    return Line{"refuse-start", e.workload,
                fmt::format(" retry={}", to_text(e.retry_at - symbols.now))};
  }
  Printed operator()(const sched::MixStated& e) const {
    std::string text = "mix";
    for (const sched::MixStated::Entry& entry : e.entries) {
      text += fmt::format("\n  entry times={}{}", entry.count,
                          request_text(entry.request, entry.constraints));
    }
    return Line{text, {}, {}};
  }
  Printed operator()(const sched::ReservationUpserted& e) const {
    const ReservationSpec& r = e.reservation;
    std::string text = fmt::format(" nodes={} from={} until={}", list_text(r.nodes),
                                   instant_text(r.from, start), instant_text(r.until, start));
    if (!r.queues.empty()) text += " for=" + list_text(r.queues);
    return Line{"reserve", r.name, text};
  }
  Printed operator()(const sched::ReservationRemoved& e) const {
    return Line{"release", e.reservation, {}};
  }
  // A scenario begins without a history.
  Printed operator()(const sched::UsageRestored&) const { return std::nullopt; }
  Printed operator()(const sched::RuntimesRestored&) const { return std::nullopt; }
  Printed operator()(const sched::TimePassed&) const { return std::nullopt; }
};

struct StepPrinter {
  Symbols& symbols;
  Instant start;

  std::optional<Line> operator()(const sched::Event& event) const {
    std::optional<Line> line = std::visit(EventPrinter{symbols, start}, event);
    symbols.note(event);
    return line;
  }
  std::optional<Line> operator()(const ClockMoved& e) const {
    symbols.now = e.to;
    return Line{
        fmt::format("at {}{}", instant_text(e.to, start), e.asleep ? " asleep" : ""), {}, {}};
  }
  std::optional<Line> operator()(const DecideNow&) const { return Line{"decide", {}, {}}; }
  std::optional<Line> operator()(const TasksEnd& e) const {
    const char* verb = e.outcome == sched::TaskOutcome::kSucceeded ? "finish"
                       : e.outcome == sched::TaskOutcome::kFailed  ? "fail"
                                                                   : "lose";
    return Line{verb, e.workload, tasks_text(e.role, e.index)};
  }
  std::optional<Line> operator()(const Expectation& e) const {
    return Line{"expect " + expectation_text(e, start), {}, {}};
  }
};

// The name that follows in a row: n9 after n8; empty if `name` has no number at its end.
std::string successor(const std::string& name) {
  std::size_t at = name.size();
  while (at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9') --at;
  if (at == name.size() || name.size() - at > 9) return {};
  if (name[at] == '0' && name.size() - at > 1) return {};
  return fmt::format("{}{}", name.substr(0, at), std::stoll(name.substr(at)) + 1);
}

std::string text_of(const Scenario& scenario, bool unchecked) {
  std::string out;
  if (!scenario.title.empty()) out += fmt::format("# {}\n", scenario.title);
  for (const std::string& line : scenario.story) {
    out += line.empty() ? "#\n" : fmt::format("# {}\n", line);
  }
  if (unchecked) out += "unchecked\n";
  for (std::size_t i = 0; i < scenario.rules.size(); ++i) {
    out += fmt::format("{}{}", i == 0 ? "rule " : " ", scenario.rules[i]);
  }
  if (!scenario.rules.empty()) out += "\n";
  if (scenario.start != kScenarioStart)
    out += fmt::format("start {}\n", to_rfc3339(scenario.start));
  const sched::SchedulerOptions usual;
  if (scenario.options.placement != usual.placement) {
    out += fmt::format("placement {}\n", word_text(scenario.options.placement));
  }
  if (scenario.options.seed != usual.seed) out += fmt::format("seed {}\n", scenario.options.seed);
  if (scenario.options.search_steps != usual.search_steps) {
    out += fmt::format("search-steps {}\n", scenario.options.search_steps);
  }
  Symbols symbols;
  symbols.now = scenario.start;
  std::optional<Line> held;  // printed when it is known how far its range goes
  std::string last;          // the last name of the range
  const auto flush = [&] {
    if (!held) return;
    out += held->verb;
    if (!held->name.empty()) {
      out += " " + (last == held->name ? word_text(last) : fmt::format("{}..{}", held->name, last));
    }
    out += held->rest + "\n";
    held.reset();
  };
  for (const Step& step : scenario.steps) {
    std::optional<Line> line = std::visit(StepPrinter{symbols, scenario.start}, step.what);
    if (!line) continue;
    const bool ranged = held && !line->name.empty() && held->verb == line->verb &&
                        held->rest == line->rest && successor(last) == line->name &&
                        (line->verb == "node" || line->verb == "submit" || line->verb == "running");
    if (!ranged) {
      flush();
      held = std::move(line);
    } else {
      last = line->name;
      continue;
    }
    last = held->name;
  }
  flush();
  return out;
}

}  // namespace

std::string print_scenario(const Scenario& scenario) {
  std::string text = text_of(scenario, false);
  return read_scenario(text, scenario.file) ? text : text_of(scenario, true);
}

}  // namespace fairlead::sim
