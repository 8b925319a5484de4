// Small files of the kernel: read whole, written by one write(2).
//
// Not for files of ours, which appear whole or not at all (base/output_file.h).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fairlead::node {

// The first MiB of a file; nullopt if it cannot be read.
std::optional<std::string> read_text(const std::string& path);

// The same without blanks and newlines at its end.
std::optional<std::string> read_word(const std::string& path);

// The number a file holds; nullopt if there is none ("max" is none).
std::optional<std::int64_t> read_number(const std::string& path);

// Error: kIo, naming the file and why.
Result<void> write_text(const std::string& path, std::string_view text);

// "0-3,8" as 0 1 2 3 8; what is not a list is left out.
std::vector<int> parse_number_list(std::string_view text);

// Lines without their ends; words between blanks.
std::vector<std::string> split(std::string_view text, char separator);

// The number after `key` in lines of "key number"; nullopt if there is none.
std::optional<std::int64_t> keyed_number(std::string_view text, std::string_view key);

}  // namespace fairlead::node
