// What an engine is told of a task, and what it says of it: plain values.
//
// An attempt is one try to run one task of a workload. Its id is chosen by whoever drives the
// engine and is never used again.
#pragma once

#include <csignal>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <sys/types.h>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "model/units.h"

namespace fairlead::engine {

// 1 to 80 of a-z, 0-9 and "-".
using AttemptId = std::string;

struct RunAs {
  std::uint32_t user = 0;
  std::uint32_t group = 0;
  std::vector<std::uint32_t> groups;  // supplementary
};

// 0 is no limit. What the machine cannot enforce is left out (node/capabilities.h).
struct TaskLimits {
  MilliCpu cpu;         // at most
  MilliCpu cpu_weight;  // share of what is contended, as if that much had been asked for
  Bytes memory;
  std::int64_t processes = 0;
  std::optional<std::vector<std::string>> devices;  // the only device files to open; nullopt: any
};

struct OutputLimits {
  Bytes per_file{std::int64_t{10} << 20};
  int files = 5;  // at least 2; the oldest goes first
};

struct WindowSize {
  std::uint16_t rows = 24;
  std::uint16_t columns = 80;
};

struct TaskLaunch {
  AttemptId attempt;
  std::string workload;
  std::string workload_id;
  std::string project;
  std::string role;
  std::int32_t index = 0;

  std::vector<std::string> command;                // program and arguments; no shell
  std::string working_dir = "/";                   // absolute
  std::map<std::string, std::string> environment;  // complete; PATH finds the program
  std::optional<RunAs> run_as;                     // nullopt: as the server
  TaskLimits limits;
  OutputLimits output;
  bool wants_input = false;  // otherwise its input is empty
  bool wants_terminal = false;
  WindowSize window;
};

struct StopOrder {
  std::string cause;  // a word, kept with the result: "preempted", "cancelled"
  std::string text;   // for people, in the notice
  int signal = SIGTERM;
  Duration grace;  // until all of it is killed; 0: at once, without a signal
};

struct TaskResult {
  std::optional<int> exit_code;  // neither this nor a signal: lost
  std::optional<int> signal;
  bool lost = false;  // its supervision was cut off; how it ended is not known
  Instant at;
  std::string cause;  // of the stop order, if there was one
  std::string text;   // what else is to be said
  std::optional<bool> out_of_memory;
  Duration cpu_time;  // of all its processes
  Bytes max_memory;   // resident, of its largest process
  std::int64_t output_bytes = 0;
  std::int64_t output_lost = 0;  // could not be written
};

struct Started {
  AttemptId attempt;
  std::int64_t pid = 0;
  Instant at;
};

// The program never ran.
struct StartFailed {
  AttemptId attempt;
  Error error;             // `field` is that of TaskLaunch: "command", "working_dir", "run_as", …
  bool may_retry = false;  // as another attempt, unchanged: the cause lies with this machine
};

struct Ended {
  AttemptId attempt;
  TaskResult result;
};

// Something that whoever runs the server should know; no attempt is concerned.
struct EngineWarning {
  std::string text;
};

using Report = std::variant<Started, StartFailed, Ended, EngineWarning>;

// What became of an attempt that was asked for earlier.
struct NeverBegan {
  AttemptId attempt;  // and from now on never can
};
struct Running {
  AttemptId attempt;
  std::int64_t pid = 0;  // 0: about to start; Started or StartFailed follows
  Instant at;
};
using Adopted = std::variant<Running, Ended, StartFailed, NeverBegan>;

enum class SessionKind : std::uint8_t {
  kExec,    // another program in the task's place: same user, folder, environment, limits
  kAttach,  // the task's own input and output, from now on
};

struct SessionRequest {
  SessionKind kind = SessionKind::kExec;
  std::vector<std::string> command;  // kExec
  bool terminal = false;             // kExec; an attached task has a terminal or not
  WindowSize window;
};

// Error: kInvalidArgument or kOutOfRange, with field and cure.
Result<void> check_attempt_id(const AttemptId& attempt);
Result<void> check_launch(const TaskLaunch& launch);
Result<void> check_command(const std::vector<std::string>& command);

}  // namespace fairlead::engine
