#include "sched/share/usage.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "base/check.h"

namespace fairlead::sched {
namespace {

constexpr int kFactorBits = 62;
constexpr int kAverageBits = 40;
// "No decay": 2^42 ms are 139 years.
constexpr Duration kNoDecay{std::int64_t{1} << 42};
constexpr std::int64_t kBillion = 1'000'000'000;

constexpr std::uint64_t integer_sqrt(UInt128 square) {
  std::uint64_t root = 0;
  for (int bit = 63; bit >= 0; --bit) {
    const std::uint64_t next = root | std::uint64_t{1} << bit;
    if (UInt128{next} * next <= square) root = next;
  }
  return root;
}

constexpr std::uint64_t times(std::uint64_t a, std::uint64_t b) {
  return static_cast<std::uint64_t>(UInt128{a} * b >> kFactorBits);
}

// kPowers[t][i] = 2^(−i / 256^(t+1)) × 2^62: a fraction of 32 bits is looked up a byte at a time.
// Made from square roots of 1/2, so from integers alone.
using PowerTable = std::array<std::array<std::uint64_t, 256>, 4>;
constexpr PowerTable make_powers() {
  std::array<std::uint64_t, 33> root{};  // root[k] = 2^(−2^−k)
  root[0] = kDecayOne / 2;
  for (std::size_t k = 1; k < root.size(); ++k) {
    root[k] = integer_sqrt(UInt128{root[k - 1]} << kFactorBits);
  }
  PowerTable powers{};
  for (std::size_t t = 0; t < powers.size(); ++t) {
    for (std::size_t i = 0; i < 256; ++i) {
      std::uint64_t product = kDecayOne;
      for (std::size_t bit = 0; bit < 8; ++bit) {
        if ((i >> bit & 1) != 0) product = times(product, root[8 * t + 8 - bit]);
      }
      powers[t][i] = product;
    }
  }
  return powers;
}
constexpr PowerTable kPowers = make_powers();

// ln 2 × 2^62 (OEIS A002162).
constexpr std::uint64_t kLn2 = 0x2c5c85fdf473de6b;

// average × factor / 2^62, in two parts: 102 + 62 bits are more than 128.
UInt128 decayed(UInt128 average, std::uint64_t factor) {
  const UInt128 high = average >> kAverageBits;
  const UInt128 low = average & ((UInt128{1} << kAverageBits) - 1);
  return (high * factor >> (kFactorBits - kAverageBits)) + (low * factor >> kFactorBits);
}

UInt128 gained(std::int64_t held, std::uint64_t factor) {
  return static_cast<UInt128>(held) * (kDecayOne - factor) >> (kFactorBits - kAverageBits);
}

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

}  // namespace

std::uint64_t decay_factor(Duration elapsed, Duration half_life) {
  FAIRLEAD_CHECK(elapsed.ms >= 0 && half_life.ms > 0, "time does not go back");
  const std::int64_t halvings = elapsed.ms / half_life.ms;
  if (halvings > kFactorBits) return 0;
  // The fraction of a half-life, 62 bits: the upper 32 by table; 2^−e = 1 − e ln 2 for the rest,
  // where e < 2^−32 and the next term of the series is below 2^−65.
  const auto fraction = static_cast<std::uint64_t>(
      (UInt128{static_cast<std::uint64_t>(elapsed.ms % half_life.ms)} << kFactorBits) /
      static_cast<std::uint64_t>(half_life.ms));
  std::uint64_t factor = kDecayOne;
  for (std::size_t t = 0; t < kPowers.size(); ++t) {
    const std::uint64_t byte = fraction >> (kFactorBits - 8 * (t + 1)) & 0xff;
    factor = times(factor, kPowers[t][byte]);
  }
  const std::uint64_t rest = fraction & ((std::uint64_t{1} << (kFactorBits - 32)) - 1);
  factor = times(factor, kDecayOne - times(rest, kLn2));
  return factor >> halvings;
}

UsageRule::UsageRule(Duration half_life, UsageWindow window, Duration length)
    : half_life_(half_life.ms > 0 ? half_life : kNoDecay), window_(window), slots_factor_{} {
  const std::int64_t slots = sliding() ? static_cast<std::int64_t>(kSlots) : 1;
  slot_length_.ms = std::max<std::int64_t>(1, length.ms / slots);
  for (std::size_t i = 0; i < kSlots; ++i) {
    slots_factor_[i] = decay_factor(slot_length_ * static_cast<std::int64_t>(i), half_life_);
  }
}

std::int64_t UsageRule::slot_of(Instant now) const {
  return floor_div(now.ms, slot_length_.ms);
}

Instant UsageRule::slot_begin(std::int64_t slot) const {
  return {slot * slot_length_.ms};
}

void UsageMeter::close_slot(const UsageRule& rule) {
  const Instant end = rule.slot_begin(slot_ + 1);
  const std::uint64_t factor = decay_factor(end - since_, rule.half_life());
  const UInt128 whole = decayed(current_, factor) + gained(held_, factor);
  if (rule.sliding()) {
    if (slots_.empty() && whole > 0) slots_.assign(UsageRule::kSlots, 0);
    if (!slots_.empty()) slots_[static_cast<std::size_t>(slot_) % UsageRule::kSlots] = whole;
  }
  ++slot_;
  since_ = end;
  current_ = 0;
}

void UsageMeter::advance(const UsageRule& rule, Instant now) {
  const std::int64_t slot = rule.slot_of(now);
  if (!started_) {
    started_ = true;
    slot_ = slot;
    since_ = now;
    return;
  }
  FAIRLEAD_CHECK(now >= since_, "usage is told in the order of time");
  if (slot != slot_) {
    constexpr auto kCount = static_cast<std::int64_t>(UsageRule::kSlots);
    close_slot(rule);
    if (slot - slot_ > kCount) {  // only the last ones are still in the window
      slot_ = slot - kCount;
      since_ = rule.slot_begin(slot_);
    }
    while (slot_ < slot) close_slot(rule);
    closed_ = 0;
    for (std::size_t back = 1; !slots_.empty() && back < UsageRule::kSlots; ++back) {
      const auto at = static_cast<std::uint64_t>(slot_) - back;  // modulo 2^64, so modulo 64
      closed_ += decayed(slots_[at % UsageRule::kSlots], rule.slots_factor(back - 1));
    }
  }
  const std::uint64_t factor = decay_factor(now - since_, rule.half_life());
  current_ = decayed(current_, factor) + gained(held_, factor);
  since_ = now;
}

void UsageMeter::set(const UsageRule& rule, Instant now, std::int64_t amount) {
  FAIRLEAD_CHECK(0 <= amount && amount <= kMaxDivisible, "amounts are within bounds");
  advance(rule, now);
  held_ = amount;
}

void UsageMeter::set_since(const UsageRule& rule, Instant now, std::int64_t amount) {
  held_ = amount;
  set(rule, now, amount);
}

UInt128 UsageMeter::average(const UsageRule& rule, Instant now) const {
  if (!started_) return 0;
  if (rule.slot_of(now) != slot_) {
    UsageMeter later = *this;
    later.advance(rule, now);
    return later.average(rule, now);
  }
  FAIRLEAD_CHECK(now >= since_, "usage is told in the order of time");
  const std::uint64_t recent = decay_factor(now - since_, rule.half_life());
  const std::uint64_t all = decay_factor(now - rule.slot_begin(slot_), rule.half_life());
  return decayed(closed_, all) + decayed(current_, recent) + gained(held_, recent);
}

void UsageMeter::forget(const UsageRule& rule, Instant now) {
  const std::int64_t held = held_;
  *this = {};
  set(rule, now, held);
}

namespace {

std::string hex(UInt128 value) {
  std::string digits;
  do {
    digits.insert(digits.begin(), "0123456789abcdef"[static_cast<std::size_t>(value & 15)]);
    value >>= 4;
  } while (value != 0);
  return digits;
}

// The words of a meter's text, one after the other.
class Words {
 public:
  explicit Words(const std::string& text) : text_(text) {}

  std::optional<std::int64_t> number() {
    const std::string_view word = next();
    std::int64_t value = 0;
    const auto read = std::from_chars(word.data(), word.data() + word.size(), value);
    if (word.empty() || read.ec != std::errc{} || read.ptr != word.data() + word.size()) {
      return std::nullopt;
    }
    return value;
  }

  // An average: at most kMaxDivisible with its fraction.
  std::optional<UInt128> average() {
    const std::string_view word = next();
    if (word.empty() || word.size() > 26) return std::nullopt;
    UInt128 value = 0;
    for (const char c : word) {
      const std::size_t digit = std::string_view("0123456789abcdef").find(c);
      if (digit == std::string_view::npos) return std::nullopt;
      value = value << 4 | digit;
    }
    if (value > UInt128{kMaxDivisible} << kAverageBits) return std::nullopt;
    return value;
  }

  bool done() const { return at_ >= text_.size(); }

 private:
  std::string_view next() {
    const std::size_t end = std::min(text_.find(' ', at_), text_.size());
    const std::string_view word = std::string_view(text_).substr(std::min(at_, end), end - at_);
    at_ = end + 1;
    return word;
  }

  const std::string& text_;
  std::size_t at_ = 0;
};

}  // namespace

// The length of a slot, what is held, since when, the slot, its average, that of those before, and
// of a sliding window each slot's own.
std::string UsageMeter::text(const UsageRule& rule) const {
  if (!started_) return {};
  std::string out = std::to_string(rule.slot_length().ms) + " " + std::to_string(held_) + " " +
                    std::to_string(since_.ms) + " " + std::to_string(slot_) + " " + hex(current_) +
                    " " + hex(closed_);
  for (const UInt128 slot : slots_) out += " " + hex(slot);
  return out;
}

Result<UsageMeter> UsageMeter::parse(const UsageRule& rule, const std::string& text) {
  const auto refused = [&](const std::string& why) {
    return fail(ErrorCode::kInvalidArgument, "the usage history " + why);
  };
  UsageMeter meter;
  if (text.empty()) return meter;
  Words words(text);
  const auto length = words.number();
  const auto held = words.number();
  const auto since = words.number();
  const auto slot = words.number();
  const auto current = words.average();
  const auto closed = words.average();
  if (!length || !held || !since || !slot || !current || !closed) return refused("cannot be read");
  if (*length != rule.slot_length().ms) return refused("is of another window");
  meter.held_ = *held;
  meter.since_ = Instant{*since};
  meter.slot_ = *slot;
  meter.current_ = *current;
  meter.closed_ = *closed;
  meter.started_ = true;
  while (!words.done()) {
    const auto average = words.average();
    if (!average) return refused("cannot be read");
    meter.slots_.push_back(*average);
  }
  const bool slots_fit =
      meter.slots_.empty() || (rule.sliding() && meter.slots_.size() == UsageRule::kSlots);
  if (*held < 0 || *held > kMaxDivisible || rule.slot_of(meter.since_) != *slot || !slots_fit) {
    return refused("contradicts itself");
  }
  return meter;
}

std::string UsageHistory::text(std::optional<std::size_t> queue, std::size_t resource) const {
  if (queue && *queue >= queues_.size()) return {};
  const Meters& meters = queue ? queues_[*queue] : capacity_;
  return resource < meters.size() ? meters[resource].text(rule_) : std::string();
}

Result<void> UsageHistory::restore(Instant now, std::optional<std::size_t> queue,
                                   std::size_t resource, const std::string& text) {
  FAIRLEAD_ASSIGN(UsageMeter restored, UsageMeter::parse(rule_, text));
  if (restored.since() > now) {
    return fail(ErrorCode::kInvalidArgument, "the usage history is of a time to come");
  }
  if (queue && queues_.size() <= *queue) queues_.resize(*queue + 1);
  UsageMeter& present = meter(queue ? queues_[*queue] : capacity_, resource);
  restored.set_since(rule_, now, present.held());
  present = std::move(restored);
  return {};
}

void UsageHistory::set_rule(Instant now, UsageRule rule) {
  const bool keep = rule.same_window(rule_);
  const auto change = [&](Meters& meters) {
    for (UsageMeter& meter : meters) {
      if (keep) {
        meter.set(rule_, now, meter.held());  // up to now by the old half-life
      } else {
        meter.forget(rule, now);
      }
    }
  };
  change(capacity_);
  for (Meters& meters : queues_) change(meters);
  rule_ = rule;
}

UsageMeter& UsageHistory::meter(Meters& meters, std::size_t resource) {
  if (meters.size() <= resource) meters.resize(resource + 1);
  return meters[resource];
}

void UsageHistory::set_capacity(Instant now, std::size_t resource, std::int64_t amount) {
  meter(capacity_, resource).set(rule_, now, amount);
}

void UsageHistory::set_held(Instant now, std::size_t queue, std::size_t resource,
                            std::int64_t amount) {
  if (queues_.size() <= queue) queues_.resize(queue + 1);
  meter(queues_[queue], resource).set(rule_, now, amount);
}

void UsageHistory::remove_queue(std::size_t queue) {
  if (queue < queues_.size()) queues_[queue].clear();
}

std::int64_t UsageHistory::usage_ppb(Instant now, std::size_t queue, std::size_t resource) const {
  if (queue >= queues_.size() || resource >= queues_[queue].size()) return 0;
  UInt128 held = queues_[queue][resource].average(rule_, now);
  if (held == 0) return 0;
  UInt128 capacity = resource < capacity_.size() ? capacity_[resource].average(rule_, now) : 0;
  if (capacity == 0) return kBillion;
  while (held >> 96 != 0) {  // room for × 10^9 < 2^30
    held >>= 8;
    capacity >>= 8;
  }
  if (capacity == 0) return kMaxDivisionUsage;
  const UInt128 ppb = held * static_cast<UInt128>(kBillion) / capacity;
  return static_cast<std::int64_t>(std::min(ppb, static_cast<UInt128>(kMaxDivisionUsage)));
}

}  // namespace fairlead::sched
