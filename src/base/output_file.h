// A file that appears whole or not at all.
//
// What is written goes to a temporary file in the same folder; commit() makes it durable (fsync)
// and puts it in place (rename). Without commit() nothing is left behind and an older file of that
// name stays as it was. Devices, pipes and sockets cannot be replaced and are written to directly.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fairlead {

class OutputFile {
 public:
  // Error: kIo, naming the path and why (no such folder, a folder of that name, no permission).
  static Result<OutputFile> create(const std::string& path);

  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  // Errors show at commit(), so that callers may write without looking.
  void write(std::string_view text);

  // Error: kIo. Requires: called once.
  Result<void> commit();

 private:
  OutputFile() = default;

  std::string path_;       // with symbolic links resolved
  std::string temporary_;  // empty: written to directly
  std::FILE* file_ = nullptr;
  int write_error_ = 0;
};

Result<void> write_file(const std::string& path, std::string_view text);

}  // namespace fairlead
