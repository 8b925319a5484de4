// Writes a log: a recorder whose records go to a sink, each whole.
//
// Holds one record at a time. When what was written is durable is the sink's affair: it is called
// once per record and may flush after each, at each decision, or by the clock. To go on with a log
// after a crash is to begin a new one, with the events that build the state
// (sched::events_of()); a log is the life of one core.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "sim/log/record.h"
#include "sim/log/recorder.h"

namespace fairlead::sim {

class LogWriter final : public Recorder {
 public:
  using Sink = std::function<void(std::string_view record)>;

  // `program` is who writes: "fairlead 0.1.0".
  LogWriter(std::string program, Sink sink)
      : program_(std::move(program)), sink_(std::move(sink)) {}

  void begins(const sched::SchedulerOptions& options) override;
  void tells(Instant now, const sched::Event& event) override;
  void refused(Instant now, const Error& error) override;
  void decided(Instant now, const std::vector<sched::Decision>& decisions,
               const sched::Scheduler& core) override;

  // Records written, the head not counted.
  std::int64_t records() const { return records_; }

  // Error: kOutOfRange after a record that no log can hold; nothing is written from there on.
  Result<void> status() const;

 private:
  void write(std::string_view payload);

  std::string program_;
  Sink sink_;
  std::int64_t records_ = 0;
  std::optional<Error> problem_;
};

}  // namespace fairlead::sim
