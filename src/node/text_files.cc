#include "node/text_files.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace fairlead::node {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 20;
constexpr int kMostListed = 1 << 16;

std::optional<std::int64_t> number_of(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<std::string> read_text(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  std::string text;
  char part[4096];
  while (text.size() < kMostBytes) {
    const ssize_t got = ::read(file, part, sizeof part);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      ::close(file);
      return std::nullopt;
    }
    if (got == 0) break;
    text.append(part, static_cast<std::size_t>(got));
  }
  ::close(file);
  return text;
}

std::optional<std::string> read_word(const std::string& path) {
  std::optional<std::string> text = read_text(path);
  if (text) text->erase(text->find_last_not_of(" \n\t") + 1);
  return text;
}

std::optional<std::int64_t> read_number(const std::string& path) {
  const std::optional<std::string> text = read_word(path);
  return text ? number_of(*text) : std::nullopt;
}

Result<void> write_text(const std::string& path, std::string_view text) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  ssize_t written = -1;
  if (file >= 0) {
    do {
      written = ::write(file, text.data(), text.size());
    } while (written < 0 && errno == EINTR);
  }
  const int error = errno;
  if (file >= 0) ::close(file);
  if (written == static_cast<ssize_t>(text.size())) return {};
  return fail(Error{ErrorCode::kIo,
                    "\"" + std::string(text) + "\" cannot be written: " + std::strerror(error),
                    path,
                    {},
                    {}});
}

std::vector<int> parse_number_list(std::string_view text) {
  std::vector<int> numbers;
  for (const std::string& range : split(text, ',')) {
    const std::size_t dash = range.find('-');
    const auto first = number_of(range);
    const auto last = dash == std::string::npos ? first : number_of(range.substr(dash + 1));
    if (!first || !last || *first < 0 || *last >= kMostListed) continue;
    for (std::int64_t i = *first; i <= *last; ++i) numbers.push_back(static_cast<int>(i));
  }
  return numbers;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (end > 0) parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::optional<std::int64_t> keyed_number(std::string_view text, std::string_view key) {
  for (const std::string& line : split(text, '\n')) {
    if (line.size() > key.size() && line.starts_with(key) && line[key.size()] == ' ') {
      return number_of(std::string_view(line).substr(key.size() + 1));
    }
  }
  return std::nullopt;
}

}  // namespace fairlead::node
