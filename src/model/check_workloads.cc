// Workloads: what holds of each by itself, and what they name.
#include <algorithm>
#include <map>
#include <set>

#include "base/decimal.h"
#include "base/wide.h"
#include "model/readers.h"

namespace fairlead {
namespace {

// The place of a role, which is the workload's own where there is no list.
const Value& role_place(const Value& place, std::size_t role) {
  const Value* roles = place.find("roles");
  if (roles == nullptr || role >= roles->items().size()) return place;
  return roles->items()[role];
}

// What one role may ask for in all.
void check_total(const RoleSpec& role, const Value& place, Findings& findings) {
  const Int128 count = role.count;
  const TaskRequest& request = role.request;
  Int128 largest = std::max(count * request.cpu.value, count * request.memory.value);
  for (const auto& [name, amount] : request.extended) largest = std::max(largest, count * amount);
  if (largest <= kMaxTotal) return;
  findings.error(
      field_of(place, {"count"}), ErrorCode::kOutOfRange,
      "all tasks of role \"" + role.name + "\" together ask for more than can be counted",
      "check \"count\" and the units of \"cpu\", \"memory\" and \"resources\"");
}

void check_role(const RoleSpec& role, const Value& place, Findings& findings) {
  if (role.min > role.count) {
    findings.error(field_of(place, {"min"}), ErrorCode::kOutOfRange,
                   "at least " + std::to_string(role.min) + " tasks of role \"" + role.name +
                       "\" must run, but there are only " + std::to_string(role.count),
                   "set min to at most " + std::to_string(role.count) + ", or raise count");
  }
  if (role.segment_size > role.count) {
    findings.error(field_of(place, {"segments", "size"}), ErrorCode::kOutOfRange,
                   "segments of " + std::to_string(role.segment_size) + " tasks in a role of " +
                       std::to_string(role.count),
                   "set the size to at most " + std::to_string(role.count));
  }
  if (role.segment_size > 0 && role.segment_topology.empty()) {
    findings.error(field_of(place, {"segments"}), ErrorCode::kInvalidArgument,
                   "the segments have no goal", "add \"within\", \"prefer\" or \"hosts: fewest\"");
  }
  check_total(role, place, findings);
}

class References {
 public:
  References(const ClusterDraft& draft, Findings& findings) : draft_(draft), findings_(findings) {
    const ClusterSpec& cluster = draft.cluster;
    std::set<std::string> parents;
    for (const QueueSpec& queue : cluster.queues) parents.insert(queue.parent);
    for (const QueueSpec& queue : cluster.queues) {
      queues_.insert(queue.name);
      if (!parents.contains(queue.name)) leaves_.push_back(queue.name);
    }
    pools_.push_back("default");
    for (const PoolSpec& pool : cluster.pools) pools_.push_back(pool.name);
    classes_ = known_device_class_names();
    for (const DeviceClass& c : cluster.device_classes) {
      classes_.push_back(c.name);
      for (const MigProfile& profile : c.mig_profiles) profiles_.insert(profile.name);
    }
    for (const std::string& name : known_device_class_names()) {
      for (const MigProfile& p : known_device_class(name)->mig_profiles) profiles_.insert(p.name);
    }
    levels_ = cluster.topology_levels;
    levels_.push_back("host");
  }

  void check(const WorkloadSpec& spec, const Value& place) {
    check_queue(spec, place);
    for (const std::string& pool : spec.pools) {
      if (contains(pools_, pool)) continue;
      report_unknown(field_of(place, {"pools"}), findings_, "pool", pool, pools_);
    }
    check_goal(spec.topology, field_of(place, {"topology"}));
    for (std::size_t i = 0; i < spec.roles.size(); ++i) {
      const RoleSpec& role = spec.roles[i];
      const Value& at = role_place(place, i);
      if (&at != &place) check_goal(role.topology, field_of(at, {"topology"}));
      check_goal(role.segment_topology, field_of(at, {"segments"}));
      for (const std::string& name : role.constraints.device_classes) {
        if (contains(classes_, name)) continue;
        report_unknown(field_of(at, {"deviceClasses"}), findings_, "device class", name, classes_);
      }
      const GpuRequest& gpu = role.request.gpu;
      if (gpu.kind == GpuRequestKind::kMig && !profiles_.contains(gpu.mig_profile)) {
        report_unknown(field_of(at, {"gpu", "mig"}), findings_, "MIG profile", gpu.mig_profile,
                       std::vector<std::string>(profiles_.begin(), profiles_.end()));
      }
    }
  }

 private:
  static bool contains(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  }

  void check_queue(const WorkloadSpec& spec, const Value& place) {
    if (spec.queue.empty()) return;  // reported where it was read
    const Value& at = field_of(place, {place.find("project") != nullptr ? "project" : "queue"});
    if (!queues_.contains(spec.queue)) {
      report_unknown(at, findings_, "queue", spec.queue, leaves_);
    } else if (!contains(leaves_, spec.queue)) {
      std::string inside;
      for (const QueueSpec& queue : draft_.cluster.queues) {
        if (queue.parent == spec.queue && inside.empty()) inside = queue.name;
      }
      findings_.error(at, ErrorCode::kInvalidArgument,
                      "queue \"" + spec.queue +
                          "\" has queues below it, and only leaves hold "
                          "workloads",
                      "name a leaf, such as \"" + inside + "\"");
    }
  }

  void check_goal(const TopologyGoal& goal, const Value& place) {
    const auto level = [&](const std::string& name, std::string_view field) {
      const auto at = std::find(levels_.begin(), levels_.end(), name);
      if (name.empty()) return std::ptrdiff_t{-1};
      if (at == levels_.end()) {
        report_unknown(field_of(place, {field}), findings_, "topology level", name, levels_);
        return std::ptrdiff_t{-1};
      }
      return at - levels_.begin();
    };
    const std::ptrdiff_t within = level(goal.within, "within");
    const std::ptrdiff_t prefer = level(goal.prefer, "prefer");
    if (within < 0 || prefer < 0 || prefer >= within) return;
    findings_.error(
        field_of(place, {"prefer"}), ErrorCode::kInvalidArgument,
        "\"" + goal.prefer + "\" is wider than \"" + goal.within + "\", which is required already",
        "prefer a level at or below the required one, or swap them");
  }

  const ClusterDraft& draft_;
  Findings& findings_;
  std::set<std::string> queues_;
  std::vector<std::string> leaves_;
  std::vector<std::string> pools_;
  std::vector<std::string> classes_;
  std::set<std::string> profiles_;
  std::vector<std::string> levels_;
};

}  // namespace

void check_workload_shape(const WorkloadEntry& entry, const Value& place, Findings& findings) {
  const WorkloadSpec& spec = entry.spec;
  std::set<std::string> roles;
  for (std::size_t i = 0; i < spec.roles.size(); ++i) {
    const Value& at = role_place(place, i);
    if (!roles.insert(spec.roles[i].name).second) {
      findings.error(field_of(at, {"name"}), ErrorCode::kAlreadyExists,
                     "a second role \"" + spec.roles[i].name + "\" in one workload",
                     "rename one of them");
    }
    check_role(spec.roles[i], at, findings);
  }
  std::set<std::string> pools;
  for (const std::string& pool : spec.pools) {
    if (pools.insert(pool).second) continue;
    findings.error(field_of(place, {"pools"}), ErrorCode::kAlreadyExists,
                   "pool \"" + pool + "\" is named twice", "remove one of them");
  }
  if (spec.expected_runtime && spec.max_runtime && *spec.expected_runtime > *spec.max_runtime) {
    findings.error(field_of(place, {"expectedRuntime"}), ErrorCode::kOutOfRange,
                   "it is expected to run for " + to_text(*spec.expected_runtime) +
                       " but may run for " + to_text(*spec.max_runtime),
                   "raise maxRuntime or lower expectedRuntime");
  }
  std::set<std::pair<std::string, std::int32_t>> tasks;
  const auto check_task = [&](const Value& list, std::size_t i, const std::string& role_name,
                              std::int32_t index, std::string_view twice) {
    const Value& at = i < list.items().size() ? list.items()[i] : list;
    const auto role = std::find_if(spec.roles.begin(), spec.roles.end(),
                                   [&](const RoleSpec& r) { return r.name == role_name; });
    if (role == spec.roles.end()) {
      report_unknown(field_of(at, {"role"}), findings, "role", role_name,
                     std::vector<std::string>(roles.begin(), roles.end()));
      return;
    }
    const std::string what = "task " + std::to_string(index) + " of role \"" + role_name + "\"";
    const std::int32_t tasks_of_role = spec.completions > 0 ? spec.completions : role->count;
    if (index >= tasks_of_role) {
      findings.error(field_of(at, {"index"}), ErrorCode::kOutOfRange,
                     what + ", which has " + std::to_string(tasks_of_role) + " tasks, from 0");
    }
    if (!tasks.emplace(role_name, index).second) {
      findings.error(field_of(at, {"index"}), ErrorCode::kAlreadyExists, what + std::string(twice),
                     "give each task its own index");
    }
  };
  const Value& running = field_of(place, {"running"});
  for (std::size_t i = 0; i < entry.running.size(); ++i) {
    check_task(running, i, entry.running[i].role, entry.running[i].index, " runs twice");
  }
  const Value& succeeded = field_of(place, {"succeeded"});
  for (std::size_t i = 0; i < entry.succeeded.size(); ++i) {
    check_task(succeeded, i, entry.succeeded[i].role, entry.succeeded[i].index,
               " has succeeded, and is named twice");
  }
}

void check_workloads(const ClusterDraft& draft, Findings& findings) {
  References references(draft, findings);
  for (std::size_t i = 0; i < draft.cluster.workloads.size(); ++i) {
    references.check(draft.cluster.workloads[i].spec, *draft.places.workloads[i]);
  }
}

}  // namespace fairlead
