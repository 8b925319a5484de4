// Records as the bytes that a log keeps of them: {"at": ms, KIND: value} in CBOR. Equal records
// have equal bytes, so that decisions are compared by them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sim/log/record.h"

namespace fairlead::sim {

std::string encode_header(const LogHeader& header);
std::string encode_event(Instant at, const sched::Event& event);
std::string encode_refusal(Instant at, const Error& error);
std::string encode_decisions(Instant at, const std::vector<NamedDecision>& decisions);

// Error: kInvalidArgument, naming the field.
Result<LogHeader> decode_header(std::string_view payload);
Result<LogRecord> decode_record(std::string_view payload);

}  // namespace fairlead::sim
