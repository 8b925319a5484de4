// A node: host resources, devices, labels, taints, and its place in the topology tree.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/device.h"
#include "model/units.h"

namespace fairlead {

// Named integer resources beyond CPU, memory and GPU: "rdma", "licence/matlab".
using ExtendedResources = std::map<std::string, std::int64_t>;
using Labels = std::map<std::string, std::string>;

enum class TaintEffect : std::uint8_t { kNoSchedule, kPreferNoSchedule, kNoExecute };

struct Taint {
  std::string key;
  std::string value;
  TaintEffect effect = TaintEffect::kNoSchedule;
  friend auto operator<=>(const Taint&, const Taint&) = default;
};

// The CPUs of one NUMA node of the host. A node that states none has one cell with everything.
struct NumaCell {
  MilliCpu cpu;
  friend bool operator==(const NumaCell&, const NumaCell&) = default;
};

struct NodeSpec {
  std::string name;
  std::string pool = "default";
  std::string node_type;  // free text of the site ("dgx-h100"); rule 6.1 "node type"
  Labels labels;
  std::vector<Taint> taints;
  MilliCpu cpu;
  Bytes memory;
  ExtendedResources extended;
  std::vector<NumaCell> numa;  // empty, or its CPUs add up to `cpu`
  std::vector<DeviceSpec> devices;
  std::vector<std::string> topology;  // one domain name per level of the cluster, widest first;
                                      // "" where the node belongs to none at that level
  bool ready = true;                  // false: down; what runs there is lost
  bool schedulable = true;            // false: cordoned; what runs there goes on

  friend bool operator==(const NodeSpec&, const NodeSpec&) = default;
};

}  // namespace fairlead
