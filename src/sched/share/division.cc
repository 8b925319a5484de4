#include "sched/share/division.h"

#include <algorithm>
#include <bit>
#include <compare>
#include <type_traits>
#include <utility>

#include "base/check.h"

namespace fairlead::sched {
namespace {

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

// f = amount × score / score_sum in a Wide that holds max(amount, divisor) × score_sum, and so
// every product here, since score <= score_sum.
template <class Wide>
struct Exact {
  // missing <=> f
  static std::strong_ordering compare(std::int64_t missing, std::int64_t amount, UInt128 score,
                                      UInt128 score_sum) {
    if (missing > amount) return std::strong_ordering::greater;  // f never exceeds the amount
    return static_cast<Wide>(missing) * static_cast<Wide>(score_sum) <=>
           static_cast<Wide>(amount) * static_cast<Wide>(score);
  }
  // floor(f / unit), and f − unit × floor(f / unit) times score_sum.
  static std::pair<std::int64_t, UInt128> units(std::int64_t amount, UInt128 score,
                                                UInt128 score_sum, std::int64_t unit) {
    const Wide divisor = static_cast<Wide>(unit) * static_cast<Wide>(score_sum);
    const Wide product = static_cast<Wide>(amount) * static_cast<Wide>(score);
    const Wide whole = product / divisor;
    return {static_cast<std::int64_t>(whole), product - whole * divisor};
  }
};

// For any input within the bounds: long division, 16 bits of the amount at a time. With score <=
// score_sum < 2^110 the remainder is below score_sum and score × digit below 2^16 × score_sum, so
// each step stays below 2^127; unit × score_sum is below 2^126.
struct AnyWidth {};
template <>
struct Exact<AnyWidth> {
  static std::pair<std::int64_t, UInt128> units(std::int64_t amount, UInt128 score,
                                                UInt128 score_sum, std::int64_t unit) {
    std::int64_t whole = 0;
    UInt128 rest = 0;
    for (int shift = 48; shift >= 0; shift -= 16) {
      const auto digit = static_cast<std::uint64_t>(amount) >> shift & 0xffff;
      const UInt128 step = (rest << 16) + score * digit;
      const UInt128 quotient = step / score_sum;
      whole = (whole << 16) + static_cast<std::int64_t>(quotient);
      rest = step - quotient * score_sum;
    }
    return {whole / unit, static_cast<UInt128>(whole % unit) * score_sum + rest};
  }
  static std::strong_ordering compare(std::int64_t missing, std::int64_t amount, UInt128 score,
                                      UInt128 score_sum) {
    const auto [whole, rest] = units(amount, score, score_sum, 1);
    if (missing != whole) return missing <=> whole;
    return rest == 0 ? std::strong_ordering::equal : std::strong_ordering::less;
  }
};

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
  group_by_rank();
  for (RankGroup& group : ranks_) {
    if (left == 0) break;
    left = run_rounds(division, parent, left, group, shares, trace);
  }
  level.after_phase2 = left;

  // Phase 3 (3.2.i).
  for (const RankGroup& group : ranks_) {
    if (left == 0) break;
    left = give_remainder(division, left, group, shares, trace);
  }
  level.undivided = left;
  if (trace != nullptr) trace->levels.push_back(level);
}

void Divider::group_by_rank() {
  const auto higher = [](const Claimant& a, const Claimant& b) {
    return a.rank != b.rank ? a.rank > b.rank : a.queue < b.queue;
  };
  if (!std::is_sorted(claimants_.begin(), claimants_.end(), higher)) {
    std::sort(claimants_.begin(), claimants_.end(), higher);
  }
  ranks_.clear();
  for (std::size_t i = 0; i < claimants_.size(); ++i) {
    if (i == 0 || claimants_[i].rank != claimants_[i - 1].rank) ranks_.push_back({i, 0});
    ++ranks_.back().count;
  }
}

// The rounds of one rank. Bounds, with at most 2^20 claimants, weights up to 2^40, 1000 + k up to
// 2^20, usage up to 2^40 and the usage scale below 2^30:
//   sum of weights < 2^60;   weight × (1000 + k) × scale < 2^90;   k × usage × sum < 2^120
// so scores fit Int128 while they are formed, are below 2^90, and sum to less than 2^110.
std::int64_t Divider::run_rounds(const Division& division, std::int32_t parent, std::int64_t left,
                                 RankGroup& group, std::span<std::int64_t> shares,
                                 DivisionTrace* trace) {
  for (std::int32_t number = 1; group.count > 0 && left > 0; ++number) {
    const std::span active = std::span(claimants_).subspan(group.begin, group.count);
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
                                                               .rank = active.front().rank,
                                                               .number = number,
                                                               .amount = left,
                                                               .history_ignored = history_ignored,
                                                               .claims = {}});
    }

    // 3.2.e, in the narrowest integer that holds amount × score_sum.
    const auto give = [&]<class Wide>(std::type_identity<Wide>) {
      const std::int64_t amount = left;
      bool another = false;
      group.count = 0;
      for (Claimant& claimant : active) {
        const auto order =
            Exact<Wide>::compare(claimant.missing, amount, claimant.score, score_sum);
        another = another || order < 0;
        const std::uint32_t queue = claimant.queue;
        const UInt128 score = claimant.score;
        const std::int64_t missing = claimant.missing;
        std::int64_t given = missing;
        if (order > 0) {
          const auto [units, lost] = Exact<Wide>::units(amount, score, score_sum, division.unit);
          given = units * division.unit;
          Claimant& kept = active[group.count++];
          if (&kept != &claimant) kept = claimant;
          kept.missing = missing - given;
          kept.lost = lost;  // 3.2.h: of this round; what earlier ones lost was divided again
        }
        shares[queue] += given;
        left -= given;
        if (round == nullptr) continue;
        const auto [fair, rest] = Exact<Wide>::units(amount, score, score_sum, 1);
        round->claims.push_back({.queue = static_cast<std::int32_t>(queue),
                                 .missing = missing,
                                 .share = {score, score_sum},
                                 .fair = fair,
                                 .fair_fraction = {rest, score_sum},
                                 .given = given});
        trace->parts[queue].phase2 += given;
      }
      return another;
    };
    const int bits =
        bit_count(static_cast<UInt128>(std::max(left, division.unit))) + bit_count(score_sum);
    const bool another = bits <= 64    ? give(std::type_identity<std::uint64_t>{})
                         : bits <= 128 ? give(std::type_identity<UInt128>{})
                                       : give(std::type_identity<AnyWidth>{});
    if (!another) break;
  }
  return left;
}

std::int64_t Divider::give_remainder(const Division& division, std::int64_t left,
                                     const RankGroup& group, std::span<std::int64_t> shares,
                                     DivisionTrace* trace) {
  // All that still miss something took part in the rank's last round (else nothing were left), so
  // their losses are parts of one and the same sum of scores and compare as integers.
  const auto before = [&](const Claimant& a, const Claimant& b) {
    if (a.lost != b.lost) return a.lost > b.lost;
    const DivisionQueue& x = division.queues[a.queue];
    const DivisionQueue& y = division.queues[b.queue];
    if (x.created != y.created) return x.created < y.created;
    if (x.id != y.id) return x.id < y.id;
    return a.queue < b.queue;
  };
  const std::span claimants = std::span(claimants_).subspan(group.begin, group.count);
  auto first = claimants.begin();
  const auto last = claimants.end();
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
  // One digit at a time: the remainder is below den < 2^110, ten times it fits.
  std::string digits = std::to_string(static_cast<std::uint64_t>(ratio.num / ratio.den));
  UInt128 rest = ratio.num % ratio.den;
  for (int i = 0; i < places; ++i) {
    rest *= 10;
    digits += static_cast<char>('0' + static_cast<int>(rest / ratio.den));
    rest %= ratio.den;
  }
  if (rest * 2 >= ratio.den) {
    std::size_t at = digits.size();
    while (at > 0 && digits[at - 1] == '9') digits[--at] = '0';
    if (at > 0) {
      ++digits[at - 1];
    } else {
      digits.insert(0, 1, '1');
    }
  }
  if (places > 0) digits.insert(digits.size() - static_cast<std::size_t>(places), 1, '.');
  return digits;
}

}  // namespace fairlead::sched
