// A task's output as it is kept: chunks in the order they came, with stream and time.
//
// One folder holds files `output.N`, where N (20 digits) counts the bytes that were written before
// the file's first. Offsets count the bytes of output from the first ever written, so that a reader
// can go on after files were rotated away. A record is a header of 16 bytes (length u32, stream u8,
// three zeroes, time u64 in ms since the epoch; little-endian) and that many bytes. Standard output
// and error lie in one file because their order is worth more than keeping them apart; each chunk
// says which it was. A chunk is what one read gave, not a line.
//
// A record that is not whole is not there yet. One writer (the supervisor), any number of readers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "engine/descriptor.h"

namespace fairlead::engine {

enum class Stream : std::uint8_t {
  kOutput = 1,  // also all of a terminal
  kError = 2,
  kNote = 3,  // by the supervisor, for people: "120 bytes of output were lost: disk full"
};

struct OutputChunk {
  std::int64_t offset = 0;  // of its first byte
  Stream stream = Stream::kOutput;
  Instant at;
  std::string bytes;
};

struct OutputPage {
  std::vector<OutputChunk> chunks;
  std::int64_t next = 0;     // where to go on
  std::int64_t skipped = 0;  // bytes before the first chunk that were rotated away
  bool at_end = false;       // there is no more at present
};

// Not thread-safe; each reader has its own. Keeps its place, so that reading on costs no search.
class OutputReader {
 public:
  explicit OutputReader(std::string folder) : folder_(std::move(folder)) {}

  // From `offset` on, about `most_bytes` (always whole chunks, the first perhaps cut to begin at
  // `offset`). Error: kIo.
  Result<OutputPage> read(std::int64_t offset, std::size_t most_bytes = std::size_t{256} << 10);

  // Where to read from to get the last `lines` lines (a last line without its end counts).
  Result<std::int64_t> offset_of_tail(std::int64_t lines);

  // Where the first chunk at or after `since` begins; the end if there is none.
  Result<std::int64_t> offset_since(Instant since);

 private:
  Result<bool> open_at(std::int64_t offset);

  std::string folder_;
  Descriptor file_;
  std::int64_t file_begin_ = -1;  // the N of the open file
  std::int64_t place_ = 0;        // in the file, of the record at `offset_`
  std::int64_t offset_ = 0;
};

// Keeps at most `files` files of about `per_file` bytes each. What cannot be written is counted,
// said in a note once there is room again, and never blocks the task. Requires: one per folder.
class OutputWriter {
 public:
  OutputWriter(int folder, std::int64_t per_file, int files)
      : folder_(folder), per_file_(per_file), files_(files) {}

  void write(Stream stream, std::string_view bytes, Instant now);
  // A last try to say what was lost.
  void finish(Instant now);

  std::int64_t written() const { return offset_; }
  std::int64_t lost() const { return lost_in_all_; }

 private:
  bool append(Stream stream, std::string_view bytes, Instant now);
  bool open_next();
  std::string note_of_loss() const;

  int folder_;
  std::int64_t per_file_;
  int files_;
  Descriptor file_;
  std::int64_t size_ = 0;    // of the open file
  std::int64_t offset_ = 0;  // bytes of output in all
  std::int64_t lost_ = 0;    // and not said yet
  std::int64_t lost_in_all_ = 0;
  int why_lost_ = 0;
  std::vector<std::int64_t> kept_;  // the N of each file, oldest first
};

}  // namespace fairlead::engine
