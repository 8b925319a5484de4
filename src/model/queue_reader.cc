// Departments and projects of a cluster document, nested or flat with `parent`.
#include "base/decimal.h"
#include "model/readers.h"
#include "model/words.h"

namespace fairlead {
namespace {

// "unlimited", "none" or -1, else an amount of the resource: GPUs with three decimals, CPUs, bytes.
std::optional<std::int64_t> read_amount(const Value& value, const std::string& resource,
                                        Findings& findings) {
  if (value.is_scalar() &&
      (value.text() == "unlimited" || value.text() == "none" || value.text() == "-1")) {
    return kUnlimited;
  }
  if (resource == "gpu") return as_decimal(value, 3, 0, kMaxAmount, findings);
  if (resource == "cpu") return as_milli_cpu(value, findings);
  if (resource == "memory") return as_bytes(value, findings);
  return as_integer(value, 0, kMaxAmount, findings);
}

Entitlement& entitlement_of(Entitlements& entitlements, const std::string& resource) {
  return entitlements.try_emplace(resource, default_entitlement(resource)).first->second;
}

// The fields quota, limit and overQuotaWeight.
void read_entitlements(ObjectReader& in, Entitlements& entitlements) {
  Findings& findings = in.findings();
  in.entries("quota", [&](const Value& entry) {
    if (const auto amount = read_amount(entry, entry.key(), findings)) {
      entitlement_of(entitlements, entry.key()).quota = *amount;
    }
  });
  in.entries("limit", [&](const Value& entry) {
    if (const auto amount = read_amount(entry, entry.key(), findings)) {
      entitlement_of(entitlements, entry.key()).limit = *amount;
    }
  });
  const Value* weight = in.get("overQuotaWeight");
  if (weight == nullptr) return;
  if (weight->is_map()) {
    for (const Value& entry : weight->items()) {
      if (const auto amount = as_decimal(entry, 3, 0, kMaxAmount, findings)) {
        entitlement_of(entitlements, entry.key()).over_quota_weight = *amount;
      }
    }
    return;
  }
  const auto amount = as_decimal(*weight, 3, 0, kMaxAmount, findings);
  if (!amount) return;
  for (const char* resource : {"gpu", "cpu", "memory"}) entitlement_of(entitlements, resource);
  for (auto& [resource, entitlement] : entitlements) entitlement.over_quota_weight = *amount;
}

void read_pools(ObjectReader& in, QueueSpec& queue) {
  Entitlements in_default;
  read_entitlements(in, in_default);
  if (!in_default.empty()) queue.pools.emplace("default", std::move(in_default));
  in.entries("pools", [&](const Value& entry) {
    ObjectReader pool(entry, in.findings());
    Entitlements entitlements;
    read_entitlements(pool, entitlements);
    if (!queue.pools.emplace(entry.key(), std::move(entitlements)).second) {
      in.findings().error(entry, ErrorCode::kAlreadyExists,
                          "the entitlements of pool \"default\" are stated twice",
                          "state them beside the name, or under pools, not both");
    }
  });
}

std::optional<Budget> read_budget(ObjectReader& parent) {
  const Value* value = parent.get("budget");
  if (value == nullptr) return std::nullopt;
  ObjectReader in(*value, parent.findings());
  Budget budget;
  budget.period =
      in.choice<BudgetPeriod>("period", words::kBudgetPeriods).value_or(BudgetPeriod::kMonth);
  budget.gpu_milli_hours = in.decimal("gpuHours", 3, 0, kMaxAmount);
  budget.cost_milli = in.decimal("cost", 3, 0, kMaxAmount);
  if (in.ok() && !in.has("gpuHours") && !in.has("cost")) {
    parent.findings().error(*value, ErrorCode::kInvalidArgument, "a budget of nothing",
                            "state gpuHours, cost or both");
  }
  return budget;
}

void read_window(const Value& value, std::vector<TimeWindow>& windows, Findings& findings) {
  const auto text = as_string(value, findings);
  if (!text) return;
  auto parsed = parse_windows(*text);
  if (!parsed) {
    findings.error(value, std::move(parsed).error());
    return;
  }
  windows.insert(windows.end(), parsed->begin(), parsed->end());
}

}  // namespace

void read_queue(const Value& value, const std::string& parent, ClusterDraft& draft,
                Findings& findings) {
  ObjectReader in(value, findings);
  if (!in.ok()) return;
  QueueSpec queue;
  queue.name = in.name("name", kRequired).value_or("");
  queue.parent = parent;
  if (const Value* stated = in.get("parent")) {
    if (!parent.empty()) {
      findings.error(*stated, ErrorCode::kInvalidArgument,
                     "the parent of a nested queue is the queue it stands in, \"" + parent + "\"",
                     "remove the field");
    } else if (!stated->is_scalar() || !stated->text().empty()) {
      queue.parent = as_name(*stated, findings).value_or("");
    }
  }
  queue.rank = in.int32("rank", -1'000'000, 1'000'000).value_or(100);
  read_pools(in, queue);
  queue.reclaim_min_runtime = in.duration("reclaimMinRuntime");
  queue.preempt_min_runtime = in.duration("preemptMinRuntime");
  queue.budget = read_budget(in);
  if (const Value* windows = in.get("windows")) {
    if (windows->is_list()) {
      for (const Value& item : windows->items()) read_window(item, queue.windows, findings);
    } else {
      read_window(*windows, queue.windows, findings);
    }
  }
  queue.default_expected_runtime = in.duration("defaultExpectedRuntime");
  static_cast<void>(in.string("description"));
  static_cast<void>(in.names("members"));
  const std::string name = queue.name;
  draft.cluster.queues.push_back(std::move(queue));
  draft.places.queues.push_back(&value);
  for (const char* children : {"queues", "projects"}) {
    in.each(children, [&](const Value& child) { read_queue(child, name, draft, findings); });
  }
}

}  // namespace fairlead
