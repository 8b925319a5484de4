#include "node/own_limits.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "node/text_files.h"

namespace fairlead::node {
namespace {

// More than this is how v1 writes "no limit".
constexpr std::int64_t kNoLimit = std::int64_t{1} << 60;

void lower(std::optional<MilliCpu>& limit, std::int64_t quota, std::int64_t period) {
  if (quota <= 0 || period <= 0) return;
  const MilliCpu value(std::max<std::int64_t>(quota * kMilli / period, 1));
  if (!limit || value < *limit) limit = value;
}

void lower(std::optional<Bytes>& limit, std::optional<std::int64_t> bytes) {
  if (!bytes || *bytes <= 0 || *bytes >= kNoLimit) return;
  if (!limit || Bytes(*bytes) < *limit) limit = Bytes(*bytes);
}

std::int64_t number(const std::string& text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// The folders from `mounted` + `own` up to `mounted`.
std::vector<std::string> upwards(const std::string& mounted, std::string own) {
  std::vector<std::string> folders;
  while (own.size() > 1) {
    folders.push_back(mounted + own);
    own.erase(own.rfind('/'));
  }
  folders.push_back(mounted);
  return folders;
}

}  // namespace

OwnLimits own_limits(const std::string& root, const std::string& self) {
  OwnLimits limits;
  for (const std::string& line : split(read_text(self).value_or(""), '\n')) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string own = line.substr(second + 1);
    const std::vector<std::string> names = split(line.substr(first + 1, second - first - 1), ',');
    if (names.empty()) {
      for (const std::string& folder : upwards(root, own)) {
        const auto words = split(read_word(folder + "/cpu.max").value_or(""), ' ');
        if (words.size() == 2 && words[0] != "max") {
          lower(limits.cpu, number(words[0]), number(words[1]));
        }
        lower(limits.memory, read_number(folder + "/memory.max"));
      }
    }
    for (const std::string& name : names) {
      if (name != "cpu" && name != "memory") continue;
      std::string mounted = root;
      mounted += '/';
      mounted += name;
      for (const std::string& folder : upwards(mounted, own)) {
        lower(limits.cpu, read_number(folder + "/cpu.cfs_quota_us").value_or(0),
              read_number(folder + "/cpu.cfs_period_us").value_or(0));
        lower(limits.memory, read_number(folder + "/memory.limit_in_bytes"));
      }
    }
  }
  return limits;
}

}  // namespace fairlead::node
