// The division: how much of one resource each queue of the tree may fairly hold (semantics 3.2).
//
// A pure function of its input. Every level of the tree divides what its parent got: phase 1 gives
// up to the quota, phase 2 what is left by rank and weight, phase 3 the units lost to rounding.
// The sub-rules 3.2.a to 3.2.l of docs/semantics.md are quoted in the code.
//
// Invariant: no share is above the queue's limit or what it can use; the children's shares sum to
// no more than their parent's, unless phase 1 alone does (quotas are promises and are not scaled
// down); nothing is left at a level where a queue with weight still misses something.
//
// Exact: integers only, no rounding but the one to whole units that the rule itself asks for.
//
// Cost: O(queues × rounds) per resource and no allocation once a Divider has seen a tree as large.
// A rank has few rounds: each one satisfies a queue and leaves at most half of the amount or half
// of the weight to the next, so their number grows with the logarithms of both; up to 10 are usual.
// 1,000 siblings take 10 to 70 µs. Not thread-safe: one Divider per thread.
//
// Source: the division of KAI-Scheduler (proportion plugin), without its overshoot in the last
// phase; phase 3 is the largest-remainder method (Hamilton).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/wide.h"
#include "model/queue.h"

namespace fairlead::sched {

__extension__ typedef unsigned __int128 UInt128;

// The queue has no demand of its own: what it requests is the sum of what its children can use.
inline constexpr std::int64_t kSumOfChildren = -1;

// Bounds of the input. Larger amounts mean nothing; callers clamp to them.
inline constexpr std::int64_t kMaxDivisible = std::int64_t{1} << 62;
inline constexpr std::int64_t kMaxDivisionWeight = std::int64_t{1} << 40;
inline constexpr std::int64_t kMaxDivisionUsage = std::int64_t{1} << 40;
inline constexpr std::int64_t kMaxDivisionK = (std::int64_t{1} << 20) - 1000;
inline constexpr std::int64_t kMaxDivisionUnit = std::int64_t{1} << 16;

// A queue and one resource. Amounts in the resource's base unit (milli-GPU, milli-CPU, bytes, …).
struct DivisionQueue {
  std::int32_t parent = -1;               // position of the parent, before this one; -1: a root
  std::int32_t rank = 100;                // higher is served first
  std::int64_t quota = 0;                 // kUnlimited: all that its level has
  std::int64_t limit = kUnlimited;        // kUnlimited: none
  std::int64_t over_quota_weight = 1000;  // thousandths; at most kMaxDivisionWeight
  std::int64_t requested = 0;             // allocated + pending demand, or kSumOfChildren
  std::int64_t usage_ppb = 0;             // 3.3, billionths of the pool's capacity
  std::int64_t created = 0;               // lower is older
  std::int64_t id = 0;                    // decides among queues of one age; lower first
};

struct Division {
  std::int64_t total = 0;    // what the roots divide
  std::int64_t unit = 1;     // phases 2 and 3 give whole ones: 1000 for milli-GPU, else 1
  std::int64_t k_milli = 0;  // k of 3.2 in thousandths; 0: history does not count
  std::span<const DivisionQueue> queues;  // parents before children
};

// num / den exactly; den > 0.
struct ExactRatio {
  UInt128 num = 0;
  UInt128 den = 1;
};

// What happened, for people who ask why. Filled only on request.
struct DivisionTrace {
  struct Part {                    // of one queue; the share is phase1 + phase2 + phase3
    std::int64_t requested = 0;    // as stated, or the sum of the children's requestable
    std::int64_t requestable = 0;  // min(limit, requested)
    std::int64_t phase1 = 0;
    std::int64_t phase2 = 0;
    std::int64_t phase3 = 0;
  };
  struct Claim {  // of one queue in one round
    std::int32_t queue = 0;
    std::int64_t missing = 0;  // at the start of the round
    ExactRatio share;          // after renormalising; the shares of a round sum to 1
    std::int64_t fair = 0;     // floor(f) in base units
    ExactRatio fair_fraction;  // f − floor(f), below 1
    std::int64_t given = 0;
  };
  struct Round {
    std::int32_t level = -1;  // the parent whose children divide; -1: the roots
    std::int32_t rank = 0;
    std::int32_t number = 1;       // within the level and rank, from 1
    std::int64_t amount = 0;       // left at the start of the round
    bool history_ignored = false;  // 3.2.g: history left nobody a share, weights alone decided
    std::vector<Claim> claims;
  };
  struct Level {
    std::int32_t parent = -1;
    std::int64_t amount = 0;        // what this level divides
    std::int64_t after_phase1 = 0;  // what phase 2 had; 0 if quotas took everything
    std::int64_t after_phase2 = 0;  // what phase 3 had
    std::int64_t undivided = 0;     // what nobody here may or wants to have
    bool overcommitted = false;     // 3.2.c: phase 1 gave more than the amount
  };
  std::vector<Part> parts;    // as the queues
  std::vector<Level> levels;  // the roots' first, then by parent
  std::vector<Round> rounds;  // in the order in which they ran
};

// Holds scratch room only; the answer depends on nothing but the arguments.
class Divider {
 public:
  // Writes the fair share of each queue. Requires: shares.size() == queues.size(), parents before
  // children, amounts >= 0 (or the -1 that the field allows) and within the bounds above, at most
  // 2^20 queues, unit >= 1, and requested stated for every queue without children.
  void divide(const Division& division, std::span<std::int64_t> shares,
              DivisionTrace* trace = nullptr);

 private:
  struct Claimant {  // a queue of the present level that may get more than its quota
    std::uint32_t queue = 0;
    std::int32_t rank = 0;
    std::int64_t missing = 0;
    std::int64_t weight = 0;
    std::int64_t usage = 0;
    UInt128 score = 0;  // of the present round: its share times the sum of scores
    UInt128 lost = 0;   // f − given of its last round, times the sum of scores
  };
  struct RankGroup {  // claimants of one rank; after phase 2 only those who still miss something
    std::size_t begin = 0;
    std::size_t count = 0;
  };

  void lay_out(const Division& division);
  void divide_level(const Division& division, std::int32_t parent, std::int64_t amount,
                    std::span<const std::uint32_t> children, std::span<std::int64_t> shares,
                    DivisionTrace* trace);
  void group_by_rank();
  // Phases 2 and 3 of one rank of one level. Both return what is left of `left`.
  std::int64_t run_rounds(const Division& division, std::int32_t parent, std::int64_t left,
                          RankGroup& group, std::span<std::int64_t> shares, DivisionTrace* trace);
  std::int64_t give_remainder(const Division& division, std::int64_t left, const RankGroup& group,
                              std::span<std::int64_t> shares, DivisionTrace* trace);

  std::vector<std::int64_t> requestable_;
  std::vector<std::uint32_t> child_begin_;  // level p + 1 begins here in child_list_
  std::vector<std::uint32_t> child_list_;   // by level, then in the order of the input
  std::vector<Claimant> claimants_;
  std::vector<RankGroup> ranks_;  // of the present level, highest first
};

// The ratio as a decimal with `places` digits, rounded half up: ratio_text({1, 3}, 4) is "0.3333".
std::string ratio_text(const ExactRatio& ratio, int places);

}  // namespace fairlead::sched
