// Reading a whole text file.
#pragma once

#include <string>

#include "base/result.h"

namespace fairlead::sim {

// The file's bytes; "-" is standard input. At most 4 GiB. Error: kIo, naming the file and what is
// wrong with it; a gzip-compressed file is refused with the command that unpacks it.
Result<std::string> read_text_file(const std::string& path);

}  // namespace fairlead::sim
