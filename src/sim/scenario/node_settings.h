// The settings of a node, shared by the cluster and node statements. Inside of reading.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/scenario/once.h"
#include "sim/scenario/reading.h"

namespace fairlead::sim {

inline constexpr const char* kDefaultClass = "H100-80GB";
inline constexpr std::int64_t kMostDevices = 64;  // of a node

// Devices of a node as their count and how they are spread over it.
struct Devices {
  std::int64_t count = 0;
  std::string device_class = kDefaultClass;
  std::int64_t numa = 0;  // 0: not known
  std::int64_t pcie = 0;
  std::int64_t nvlink = 0;
  bool mig = false;
  bool stated = false;
  std::optional<Word> laid_out_by;  // the last setting that only makes sense where none is listed
};

std::vector<DeviceSpec> laid_out(const Devices& devices);

// A class must be told to the core before its first device.
Result<void> use_class(const Cursor& cursor, const Word& word, const std::string& name,
                       Reading& reading);

// The settings of a node up to the end of the statement. `numa` cells follow the CPUs. With
// `change`, devices that are not stated stay. `stated` holds what the statement has stated so far.
Result<void> read_node_settings(Cursor& cursor, Reading& reading, NodeSpec& node, Devices& devices,
                                Once& stated, bool change);

// 128 CPUs and 1 TiB, where nothing is stated.
NodeSpec fresh_node();

// Tells the core of levels if no statement did: nodes come after.
void settle_levels(std::int32_t line, Reading& reading);

}  // namespace fairlead::sim
