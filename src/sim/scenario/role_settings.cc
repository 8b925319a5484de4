#include "sim/scenario/role_settings.h"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/decimal.h"
#include "sim/scenario/units_text.h"

namespace fairlead::sim {
namespace {

constexpr std::int64_t kMostTasks = 1'000'000;

constexpr std::array<std::pair<const char*, MatchOperator>, 6> kOperators{
    {{"in", MatchOperator::kIn},
     {"not-in", MatchOperator::kNotIn},
     {"exists", MatchOperator::kExists},
     {"absent", MatchOperator::kDoesNotExist},
     {"greater", MatchOperator::kGreater},
     {"less", MatchOperator::kLess}}};

constexpr std::array<std::pair<const char*, TaintEffect>, 3> kEffects{
    {{"no-schedule", TaintEffect::kNoSchedule},
     {"prefer-no-schedule", TaintEffect::kPreferNoSchedule},
     {"no-execute", TaintEffect::kNoExecute}}};

// KEY:in:a|b, KEY:exists, KEY:greater:4
Result<MatchTerm> parse_term(std::string_view text) {
  const std::vector<std::string> parts = split_list(text, ':');
  MatchTerm term;
  if (parts.size() >= 2 && !parts[0].empty()) {
    for (const auto& [name, op] : kOperators) {
      if (parts[1] != name) continue;
      term.key = parts[0];
      term.op = op;
      const bool valued = op != MatchOperator::kExists && op != MatchOperator::kDoesNotExist;
      if (parts.size() != (valued ? 3U : 2U)) break;
      if (valued) term.values = split_list(parts[2], '|');
      return term;
    }
  }
  return fail(
      ErrorCode::kInvalidArgument, fmt::format("'{}' is not an affinity term", text),
      "write KEY:in:a|b, KEY:not-in:a, KEY:exists, KEY:absent, KEY:greater:4 or KEY:less:4");
}

// "*", KEY, KEY=VALUE, any of them with :EFFECT
Result<Toleration> parse_toleration(std::string_view text) {
  Toleration toleration;
  std::string_view rest = text;
  if (const std::size_t colon = rest.rfind(':'); colon != std::string_view::npos) {
    for (const auto& [name, effect] : kEffects) {
      if (rest.substr(colon + 1) == name) toleration.effect = effect;
    }
    if (!toleration.effect) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("'{}' is not an effect of a taint", rest.substr(colon + 1)),
                  "allowed: no-schedule, prefer-no-schedule, no-execute");
    }
    rest = rest.substr(0, colon);
  }
  if (rest == "*") return toleration;
  const std::size_t equals = rest.find('=');
  toleration.key = rest.substr(0, equals);
  if (equals != std::string_view::npos) toleration.value = rest.substr(equals + 1);
  if (toleration.key.empty()) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("'{}' tolerates no key", text),
                "write tolerate=KEY, tolerate=KEY=VALUE or tolerate=*");
  }
  return toleration;
}

// gpu=, gpu-memory= and mig= are one choice; a limit may come before or after.
void set_gpu(GpuRequest& gpu, GpuRequest chosen) {
  chosen.compute_limit = gpu.compute_limit;
  chosen.memory_limit = gpu.memory_limit;
  gpu = std::move(chosen);
}

Result<bool> read_request_setting(const Cursor& cursor, const Setting& s, TaskRequest& request) {
  GpuRequest& gpu = request.gpu;
  if (s.key == "gpu" || s.key == "gpu-memory" || s.key == "mig") {
    FAIRLEAD_ASSIGN(GpuRequest chosen,
                    cursor.placed(s.word, s.key == "gpu"   ? parse_gpu(s.value)
                                          : s.key == "mig" ? parse_mig(s.value)
                                                           : parse_gpu_memory(s.value)));
    set_gpu(gpu, std::move(chosen));
  } else if (s.key == "gpu-limit") {
    FAIRLEAD_ASSIGN(const std::int64_t milli, cursor.placed(s.word, parse_decimal(s.value, 3)));
    gpu.compute_limit = MilliGpu(milli);
  } else if (s.key == "gpu-memory-limit") {
    FAIRLEAD_ASSIGN(const std::int64_t mib, cursor.placed(s.word, parse_mib(s.value)));
    gpu.memory_limit = MiB(mib);
  } else if (s.key == "cpu") {
    FAIRLEAD_ASSIGN(request.cpu.value, cursor.placed(s.word, parse_cpu(s.value)));
  } else if (s.key == "memory") {
    FAIRLEAD_ASSIGN(request.memory.value, cursor.placed(s.word, parse_memory(s.value)));
  } else if (s.key.size() > 6 && s.key.starts_with("extra.")) {
    FAIRLEAD_ASSIGN(request.extended[s.key.substr(6)],
                    cursor.placed(s.word, parse_extra(s.key.substr(6), s.value)));
  } else if (s.key == "numa") {
    if (s.value != "preferred" && s.value != "required") {
      return cursor.fail(s.word, fmt::format("'{}' is not a NUMA policy", s.value),
                         "allowed: preferred, required");
    }
    request.numa = s.value == "required" ? NumaPolicy::kRequired : NumaPolicy::kPreferred;
  } else {
    return false;
  }
  return true;
}

Result<bool> read_constraint_setting(const Cursor& cursor, const Setting& s, Constraints& c) {
  if (s.key == "type") {
    c.node_types = split_list(s.value);
  } else if (s.key == "class") {
    c.device_classes = split_list(s.value);
  } else if (s.key.size() > 9 && s.key.starts_with("selector.")) {
    c.node_selector[s.key.substr(9)] = s.value;
  } else if (s.key == "affinity") {
    FAIRLEAD_ASSIGN(MatchTerm term, cursor.placed(s.word, parse_term(s.value)));
    c.affinity.push_back(std::move(term));
  } else if (s.key == "tolerate") {
    FAIRLEAD_ASSIGN(Toleration toleration, cursor.placed(s.word, parse_toleration(s.value)));
    c.tolerations.push_back(std::move(toleration));
  } else {
    return false;
  }
  return true;
}

}  // namespace

Result<std::pair<std::int32_t, std::int32_t>> parse_role_count(std::string_view text) {
  const std::size_t dots = text.find("..");
  if (dots == std::string_view::npos) {
    FAIRLEAD_ASSIGN(const std::int64_t count, parse_count(text, 0, kMostTasks));
    return std::pair(static_cast<std::int32_t>(count), static_cast<std::int32_t>(count));
  }
  FAIRLEAD_ASSIGN(const std::int64_t min, parse_count(text.substr(0, dots), 0, kMostTasks));
  FAIRLEAD_ASSIGN(const std::int64_t count, parse_count(text.substr(dots + 2), 0, kMostTasks));
  if (min > count) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("minimum {} is above the count {}", min, count),
                fmt::format("write {}..{}", count, min));
  }
  return std::pair(static_cast<std::int32_t>(min), static_cast<std::int32_t>(count));
}

bool read_goal_setting(const Setting& s, std::string_view prefix, TopologyGoal& goal) {
  if (!s.key.starts_with(prefix)) return false;
  const std::string_view key = std::string_view(s.key).substr(prefix.size());
  if (key == "within") {
    goal.within = s.value;
  } else if (key == "prefer") {
    goal.prefer = s.value;
  } else {
    return false;
  }
  return true;
}

Result<bool> read_role_setting(const Cursor& cursor, const Setting& s, RoleSpec& role) {
  if (s.key == "count" || s.key == "workers" || s.key == "tasks") {
    FAIRLEAD_ASSIGN(const auto counts, cursor.placed(s.word, parse_role_count(s.value)));
    role.min = counts.first;
    role.count = counts.second;
    return true;
  }
  if (s.key == "segment") {
    FAIRLEAD_ASSIGN(const std::int64_t size,
                    cursor.placed(s.word, parse_count(s.value, 1, kMostTasks)));
    role.segment_size = static_cast<std::int32_t>(size);
    return true;
  }
  if (read_goal_setting(s, "segment-", role.segment_topology)) return true;
  FAIRLEAD_ASSIGN(const bool request, read_request_setting(cursor, s, role.request));
  if (request) return true;
  return read_constraint_setting(cursor, s, role.constraints);
}

std::string role_setting_once(const Setting& s) {
  const std::string& key = s.key;
  if (key == "affinity" || key == "tolerate") return {};
  if (key == "count" || key == "workers" || key == "tasks") return "count";
  if (key == "gpu" || key == "gpu-memory" || key == "mig") return "gpu";
  return key;
}

const std::vector<std::string>& role_setting_names() {
  static const std::vector<std::string> names = {"workers",
                                                 "count",
                                                 "tasks",
                                                 "gpu",
                                                 "gpu-memory",
                                                 "mig",
                                                 "gpu-limit",
                                                 "gpu-memory-limit",
                                                 "cpu",
                                                 "memory",
                                                 "extra.NAME",
                                                 "numa",
                                                 "type",
                                                 "class",
                                                 "selector.LABEL",
                                                 "affinity",
                                                 "tolerate",
                                                 "within",
                                                 "prefer",
                                                 "segment",
                                                 "segment-within",
                                                 "segment-prefer"};
  return names;
}

std::string term_text(const MatchTerm& term) {
  std::string text = term.key;
  for (const auto& [name, op] : kOperators) {
    if (op == term.op) text += fmt::format(":{}", name);
  }
  for (std::size_t i = 0; i < term.values.size(); ++i) {
    text += (i == 0 ? ':' : '|');
    text += term.values[i];
  }
  return text;
}

std::string_view effect_text(TaintEffect effect) {
  for (const auto& [name, known] : kEffects) {
    if (known == effect) return name;
  }
  return "";
}

std::string toleration_text(const Toleration& toleration) {
  std::string text = toleration.key.empty() ? "*" : toleration.key;
  if (toleration.value) text += "=" + *toleration.value;
  if (toleration.effect) text += fmt::format(":{}", effect_text(*toleration.effect));
  return text;
}

}  // namespace fairlead::sim
