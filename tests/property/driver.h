// Plays a history through a core and checks the invariants of semantics 11 after every step.
//
// The driver keeps what it was told (Symbols) and what it must know beside the views: which tasks
// have succeeded and who backs off. The first complaint ends the play.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "claims.h"
#include "history.h"
#include "holdings.h"
#include "sim/scenario/symbols.h"
#include "solver.h"

namespace fairlead::property {

// Which invariants are checked; a set of bits.
enum Check : std::uint32_t {
  kBooks = 1,       // I1, I11: nothing over-committed, books equal to a rebuild
  kGangs = 2,       // I2, 6.1, 6.4: what starts is whole and where it may be
  kGates = 4,       // 5.1, 5.2, 5.3 (I3), 5.4: what starts is within limits, quotas and windows
  kWork = 8,        // I5: at rest nothing that passes the gates fits
  kReasons = 16,    // I9: every "no" has its reason
  kAdmission = 32,  // 10.1: what is refused as impossible is so
  // With rule 7 on:
  kVictims = 64,    // I4, 7.1 to 7.4: nobody loses what it may keep
  kLoops = 128,     // I7: no task is stopped twice for one outside event, none for nobody
  kCheapest = 256,  // 7.5, on small states
  kEntitled = 512,  // I6, on small states
};

// What a workload waits for next: the missing part of its minimum, or one elastic step of a role.
struct Want {
  std::vector<PlacedTask> tasks;
  bool non_preemptible = false;
};

class Driver {
 public:
  explicit Driver(std::uint32_t checks, bool taking_back = false);

  // False if the core turned the event away.
  bool tell(sched::Event event);
  void decide();
  void advance(Instant to);

  bool failed() const { return !complaint_.empty(); }
  const std::string& complaint() const { return complaint_; }
  void complain(std::string text);

  Instant now() const { return now_; }
  const History& history() const { return history_; }
  const std::string& decisions() const { return decisions_; }
  const sim::Symbols& symbols() const { return symbols_; }
  // Tasks stopped by rule 7, in all.
  std::int64_t stopped() const { return stopped_; }
  sched::Scheduler& scheduler() { return scheduler_; }
  const sched::Scheduler& scheduler() const { return scheduler_; }

  std::vector<Want> wants(const std::string& workload) const;
  std::vector<PlacedTask> running(const std::string& workload) const;
  // Whether the workload backs off (4.3).
  bool backs_off(const std::string& workload) const;

 private:
  void note(const sched::Event& event);
  void note_displaced(const NodeSpec& node);
  void check_state(const char* when);
  void check_nodes(const Holdings& holdings, const char* when);
  void check_queues(const Holdings& holdings, const char* when);
  void check_start(const sched::Started& started, Holdings& holdings, bool moved);
  void check_whole(const sched::Started& started, bool moved);
  void check_gates(const sched::Started& started, const Holdings& before, const Holdings& after,
                   bool moved);
  // driver_claims.cc
  std::size_t check_claim(const std::vector<sched::Decision>& decisions, std::size_t first,
                          Holdings& holdings, Known known);
  void note_started(const sched::Started& started, const Holdings& before, bool moved);
  void check_entitled(const std::string& workload, const Holdings& holdings);

  Scene scene(const Holdings& holdings) { return {holdings, scheduler_, symbols_, past_, now_}; }
  void check_rest();
  Amounts greatest_charge(const WorkloadSpec& spec, const Want& want,
                          const std::string& pool) const;
  std::vector<std::string> pools_open_to(const std::string& workload) const;
  void check_work(const std::string& workload, const Holdings& holdings);
  void check_reasons(const std::string& workload);

  std::uint32_t checks_;
  sched::Scheduler scheduler_;
  sim::Symbols symbols_;
  Instant now_;
  History history_;
  std::string decisions_;  // exact_text() of all
  std::string complaint_;
  Past past_;
  std::map<std::string, Instant> retry_at_;
  std::int64_t stopped_ = 0;
  bool unsaid_ = false;              // the decision at hand took back starts of its own
  std::set<std::string> displaced_;  // whose node was moved in the topology under them
};

// 5.4: whether the windows of the queue and its ancestors are open.
bool windows_open(const std::string& queue, Instant now, const sim::Symbols& symbols);

}  // namespace fairlead::property
