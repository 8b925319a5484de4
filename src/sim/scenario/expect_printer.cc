// Expectations as text.

#include <fmt/format.h>

#include "sim/scenario/lexer.h"
#include "sim/scenario/printer.h"
#include "sim/scenario/time_text.h"
#include "sim/scenario/units_text.h"

namespace fairlead::sim {
namespace {

std::string bound_text(const Bound& bound) {
  switch (bound.comparison) {
    case Comparison::kExactly:
      break;
    case Comparison::kAtLeast:
      return fmt::format("at least {}", bound.value);
    case Comparison::kAtMost:
      return fmt::format("at most {}", bound.value);
  }
  return fmt::format("{}", bound.value);
}

std::string names_text(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : " ") + word_text(name);
  return text;
}

const char* state_text(ExpectedState state) {
  switch (state) {
    case ExpectedState::kRunning:
      return "running";
    case ExpectedState::kPending:
      return "pending";
    case ExpectedState::kRefused:
      return "refused";
    case ExpectedState::kFinished:
      return "finished";
    case ExpectedState::kFailed:
      return "failed";
    case ExpectedState::kGone:
      return "gone";
  }
  return "";
}

std::string amounts_text(const std::map<std::string, std::int64_t>& amounts) {
  std::string text;
  for (const auto& [resource, amount] : amounts) {
    text += fmt::format(" {} {}", word_text(resource),
                        amount == kUnlimited ? "unlimited" : amount_text(resource, amount));
  }
  return text;
}

struct Printer {
  Instant start;

  std::string operator()(const ExpectWorkloads& e) const {
    std::string text;
    if (e.of) text = bound_text(*e.of) + " of ";
    text += names_text(e.names);
    if (!e.role.empty()) text += " role " + word_text(e.role);
    if (e.index >= 0) text += fmt::format(" {}", e.index);
    text += fmt::format(" {}", state_text(e.state));
    if (e.tasks && e.wanted) {
      text += fmt::format(" with {} of {} tasks", bound_text(*e.tasks), *e.wanted);
    } else if (e.wanted) {
      text += fmt::format(" with at least 0 of {} tasks", *e.wanted);
    } else if (e.tasks) {
      text += fmt::format(" with {} tasks", bound_text(*e.tasks));
    }
    if (e.hosts) text += fmt::format(" on {} nodes", bound_text(*e.hosts));
    if (!e.nodes.empty()) text += " on nodes " + list_text(e.nodes);
    if (!e.among.empty()) text += " among nodes " + list_text(e.among);
    if (!e.avoided.empty()) text += " not on nodes " + list_text(e.avoided);
    if (e.device_count) text += fmt::format(" on {} devices", bound_text(*e.device_count));
    if (!e.devices.empty()) text += " on devices " + list_text(e.devices);
    for (const DomainCheck& d : e.domains) {
      if (d.domain.empty()) {
        text += d.count == 1 ? fmt::format(" in one {}", d.level)
                             : fmt::format(" in {} {}", d.count, d.level);
      } else {
        text += fmt::format(" in {} {}", d.level, word_text(d.domain));
      }
      if (d.per > 0) text += fmt::format(" per {} tasks", d.per);
    }
    if (!e.pool.empty()) text += " in pool " + word_text(e.pool);
    if (e.near_cpus) text += " with near cpus";
    if (e.milli) text += fmt::format(" with {} milli", *e.milli);
    if (e.mib) text += fmt::format(" with {} mib", *e.mib);
    if (!e.slices.empty()) {
      text += " with slices ";
      for (std::size_t i = 0; i < e.slices.size(); ++i) {
        text += fmt::format("{}{}", i == 0 ? "" : ",", e.slices[i]);
      }
    }
    if (e.failures) text += fmt::format(" with {} failures", *e.failures);
    if (e.succeeded) text += fmt::format(" with {} succeeded", *e.succeeded);
    if (e.started_at) text += " since " + instant_text(*e.started_at, start);
    if (e.reserved) text += *e.reserved ? " reserved" : " not reserved";
    if (e.reserved_at) text += " at " + instant_text(*e.reserved_at, start);
    if (!e.reserved_nodes.empty()) text += " on nodes " + list_text(e.reserved_nodes);
    if (e.starts_from) text += " starts from " + instant_text(*e.starts_from, start);
    if (e.starts_by) text += " starts by " + instant_text(*e.starts_by, start);
    if (e.never) text += *e.never ? " never" : " not now";
    for (const std::string& part : e.texts) text += ", " + quoted_text(part);
    for (const std::string& change : e.changes) text += ", change " + word_text(change);
    if (e.cure_works) text += ", cure works";
    return text;
  }

  std::string operator()(const ExpectShared& e) const {
    return fmt::format("{} share {} {}", names_text(e.names), e.shared ? "a" : "no",
                       e.device ? "device" : "node");
  }

  std::string operator()(const ExpectFree& e) const {
    std::map<std::string, std::int64_t> amounts = e.amounts;
    if (amounts.contains("gpu")) amounts["gpu"] *= kMilli;
    std::string text = "free" + amounts_text(amounts);
    if (!e.device.empty()) {
      text += " on " + word_text(e.node + ":" + e.device);
    } else if (!e.node.empty()) {
      text += " on " + word_text(e.node);
    }
    return text;
  }

  std::string operator()(const ExpectFigures& e) const {
    std::string text = fmt::format("{} {}", e.of_pool ? "pool" : "queue", word_text(e.name));
    for (const auto& [figure, amounts] : e.figures) {
      text += fmt::format(" {}{}", figure, amounts_text(amounts));
    }
    if (!e.of_pool && e.pool != "default") text += " in pool " + word_text(e.pool);
    return text;
  }

  std::string operator()(const ExpectNode& e) const {
    std::string text = "node " + word_text(e.node);
    if (e.gone) return text + " gone";
    if (e.ready) return text + (*e.ready ? " up" : " down");
    return text + (e.schedulable.value_or(true) ? " uncordoned" : " cordoned");
  }

  std::string operator()(const ExpectDevice& e) const {
    std::string text = "device " + word_text(e.node + ":" + e.device);
    if (e.healthy) text += *e.healthy ? " healthy" : " unhealthy";
    if (e.holders) text += e.holders->empty() ? " free" : " held by " + list_text(*e.holders);
    return text;
  }

  std::string operator()(const ExpectStartOrder& e) const {
    return "start order " + names_text(e.names);
  }

  std::string operator()(const ExpectError& e) const {
    std::string text = "error";
    for (const std::string& part : e.texts) text += " " + quoted_text(part);
    return text;
  }
};

}  // namespace

std::string expectation_text(const Expectation& expectation, Instant start) {
  return std::visit(Printer{start}, expectation);
}

}  // namespace fairlead::sim
