#include "engine/task.h"

#include <algorithm>

namespace fairlead::engine {
namespace {

constexpr std::size_t kLongestId = 80;
constexpr std::size_t kLongestString = 128 * 1024 - 1;           // the kernel's limit on each
constexpr std::size_t kMostText = std::size_t{2} * 1024 * 1024;  // and on all of them

std::unexpected<Error> wrong(std::string field, std::string message, std::string cure = {},
                             ErrorCode code = ErrorCode::kInvalidArgument) {
  return fail(Error{code, std::move(message), {}, std::move(field), std::move(cure)});
}

Result<void> check_string(const std::string& field, const std::string& text) {
  if (text.find('\0') != std::string::npos) return wrong(field, "holds a NUL character");
  if (text.size() > kLongestString) {
    return wrong(field, std::to_string(text.size()) + " bytes; at most 131071 can be handed over",
                 "put it into a file", ErrorCode::kOutOfRange);
  }
  return {};
}

}  // namespace

Result<void> check_attempt_id(const AttemptId& attempt) {
  const bool good = !attempt.empty() && attempt.size() <= kLongestId &&
                    std::all_of(attempt.begin(), attempt.end(), [](char c) {
                      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
                    });
  if (good) return {};
  return wrong("attempt", "\"" + attempt.substr(0, 100) + "\" is no id of an attempt",
               "use 1 to 80 of a-z, 0-9 and \"-\"");
}

Result<void> check_command(const std::vector<std::string>& command) {
  if (command.empty() || command.front().empty()) {
    return wrong("command", "is empty", "name a program, and its arguments after it");
  }
  for (std::size_t i = 0; i < command.size(); ++i) {
    FAIRLEAD_TRY(check_string("command[" + std::to_string(i) + "]", command[i]));
  }
  return {};
}

Result<void> check_launch(const TaskLaunch& launch) {
  FAIRLEAD_TRY(check_attempt_id(launch.attempt));
  FAIRLEAD_TRY(check_command(launch.command));
  std::size_t bytes = 0;
  for (const std::string& argument : launch.command) bytes += argument.size() + 1;
  for (const auto& [name, value] : launch.environment) {
    const std::string field = "environment." + name;
    if (name.empty() || name.find('=') != std::string::npos) {
      return wrong(field, "is no name of a variable", "leave out \"=\"");
    }
    FAIRLEAD_TRY(check_string(field, name));
    FAIRLEAD_TRY(check_string(field, value));
    bytes += name.size() + value.size() + 2;
  }
  if (bytes > kMostText) {
    return wrong(
        "environment",
        std::to_string(bytes) + " bytes with the command; at most 2 MiB can be handed over",
        "put the large ones into files", ErrorCode::kOutOfRange);
  }
  if (!launch.working_dir.starts_with('/')) {
    return wrong("working_dir", "\"" + launch.working_dir + "\" is not absolute",
                 "begin it with \"/\"");
  }
  FAIRLEAD_TRY(check_string("working_dir", launch.working_dir));
  const TaskLimits& limits = launch.limits;
  if (limits.cpu.value < 0 || limits.cpu_weight.value < 0 || limits.memory.value < 0 ||
      limits.processes < 0) {
    return wrong("limits", "a limit is negative", "use 0 for no limit", ErrorCode::kOutOfRange);
  }
  if (launch.output.per_file.value < 4096 || launch.output.files < 2) {
    return wrong("output", "too little is kept to be of use",
                 "keep at least 2 files of at least 4 KiB", ErrorCode::kOutOfRange);
  }
  return {};
}

}  // namespace fairlead::engine
