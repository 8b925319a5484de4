#include "sim/log/reader.h"

#include <istream>
#include <utility>

#include "sim/log/record_codec.h"

namespace fairlead::sim {

Result<LogReader> LogReader::open(std::istream& in, std::string name) {
  LogReader reader(FrameReader(in, std::move(name)));
  FAIRLEAD_TRY(reader.frames_.read_preamble());
  FAIRLEAD_ASSIGN(const auto payload, reader.frames_.next());
  if (!payload) {
    return fail(Error{ErrorCode::kInvalidArgument,
                      "ends before its first record",
                      reader.frames_.name(),
                      {},
                      "record it again"});
  }
  auto header = decode_header(*payload);
  if (!header) return reader.frames_.damaged("the head of the log: " + header.error().text());
  reader.header_ = std::move(*header);
  return reader;
}

Result<std::optional<LogRecord>> LogReader::next() {
  FAIRLEAD_ASSIGN(const auto payload, frames_.next());
  if (!payload) return std::nullopt;
  payload_ = *payload;
  ++number_;
  auto record = decode_record(payload_);
  if (!record) {
    return frames_.damaged("record " + std::to_string(number_) + ": " + record.error().text());
  }
  if (last_ && record->at < *last_) {
    return frames_.damaged("record " + std::to_string(number_) + " is earlier than the one before");
  }
  last_ = record->at;
  return std::optional<LogRecord>(std::move(*record));
}

}  // namespace fairlead::sim
