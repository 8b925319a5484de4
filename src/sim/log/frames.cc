#include "sim/log/frames.h"

#include <algorithm>
#include <istream>

#include <boost/crc.hpp>

#include "base/check.h"

namespace fairlead::sim {
namespace {

constexpr std::string_view kMagic = "FAIRLOG\n";
constexpr std::size_t kChunk = std::size_t{1} << 20;

std::uint32_t crc32c(std::string_view bytes) {
  boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true> crc;
  crc.process_bytes(bytes.data(), bytes.size());
  return crc.checksum();
}

void put(std::string& out, std::uint32_t number) {
  for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(number >> shift & 0xFF);
}

std::uint32_t get(std::string_view bytes, std::size_t at) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    number |= std::uint32_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
  }
  return number;
}

bool all_zero(std::string_view bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](char c) { return c == 0; });
}

}  // namespace

std::string log_preamble() {
  std::string out(kMagic);
  put(out, kLogVersion);
  return out;
}

std::string framed(std::string_view payload) {
  FAIRLEAD_CHECK(payload.size() <= kMostFrameBytes, "a frame is of bounded size");
  std::string out;
  out.reserve(kFrameHeadBytes + payload.size());
  put(out, static_cast<std::uint32_t>(payload.size()));
  put(out, crc32c(payload));
  put(out, crc32c(out));
  out += payload;
  return out;
}

std::unexpected<Error> FrameReader::damaged(const std::string& what) const {
  return fail(Error{ErrorCode::kInvalidArgument,
                    what,
                    name_ + ", byte " + std::to_string(offset_),
                    {},
                    "restore the file from a copy; what lies before is whole"});
}

std::size_t FrameReader::read(char* target, std::size_t most) {
  in_.read(target, static_cast<std::streamsize>(most));
  const auto got = static_cast<std::size_t>(in_.gcount());
  position_ += got;
  return got;
}

Result<void> FrameReader::read_preamble() {
  std::string bytes(kMagic.size() + 4, 0);
  bytes.resize(read(bytes.data(), bytes.size()));
  if (in_.bad()) return fail(Error{ErrorCode::kIo, "cannot be read", name_, {}, {}});
  if (bytes.size() < kMagic.size() + 4 || !bytes.starts_with(kMagic)) {
    return fail(Error{ErrorCode::kInvalidArgument,
                      "is no log of a scheduler",
                      name_,
                      {},
                      "record one with `fairlead scenario run FILE --record LOG`"});
  }
  const std::uint32_t version = get(bytes, kMagic.size());
  if (version == kLogVersion) return {};
  return fail(Error{ErrorCode::kInvalidArgument,
                    "is of version " + std::to_string(version) +
                        " of the log format; this program "
                        "reads version " +
                        std::to_string(kLogVersion),
                    name_,
                    {},
                    "read it with the program that wrote it"});
}

std::optional<std::string_view> FrameReader::end_here(std::size_t bytes) {
  if (bytes > 0) torn_ = TornEnd{offset_, bytes};
  return std::nullopt;
}

// File systems may leave zeros where a crash kept the data from the disk.
bool FrameReader::only_zeros_left(std::string_view begun) {
  if (!all_zero(begun)) return false;
  std::string chunk(kChunk, 0);
  while (const std::size_t got = read(chunk.data(), chunk.size())) {
    if (!all_zero(std::string_view(chunk).substr(0, got))) return false;
  }
  return true;
}

Result<std::optional<std::string_view>> FrameReader::next() {
  if (torn_) return std::nullopt;
  offset_ = position_;
  char head_bytes[kFrameHeadBytes];
  const std::size_t got = read(head_bytes, kFrameHeadBytes);
  if (in_.bad()) return fail(Error{ErrorCode::kIo, "cannot be read", name_, {}, {}});
  if (got < kFrameHeadBytes) return end_here(got);
  const std::string_view head(head_bytes, kFrameHeadBytes);
  if (get(head, 8) != crc32c(head.substr(0, 8))) {
    if (only_zeros_left(head)) return end_here(position_ - offset_);
    return damaged("the head of a record is damaged");
  }
  const std::size_t length = get(head, 0);
  if (length > kMostFrameBytes) {
    return damaged("a record of " + std::to_string(length) + " bytes; allowed are " +
                   std::to_string(kMostFrameBytes));
  }
  payload_.clear();
  while (payload_.size() < length) {
    const std::size_t before = payload_.size();
    const std::size_t part = std::min(length - before, kChunk);
    payload_.resize(before + part);
    const std::size_t read_now = read(payload_.data() + before, part);
    if (in_.bad()) return fail(Error{ErrorCode::kIo, "cannot be read", name_, {}, {}});
    if (read_now < part) return end_here(position_ - offset_);
  }
  if (get(head, 4) == crc32c(payload_)) return payload_;
  // Of the last one some blocks may have reached the disk and others not.
  if (in_.peek() == std::istream::traits_type::eof()) return end_here(position_ - offset_);
  return damaged("a record is damaged: its checksum does not fit");
}

}  // namespace fairlead::sim
