// Logs of what a core was told and decided, as files: recorded into one that appears whole or not
// at all, and opened to be read.
#pragma once

#include <istream>
#include <memory>
#include <optional>
#include <string>

#include "base/output_file.h"
#include "base/result.h"
#include "sim/log/writer.h"

namespace fairlead::cli {

class LogFile {
 public:
  LogFile() = default;
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;

  // Error: kIo.
  Result<void> open(const std::string& path);

  // nullptr unless open.
  sim::Recorder* recorder() { return writer_ ? &*writer_ : nullptr; }

  // Puts the file in place; nothing happens unless open. Error: kIo, or what the log could not
  // hold.
  Result<void> commit();

 private:
  std::optional<OutputFile> file_;
  std::optional<sim::LogWriter> writer_;
};

// "-" is standard input. Error: kIo.
Result<std::unique_ptr<std::istream>> open_log(const std::string& path);

}  // namespace fairlead::cli
