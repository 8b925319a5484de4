// Any bytes: the log reader neither crashes nor takes more memory than they are worth, and what it
// reads of a record packs into bytes that read as the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <sstream>

#include "sim/log/reader.h"
#include "sim/log/record_codec.h"

namespace {

using fairlead::sim::DecisionRecord;
using fairlead::sim::EventRecord;
using fairlead::sim::LogRecord;
using fairlead::sim::RefusalRecord;

std::string encoded(const LogRecord& record) {
  if (const auto* event = std::get_if<EventRecord>(&record.what)) {
    return fairlead::sim::encode_event(record.at, event->event);
  }
  if (const auto* refusal = std::get_if<RefusalRecord>(&record.what)) {
    return fairlead::sim::encode_refusal(record.at, refusal->error);
  }
  return fairlead::sim::encode_decisions(record.at,
                                         std::get<DecisionRecord>(record.what).decisions);
}

void check_record(std::string_view payload) {
  const auto record = fairlead::sim::decode_record(payload);
  if (!record) return;
  const std::string once = encoded(*record);
  const auto again = fairlead::sim::decode_record(once);
  if (again && encoded(*again) == once) return;
  std::cerr << "a record packs into something else\n";
  std::abort();
}

void check_file(const std::string& bytes) {
  std::istringstream in(bytes);
  auto reader = fairlead::sim::LogReader::open(in, "input.log");
  if (!reader) return;
  while (true) {
    const auto next = reader->next();
    if (!next || !*next) return;
    check_record(reader->payload());
  }
}

}  // namespace

// The bytes as a whole file, and as the payload of a frame whose checksums fit.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  check_file(bytes);
  if (size > fairlead::sim::kMostFrameBytes) return 0;
  check_record(bytes);
  (void)fairlead::sim::decode_header(bytes);
  using fairlead::sim::framed;
  check_file(fairlead::sim::log_preamble() + framed(fairlead::sim::encode_header({})) +
             framed(bytes) + framed(bytes));
  return 0;
}
