#include "engine/output_log.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <sys/uio.h>

namespace fairlead::engine {
namespace {

constexpr std::int64_t kHeader = 16;
constexpr std::int64_t kMostTail = std::int64_t{1} << 24;
constexpr std::string_view kPrefix = "output.";

std::string file_name(std::int64_t begin) {
  char name[64];
  std::snprintf(&name[0], sizeof name, "output.%020lld", static_cast<long long>(begin));
  return &name[0];
}

std::vector<std::int64_t> files_in(const std::string& folder) {
  std::vector<std::int64_t> begins;
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(::opendir(folder.c_str()), &::closedir);
  while (const dirent* entry = dir ? ::readdir(dir.get()) : nullptr) {
    const std::string_view name = entry->d_name;
    if (!name.starts_with(kPrefix)) continue;
    std::int64_t begin = -1;
    const char* end = name.data() + name.size();
    const auto [rest, error] = std::from_chars(name.data() + kPrefix.size(), end, begin);
    if (error == std::errc() && rest == end && begin >= 0) begins.push_back(begin);
  }
  std::sort(begins.begin(), begins.end());
  return begins;
}

struct Header {
  std::int64_t length = 0;
  Stream stream = Stream::kOutput;
  Instant at;
};

void put(char* to, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) to[i] = static_cast<char>(value >> (8 * i) & 0xff);
}
std::uint64_t get(const char* from, int bytes) {
  std::uint64_t value = 0;
  for (int i = 0; i < bytes; ++i) {
    value |= std::uint64_t{static_cast<unsigned char>(from[i])} << (8 * i);
  }
  return value;
}

// The header at `place` if its record is whole.
bool read_header(int file, std::int64_t place, Header& header) {
  char bytes[kHeader];
  if (::pread(file, &bytes[0], sizeof bytes, place) != kHeader) return false;
  header.length = static_cast<std::int64_t>(get(&bytes[0], 4));
  header.stream = static_cast<Stream>(bytes[4]);
  header.at = Instant{static_cast<std::int64_t>(get(&bytes[8], 8))};
  struct stat status{};
  return ::fstat(file, &status) == 0 && status.st_size >= place + kHeader + header.length;
}

// Notes are no output of the task: they take no offsets.
std::int64_t counted(const Header& header) {
  return header.stream == Stream::kNote ? 0 : header.length;
}

}  // namespace

// Opens the file that holds `offset` unless it is open, at its first record. False if there is
// none.
Result<bool> OutputReader::open_at(std::int64_t offset) {
  const std::vector<std::int64_t> begins = files_in(folder_);
  if (begins.empty()) return false;
  auto after = std::upper_bound(begins.begin(), begins.end(), offset);
  const std::int64_t begin = after == begins.begin() ? begins.front() : *--after;
  if (file_ && begin == file_begin_) {
    // Reading back in the same file begins anew; a file is never changed where it was read.
    if (offset >= offset_) return true;
  } else {
    file_.reset(::open((folder_ + "/" + file_name(begin)).c_str(), O_RDONLY | O_CLOEXEC));
    if (!file_) {
      if (errno == ENOENT) return open_at(offset);  // rotated away in between
      return fail(Error{ErrorCode::kIo,
                        std::string("cannot be read: ") + std::strerror(errno),
                        folder_ + "/" + file_name(begin),
                        {},
                        {}});
    }
    file_begin_ = begin;
  }
  place_ = 0;
  offset_ = begin;
  return true;
}

Result<OutputPage> OutputReader::read(std::int64_t offset, std::size_t most_bytes) {
  OutputPage page;
  page.next = std::max<std::int64_t>(offset, 0);
  if (!file_ || offset_ != page.next) {
    FAIRLEAD_ASSIGN(const bool found, open_at(page.next));
    if (!found) {
      page.at_end = true;
      return page;
    }
  }
  if (offset_ > page.next) {
    page.skipped = offset_ - page.next;
    page.next = offset_;
  }
  std::size_t bytes = 0;
  while (bytes < most_bytes) {
    Header header;
    if (!read_header(file_.get(), place_, header)) {
      // The end of this file: another may go on exactly here.
      const std::vector<std::int64_t> begins = files_in(folder_);
      const auto next = std::upper_bound(begins.begin(), begins.end(), file_begin_);
      if (next == begins.end()) {
        page.at_end = true;
        break;
      }
      const std::int64_t expected = offset_;
      file_.reset();
      FAIRLEAD_ASSIGN(const bool found, open_at(*next));
      if (!found) break;
      page.skipped += std::max<std::int64_t>(offset_ - expected, 0);
      page.next = std::max(page.next, offset_);
      continue;
    }
    const std::int64_t end = offset_ + counted(header);
    if (end > page.next || (header.stream == Stream::kNote && offset_ >= page.next)) {
      const std::int64_t cut = header.stream == Stream::kNote ? 0 : page.next - offset_;
      OutputChunk chunk{page.next, header.stream, header.at, {}};
      chunk.bytes.resize(static_cast<std::size_t>(header.length - cut));
      const ssize_t got =
          ::pread(file_.get(), chunk.bytes.data(), chunk.bytes.size(), place_ + kHeader + cut);
      if (got != static_cast<ssize_t>(chunk.bytes.size())) {
        return fail(Error{ErrorCode::kIo, "cannot be read", folder_, {}, {}});
      }
      bytes += chunk.bytes.size();
      page.next = std::max(page.next, end);
      page.chunks.push_back(std::move(chunk));
    }
    place_ += kHeader + header.length;
    offset_ = end;
  }
  return page;
}

Result<std::int64_t> OutputReader::offset_of_tail(std::int64_t lines) {
  if (lines > kMostTail) return 0;
  // Offsets after each newline, the last `lines` + 1 of them in a ring.
  std::vector<std::int64_t> begins(static_cast<std::size_t>(std::max<std::int64_t>(lines, 0)) + 1);
  std::int64_t count = 0;
  std::int64_t at = 0;
  std::int64_t end = 0;
  for (bool first = true;; first = false) {
    FAIRLEAD_ASSIGN(const OutputPage page, read(at));
    if (first || page.skipped > 0) {
      count = 0;
      begins[0] = page.chunks.empty() ? page.next : page.chunks.front().offset;
      count = 1;
    }
    for (const OutputChunk& chunk : page.chunks) {
      if (chunk.stream == Stream::kNote) continue;
      for (std::size_t i = 0; i < chunk.bytes.size(); ++i) {
        if (chunk.bytes[i] != '\n') continue;
        begins[static_cast<std::size_t>(count) % begins.size()] =
            chunk.offset + static_cast<std::int64_t>(i) + 1;
        ++count;
      }
    }
    at = end = page.next;
    if (page.at_end) break;
  }
  if (lines <= 0) return end;
  // The last newline begins no line unless something follows it.
  const std::int64_t newest = begins[static_cast<std::size_t>(count - 1) % begins.size()];
  const std::int64_t wanted = newest == end ? lines + 1 : lines;
  const std::int64_t index = std::max<std::int64_t>(count - wanted, 0);
  return begins[static_cast<std::size_t>(
                    std::max(index, count - static_cast<std::int64_t>(begins.size()))) %
                begins.size()];
}

Result<std::int64_t> OutputReader::offset_since(Instant since) {
  for (std::int64_t at = 0;;) {
    FAIRLEAD_ASSIGN(const OutputPage page, read(at));
    for (const OutputChunk& chunk : page.chunks) {
      if (chunk.at >= since && chunk.stream != Stream::kNote) return chunk.offset;
    }
    at = page.next;
    if (page.at_end) return at;
  }
}

void OutputWriter::write(Stream stream, std::string_view bytes, Instant now) {
  if (bytes.empty() || append(stream, bytes, now) || stream == Stream::kNote) return;
  lost_ += static_cast<std::int64_t>(bytes.size());
  lost_in_all_ += static_cast<std::int64_t>(bytes.size());
}

void OutputWriter::finish(Instant now) {
  if (lost_ > 0) (void)append(Stream::kNote, {}, now);
}

std::string OutputWriter::note_of_loss() const {
  const bool full = why_lost_ == ENOSPC || why_lost_ == EDQUOT;
  return std::to_string(lost_) +
         " bytes of output were lost: " + (full ? "disk full" : std::strerror(why_lost_)) + "\n";
}

// What was lost before is said in the same write: there is room for both or for none, so that a
// full disk is not filled with notes.
bool OutputWriter::append(Stream stream, std::string_view bytes, Instant now) {
  if ((!file_ || size_ >= per_file_) && !open_next()) return false;
  const std::string note = lost_ > 0 ? note_of_loss() : std::string();
  char headers[2][kHeader] = {};
  iovec parts[4];
  int count = 0;
  ssize_t wanted = 0;
  const auto add = [&](char* header, Stream which, std::string_view text) {
    if (text.empty()) return;
    put(header, text.size(), 4);
    header[4] = static_cast<char>(which);
    put(header + 8, static_cast<std::uint64_t>(now.ms), 8);
    parts[count++] = {header, kHeader};
    parts[count++] = {const_cast<char*>(text.data()), text.size()};
    wanted += static_cast<ssize_t>(kHeader + text.size());
  };
  add(&headers[0][0], Stream::kNote, note);
  add(&headers[1][0], stream, bytes);
  ssize_t got = -1;
  do {
    got = ::pwritev(file_.get(), &parts[0], count, size_);
  } while (got < 0 && errno == EINTR);
  if (got != wanted) {
    // A part of a record would hide what follows; its place is taken again by the next.
    why_lost_ = got < 0 ? errno : ENOSPC;
    if (::ftruncate(file_.get(), size_) != 0) file_.reset();
    return false;
  }
  lost_ = 0;
  size_ += wanted;
  if (stream != Stream::kNote) offset_ += static_cast<std::int64_t>(bytes.size());
  return true;
}

bool OutputWriter::open_next() {
  if (!kept_.empty() && kept_.back() == offset_) {
    // Nothing but notes since: this file cannot have a name of its own, so it goes on.
    if (file_) return true;
    why_lost_ = EIO;
    return false;
  }
  const int file =
      ::openat(folder_, file_name(offset_).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) {
    why_lost_ = errno;
    return false;
  }
  file_.reset(file);
  size_ = 0;
  kept_.push_back(offset_);
  while (kept_.size() > static_cast<std::size_t>(files_)) {
    ::unlinkat(folder_, file_name(kept_.front()).c_str(), 0);
    kept_.erase(kept_.begin());
  }
  return true;
}

}  // namespace fairlead::engine
