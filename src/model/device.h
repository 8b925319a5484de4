// Device classes and devices: what a GPU is, before anyone holds a part of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/units.h"

namespace fairlead {

// One kind of MIG instance of a device class. Instances share the device's memory slices: an
// instance occupies `memory_slices` adjacent ones, beginning at one of `starts`, and takes
// `compute_slices` of the device's compute slices. (NVIDIA MIG user guide, "Supported profiles".)
struct MigProfile {
  std::string name;  // "3g.40gb"
  std::int32_t compute_slices = 0;
  std::int32_t memory_slices = 0;
  MiB memory;
  std::vector<std::int32_t> starts;

  friend bool operator==(const MigProfile&, const MigProfile&) = default;
};

struct DeviceClass {
  std::string name;  // "H100-80GB"
  MiB memory;
  std::int32_t mig_compute_slices = 0;  // 7 on A100 and H100; 0: no MIG
  std::int32_t mig_memory_slices = 0;   // 8 on A100 and H100; at most 16
  std::vector<MigProfile> mig_profiles;

  friend bool operator==(const DeviceClass&, const DeviceClass&) = default;
};

enum class DeviceHealth : std::uint8_t { kHealthy, kUnhealthy };

// One physical GPU of a node. `numa`, `pcie_switch` and `nvlink_island` are small numbers that mean
// something inside the node only; -1 is unknown. Devices with the same number are near each other.
struct DeviceSpec {
  std::string id;  // UUID, or "gpu-0" where nothing better is known; unique in the node
  std::string device_class;
  std::int32_t numa = -1;
  std::int32_t pcie_switch = -1;
  std::int32_t nvlink_island = -1;
  bool mig_enabled = false;
  DeviceHealth health = DeviceHealth::kHealthy;

  friend bool operator==(const DeviceSpec&, const DeviceSpec&) = default;
};

// The class of a well-known GPU by name ("H100-80GB", "A100-40GB", "V100-16GB", "T4", …), with its
// memory as the driver reports it and its MIG profiles; nullptr if the name is not known.
const DeviceClass* known_device_class(const std::string& name);

// Names of all known classes, sorted.
std::vector<std::string> known_device_class_names();

}  // namespace fairlead
