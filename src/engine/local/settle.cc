#include "engine/local/settle.h"

#include "node/processes.h"

namespace fairlead::engine {
namespace {

constexpr int kMostKillMs = 10'000;

// Its group, its session if that is still its own, and whoever bears its mark.
bool kill_what_is_left(const SettlePlace& place, const AttemptId& attempt,
                       const StartedRecord& began) {
  if (place.groups != nullptr) {
    const node::Cgroup group = place.groups->find(attempt);
    if (group.exists()) {
      (void)group.kill_and_wait(kMostKillMs);
      (void)group.remove();
    }
  }
  return node::kill_until_none(
      [&] {
        std::vector<node::ProcessRef> left = node::started_with(began.mark);
        const auto leader = node::find_process(began.process.pid);
        if (leader && leader->ref == began.process) {
          for (const node::ProcessRef& one :
               node::members_of_session(began.process.pid, began.process.start_ticks)) {
            left.push_back(one);
          }
        }
        return left;
      },
      kMostKillMs);
}

Outcome lost(const SettlePlace& place, const AttemptId& attempt, const std::string& started) {
  Ended ended;
  ended.attempt = attempt;
  ended.result.lost = true;
  ended.result.at = wall_clock();
  const auto began = parse_started(started);
  if (began && began->boot != boot_id()) {
    ended.result.text = "the machine restarted while it ran";
    return ended;
  }
  ended.result.text = "its supervisor was killed; what was left of it is killed too";
  if (began && !kill_what_is_left(place, attempt, *began)) {
    ended.result.text = "its supervisor was killed, and some of its processes cannot be killed";
  }
  return ended;
}

// A record that power was lost over counts as not written.
Result<std::optional<Outcome>> decided(const AttemptFolder& folder, const AttemptId& attempt) {
  FAIRLEAD_ASSIGN(const auto text, folder.read("result"));
  if (!text) return std::nullopt;
  auto outcome = parse_outcome(attempt, *text);
  if (!outcome) return std::nullopt;
  return std::move(*outcome);
}

}  // namespace

Result<std::optional<Outcome>> settle(const SettlePlace& place, const AttemptId& attempt) {
  auto folder = AttemptFolder::open(place.state, attempt);
  if (!folder && folder.error().code == ErrorCode::kNotFound) {
    folder = AttemptFolder::create(place.state, attempt);
  }
  if (!folder) return fail(folder.error());
  FAIRLEAD_ASSIGN(auto before, decided(*folder, attempt));
  if (before) return before;
  const auto lock = folder->try_lock();
  if (!lock) return std::nullopt;
  // Written between the first look and the lock.
  FAIRLEAD_ASSIGN(auto meanwhile, decided(*folder, attempt));
  if (meanwhile) return meanwhile;
  FAIRLEAD_ASSIGN(const auto started, folder->read("started"));
  Outcome outcome = started ? lost(place, attempt, *started) : Outcome(NeverBegan{attempt});
  FAIRLEAD_TRY(folder->write("result", outcome_record(outcome)));
  FAIRLEAD_TRY(folder->sync_name(place.state));
  return outcome;
}

}  // namespace fairlead::engine
