// How a log lies in a file: eight bytes "FAIRLOG\n", the version of the format, then frames.
//
// A frame is the length of its payload, the CRC-32C of the payload, the CRC-32C of those eight
// bytes (each a little-endian 32-bit number), and the payload. The length has a checksum of its
// own, so that a torn end (a crash while writing) and damage in the middle are told apart.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fairlead::sim {

inline constexpr std::uint32_t kLogVersion = 1;
inline constexpr std::size_t kMostFrameBytes = std::size_t{64} << 20;
inline constexpr std::size_t kFrameHeadBytes = 12;

std::string log_preamble();

// Requires: at most kMostFrameBytes.
std::string framed(std::string_view payload);

// What lies behind the last whole frame of a file.
struct TornEnd {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

// Reads frame after frame; holds one of them.
class FrameReader {
 public:
  // `name` is for messages. Requires: `in` outlives the reader.
  FrameReader(std::istream& in, std::string name) : in_(in), name_(std::move(name)) {}

  // Error: kInvalidArgument if this is no log, or one of a later version.
  Result<void> read_preamble();

  // The next payload, valid until the next call; nullopt at the end, which may be torn(). Error:
  // kInvalidArgument for damage before the end, with the offset; kIo.
  Result<std::optional<std::string_view>> next();

  // Where the frame that next() returned began.
  std::uint64_t offset() const { return offset_; }
  const std::optional<TornEnd>& torn() const { return torn_; }
  const std::string& name() const { return name_; }

  // An error about the frame at hand.
  std::unexpected<Error> damaged(const std::string& what) const;

 private:
  std::size_t read(char* target, std::size_t most);
  std::optional<std::string_view> end_here(std::size_t bytes);
  bool only_zeros_left(std::string_view begun);

  std::istream& in_;
  std::string name_;
  std::string payload_;
  std::uint64_t offset_ = 0;
  std::uint64_t position_ = 0;
  std::optional<TornEnd> torn_;
};

}  // namespace fairlead::sim
