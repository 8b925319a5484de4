#include "sim/log/writer.h"

#include "sim/log/decision_codec.h"
#include "sim/log/frames.h"
#include "sim/log/record_codec.h"

namespace fairlead::sim {

void LogWriter::begins(const sched::SchedulerOptions& options) {
  sink_(log_preamble());
  sink_(framed(encode_header(LogHeader{program_, options})));
}

void LogWriter::tells(Instant now, const sched::Event& event) {
  write(encode_event(now, event));
}

void LogWriter::refused(Instant now, const Error& error) {
  write(encode_refusal(now, error));
}

void LogWriter::decided(Instant now, const std::vector<sched::Decision>& decisions,
                        const sched::Scheduler& core) {
  write(encode_decisions(now, named(decisions, core)));
}

void LogWriter::write(std::string_view payload) {
  if (problem_) return;
  if (payload.size() > kMostFrameBytes) {
    problem_ =
        Error{ErrorCode::kOutOfRange,
              "record " + std::to_string(records_ + 1) + " has " + std::to_string(payload.size()) +
                  " bytes; a log holds records of " + std::to_string(kMostFrameBytes),
              {},
              {},
              "tell the core less at once, or let it decide more often"};
    return;
  }
  sink_(framed(payload));
  ++records_;
}

Result<void> LogWriter::status() const {
  if (problem_) return fail(*problem_);
  return {};
}

}  // namespace fairlead::sim
