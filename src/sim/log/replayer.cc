#include "sim/log/replayer.h"

#include <istream>
#include <utility>
#include <variant>

#include "sim/log/decision_codec.h"
#include "sim/log/record_codec.h"
#include "sim/scenario/event_text.h"

namespace fairlead::sim {
namespace {

constexpr std::size_t kMostEventsShown = 20;

std::vector<std::string> lines_of(const std::vector<NamedDecision>& decisions) {
  std::vector<std::string> lines;
  for (const NamedDecision& decision : decisions) lines.push_back(decision_text(decision));
  return lines;
}

std::string refusal_line(const Error& error) {
  return "turned away: " + error.text();
}

}  // namespace

Result<Replayer> Replayer::open(std::istream& in, std::string name) {
  FAIRLEAD_ASSIGN(LogReader reader, LogReader::open(in, std::move(name)));
  FAIRLEAD_ASSIGN(sched::Scheduler core, sched::Scheduler::create(reader.header().options));
  return Replayer(std::move(reader), std::move(core));
}

Result<const LogRecord*> Replayer::peek() {
  if (!next_) {
    FAIRLEAD_ASSIGN(next_, reader_.next());
  }
  return next_ ? &*next_ : nullptr;
}

Result<std::optional<LogRecord>> Replayer::step() {
  if (difference_) return std::nullopt;
  FAIRLEAD_TRY(peek());
  if (!next_) return std::nullopt;
  std::optional<LogRecord> record = std::exchange(next_, std::nullopt);
  if (counts_.records++ == 0) start_ = record->at;
  now_ = record->at;
  if (refusal_ && !std::holds_alternative<RefusalRecord>(record->what)) {
    differ({"accepted"}, {refusal_line(*refusal_)});
    return std::nullopt;
  }
  std::visit([this](const auto& what) { take(what); }, record->what);
  if (difference_) return std::nullopt;
  return record;
}

void Replayer::take(const EventRecord& record) {
  ++counts_.events;
  events_.push_back(event_text(record.event));
  if (events_.size() > kMostEventsShown) events_.pop_front();
  const Result<void> applied = core_.apply(now_, record.event);
  if (!applied) refusal_ = applied.error();
}

void Replayer::take(const RefusalRecord& record) {
  ++counts_.refused;
  if (!refusal_) return differ({refusal_line(record.error)}, {"accepted"});
  const Error refusal = *std::exchange(refusal_, std::nullopt);
  if (encode_refusal(now_, refusal) == reader_.payload()) return;
  differ({refusal_line(record.error)}, {refusal_line(refusal)});
}

void Replayer::take(const DecisionRecord& record) {
  ++counts_.decides;
  const std::vector<NamedDecision> decisions = named(core_.decide(now_), core_);
  for (const NamedDecision& one : decisions) {
    counts_.starts += std::holds_alternative<sched::Started>(one.decision);
    counts_.stops += std::holds_alternative<sched::Stopped>(one.decision);
    counts_.finishes += std::holds_alternative<sched::Finished>(one.decision);
  }
  if (encode_decisions(now_, decisions) != reader_.payload()) {
    return differ(lines_of(record.decisions), lines_of(decisions));
  }
  events_.clear();
}

void Replayer::differ(std::vector<std::string> recorded, std::vector<std::string> replayed) {
  Difference d;
  d.record = reader_.number();
  d.offset = reader_.offset();
  d.at = now_;
  d.recorded = std::move(recorded);
  d.replayed = std::move(replayed);
  d.events_before.assign(events_.begin(), events_.end());
  difference_ = std::move(d);
}

}  // namespace fairlead::sim
