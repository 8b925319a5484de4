// A file that appears whole or not at all.
//
// What is written goes to a file without a name in the same folder; commit() makes it durable
// (fsync) and puts it in place. Without commit() nothing is left behind, even where the process is
// killed, and an older file of that name stays as it was. Where a file system knows no files
// without a name it is a temporary one, which a kill leaves behind. Devices, pipes and sockets
// cannot be replaced and are written to directly.
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

  int open_temporary();
  bool put_in_place();

  std::string path_;       // with symbolic links resolved
  std::string temporary_;  // its present name; empty: it has none
  bool unnamed_ = false;   // commit() names it
  std::FILE* file_ = nullptr;
  int write_error_ = 0;
};

Result<void> write_file(const std::string& path, std::string_view text);

}  // namespace fairlead
