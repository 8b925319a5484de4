// From flags to the document that is sent: one function for every dialect (docs/cli.md).
//
// Amounts are checked here so that a slip is told by its flag; what only the server knows (names,
// policies, what fits) is told by the server.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "cli/client/submit_flags.h"
#include "model/tree.h"

namespace fairlead::cli {

// Where the command is typed.
struct Surroundings {
  std::function<std::optional<std::string>(const std::string&)> environment;
  std::string folder;  // the current one; empty: the server decides where the task starts
};

// Surroundings of this process.
Surroundings surroundings();

// As it is sent, or whole for a file: with apiVersion and kind.
enum class DocumentForm : std::uint8_t { kSent, kWhole };

// Errors: kInvalidArgument, kOutOfRange, each with its flag as field.
Result<Tree> workload_document(const SubmitFlags& flags, const std::string& name,
                               const Surroundings& around, DocumentForm form);

// The name that the flags state; "" if a prefix is stated. Error: neither, or two of them.
Result<std::string> stated_name(const SubmitFlags& flags);

// "python train.py --name 'a b'" as words; quotes and backslashes as in a shell, nothing else.
Result<std::vector<std::string>> split_words(const std::string& text);

// gpu_flags.cc: the `gpu:` of a request, `times` of it for a task that stands for several; nullopt
// if none is asked for.
Result<std::optional<Tree>> gpu_of(const SubmitFlags& flags, std::int64_t times);
// "2", "0.5" as a flag states it.
Result<Tree> gpu_number(const std::string& text, const std::string& flag);

}  // namespace fairlead::cli
