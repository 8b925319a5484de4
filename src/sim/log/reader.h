// Reads a log record by record, from anything that can be read in order. Holds one record.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "sim/log/frames.h"
#include "sim/log/record.h"

namespace fairlead::sim {

class LogReader {
 public:
  // Reads the head. Requires: `in` outlives the reader. Error: kInvalidArgument, kIo.
  static Result<LogReader> open(std::istream& in, std::string name);

  const LogHeader& header() const { return header_; }

  // nullopt at the end. Error: kInvalidArgument, with the offset: damage, a record that this
  // version does not know, or a time before the record before; kIo.
  Result<std::optional<LogRecord>> next();

  // Of the record that next() returned: its number from 1, its first byte in the file, and the
  // bytes that it was read from (valid until the next call).
  std::int64_t number() const { return number_; }
  std::uint64_t offset() const { return frames_.offset(); }
  std::string_view payload() const { return payload_; }

  // After the end: what a crash left of a record behind the last whole one.
  const std::optional<TornEnd>& torn() const { return frames_.torn(); }

 private:
  explicit LogReader(FrameReader frames) : frames_(std::move(frames)) {}

  FrameReader frames_;
  LogHeader header_;
  std::int64_t number_ = 0;
  std::string_view payload_;
  std::optional<Instant> last_;
};

}  // namespace fairlead::sim
