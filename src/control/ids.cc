#include "control/ids.h"

#include <algorithm>
#include <sys/random.h>

#include "base/check.h"

namespace fairlead::control {
namespace {

constexpr char kDigits[] = "0123456789abcdefghjkmnpqrstvwxyz";

void fill(void* bytes, std::size_t size) {
  auto* at = static_cast<unsigned char*>(bytes);
  while (size > 0) {
    const ssize_t n = getrandom(at, size, 0);
    if (n < 0) continue;  // interrupted; nothing else can go wrong with a kernel that has it
    at += n;
    size -= static_cast<std::size_t>(n);
  }
}

}  // namespace

std::string IdSource::next(Instant now) {
  const std::uint64_t ms =
      std::max(static_cast<std::uint64_t>(std::max<std::int64_t>(now.ms, 0)), last_ms_);
  if (ms == last_ms_) {
    if (++low_ == 0) ++high_;
  } else {
    last_ms_ = ms;
    high_ = random_() & 0x7fff;  // the top bit free, so that counting up has room
    low_ = random_();
  }
  std::string out(26, '0');
  std::uint64_t time = ms;
  for (int i = 9; i >= 0; --i, time >>= 5) out[static_cast<std::size_t>(i)] = kDigits[time & 31];
  // 80 bits in 16 digits of 5.
  std::uint64_t low = low_;
  std::uint64_t high = high_;
  for (int i = 25; i >= 10; --i) {
    out[static_cast<std::size_t>(i)] = kDigits[low & 31];
    low = (low >> 5) | (high << 59);
    high >>= 5;
  }
  return out;
}

std::uint64_t system_random() {
  std::uint64_t value = 0;
  fill(&value, sizeof value);
  return value;
}

std::string random_hex(int bytes) {
  FAIRLEAD_CHECK(bytes > 0 && bytes <= 64, "a small number of bytes");
  unsigned char raw[64];
  fill(raw, static_cast<std::size_t>(bytes));
  std::string out;
  for (int i = 0; i < bytes; ++i) {
    out += "0123456789abcdef"[raw[i] >> 4];
    out += "0123456789abcdef"[raw[i] & 15];
  }
  return out;
}

}  // namespace fairlead::control
