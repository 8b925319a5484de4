// Events as packed values: one row per kind of event in event_codec.cc, and a kind without a row
// does not compile.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "sched/event.h"
#include "sim/log/packed.h"

namespace fairlead::sim {

// "submitted", "task-ended", …: stable, the key under which the event stands in its record.
std::string_view event_kind(const sched::Event& event);

Packed pack_event(const sched::Event& event);

// nullopt if no event is of this kind. Error: kInvalidArgument, naming the field.
Result<std::optional<sched::Event>> unpack_event(std::string_view kind, const Packed& packed);

}  // namespace fairlead::sim
