#include "engine/local/kept_attempts.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <sys/stat.h>

#include "engine/local/attempt_folder.h"
#include "engine/local/records.h"

namespace fairlead::engine {
namespace {

KeptAttempt look_at(const AttemptFolder& folder, const AttemptId& id) {
  KeptAttempt kept;
  kept.id = id;
  const auto result = folder.read("result");
  kept.over = result && *result && parse_outcome(id, **result).has_value();
  if (const auto text = folder.read("launch"); text && *text) {
    if (const auto launch = parse_launch(**text)) {
      kept.workload = launch->workload;
      kept.project = launch->project;
    }
  }
  bool began_since_boot = false;
  if (const auto text = folder.read("started"); text && *text) {
    if (const auto started = parse_started(**text)) {
      kept.pid = started->process.pid;
      began_since_boot = started->boot == boot_id();
    }
  }
  kept.may_run = !kept.over && (began_since_boot || !folder.try_lock());
  return kept;
}

}  // namespace

Result<std::vector<KeptAttempt>> kept_attempts(const std::string& state) {
  std::vector<KeptAttempt> out;
  std::error_code error;
  const std::string attempts = state + "/attempts";
  if (!std::filesystem::exists(attempts, error)) return out;
  for (std::filesystem::directory_iterator it(attempts, error), end; !error && it != end;
       it.increment(error)) {
    const AttemptId id = it->path().filename();
    if (!check_attempt_id(id)) continue;  // what a removal left behind
    const auto folder = AttemptFolder::open(state, id);
    if (folder) out.push_back(look_at(*folder, id));
  }
  if (error) {
    return fail(Error{ErrorCode::kIo, "cannot be read: " + error.message(), attempts, {}, {}});
  }
  std::sort(out.begin(), out.end(),
            [](const KeptAttempt& a, const KeptAttempt& b) { return a.id < b.id; });
  return out;
}

Result<std::string> set_aside(const std::string& state, const std::vector<AttemptId>& attempts) {
  const auto why = [](const std::string& path) {
    return fail(Error{ErrorCode::kIo, std::strerror(errno), path, {}, {}});
  };
  const std::string place = state + "/set-aside-" + std::to_string(wall_clock().ms);
  if (::mkdir(place.c_str(), 0700) != 0) return why(place);
  for (const AttemptId& attempt : attempts) {
    const std::string path = AttemptFolder::path_of(state, attempt);
    if (::rename(path.c_str(), (place + "/" + attempt).c_str()) != 0) return why(path);
  }
  return place;
}

}  // namespace fairlead::engine
