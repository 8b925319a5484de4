// The words that stand for the values of each closed set, in documents and in what is printed.
#pragma once

#include "model/cluster.h"
#include "model/object_reader.h"

namespace fairlead::words {

inline constexpr Choice<DeviceHealth> kHealth[] = {{"healthy", DeviceHealth::kHealthy},
                                                   {"unhealthy", DeviceHealth::kUnhealthy}};

inline constexpr Choice<TaintEffect> kTaintEffects[] = {
    {"NoSchedule", TaintEffect::kNoSchedule},
    {"PreferNoSchedule", TaintEffect::kPreferNoSchedule},
    {"NoExecute", TaintEffect::kNoExecute}};

inline constexpr Choice<Strategy> kStrategies[] = {{"binpack", Strategy::kBinpack},
                                                   {"spread", Strategy::kSpread}};

inline constexpr Choice<UsageWindow> kUsageWindows[] = {{"sliding", UsageWindow::kSliding},
                                                        {"tumbling", UsageWindow::kTumbling}};

inline constexpr Choice<BudgetPeriod> kBudgetPeriods[] = {{"day", BudgetPeriod::kDay},
                                                          {"week", BudgetPeriod::kWeek},
                                                          {"month", BudgetPeriod::kMonth},
                                                          {"total", BudgetPeriod::kTotal}};

inline constexpr Choice<WorkloadKind> kWorkloadKinds[] = {
    {"training", WorkloadKind::kTraining},
    {"workspace", WorkloadKind::kWorkspace},
    {"distributed", WorkloadKind::kDistributed},
    {"inference", WorkloadKind::kInference},
    {"external", WorkloadKind::kExternal}};

inline constexpr Choice<Preemptibility> kPreemptibilities[] = {
    {"preemptible", Preemptibility::kPreemptible},
    {"non-preemptible", Preemptibility::kNonPreemptible},
    {"semi-preemptible", Preemptibility::kSemiPreemptible}};

inline constexpr Choice<NumaPolicy> kNumaPolicies[] = {{"preferred", NumaPolicy::kPreferred},
                                                       {"required", NumaPolicy::kRequired}};

inline constexpr Choice<MatchOperator> kMatchOperators[] = {
    {"In", MatchOperator::kIn},         {"NotIn", MatchOperator::kNotIn},
    {"Exists", MatchOperator::kExists}, {"DoesNotExist", MatchOperator::kDoesNotExist},
    {"Gt", MatchOperator::kGreater},    {"Lt", MatchOperator::kLess}};

inline constexpr Choice<bool> kHosts[] = {{"fewest", true}, {"any", false}};

}  // namespace fairlead::words
