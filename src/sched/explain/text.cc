#include "sched/explain/text.h"

#include "base/check.h"
#include "base/decimal.h"

namespace fairlead::sched {

std::string_view reason_code_name(ReasonCode code) {
  switch (code) {
    case ReasonCode::kOverLimit:
      return "over-limit";
    case ReasonCode::kNonPreemptibleQuota:
      return "non-preemptible-over-quota";
    case ReasonCode::kBudgetSpent:
      return "budget-spent";
    case ReasonCode::kOutsideWindow:
      return "outside-window";
    case ReasonCode::kBackingOff:
      return "backing-off";
    case ReasonCode::kPoolMissing:
      return "pool-missing";
    case ReasonCode::kNoRoom:
      return "no-room";
    case ReasonCode::kNoDomain:
      return "no-domain";
    case ReasonCode::kReserved:
      return "reserved";
    case ReasonCode::kSearchRanOut:
      return "search-ran-out";
    case ReasonCode::kClaimRanOut:
      return "claim-ran-out";
    case ReasonCode::kClaimPutOff:
      return "claim-put-off";
    case ReasonCode::kProtected:
      return "protected";
    case ReasonCode::kWaiting:
      return "waiting";
  }
  check_failed("code", __FILE__, __LINE__, "the set of reason codes is closed");
}

std::string_view change_kind_name(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::kRaiseLimit:
      return "raise-limit";
    case ChangeKind::kRaiseQuota:
      return "raise-quota";
    case ChangeKind::kMakePreemptible:
      return "make-preemptible";
    case ChangeKind::kFreeOnNode:
      return "free-on-node";
    case ChangeKind::kAddNodes:
      return "add-nodes";
    case ChangeKind::kLowerRequest:
      return "lower-request";
    case ChangeKind::kLowerCount:
      return "lower-count";
    case ChangeKind::kRelaxTopology:
      return "relax-topology";
    case ChangeKind::kWaitUntil:
      return "wait-until";
    case ChangeKind::kUncordon:
      return "uncordon";
    case ChangeKind::kEndBy:
      return "end-by";
  }
  check_failed("kind", __FILE__, __LINE__, "the set of change kinds is closed");
}

std::string Explanation::text() const {
  std::string out;
  for (const Reason& reason : reasons) {
    if (!out.empty()) out += '\n';
    out += reason.text;
  }
  if (start && (start->earliest || start->latest)) out += (out.empty() ? "" : "\n") + start->text;
  return out;
}

std::string start_text(const ExpectedStart& start) {
  constexpr std::size_t kMostNodes = 8;
  const std::string by = start.declared ? " (by declared runtimes)" : " (by usual runtimes)";
  if (start.reserved) {
    std::string nodes;
    for (std::size_t i = 0; i < start.nodes.size() && i < kMostNodes; ++i)
      nodes += (i ? ", " : "") + start.nodes[i];
    if (start.nodes.size() > kMostNodes) nodes += ", …";
    return "it starts at " + to_rfc3339(*start.latest) + " at the latest, on " + nodes + by;
  }
  if (!start.earliest && !start.latest)
    return "nobody knows when it starts: too much of what runs does not say when it ends";
  if (!start.latest)
    return "it starts at " + to_rfc3339(*start.earliest) + " at the earliest, about" + by;
  if (!start.earliest || *start.earliest == *start.latest)
    return "it starts at " + to_rfc3339(*start.latest) + ", about" + by;
  return "it starts between " + to_rfc3339(*start.earliest) + " and " + to_rfc3339(*start.latest) +
         ", about" + by;
}

std::string resource_label(std::string_view resource) {
  if (resource == "gpu") return "GPU";
  if (resource == "cpu") return "CPU";
  return std::string(resource);
}

std::string amount_text(std::string_view resource, std::int64_t amount) {
  if (resource == "gpu" || resource == "cpu") return decimal_text(amount, 3);
  if (resource == "memory") return bytes_text(amount);
  return std::to_string(amount);
}

std::string quantity_text(std::string_view resource, std::int64_t amount) {
  const std::string n = amount_text(resource, amount);
  if (resource == "memory") return n + " of memory";
  if (resource != "gpu" && resource != "cpu") return n + " " + std::string(resource);
  const bool plural = amount > 1000 || amount == 0;
  return n + " " + resource_label(resource) + (plural ? "s" : "");
}

std::string over_limit_text(const Reason& reason, std::int64_t limit, std::int64_t held) {
  return "asks " + quantity_text(reason.resource, reason.asked) + ", but " + reason.subject +
         " holds " + amount_text(reason.resource, held) + " of its limit of " +
         quantity_text(reason.resource, limit);
}

std::string over_quota_text(const Reason& reason, std::int64_t quota, std::int64_t held) {
  return "is non-preemptible and asks " + quantity_text(reason.resource, reason.asked) + ", but " +
         reason.subject + " holds " + amount_text(reason.resource, held) +
         " non-preemptible of its quota of " + quantity_text(reason.resource, quota);
}

std::string request_text(const TaskRequest& request) {
  std::string out;
  const auto add = [&](const std::string& part) { out += (out.empty() ? "" : ", ") + part; };
  const GpuRequest& gpu = request.gpu;
  switch (gpu.kind) {
    case GpuRequestKind::kNone:
      break;
    case GpuRequestKind::kDevices:
      add(counted(gpu.count, "GPU"));
      break;
    case GpuRequestKind::kPortion:
      add(decimal_text(gpu.portion.value, 3) + " of " +
          (gpu.count == 1 ? "a GPU" : counted(gpu.count, "GPU")));
      break;
    case GpuRequestKind::kMemory:
      add(std::to_string(gpu.memory.value) + " MiB of " +
          (gpu.count == 1 ? "a GPU" : counted(gpu.count, "GPU")));
      break;
    case GpuRequestKind::kMig:
      add(std::to_string(gpu.count) + " × MIG " + gpu.mig_profile);
      break;
  }
  if (request.cpu.value > 0) add(quantity_text("cpu", request.cpu.value));
  if (request.memory.value > 0) add(quantity_text("memory", request.memory.value));
  for (const auto& [name, amount] : request.extended) add(quantity_text(name, amount));
  return out.empty() ? "nothing" : out;
}

std::string counted(std::int64_t n, std::string_view thing) {
  return std::to_string(n) + " " + std::string(thing) + (n == 1 ? "" : "s");
}

}  // namespace fairlead::sched
