// Tells a log to a new core and holds every answer against the recorded one, byte for byte.
//
// Cost: that of the core's decisions, plus the encoding of each; memory for one record and the
// core.
#pragma once

#include <cstdint>
#include <deque>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "sched/scheduler.h"
#include "sim/log/reader.h"
#include "sim/log/recorder.h"

namespace fairlead::sim {

// The first place at which a core did not answer as recorded.
struct Difference {
  std::int64_t record = 0;
  std::uint64_t offset = 0;  // of the record in the file
  Instant at;
  std::vector<std::string> recorded;  // one line per decision, or the refusal
  std::vector<std::string> replayed;
  std::vector<std::string> events_before;  // since the decision before; at most the last 20
};

struct ReplayCounts {
  std::int64_t records = 0;
  std::int64_t events = 0;
  std::int64_t refused = 0;  // events
  std::int64_t decides = 0;  // times that the core was asked
  std::int64_t starts = 0;
  std::int64_t stops = 0;
  std::int64_t finishes = 0;
};

class Replayer {
 public:
  // Requires: `in` outlives the replayer. Error: as LogReader::open(); kInvalidArgument if the core
  // does not know the placement policy that the log names.
  static Result<Replayer> open(std::istream& in, std::string name);

  // Plays the next record and returns it; nullopt at the end, or where the core answered otherwise.
  // Error: as LogReader::next().
  Result<std::optional<LogRecord>> step();

  // What step() would play next, not played: nullopt at the end.
  Result<const LogRecord*> peek();

  const LogHeader& header() const { return reader_.header(); }
  const sched::Scheduler& core() const { return core_; }
  const ReplayCounts& counts() const { return counts_; }
  const std::optional<Difference>& difference() const { return difference_; }
  // Whether the core took the last event.
  bool accepted() const { return !refusal_; }
  const std::optional<TornEnd>& torn() const { return reader_.torn(); }

  // Of the first and of the last record played; both zero before.
  Instant start() const { return start_; }
  Instant now() const { return now_; }

 private:
  Replayer(LogReader reader, sched::Scheduler core)
      : reader_(std::move(reader)), core_(std::move(core)) {}

  void take(const EventRecord& record);
  void take(const RefusalRecord& record);
  void take(const DecisionRecord& record);
  void differ(std::vector<std::string> recorded, std::vector<std::string> replayed);

  LogReader reader_;
  sched::Scheduler core_;
  std::optional<LogRecord> next_;
  std::optional<Error> refusal_;  // of the event just before: the next record must say it
  std::deque<std::string> events_;
  ReplayCounts counts_;
  std::optional<Difference> difference_;
  Instant start_;
  Instant now_;
};

}  // namespace fairlead::sim
