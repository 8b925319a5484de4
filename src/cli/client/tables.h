// Lists of what the server keeps, as tables for people. `now` is the time of the answer; what is
// not known is a "-".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/document.h"

namespace fairlead::cli {

using Items = std::vector<const Value*>;

// kClassic: those that `runai` is known for, with its headers.
enum class Columns : std::uint8_t { kUsual, kWide, kClassic };
std::string workload_table(const Items& items, Columns columns, Instant now);
std::string task_table(const Items& items, Instant now);
std::string node_table(const Items& items, bool wide);
// Departments or projects; `marked` is the project that is meant by default.
std::string queue_table(const Items& items, const std::string& marked);
std::string pool_table(const Items& items);
std::string device_table(const Items& items);
std::string reservation_table(const Items& items);
std::string waiting_table(const Items& items, Instant now);
std::string event_table(const Items& items, Instant now);
std::string audit_table(const Items& items);
std::string user_table(const Items& items, Instant now);
std::string token_table(const Items& items, Instant now);

// Sums of the devices of a node: "2.5/8", what is taken and what there is.
std::string node_gpus(const Value& node);

}  // namespace fairlead::cli
