// Which device files the processes of a control group may open.
//
// v1 writes devices.deny and devices.allow; v2 loads a small BPF program that the kernel asks at
// each open. The usual harmless ones (null, zero, full, random, urandom, tty, ptmx, pts) are always
// allowed. Needs CAP_SYS_ADMIN (v1) or CAP_BPF and CAP_NET_ADMIN (v2).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace fairlead::node {

struct DeviceRule {
  char kind = 'c';  // 'c' character, 'b' block
  std::int64_t major = 0;
  std::int64_t minor = 0;  // -1: all of that major number
  friend bool operator==(const DeviceRule&, const DeviceRule&) = default;
};

// The usual ones and those of `paths`. Error: kNotFound or kInvalidArgument, naming the path that
// is no device file.
Result<std::vector<DeviceRule>> device_rules(const std::vector<std::string>& paths);

// "c 195:0 rwm", "c 136:* rwm": as v1 reads it.
std::string rule_text(const DeviceRule& rule);

// Error: kIo or kFailed, with what the kernel said.
Result<void> filter_devices_v1(const std::string& group, const std::vector<DeviceRule>& rules);
Result<void> filter_devices_v2(const std::string& group, const std::vector<DeviceRule>& rules);

// Whether the kernel takes such a program from us; it is loaded and thrown away.
Result<void> try_device_program();

}  // namespace fairlead::node
