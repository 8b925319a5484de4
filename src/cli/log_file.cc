#include "cli/log_file.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>

#include "cli/app.h"

namespace fairlead::cli {

Result<void> LogFile::open(const std::string& path) {
  FAIRLEAD_ASSIGN(OutputFile file, OutputFile::create(path));
  file_.emplace(std::move(file));
  writer_.emplace(version_text(), [this](std::string_view record) { file_->write(record); });
  return {};
}

Result<void> LogFile::commit() {
  if (!file_) return {};
  FAIRLEAD_TRY(writer_->status());
  return file_->commit();
}

Result<std::unique_ptr<std::istream>> open_log(const std::string& path) {
  if (path == "-") return std::make_unique<std::istream>(std::cin.rdbuf());
  auto file = std::make_unique<std::ifstream>(path, std::ios::binary);
  if (*file) return file;
  return fail(
      Error{ErrorCode::kIo, std::string("cannot be read: ") + std::strerror(errno), path, {}, {}});
}

}  // namespace fairlead::cli
