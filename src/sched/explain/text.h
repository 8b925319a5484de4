// Wording of explanations: amounts in the units a person uses, and the sentences of each reason.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/workload.h"
#include "sched/explanation.h"

namespace fairlead::sched {

// "GPU", "CPU", "memory", or the extended resource's own name.
std::string resource_label(std::string_view resource);

// An amount in the resource's unit as a person writes it: "2.5" GPUs, "1.5" CPUs, "48Gi".
std::string amount_text(std::string_view resource, std::int64_t amount);

// "8 GPUs", "1 GPU", "0.5 GPU", "16 CPUs", "48Gi of memory".
std::string quantity_text(std::string_view resource, std::int64_t amount);

std::string over_limit_text(const Reason& reason, std::int64_t limit, std::int64_t held);
std::string over_quota_text(const Reason& reason, std::int64_t quota, std::int64_t held);

// What a task asks: "2 GPUs, 8 CPUs, 48Gi of memory"; "0.5 of a GPU".
std::string request_text(const TaskRequest& request);

// When it starts: "it starts at … at the latest, on n1, n2 (by declared runtimes)"; "it starts
// between … and …, about"; "nobody knows when it starts: …".
std::string start_text(const ExpectedStart& start);

// "1 task", "3 tasks".
std::string counted(std::int64_t n, std::string_view thing);

}  // namespace fairlead::sched
