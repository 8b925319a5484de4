// An exact answer to "could this be placed now", by trying everything: written from the rules (2,
// 5.1, 5.2, 6.1, 6.4) and sharing nothing with the core's placement. For small clusters only.
//
// "Fits" comes with a placement that keeps every rule, so the core must find one too (I5). "No" may
// come too early in one case only: cores near devices (6.3) on nodes whose free cells are not
// known. Cost: exponential in tasks, bounded by counted steps.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "holdings.h"

namespace fairlead::property {

// A task to be placed, or one that runs and ties the others to its domains.
struct PlacedTask {
  std::size_t role = 0;
  std::int32_t index = 0;
  std::string node;  // empty: to be placed
};

enum class Answer : std::uint8_t { kFits, kNo, kUnknown };

struct Question {
  const WorkloadSpec* spec = nullptr;
  std::string pool;
  std::vector<PlacedTask> running;
  std::vector<PlacedTask> tasks;  // without nodes
  // Whether the gates admit a start with this charge in all.
  std::function<bool(const Amounts&)> gates;
};

struct Solution {
  Answer answer = Answer::kNo;
  std::string text;  // "worker/0 on n1:gpu-0, …"
};

Solution solve(const Question& question, std::vector<NodeRoom> rooms, const sim::Symbols& symbols);

// Whether a node may hold a task of the role, whatever is free there (6.1, without ready,
// cordoned).
bool node_allowed(const RoleSpec& role, const NodeSpec& node);
// The same of a device.
bool device_allowed(const RoleSpec& role, const DeviceRoom& device);

}  // namespace fairlead::property
