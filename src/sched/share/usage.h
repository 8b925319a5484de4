// Usage history: how much of a pool each queue has held lately (semantics 3.3).
//
// u = ∫ held(t) · 2^(−age/half-life) dt over ∫ capacity(t) · 2^(−age/half-life) dt, both over the
// window. The factor half-life/ln 2 of both integrals drops out, so what is kept is an exponential
// moving average: over a step d in which `held` did not change,
//   A ← A · 2^(−d/half-life) + held · (1 − 2^(−d/half-life))
//
// Invariant: the same changes at the same times give the same numbers on any machine: fixed point
// (A has 40 fractional bits, 2^−x has 62), no floating point. Reading changes nothing.
//
// Error: each step rounds down by less than 2^−38 of a base unit; 2^−x is right to 2^−58.
//
// Cost: O(1) per change of what a queue holds; where a 64th of a sliding window has passed since
// the last change, up to 64 steps more. A queue and resource takes 1.1 KiB (sliding) or 0.1 KiB.
// Not thread-safe: scheduler thread only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "model/pool.h"
#include "sched/share/division.h"

namespace fairlead::sched {

// 2^−x for x = elapsed / half_life, times 2^62. Requires: elapsed >= 0, half_life > 0.
std::uint64_t decay_factor(Duration elapsed, Duration half_life);

inline constexpr std::uint64_t kDecayOne = std::uint64_t{1} << 62;

// How a pool remembers (from its PoolSpec), with what follows from it.
class UsageRule {
 public:
  static constexpr std::size_t kSlots = 64;  // of a sliding window

  UsageRule(Duration half_life, UsageWindow window, Duration length);
  explicit UsageRule(const PoolSpec& pool)
      : UsageRule(pool.usage_half_life, pool.usage_window, pool.usage_window_length) {}

  Duration half_life() const { return half_life_; }
  bool sliding() const { return window_ == UsageWindow::kSliding; }
  bool same_window(const UsageRule& other) const {
    return window_ == other.window_ && slot_length_ == other.slot_length_;
  }

  // Slots are counted from the epoch: a 64th of a sliding window, the whole of a tumbling one.
  std::int64_t slot_of(Instant now) const;
  Instant slot_begin(std::int64_t slot) const;
  Duration slot_length() const { return slot_length_; }
  // 2^−x over `slots` whole slots, slots < kSlots.
  std::uint64_t slots_factor(std::size_t slots) const { return slots_factor_[slots]; }

 private:
  Duration half_life_;
  UsageWindow window_;
  Duration slot_length_;
  std::array<std::uint64_t, kSlots> slots_factor_;
};

// One thing that is held (or there) and remembered: a queue's amount of one resource, or a pool's
// capacity.
class UsageMeter {
 public:
  // From `now` on, `amount` is held. Requires: now is not before the last change, amount >= 0.
  void set(const UsageRule& rule, Instant now, std::int64_t amount);
  // The same, where it has been held since the last change already.
  void set_since(const UsageRule& rule, Instant now, std::int64_t amount);

  // The average A of above at `now`, times 2^40. Requires: now is not before the last change.
  UInt128 average(const UsageRule& rule, Instant now) const;

  std::int64_t held() const { return held_; }
  // Forgets everything but what is held.
  void forget(const UsageRule& rule, Instant now);

  // All of it as words that parse() reads back to the same; "" for what was never set.
  std::string text(const UsageRule& rule) const;
  // Errors: kInvalidArgument if it is no such text, or of another window than the rule's.
  static Result<UsageMeter> parse(const UsageRule& rule, const std::string& text);
  Instant since() const { return since_; }

 private:
  void advance(const UsageRule& rule, Instant now);
  void close_slot(const UsageRule& rule);

  std::int64_t held_ = 0;
  Instant since_;          // current_ is up to here
  std::int64_t slot_ = 0;  // that holds since_
  UInt128 current_ = 0;    // of this slot alone, at since_
  UInt128 closed_ = 0;     // of the earlier slots in the window, at the begin of this one
  bool started_ = false;
  // Sliding: A of each earlier slot alone, at its own end; slot s at s mod 64. Made when needed.
  std::vector<UInt128> slots_;
};

// All queues of one pool. Resources are small numbers of the caller's choice.
class UsageHistory {
 public:
  explicit UsageHistory(UsageRule rule) : rule_(rule) {}

  // 3.3.c: a new half-life holds from `now` on; a new window begins a new history.
  void set_rule(Instant now, UsageRule rule);

  void set_capacity(Instant now, std::size_t resource, std::int64_t amount);
  void set_held(Instant now, std::size_t queue, std::size_t resource, std::int64_t amount);
  void remove_queue(std::size_t queue);

  // Of a queue, or without one the pool's capacity: what is remembered of it, as text.
  std::string text(std::optional<std::size_t> queue, std::size_t resource) const;
  // Puts back what text() said, in place of what is remembered so far; what is held now counts as
  // held since then. Errors: as of UsageMeter::parse(); kInvalidArgument if it is of a time after
  // `now`. Nothing has changed then.
  Result<void> restore(Instant now, std::optional<std::size_t> queue, std::size_t resource,
                       const std::string& text);

  // u in parts per billion, rounded down; at most kMaxDivisionUsage. 0 for a queue that never held
  // anything; 10^9 for one that held something of a resource that the pool never had.
  std::int64_t usage_ppb(Instant now, std::size_t queue, std::size_t resource) const;

 private:
  using Meters = std::vector<UsageMeter>;  // by resource

  static UsageMeter& meter(Meters& meters, std::size_t resource);

  UsageRule rule_;
  Meters capacity_;
  std::vector<Meters> queues_;
};

}  // namespace fairlead::sched
