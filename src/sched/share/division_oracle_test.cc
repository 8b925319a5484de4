// The division against an oracle: a slow version with exact rationals, written from the text of
// semantics 3.2 and from nothing else, on random trees; and the properties the rule promises.
#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <sstream>

#include <boost/multiprecision/cpp_int.hpp>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "sched/share/division.h"

namespace fairlead::sched {
namespace {

using Rational = boost::multiprecision::cpp_rational;
using Whole = boost::multiprecision::cpp_int;

struct Case {
  std::int64_t total = 0;
  std::int64_t unit = 1;
  std::int64_t k_milli = 0;
  std::vector<DivisionQueue> queues;

  Division division() const { return {total, unit, k_milli, queues}; }
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  out << "total " << c.total << " unit " << c.unit << " k " << c.k_milli << '\n';
  for (std::size_t i = 0; i < c.queues.size(); ++i) {
    const DivisionQueue& q = c.queues[i];
    out << "  " << i << " parent " << q.parent << " rank " << q.rank << " quota " << q.quota
        << " limit " << q.limit << " weight " << q.over_quota_weight << " requested " << q.requested
        << " usage " << q.usage_ppb << " created " << q.created << " id " << q.id << '\n';
  }
  return out;
}

Rational floor_to(const Rational& value, const Rational& unit) {
  const Rational units = value / unit;
  return Rational(Whole(numerator(units) / denominator(units))) * unit;  // value >= 0
}

// The oracle. Plain recursion over the tree, everything a rational, nothing shared between steps.
class Oracle {
 public:
  explicit Oracle(const Case& c) : case_(c), share_(c.queues.size()) {
    divide_children(-1, Rational(c.total));
  }
  const std::vector<Rational>& shares() const { return share_; }

 private:
  std::vector<int> children(int parent) const {
    std::vector<int> out;
    for (std::size_t i = 0; i < case_.queues.size(); ++i) {
      if (case_.queues[i].parent == parent) out.push_back(static_cast<int>(i));
    }
    return out;
  }
  const DivisionQueue& queue(int i) const { return case_.queues[static_cast<std::size_t>(i)]; }

  Rational requestable(int i) const {
    Rational requested = queue(i).requested;
    if (queue(i).requested == kSumOfChildren) {
      requested = 0;
      for (const int child : children(i)) requested += requestable(child);
    }
    if (queue(i).limit != kUnlimited) requested = std::min(requested, Rational(queue(i).limit));
    return requested;
  }

  void divide_children(int parent, const Rational& amount) {
    const std::vector<int> all = children(parent);
    if (all.empty()) return;
    std::map<int, Rational> got;
    std::map<int, Rational> lost;
    Rational left = amount;
    for (const int i : all) {
      const Rational quota = queue(i).quota == kUnlimited ? amount : Rational(queue(i).quota);
      got[i] = std::min(quota, requestable(i));
      left -= got[i];
    }
    if (left < 0) left = 0;
    std::set<int, std::greater<>> ranks;
    for (const int i : all) ranks.insert(queue(i).rank);
    const Rational unit = case_.unit;
    const auto wants = [&](int i) {
      return queue(i).over_quota_weight > 0 && requestable(i) > got[i];
    };
    for (const int rank : ranks) {
      for (bool another = true; another && left > 0;) {
        another = false;
        std::vector<int> active;
        for (const int i : all) {
          if (queue(i).rank == rank && wants(i)) active.push_back(i);
        }
        if (active.empty()) break;
        Rational weights = 0;
        for (const int i : active) weights += queue(i).over_quota_weight;
        std::map<int, Rational> share;
        Rational sum = 0;
        for (const int i : active) {
          const Rational w = Rational(queue(i).over_quota_weight) / weights;
          const Rational u = Rational(queue(i).usage_ppb) / 1'000'000'000;
          const Rational k = Rational(case_.k_milli) / 1000;
          share[i] = std::max(Rational(0), Rational(w + k * (w - u)));
          sum += share[i];
        }
        if (sum == 0) {  // 3.2.g
          for (const int i : active) share[i] = queue(i).over_quota_weight;
          sum = weights;
        }
        const Rational start = left;
        for (const int i : active) {
          const Rational f = start * share[i] / sum;
          const Rational missing = requestable(i) - got[i];
          const Rational give = missing <= f ? missing : floor_to(f, unit);
          another = another || missing < f;
          lost[i] = f - give;
          got[i] += give;
          left -= give;
        }
      }
    }
    for (const int rank : ranks) {
      std::vector<int> order;
      for (const int i : all) {
        if (queue(i).rank == rank && wants(i)) order.push_back(i);
      }
      std::sort(order.begin(), order.end(), [&](int a, int b) {
        return std::make_tuple(Rational(-lost[a]), queue(a).created, queue(a).id) <
               std::make_tuple(Rational(-lost[b]), queue(b).created, queue(b).id);
      });
      for (const int i : order) {
        const Rational give = std::min({unit, left, Rational(requestable(i) - got[i])});
        got[i] += give;
        left -= give;
      }
    }
    for (const int i : all) {
      share_[static_cast<std::size_t>(i)] = got[i];
      divide_children(i, got[i]);
    }
  }

  const Case& case_;
  std::vector<Rational> share_;
};

// Few distinct values, so that ties, exact fits and empty phases are frequent; or, in a case that
// is `large`, any values up to the scale, so that every bit of a score matters.
rc::Gen<std::int64_t> amounts(std::int64_t unit, std::int64_t scale, bool large) {
  const auto any = rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::int64_t>(0, scale + 1));
  if (large) return any;
  return rc::gen::weightedOneOf<std::int64_t>({
      {3, rc::gen::map(rc::gen::inRange<std::int64_t>(0, 12),
                       [unit](std::int64_t n) { return n * unit; })},
      {2, rc::gen::inRange<std::int64_t>(0, 12 * unit + 1)},
      {1, any},
  });
}

DivisionQueue any_queue(std::int64_t unit, std::int64_t scale, bool large) {
  const auto amount = amounts(unit, scale, large);
  DivisionQueue q;
  q.rank = *rc::gen::element(100, 100, 100, 100, 200, -5);
  // Quotas of a large case are small, else phase 2 would have nothing.
  q.quota =
      *rc::gen::weightedOneOf<std::int64_t>({{4, rc::gen::just<std::int64_t>(0)},
                                             {1, rc::gen::just(kUnlimited)},
                                             {3, large ? amounts(unit, scale / 8, true) : amount}});
  if (large && q.quota == kUnlimited && *rc::gen::inRange(0, 4) > 0) q.quota = 0;
  q.limit = *rc::gen::weightedOneOf<std::int64_t>({{3, rc::gen::just(kUnlimited)}, {1, amount}});
  q.over_quota_weight = *rc::gen::element<std::int64_t>(1000, 1000, 1000, 1000, 0, 1, 500, 2000,
                                                        333, kMaxDivisionWeight);
  q.requested = *amount;
  q.usage_ppb = *rc::gen::weightedOneOf<std::int64_t>(
      {{2, rc::gen::just<std::int64_t>(0)},
       {4, rc::gen::inRange<std::int64_t>(0, 400'000'001)},
       {1, rc::gen::element<std::int64_t>(250'000'000, 500'000'000, kMaxDivisionUsage)}});
  q.created = *rc::gen::inRange<std::int64_t>(0, 3);
  return q;
}

rc::Gen<Case> cases(std::size_t most) {
  return rc::gen::exec([most] {
    Case c;
    c.unit = *rc::gen::element<std::int64_t>(1, 1000, 1000, 7);
    const bool large = *rc::gen::inRange(0, 3) == 0;
    const auto scale = *rc::gen::element<std::int64_t>(
        20 * c.unit, 1000 * c.unit, std::int64_t{1} << 40, std::int64_t{1} << 61);
    c.total = *amounts(c.unit, scale, large);
    c.k_milli = *rc::gen::element<std::int64_t>(0, 0, 500, 1000, 3700, kMaxDivisionK);
    const auto count = *rc::gen::inRange<std::size_t>(1, most + 1);
    const auto depth_bias = *rc::gen::inRange(0, 4);
    std::vector<bool> has_child(count, false);
    for (std::size_t i = 0; i < count; ++i) {
      DivisionQueue q = any_queue(c.unit, scale, large);
      if (i > 0 && *rc::gen::inRange(0, 4) < depth_bias) {
        q.parent = static_cast<std::int32_t>(*rc::gen::inRange<std::size_t>(0, i));
        has_child[static_cast<std::size_t>(q.parent)] = true;
      }
      q.id = static_cast<std::int64_t>(i);
      c.queues.push_back(q);
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (has_child[i] && *rc::gen::inRange(0, 3) > 0) c.queues[i].requested = kSumOfChildren;
    }
    return c;
  });
}

// Siblings of which one misses exactly its f of the first round (3.2.e): weights of small whole
// numbers, and that many units to divide, times a factor.
rc::Gen<Case> exact_fits() {
  return rc::gen::exec([] {
    Case c;
    c.unit = *rc::gen::element<std::int64_t>(1, 1000);
    const auto count = *rc::gen::inRange<std::size_t>(2, 8);
    std::int64_t weights = 0;
    for (std::size_t i = 0; i < count; ++i) {
      DivisionQueue q;
      q.over_quota_weight = *rc::gen::inRange<std::int64_t>(1, 9);
      weights += q.over_quota_weight;
      q.requested = 100 * c.unit;
      q.id = static_cast<std::int64_t>(i);
      c.queues.push_back(q);
    }
    c.total = *rc::gen::inRange<std::int64_t>(1, 40) * c.unit;
    DivisionQueue& q = c.queues[*rc::gen::inRange<std::size_t>(0, count)];
    // f is whole for this queue at least, in base units.
    const std::int64_t in_parts = c.total * q.over_quota_weight;
    q.requested = in_parts / weights;
    if (in_parts % weights != 0) {
      c.total = (in_parts / weights + 1) * weights;
      q.requested = (in_parts / weights + 1) * q.over_quota_weight;
    }
    return c;
  });
}

std::vector<std::int64_t> divided(const Case& c, DivisionTrace* trace = nullptr) {
  static Divider divider;  // reused on purpose: nothing may be left over from another tree
  std::vector<std::int64_t> shares(c.queues.size(), -7);
  divider.divide(c.division(), shares, trace);
  return shares;
}

TEST(DivisionOracle, AgreesOnRandomTrees) {
  const auto check = [](const Case& c) {
    const std::vector<std::int64_t> shares = divided(c);
    const Oracle oracle(c);
    for (std::size_t i = 0; i < shares.size(); ++i) {
      if (Rational(shares[i]) != oracle.shares()[i]) {
        std::ostringstream text;
        text << c << "queue " << i << ": " << shares[i] << ", the oracle says "
             << oracle.shares()[i];
        RC_FAIL(text.str());
      }
    }
  };
  // rapidcheck's default is 100 cases; a hundred divisions in each make thousands.
  RC_ASSERT(rc::check("small trees", [&] {
    for (int i = 0; i < 60; ++i) check(*cases(6));
  }));
  RC_ASSERT(rc::check("wider trees", [&] { check(*cases(40)); }));
  RC_ASSERT(rc::check("exact fits", [&] {
    for (int i = 0; i < 20; ++i) check(*exact_fits());
  }));
}

RC_GTEST_PROP(DivisionProperty, TraceAddsUpToTheShares, ()) {
  const Case c = *cases(20);
  DivisionTrace trace;
  const std::vector<std::int64_t> shares = divided(c, &trace);
  RC_ASSERT(shares == divided(c));  // recording changes nothing
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const DivisionTrace::Part& part = trace.parts[i];
    RC_ASSERT(part.phase1 + part.phase2 + part.phase3 == shares[i]);
    RC_ASSERT(part.phase1 >= 0 && part.phase2 >= 0);
    RC_ASSERT(part.phase3 >= 0 && part.phase3 <= c.unit);
  }
  for (const DivisionTrace::Round& round : trace.rounds) {
    Rational share = 0;
    std::int64_t given = 0;
    for (const DivisionTrace::Claim& claim : round.claims) {
      const Rational part = Rational(Whole(claim.share.num)) / Rational(Whole(claim.share.den));
      const Rational f = claim.fair + Rational(Whole(claim.fair_fraction.num)) /
                                          Rational(Whole(claim.fair_fraction.den));
      RC_ASSERT(f == part * round.amount);
      share += part;
      given += claim.given;
    }
    RC_ASSERT(share == 1);
    RC_ASSERT(given <= round.amount);
  }
}

RC_GTEST_PROP(DivisionProperty, NobodyGetsMoreThanLimitOrDemand, ()) {
  const Case c = *cases(20);
  DivisionTrace trace;
  const std::vector<std::int64_t> shares = divided(c, &trace);
  for (std::size_t i = 0; i < shares.size(); ++i) {
    RC_ASSERT(shares[i] >= 0);
    RC_ASSERT(shares[i] <= trace.parts[i].requested);
    if (c.queues[i].limit != kUnlimited) RC_ASSERT(shares[i] <= c.queues[i].limit);
  }
}

RC_GTEST_PROP(DivisionProperty, ALevelDividesNoMoreThanItHasUnlessQuotasAlonePromiseMore, ()) {
  const Case c = *cases(20);
  DivisionTrace trace;
  const std::vector<std::int64_t> shares = divided(c, &trace);
  for (const DivisionTrace::Level& level : trace.levels) {
    Whole sum = 0;
    Whole promised = 0;
    for (std::size_t i = 0; i < shares.size(); ++i) {
      if (c.queues[i].parent != level.parent) continue;
      sum += shares[i];
      promised += trace.parts[i].phase1;
    }
    RC_ASSERT(level.overcommitted == (promised > level.amount));
    if (level.overcommitted) {
      RC_ASSERT(sum == promised);
    } else {
      RC_ASSERT(sum + level.undivided == level.amount);
    }
  }
}

RC_GTEST_PROP(DivisionProperty, NothingIsLeftWhileAQueueWithWeightMissesSomething, ()) {
  const Case c = *cases(20);
  DivisionTrace trace;
  const std::vector<std::int64_t> shares = divided(c, &trace);
  for (const DivisionTrace::Level& level : trace.levels) {
    if (level.undivided == 0) continue;
    for (std::size_t i = 0; i < shares.size(); ++i) {
      if (c.queues[i].parent != level.parent || c.queues[i].over_quota_weight == 0) continue;
      RC_ASSERT(shares[i] == trace.parts[i].requestable);
    }
  }
}

RC_GTEST_PROP(DivisionProperty, WeightZeroStaysWithinQuota, ()) {
  const Case c = *cases(20);
  DivisionTrace trace;
  const std::vector<std::int64_t> shares = divided(c, &trace);
  for (std::size_t i = 0; i < shares.size(); ++i) {
    if (c.queues[i].over_quota_weight == 0) RC_ASSERT(shares[i] == trace.parts[i].phase1);
  }
}

RC_GTEST_PROP(DivisionProperty, TheOrderOfTheInputDoesNotMatter, ()) {
  const Case c = *cases(20);
  const std::vector<std::int64_t> shares = divided(c);
  // A random order in which parents still come before children: shuffle, then sort by depth.
  std::vector<std::size_t> order(c.queues.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto keys = *rc::gen::container<std::vector<std::uint32_t>>(
      c.queues.size(), rc::gen::arbitrary<std::uint32_t>());
  std::vector<int> depth(c.queues.size(), 0);
  for (std::size_t i = 0; i < depth.size(); ++i) {
    if (c.queues[i].parent >= 0) {
      depth[i] = depth[static_cast<std::size_t>(c.queues[i].parent)] + 1;
    }
  }
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::tie(depth[a], keys[a], a) < std::tie(depth[b], keys[b], b);
  });
  std::vector<std::int32_t> place(order.size());
  for (std::size_t at = 0; at < order.size(); ++at) {
    place[order[at]] = static_cast<std::int32_t>(at);
  }
  Case moved = c;
  for (std::size_t at = 0; at < order.size(); ++at) {
    moved.queues[at] = c.queues[order[at]];
    std::int32_t& parent = moved.queues[at].parent;
    if (parent >= 0) parent = place[static_cast<std::size_t>(parent)];
  }
  const std::vector<std::int64_t> other = divided(moved);
  for (std::size_t at = 0; at < order.size(); ++at) RC_ASSERT(other[at] == shares[order[at]]);
}

// Among siblings that differ in nothing but weight (and demand, which is ample), more weight never
// means less: after one round all get floor(f), and phase 3 moves each by one unit at most.
RC_GTEST_PROP(DivisionProperty, MoreWeightThanASiblingMeansNoLessButForTheLastUnit, ()) {
  Case c;
  c.unit = *rc::gen::element<std::int64_t>(1, 1000);
  c.total = *rc::gen::inRange<std::int64_t>(0, 100) * c.unit;
  const auto count = *rc::gen::inRange<std::size_t>(2, 8);
  for (std::size_t i = 0; i < count; ++i) {
    DivisionQueue q;
    q.over_quota_weight = *rc::gen::inRange<std::int64_t>(1, 5000);
    q.requested = c.total;
    q.created = q.id = static_cast<std::int64_t>(i);
    c.queues.push_back(q);
  }
  const std::vector<std::int64_t> shares = divided(c);
  for (std::size_t a = 0; a < count; ++a) {
    for (std::size_t b = 0; b < count; ++b) {
      if (c.queues[a].over_quota_weight >= c.queues[b].over_quota_weight) {
        RC_ASSERT(shares[a] + c.unit >= shares[b]);
      }
    }
  }
}

// Raising one queue's weight never lowers its share by more than a unit while every sibling wants
// more than it can get (with satisfied siblings the rounds differ, and rounding may move a unit
// each).
RC_GTEST_PROP(DivisionProperty, RaisingAWeightNeverLowersTheShareOfTheFirstRound, ()) {
  Case c;
  c.unit = *rc::gen::element<std::int64_t>(1, 1000);
  c.total = *rc::gen::inRange<std::int64_t>(1, 100) * c.unit;
  const auto count = *rc::gen::inRange<std::size_t>(2, 8);
  for (std::size_t i = 0; i < count; ++i) {
    DivisionQueue q;
    q.over_quota_weight = *rc::gen::inRange<std::int64_t>(1, 5000);
    q.requested = c.total;
    q.created = q.id = static_cast<std::int64_t>(i);
    c.queues.push_back(q);
  }
  DivisionTrace before;
  divided(c, &before);
  c.queues[0].over_quota_weight += *rc::gen::inRange<std::int64_t>(1, 5000);
  DivisionTrace after;
  divided(c, &after);
  RC_ASSERT(after.parts[0].phase2 >= before.parts[0].phase2);
  for (std::size_t i = 1; i < count; ++i) {
    RC_ASSERT(after.parts[i].phase2 <= before.parts[i].phase2);
  }
}

RC_GTEST_PROP(DivisionProperty, UsageOfOthersNeverHurts, ()) {
  // With all weights equal and ample demand, the queue with less history gets no less in phase 2.
  Case c;
  c.unit = 1000;
  c.total = *rc::gen::inRange<std::int64_t>(1, 100) * c.unit;
  c.k_milli = *rc::gen::inRange<std::int64_t>(0, 3000);
  const auto count = *rc::gen::inRange<std::size_t>(2, 8);
  for (std::size_t i = 0; i < count; ++i) {
    DivisionQueue q;
    q.usage_ppb = *rc::gen::inRange<std::int64_t>(0, 1'000'000'001);
    q.requested = c.total;
    q.id = static_cast<std::int64_t>(i);
    c.queues.push_back(q);
  }
  DivisionTrace trace;
  divided(c, &trace);
  for (std::size_t a = 0; a < count; ++a) {
    for (std::size_t b = 0; b < count; ++b) {
      if (c.queues[a].usage_ppb <= c.queues[b].usage_ppb) {
        RC_ASSERT(trace.parts[a].phase2 >= trace.parts[b].phase2);
      }
    }
  }
}

// The bound of division.h on rounds: each leaves at most half the amount or half the weight, until
// less than two units a queue are left; then at most one round per queue, in practice one or two.
RC_GTEST_PROP(DivisionProperty, RoundsAreFew, ()) {
  const Case c = *cases(60);
  DivisionTrace trace;
  divided(c, &trace);
  std::int32_t most = 0;
  for (const DivisionTrace::Round& round : trace.rounds) most = std::max(most, round.number);
  RC_ASSERT(most <= 61);
  RC_TAG(most);
}

}  // namespace
}  // namespace fairlead::sched
