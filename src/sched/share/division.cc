#include "sched/share/division.h"

#include <algorithm>
#include <bit>
#include <type_traits>

#include <boost/multiprecision/cpp_int.hpp>

#include "base/check.h"

namespace fairlead::sched {
namespace {

using UInt256 = boost::multiprecision::uint256_t;

constexpr std::size_t kMaxQueues = std::size_t{1} << 20;
constexpr std::int64_t kUsageScale = 1'000'000'000;  // parts per billion

int bit_count(UInt128 value) {
  const auto high = static_cast<std::uint64_t>(value >> 64);
  const auto low = static_cast<std::uint64_t>(value);
  return static_cast<int>(high != 0 ? 64 + std::bit_width(high) : std::bit_width(low));
}

bool in_range(std::int64_t value, std::int64_t low, std::int64_t high) {
  return low <= value && value <= high;
}

void check_input(const Division& division) {
  FAIRLEAD_CHECK(in_range(division.total, 0, kMaxDivisible), "the total is within bounds");
  FAIRLEAD_CHECK(in_range(division.unit, 1, kMaxDivisionUnit), "the unit is within bounds");
  FAIRLEAD_CHECK(in_range(division.k_milli, 0, kMaxDivisionK), "k is within bounds");
  FAIRLEAD_CHECK(division.queues.size() <= kMaxQueues, "at most 2^20 queues");
  for (std::size_t i = 0; i < division.queues.size(); ++i) {
    const DivisionQueue& queue = division.queues[i];
    FAIRLEAD_CHECK(in_range(queue.parent, -1, static_cast<std::int64_t>(i) - 1),
                   "parents come before children");
    FAIRLEAD_CHECK(in_range(queue.quota, kUnlimited, kMaxDivisible) &&
                       in_range(queue.limit, kUnlimited, kMaxDivisible) &&
                       in_range(queue.requested, kSumOfChildren, kMaxDivisible),
                   "amounts are within bounds");
    FAIRLEAD_CHECK(in_range(queue.over_quota_weight, 0, kMaxDivisionWeight) &&
                       in_range(queue.usage_ppb, 0, kMaxDivisionUsage),
                   "weight and usage are within bounds");
  }
}

// f = amount × score / score_sum of one claimant, as floor and remainder. Wide holds
// amount × score_sum, and so every product here, since score <= score_sum.
struct Fair {
  std::int64_t whole = 0;
  UInt128 part = 0;  // of score_sum
};

template <class Wide>
Fair fair_part(std::int64_t amount, const UInt128& score, const UInt128& score_sum) {
  const Wide product = Wide(amount) * Wide(score);
  const Wide whole = product / Wide(score_sum);
  const Wide part = product - whole * Wide(score_sum);
  return {static_cast<std::int64_t>(whole), static_cast<UInt128>(part)};
}

// missing <=> f, by cross-multiplication.
template <class Wide>
std::strong_ordering compare_to_fair(std::int64_t missing, std::int64_t amount,
                                     const UInt128& score, const UInt128& score_sum) {
  if (missing > amount) return std::strong_ordering::greater;  // f never exceeds the amount
  const Wide left = Wide(missing) * Wide(score_sum);
  const Wide right = Wide(amount) * Wide(score);
  if (left < right) return std::strong_ordering::less;
  return left == right ? std::strong_ordering::equal : std::strong_ordering::greater;
}

}  // namespace

void Divider::divide(const Division& division, std::span<std::int64_t> shares,
                     DivisionTrace* trace) {
  FAIRLEAD_CHECK(shares.size() == division.queues.size(), "one share per queue");
  check_input(division);
  lay_out(division);
  const auto count = static_cast<std::int32_t>(division.queues.size());
  if (trace != nullptr) {
    trace->levels.clear();
    trace->rounds.clear();
    trace->parts.assign(division.queues.size(), {});
  }
  for (std::int32_t parent = -1; parent < count; ++parent) {
    const auto level = static_cast<std::size_t>(parent + 1);
    const std::span children =
        std::span<const std::uint32_t>(child_list_)
            .subspan(child_begin_[level], child_begin_[level + 1] - child_begin_[level]);
    if (children.empty()) continue;
    // A parent's share is final before its children are reached: parents come first.
    const std::int64_t amount =
        parent < 0 ? division.total : shares[static_cast<std::size_t>(parent)];
    divide_level(division, parent, amount, children, shares, trace);
  }
}

// Children grouped by parent (a counting sort, so they keep their order), and what each queue can
// use: 3.2.a, children before parents.
void Divider::lay_out(const Division& division) {
  const std::span<const DivisionQueue> queues = division.queues;
  const std::size_t count = queues.size();
  child_begin_.assign(count + 2, 0);
  child_list_.resize(count);
  requestable_.assign(count, 0);

  for (const DivisionQueue& queue : queues) {
    ++child_begin_[static_cast<std::size_t>(queue.parent + 1)];
  }
  std::uint32_t end = 0;
  for (std::uint32_t& begin : child_begin_) begin = end += begin;
  for (std::size_t i = count; i-- > 0;) {  // backwards: each end moves down to become a begin
    const auto level = static_cast<std::size_t>(queues[i].parent + 1);
    child_list_[--child_begin_[level]] = static_cast<std::uint32_t>(i);
  }

  for (std::size_t i = count; i-- > 0;) {
    const DivisionQueue& queue = queues[i];
    if (queue.requested != kSumOfChildren) {
      requestable_[i] = queue.requested;
    } else {
      FAIRLEAD_CHECK(child_begin_[i + 1] != child_begin_[i + 2], "a leaf states its request");
    }
    if (queue.limit != kUnlimited) requestable_[i] = std::min(requestable_[i], queue.limit);
    if (queue.parent < 0) continue;
    const auto parent = static_cast<std::size_t>(queue.parent);
    if (queues[parent].requested == kSumOfChildren) {
      // Two values of at most 2^62 cannot overflow; the sum is clamped again.
      requestable_[parent] = std::min(requestable_[parent] + requestable_[i], kMaxDivisible);
    }
  }
}

void Divider::divide_level(const Division& division, std::int32_t parent, std::int64_t amount,
                           std::span<const std::uint32_t> children, std::span<std::int64_t> shares,
                           DivisionTrace* trace) {
  // Phase 1 (3.2.b). `left` is wide: 2^20 quotas of 2^62 go below zero by less than 2^83.
  Int128 wide_left = amount;
  claimants_.clear();
  for (const std::uint32_t child : children) {
    const DivisionQueue& queue = division.queues[child];
    const std::int64_t requestable = requestable_[child];
    const std::int64_t given =
        std::min(queue.quota == kUnlimited ? amount : queue.quota, requestable);
    shares[child] = given;
    wide_left -= given;
    const std::int64_t missing = requestable - given;
    if (missing > 0 && queue.over_quota_weight > 0) {
      claimants_.push_back({.queue = child,
                            .rank = queue.rank,
                            .missing = missing,
                            .weight = queue.over_quota_weight,
                            .usage = queue.usage_ppb});
    }
    if (trace != nullptr) {
      DivisionTrace::Part& part = trace->parts[child];
      part.requestable = requestable;
      part.requested = queue.requested;
      if (queue.requested == kSumOfChildren) {
        // Not clamped by the queue's own limit, as a stated request is not.
        Int128 sum = 0;
        for (std::uint32_t at = child_begin_[child + 1]; at < child_begin_[child + 2]; ++at) {
          sum += requestable_[child_list_[at]];
        }
        part.requested = static_cast<std::int64_t>(std::min(sum, Int128{kMaxDivisible}));
      }
      part.phase1 = given;
    }
  }
  // 3.2.c: promises are kept or counted, not scaled down; then nothing is left.
  std::int64_t left = static_cast<std::int64_t>(std::max(wide_left, Int128{0}));
  DivisionTrace::Level level{
      .parent = parent, .amount = amount, .after_phase1 = left, .overcommitted = wide_left < 0};

  // Phase 2 (3.2.d), rank by rank; what rounding leaves over of one rank goes down to the next.
  const auto higher_rank = [](const Claimant& a, const Claimant& b) {
    return a.rank != b.rank ? a.rank > b.rank : a.queue < b.queue;
  };
  if (!std::is_sorted(claimants_.begin(), claimants_.end(), higher_rank)) {
    std::sort(claimants_.begin(), claimants_.end(), higher_rank);
  }
  const auto end_of_rank = [this](std::size_t begin) {
    std::size_t end = begin;
    while (end < claimants_.size() && claimants_[end].rank == claimants_[begin].rank) ++end;
    return end;
  };
  for (std::size_t begin = 0; begin < claimants_.size() && left > 0;) {
    const std::size_t end = end_of_rank(begin);
    left = run_rounds(division, parent, left, Claimants(claimants_).subspan(begin, end - begin),
                      shares, trace);
    begin = end;
  }
  level.after_phase2 = left;

  // Phase 3 (3.2.i). Ranks whose queues are all satisfied are passed over inside.
  for (std::size_t begin = 0; begin < claimants_.size() && left > 0;) {
    const std::size_t end = end_of_rank(begin);
    left = give_remainder(division, left, Claimants(claimants_).subspan(begin, end - begin), shares,
                          trace);
    begin = end;
  }
  level.undivided = left;
  if (trace != nullptr) trace->levels.push_back(level);
}

// The rounds of one rank. Bounds, with at most 2^20 claimants, weights up to 2^40, 1000 + k up to
// 2^20, usage up to 2^40 and the usage scale below 2^30:
//   sum of weights < 2^60;   weight × (1000 + k) × scale < 2^90;   k × usage × sum < 2^120
// so scores fit Int128 while they are formed, are below 2^90, and sum to less than 2^110.
std::int64_t Divider::run_rounds(const Division& division, std::int32_t parent, std::int64_t left,
                                 Claimants claimants, std::span<std::int64_t> shares,
                                 DivisionTrace* trace) {
  std::size_t still = claimants.size();  // the first ones, who miss something
  for (std::int32_t number = 1; still > 0 && left > 0; ++number) {
    const Claimants active = claimants.first(still);
    std::int64_t weight_sum = 0;
    bool has_history = false;
    for (const Claimant& claimant : active) {
      weight_sum += claimant.weight;
      has_history = has_history || claimant.usage > 0;
    }
    // 3.2.f: share = max(0, w + k(w − u)) with w = weight / weight_sum, times the common factor
    // weight_sum × 1000 × scale. Without history the factor 1 + k is common to all and drops out.
    UInt128 score_sum = 0;
    if (has_history && division.k_milli > 0) {
      for (Claimant& claimant : active) {
        const Int128 score = Int128{claimant.weight} * (1000 + division.k_milli) * kUsageScale -
                             Int128{division.k_milli} * claimant.usage * weight_sum;
        claimant.score = score > 0 ? static_cast<UInt128>(score) : 0;
        score_sum += claimant.score;
      }
    }
    const bool history_ignored = has_history && division.k_milli > 0 && score_sum == 0;
    if (score_sum == 0) {  // no history, or 3.2.g
      for (Claimant& claimant : active) claimant.score = static_cast<UInt128>(claimant.weight);
      score_sum = static_cast<UInt128>(weight_sum);
    }

    DivisionTrace::Round* round = nullptr;
    if (trace != nullptr) {
      round = &trace->rounds.emplace_back(DivisionTrace::Round{.level = parent,
                                                               .rank = claimants.front().rank,
                                                               .number = number,
                                                               .amount = left,
                                                               .history_ignored = history_ignored,
                                                               .claims = {}});
    }

    // 3.2.e, in the narrowest integer that holds amount × score_sum.
    const auto give = [&]<class Wide>(std::type_identity<Wide>) {
      const std::int64_t amount = left;
      bool another = false;
      std::size_t kept = 0;
      for (std::size_t i = 0; i < active.size(); ++i) {
        Claimant& claimant = active[i];
        const auto order =
            compare_to_fair<Wide>(claimant.missing, amount, claimant.score, score_sum);
        const bool satisfied = order <= 0;
        Fair fair;
        if (!satisfied || round != nullptr) {
          fair = fair_part<Wide>(amount, claimant.score, score_sum);
        }
        const std::int64_t given =
            satisfied ? claimant.missing : fair.whole - fair.whole % division.unit;
        if (round != nullptr) {
          round->claims.push_back({.queue = static_cast<std::int32_t>(claimant.queue),
                                   .missing = claimant.missing,
                                   .share = {claimant.score, score_sum},
                                   .fair = fair.whole,
                                   .fair_fraction = {fair.part, score_sum},
                                   .given = given});
          trace->parts[claimant.queue].phase2 += given;
        }
        another = another || order < 0;
        shares[claimant.queue] += given;
        left -= given;
        claimant.missing -= given;
        if (satisfied) continue;
        // 3.2.h: only the last round's loss counts, for earlier ones were divided again since.
        claimant.lost_whole = fair.whole - given;
        claimant.lost_part = fair.part;
        if (kept != i) std::swap(active[kept], claimant);
        ++kept;
      }
      still = kept;
      return another;
    };
    const int bits = bit_count(static_cast<UInt128>(left)) + bit_count(score_sum);
    const bool another = bits <= 64    ? give(std::type_identity<std::uint64_t>{})
                         : bits <= 128 ? give(std::type_identity<UInt128>{})
                                       : give(std::type_identity<UInt256>{});
    if (!another) break;
  }
  return left;
}

std::int64_t Divider::give_remainder(const Division& division, std::int64_t left,
                                     Claimants claimants, std::span<std::int64_t> shares,
                                     DivisionTrace* trace) {
  // All that still miss something took part in the rank's last round (else nothing were left), so
  // their losses are parts of one and the same sum of scores and compare as integers.
  const auto before = [&](const Claimant& a, const Claimant& b) {
    if (a.lost_whole != b.lost_whole) return a.lost_whole > b.lost_whole;
    if (a.lost_part != b.lost_part) return a.lost_part > b.lost_part;
    const DivisionQueue& x = division.queues[a.queue];
    const DivisionQueue& y = division.queues[b.queue];
    if (x.created != y.created) return x.created < y.created;
    if (x.id != y.id) return x.id < y.id;
    return a.queue < b.queue;
  };
  auto first = claimants.begin();
  const auto last = std::partition(first, claimants.end(),
                                   [](const Claimant& claimant) { return claimant.missing > 0; });
  while (left > 0 && first != last) {
    // Of the next k = ceil(left / unit) in order, the first k − 1 take less than `left` together:
    // their order does not matter, and selecting the k-th is enough. No sort.
    const std::int64_t wanted = (left - 1) / division.unit + 1;
    const auto block = std::min<std::int64_t>(wanted, last - first);
    const auto end = first + block;
    std::nth_element(first, end - 1, last, before);
    for (; first != end; ++first) {
      const std::int64_t given = std::min({division.unit, left, first->missing});
      shares[first->queue] += given;
      left -= given;
      if (trace != nullptr) trace->parts[first->queue].phase3 += given;
    }
  }
  return left;
}

std::string ratio_text(const ExactRatio& ratio, int places) {
  using boost::multiprecision::cpp_int;
  const cpp_int den(ratio.den);
  const cpp_int scaled =
      cpp_int(ratio.num) * boost::multiprecision::pow(cpp_int(10), static_cast<unsigned>(places));
  std::string digits = cpp_int((2 * scaled + den) / (2 * den)).str();
  const auto width = static_cast<std::size_t>(places);
  if (digits.size() <= width) digits.insert(0, width + 1 - digits.size(), '0');
  if (places > 0) digits.insert(digits.size() - width, 1, '.');
  return digits;
}

}  // namespace fairlead::sched
