// The parts of the cluster reader and of its checks, one file each. Inside of cluster_reader.h.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/cluster_reader.h"
#include "model/tree.h"

namespace fairlead {

// node_reader.cc: one entry of `nodes`, which may stand for many.
void read_nodes(const Value& value, ClusterDraft& draft, Findings& findings);

// window_text.cc: "Mon-Fri 08:00-18:00" and back.
Result<std::vector<TimeWindow>> parse_windows(std::string_view text);
std::string window_text(const TimeWindow& window);

// cluster_printer.cc: a time since the start of the trace, or a date.
Tree instant_tree(Instant t);

// request_reader.cc: what a task asks for and where it may be.
GpuRequest read_gpu_request(const Value& value, Findings& findings);
void read_task_request(ObjectReader& in, TaskRequest& request);
void read_constraints(ObjectReader& in, Constraints& constraints);
void read_topology_goal(ObjectReader& in, TopologyGoal& goal);
ExtendedResources read_extended(ObjectReader& in, std::string_view field);

// check_*.cc
void check_nodes(ClusterDraft& draft, Findings& findings);
void check_queues(const ClusterDraft& draft, Findings& findings);
void check_workloads(const ClusterDraft& draft, Findings& findings);
// What holds of a workload by itself.
void check_workload_shape(const WorkloadEntry& entry, const Value& place, Findings& findings);
// Tasks stated as running: nodes, devices, and that no device is over-committed.
void check_running(const ClusterDraft& draft, Findings& findings);

// Reports a name that is not among the known ones, with the nearest.
void report_unknown(const Value& at, Findings& findings, const std::string& what,
                    const std::string& name, const std::vector<std::string>& names);

// The field of a place if it is there, else the place itself: where to point.
const Value& field_of(const Value& place, std::initializer_list<std::string_view> path);

// Sums that must stay far from overflow.
inline constexpr std::int64_t kMaxTotal = std::int64_t{1} << 61;

}  // namespace fairlead
