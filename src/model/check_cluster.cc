// What no single field of a cluster document can tell: first names and classes, then the rest.
#include <algorithm>
#include <set>
#include <unordered_map>

#include "base/decimal.h"
#include "base/wide.h"
#include "model/readers.h"

namespace fairlead {
namespace {

// Reports a second thing of one name.
class Unique {
 public:
  Unique(std::string what, Findings& findings) : what_(std::move(what)), findings_(findings) {}

  // False if the name was there before.
  bool add(const std::string& name, const Value& place,
           std::initializer_list<std::string_view> field) {
    if (name.empty()) return true;  // reported where it was read
    const auto [first, added] = seen_.emplace(name, &place);
    if (added) return true;
    if (reported_ == &place) return false;  // once per group
    reported_ = &place;
    findings_.error(field_of(place, field), ErrorCode::kAlreadyExists,
                    "a second " + what_ + " \"" + name + "\"; the first is on line " +
                        std::to_string(first->second->line()),
                    "rename one of them");
    return false;
  }

 private:
  std::string what_;
  Findings& findings_;
  std::unordered_map<std::string, const Value*> seen_;
  const Value* reported_ = nullptr;
};

void check_levels(const ClusterDraft& draft, Findings& findings) {
  if (draft.places.root == nullptr) return;
  const Value& place = field_of(*draft.places.root, {"topology"});
  std::set<std::string> seen;
  for (const std::string& level : draft.cluster.topology_levels) {
    if (level == "host") {
      findings.error(place, ErrorCode::kInvalidArgument,
                     "the host is the last level of every cluster", "leave \"host\" out");
    } else if (!seen.insert(level).second) {
      findings.error(place, ErrorCode::kAlreadyExists, "a second level \"" + level + "\"",
                     "remove one of them");
    }
  }
}

void check_mig(const DeviceClass& device_class, const Value& place, Findings& findings) {
  Unique names("MIG profile", findings);
  std::size_t i = 0;
  const Value& list = field_of(place, {"mig", "profiles"});
  for (const MigProfile& profile : device_class.mig_profiles) {
    const Value& at = list.is_list() && i < list.items().size() ? list.items()[i] : place;
    ++i;
    names.add(profile.name, at, {"name"});
    if (profile.compute_slices > device_class.mig_compute_slices) {
      findings.error(field_of(at, {"computeSlices"}), ErrorCode::kOutOfRange,
                     "an instance of " + std::to_string(profile.compute_slices) +
                         " compute slices on a device of " +
                         std::to_string(device_class.mig_compute_slices));
    }
    for (const std::int32_t start : profile.starts) {
      if (start + profile.memory_slices <= device_class.mig_memory_slices) continue;
      findings.error(field_of(at, {"starts"}), ErrorCode::kOutOfRange,
                     "an instance of " + std::to_string(profile.memory_slices) +
                         " memory slices that begins at " + std::to_string(start) +
                         " ends beyond the device's " +
                         std::to_string(device_class.mig_memory_slices),
                     "correct starts or memorySlices");
    }
    if (profile.memory > device_class.memory || profile.memory.value == 0) {
      findings.error(field_of(at, {"memory"}), ErrorCode::kOutOfRange,
                     "an instance of " + mib_text(profile.memory.value) + " on a device of " +
                         mib_text(device_class.memory.value),
                     "state more than 0 and at most the device's memory");
    }
  }
}

void check_classes(const ClusterDraft& draft, Findings& findings) {
  Unique names("device class", findings);
  for (std::size_t i = 0; i < draft.cluster.device_classes.size(); ++i) {
    const DeviceClass& device_class = draft.cluster.device_classes[i];
    const Value& place = *draft.places.device_classes[i];
    names.add(device_class.name, place, {"name"});
    if (place.is_scalar()) continue;
    if (device_class.memory.value == 0) {
      findings.error(field_of(place, {"memory"}), ErrorCode::kOutOfRange,
                     "a device class without memory", "state what nvidia-smi reports, in Mi");
    }
    check_mig(device_class, place, findings);
  }
}

void check_pools(const ClusterDraft& draft, Findings& findings) {
  Unique names("pool", findings);
  std::vector<std::string> classes = known_device_class_names();
  for (const DeviceClass& c : draft.cluster.device_classes) classes.push_back(c.name);
  for (std::size_t i = 0; i < draft.cluster.pools.size(); ++i) {
    const PoolSpec& pool = draft.cluster.pools[i];
    const Value& place = *draft.places.pools[i];
    names.add(pool.name, place, {"name"});
    for (const auto& [field, map] :
         {std::pair{"exchangeRates", &pool.exchange_rates}, std::pair{"prices", &pool.prices}}) {
      for (const auto& [name, milli] : *map) {
        if (std::find(classes.begin(), classes.end(), name) != classes.end()) continue;
        report_unknown(field_of(place, {field, name}), findings, "device class", name, classes);
      }
    }
    for (const auto& [name, milli] : pool.exchange_rates) {
      if (milli > 0 && milli <= 1'000'000) continue;
      findings.error(field_of(place, {"exchangeRates", name}), ErrorCode::kOutOfRange,
                     "the rate " + decimal_text(milli, 3) +
                         " is out of range; allowed are numbers "
                         "above 0 and up to 1000");
    }
  }
}

class NodeChecks {
 public:
  NodeChecks(ClusterDraft& draft, Findings& findings) : draft_(draft), findings_(findings) {
    pools_.push_back("default");
    for (const PoolSpec& pool : draft.cluster.pools) pools_.push_back(pool.name);
    for (const DeviceClass& c : draft.cluster.device_classes) classes_.insert(c.name);
  }

  void run() {
    Unique names("node", findings_);
    const Value* group = nullptr;
    for (std::size_t i = 0; i < draft_.cluster.nodes.size(); ++i) {
      const NodeSpec& node = draft_.cluster.nodes[i];
      const Value& place = *draft_.places.nodes[i];
      names.add(node.name, place, {"name"});
      add_totals(node);
      // All of a group are alike, but for name and topology.
      if (group == &place) continue;
      group = &place;
      check_pool(node, place);
      check_numa(node, place);
      check_devices(node, place);
    }
    if (cpu_ > kMaxTotal || memory_ > kMaxTotal || extended_ > kMaxTotal) {
      findings_.error(*draft_.places.root, ErrorCode::kOutOfRange,
                      "the nodes together have more CPUs, memory or other resources than can be "
                      "counted",
                      "check the units of \"cpu\", \"memory\" and \"resources\"");
    }
  }

 private:
  void add_totals(const NodeSpec& node) {
    cpu_ += node.cpu.value;
    memory_ += node.memory.value;
    for (const auto& [name, amount] : node.extended) extended_ += amount;
  }

  void check_pool(const NodeSpec& node, const Value& place) {
    if (std::find(pools_.begin(), pools_.end(), node.pool) != pools_.end()) return;
    report_unknown(field_of(place, {"pool"}), findings_, "pool", node.pool, pools_);
  }

  void check_numa(const NodeSpec& node, const Value& place) {
    if (node.numa.empty()) return;
    std::int64_t sum = 0;
    for (const NumaCell& cell : node.numa) sum += cell.cpu.value;
    if (sum == node.cpu.value) return;
    findings_.error(field_of(place, {"numa"}), ErrorCode::kInvalidArgument,
                    "the NUMA nodes have " + cpu_text(sum) + " CPUs together, the node has " +
                        cpu_text(node.cpu.value),
                    "make them add up to \"cpu\"");
  }

  void check_devices(const NodeSpec& node, const Value& place) {
    const Value& at = field_of(place, {"gpus"});
    std::set<std::string> ids;
    std::set<std::string> reported;
    for (const DeviceSpec& device : node.devices) {
      if (!ids.insert(device.id).second) {
        findings_.error(at, ErrorCode::kAlreadyExists,
                        "a second device \"" + device.id + "\" in one node", "rename one of them");
      }
      if (!device.device_class.empty() && reported.insert(device.device_class).second) {
        know_class(device.device_class, at);
      }
      if (!node.numa.empty() && device.numa >= static_cast<std::int32_t>(node.numa.size())) {
        findings_.error(at, ErrorCode::kOutOfRange,
                        "device \"" + device.id + "\" is on NUMA node " +
                            std::to_string(device.numa) + ", the node has " +
                            std::to_string(node.numa.size()) + " (from 0)",
                        "correct \"numa\" of the device or of the node");
      }
      if (device.mig_enabled && !has_mig(device.device_class)) {
        findings_.error(at, ErrorCode::kInvalidArgument,
                        "device \"" + device.id + "\" is in MIG mode, which " +
                            device.device_class + " does not have",
                        "remove \"mig\", or state the profiles of the class");
      }
    }
  }

  void know_class(const std::string& name, const Value& at) {
    if (classes_.contains(name)) return;
    if (const DeviceClass* known = known_device_class(name)) {
      classes_.insert(name);
      draft_.cluster.device_classes.push_back(*known);
      draft_.places.device_classes.push_back(draft_.places.root);
      return;
    }
    if (name.find_first_not_of("0123456789") == std::string::npos) {
      findings_.error(at, ErrorCode::kNotFound, "there is no device class \"" + name + "\"",
                      "write how many of which class: \"8 x H100-80GB\"");
      return;
    }
    std::vector<std::string> names = known_device_class_names();
    names.insert(names.end(), classes_.begin(), classes_.end());
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    report_unknown(at, findings_, "device class", name, names);
  }

  bool has_mig(const std::string& name) const {
    for (const DeviceClass& c : draft_.cluster.device_classes) {
      if (c.name == name) return !c.mig_profiles.empty();
    }
    return true;  // unknown, and reported as such
  }

  ClusterDraft& draft_;
  Findings& findings_;
  std::vector<std::string> pools_;
  std::set<std::string> classes_;
  Int128 cpu_ = 0;
  Int128 memory_ = 0;
  Int128 extended_ = 0;
};

void check_unique_workloads(const ClusterDraft& draft, Findings& findings) {
  Unique names("workload", findings);
  for (std::size_t i = 0; i < draft.cluster.workloads.size(); ++i) {
    names.add(draft.cluster.workloads[i].spec.name, *draft.places.workloads[i], {"name"});
    check_workload_shape(draft.cluster.workloads[i], *draft.places.workloads[i], findings);
  }
}

void check_unique_queues(const ClusterDraft& draft, Findings& findings) {
  Unique names("queue", findings);
  for (std::size_t i = 0; i < draft.cluster.queues.size(); ++i) {
    names.add(draft.cluster.queues[i].name, *draft.places.queues[i], {"name"});
  }
}

void check_reservations(const ClusterDraft& draft, Findings& findings) {
  if (draft.cluster.reservations.empty()) return;
  Unique names("reservation", findings);
  std::vector<std::string> nodes;
  std::unordered_map<std::string, const NodeSpec*> by_name;
  for (const NodeSpec& node : draft.cluster.nodes) {
    nodes.push_back(node.name);
    by_name.emplace(node.name, &node);
  }
  std::vector<std::string> queues;
  for (const QueueSpec& queue : draft.cluster.queues) queues.push_back(queue.name);
  for (std::size_t i = 0; i < draft.cluster.reservations.size(); ++i) {
    const ReservationSpec& r = draft.cluster.reservations[i];
    const Value& place = *draft.places.reservations[i];
    names.add(r.name, place, {"name"});
    if (place.find("until") != nullptr && r.until <= r.from) {
      findings.error(field_of(place, {"until"}), ErrorCode::kInvalidArgument,
                     "it ends before it begins", "state a later end, or an earlier \"from\"");
    }
    const NodeSpec* first = nullptr;
    for (const std::string& name : r.nodes) {
      const auto node = by_name.find(name);
      if (node == by_name.end()) {
        report_unknown(field_of(place, {"nodes"}), findings, "node", name, nodes);
        continue;
      }
      if (first == nullptr) first = node->second;
      if (node->second->pool == first->pool) continue;
      findings.error(field_of(place, {"nodes"}), ErrorCode::kInvalidArgument,
                     "node \"" + name + "\" is of pool \"" + node->second->pool + "\", \"" +
                         first->name + "\" of pool \"" + first->pool + "\"",
                     "make one reservation for each pool");
    }
    for (const std::string& name : r.queues) {
      if (std::find(queues.begin(), queues.end(), name) != queues.end()) continue;
      report_unknown(field_of(place, {"for"}), findings, "queue", name, queues);
    }
  }
}

}  // namespace

void check_nodes(ClusterDraft& draft, Findings& findings) {
  NodeChecks(draft, findings).run();
}

void check_cluster(ClusterDraft& draft, Findings& findings) {
  check_levels(draft, findings);
  check_classes(draft, findings);
  check_pools(draft, findings);
  check_nodes(draft, findings);
  check_unique_queues(draft, findings);
  check_queues(draft, findings);
  check_reservations(draft, findings);
  check_unique_workloads(draft, findings);
  check_workloads(draft, findings);
  check_running(draft, findings);
}

void check_workloads_alone(const ClusterDraft& draft, Findings& findings) {
  check_unique_workloads(draft, findings);
}

}  // namespace fairlead
