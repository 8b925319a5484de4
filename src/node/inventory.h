// This machine as a node: what the scheduler may hand out.
//
// CPUs count as far as affinity and control groups leave them to this server, memory likewise. GPUs
// come from the driver or are simulated. Cost: reads some hundred small files, asks the driver;
// done once at the start and when a device is said to have changed.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "model/node.h"
#include "node/gpu.h"

namespace fairlead::node {

struct InventoryOptions {
  std::string proc = "/proc";
  std::string sys = "/sys";
  std::string name;            // of the node; empty: the host's name
  std::string simulated_gpus;  // "8xH100-80GB"; empty: those of the driver
  std::string nvml = "libnvidia-ml.so.1";
  std::vector<int> cpus;  // empty: those that this process may run on
};

struct Inventory {
  NodeSpec node;
  std::vector<DeviceClass> classes;  // of the devices, each once; also those that are known anyway
  std::vector<Gpu> gpus;             // in the order of node.devices
  bool simulated = false;
  std::vector<std::string> notes;  // what a person should be told once
};

// Error: kInvalidArgument and so on for `simulated_gpus`; kIo if /proc cannot be read.
Result<Inventory> take_inventory(const InventoryOptions& options = {});

}  // namespace fairlead::node
