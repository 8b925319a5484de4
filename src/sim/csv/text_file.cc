#include "sim/csv/text_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include <fmt/core.h>

#include "model/document.h"

namespace fairlead::sim {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{4} << 30;
constexpr std::size_t kChunk = std::size_t{1} << 16;

std::unexpected<Error> io_error(const std::string& path, std::string message, std::string cure) {
  return fail(Error{ErrorCode::kIo, std::move(message), document_name(path), {}, std::move(cure)});
}

}  // namespace

Result<std::string> read_text_file(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    return io_error(path, "is a directory", "name a file");
  }
  const std::string opened = path == "-" ? "/dev/stdin" : path;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(opened.c_str(), "rb"),
                                                             &std::fclose);
  if (!file) {
    return io_error(path, fmt::format("cannot be opened: {}", std::strerror(errno)),
                    "check the path");
  }
  std::string text;
  std::string chunk(kChunk, '\0');
  while (const std::size_t got = std::fread(chunk.data(), 1, chunk.size(), file.get())) {
    text.append(chunk.data(), got);
    if (text.size() > kMaxBytes) return io_error(path, "is larger than 4 GiB", "split the file");
  }
  if (std::ferror(file.get()) != 0) {
    return io_error(path, fmt::format("cannot be read: {}", std::strerror(errno)),
                    "check the disk");
  }
  if (!text.starts_with("\x1f\x8b")) return text;
  return io_error(path, "is gzip-compressed",
                  fmt::format("unpack it first, or hand it through: zcat {} | fairlead … -",
                              path == "-" ? "FILE" : path));
}

}  // namespace fairlead::sim
