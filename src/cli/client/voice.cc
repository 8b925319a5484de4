#include "cli/client/voice.h"

#include <algorithm>

#include "base/printable.h"
#include "cli/client/answer.h"

namespace fairlead::cli {
namespace {

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  return text;
}

std::string plan_line(const Value& workload) {
  std::string out = "Plan   " + amounts_text(value_at(workload, "status.requested"));
  if (const std::string pool = text_at(workload, "status.pool"); !pool.empty()) {
    out += " in pool " + pool;
  }
  out += " · " + text_at(workload, "type", "workload");
  if (const std::string word = text_at(workload, "preemptibility"); !word.empty())
    out += ", " + word;
  return out + " · project " + text_at(workload, "project", "-") + "\n";
}

std::string start_line(const Value& workload, Instant now) {
  const std::string phase = text_at(workload, "status.phase");
  const Value* plan = value_at(workload, "plan");
  std::string text = phase == "pending" && plan != nullptr ? waiting_text(*plan, now) : "";
  if (phase == "starting" || phase == "running") {
    const std::string nodes = joined_at(workload, "status.nodes");
    text = "now" + (nodes.empty() ? "" : ", on " + nodes);
  }
  if (text.empty()) text = text_at(workload, "status.reason");
  return text.empty() ? "" : "Start  " + text + "\n";
}

// Reasons with their codes set in line, each with what would help.
std::string reason_lines(std::span<const Value> reasons) {
  std::size_t width = 0;
  for (const Value& reason : reasons) width = std::max(width, text_at(reason, "code").size());
  std::string out;
  std::size_t number = 0;
  for (const Value& reason : reasons) {
    const std::string code = upper(text_at(reason, "code"));
    out += "  " + std::to_string(++number) + " " + code;
    out.append(width - std::min(width, code.size()) + 2, ' ');
    out += text_at(reason, "text");
    const std::string rule = text_at(reason, "rule");
    if (!rule.empty()) out += " (rule " + rule + ")";
    out += "\n";
    const std::string change = text_at(reason, "cheapest.text");
    if (change.empty()) continue;
    out.append(4 + width + 2, ' ');
    out += "→ " + change + "\n";
  }
  return out;
}

}  // namespace

std::string start_text(const Value* start, Instant now) {
  if (start == nullptr) return {};
  const auto earliest = instant_at(*start, "earliest");
  const auto latest = instant_at(*start, "latest");
  if (!earliest || !latest) return text_at(*start, "text");
  std::string out = "in " + range_text(*earliest - now, *latest - now);
  const std::string nodes = joined_at(*start, "nodes");
  if (!nodes.empty()) out += ", on " + nodes;
  if (true_at(*start, "reserved")) out += ", reserved";
  return out;
}

std::string waiting_text(const Value& explanation, Instant now) {
  std::string out;
  if (const auto place = number_at(explanation, "place")) {
    out = "place " + std::to_string(*place);
    if (const auto waiting = number_at(explanation, "waiting")) {
      out += " of " + std::to_string(*waiting);
    }
  }
  const std::string start = start_text(value_at(explanation, "start"), now);
  if (!start.empty()) out += (out.empty() ? "" : ", ") + start;
  return out;
}

std::string submission_text(const Value& workload, Instant now, const std::string& program) {
  const std::string name = text_at(workload, "name");
  std::string out = plan_line(workload) + start_line(workload, now);
  out += "Run    " + name + " submitted\n";
  const bool waits = text_at(workload, "status.phase") == "pending";
  out += "Next   " + (waits ? program + " why " + name + " │ " : std::string()) + program +
         " logs -f " + name + " │ " + program + " delete " + name + "\n";
  return out;
}

std::string state_text(const Value& workload, Instant now) {
  const std::string phase = text_at(workload, "status.phase", "unknown");
  std::string out = phase;
  const std::string nodes = joined_at(workload, "status.nodes");
  const bool there =
      phase == "running" || phase == "frozen" || phase == "starting" || phase == "stopping";
  if (!nodes.empty() && there) {
    out += " on " + nodes;
  }
  const auto ended = instant_at(workload, "status.endedAt");
  const auto started = instant_at(workload, "status.startedAt");
  if (const auto code = number_at(workload, "status.exitCode"); code && ended) {
    out += ", exit code " + std::to_string(*code);
  }
  if (ended) {
    out += ", " + age_text(now - *ended) + " ago";
  } else if (started && phase == "running") {
    out += " since " + age_text(now - *started);
  }
  return out;
}

std::string why_text(const Value& workload, const Value& explanation, Instant now) {
  const std::string name = text_at(workload, "name");
  const std::string asked = amounts_text(value_at(workload, "status.requested"));
  const std::span<const Value> reasons = list_at(explanation, "reasons");
  if (text_at(workload, "status.phase") != "pending") {
    std::string out = name + " is " + state_text(workload, now) + "\n";
    const std::string reason = text_at(workload, "status.reason");
    return reason.empty() ? out : out + "  " + reason + "\n";
  }
  std::string out = name + " (" + asked + ")";
  if (true_at(explanation, "never")) {
    out += " can never start";
  } else {
    out += " waits";
  }
  if (reasons.empty()) {
    const std::string text = text_at(explanation, "text");
    out += (text.empty() ? "" : ": " + text) + "\n";
  } else {
    out += ", " + counted(static_cast<std::int64_t>(reasons.size()), "reason");
    out += std::string(reasons.size() > 1 ? ", all must clear" : "") + ":\n";
    out += reason_lines(reasons);
  }
  // Of one reason it has been said already.
  const std::string change = text_at(explanation, "cheapest.text");
  const bool said = reasons.size() == 1 && text_at(reasons[0], "cheapest.text") == change;
  if (!change.empty() && !said) {
    out += "Help   " + change + "\n";
  }
  if (const std::string start = waiting_text(explanation, now); !start.empty()) {
    out += "Start  " + start + "\n";
  }
  return out;
}

}  // namespace fairlead::cli
