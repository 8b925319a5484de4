#include "engine/local/runtime_folder.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include "engine/local/wire.h"
#include "engine/task.h"

namespace fairlead::engine {
namespace {

constexpr int kMostTries = 200;

// The attempt that a file here is of; empty if it is not ours.
std::string attempt_of(const std::string& name) {
  for (const std::string suffix : {".sock", ".json", ".json.new"}) {
    if (!name.ends_with(suffix)) continue;
    const std::string attempt = name.substr(0, name.size() - suffix.size());
    if (check_attempt_id(attempt)) return attempt;
  }
  return {};
}

// A connection that is refused is proof; a queue that is full is not.
bool nobody_answers(const std::string& folder, const std::string& attempt) {
  const auto connection = connect_to(folder, attempt);
  return !connection && connection.error().code == ErrorCode::kNotFound;
}

void sweep_folder(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    names.push_back(it->path().filename());
  }
  for (const std::string& name : names) {
    const std::string attempt = attempt_of(name);
    if (!attempt.empty() && nobody_answers(folder, attempt))
      ::unlink((folder + "/" + name).c_str());
  }
}

Descriptor lock_folder(const std::string& path) {
  Descriptor lock(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!lock || ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) return {};
  return lock;
}

// It may have been removed by another between the opening and the lock.
bool still_there(const std::string& path, const Descriptor& lock) {
  struct stat held{};
  struct stat named{};
  return ::fstat(lock.get(), &held) == 0 && ::lstat(path.c_str(), &named) == 0 &&
         held.st_ino == named.st_ino && held.st_dev == named.st_dev;
}

}  // namespace

Result<RuntimeFolder> RuntimeFolder::open(const std::string& path) {
  for (int i = 0; i < kMostTries; ++i) {
    FAIRLEAD_TRY(make_runtime_folder(path));
    Descriptor lock = lock_folder(path);
    if (lock && still_there(path, lock)) return RuntimeFolder(path, std::move(lock));
    (void)::usleep(10'000);  // who sweeps it holds the lock for a moment
  }
  return fail(Error{ErrorCode::kConflict,
                    "another server uses it",
                    path,
                    {},
                    "name another folder for sockets and notices"});
}

void RuntimeFolder::sweep() const {
  sweep_folder(path_);
}

void RuntimeFolder::sweep_neighbours() const {
  const std::filesystem::path own(path_);
  const std::string name = own.filename();
  const std::size_t dash = name.rfind('-');
  if (dash == std::string::npos) return;
  std::error_code error;
  std::vector<std::string> others;
  for (std::filesystem::directory_iterator it(own.parent_path(), error), end; !error && it != end;
       it.increment(error)) {
    const std::string other = it->path().filename();
    if (other != name && other.size() == name.size() && other.starts_with(name.substr(0, dash + 1)))
      others.push_back(it->path());
  }
  for (const std::string& path : others) {
    struct stat status{};
    if (::lstat(path.c_str(), &status) != 0 || status.st_uid != ::geteuid()) continue;
    const Descriptor lock = lock_folder(path);
    if (!lock) continue;
    sweep_folder(path);
    ::rmdir(path.c_str());  // stays where anything is left in it
  }
}

void RuntimeFolder::remove_if_empty() const {
  ::rmdir(path_.c_str());
}

void forget_lost(const std::string& folder, const std::string& attempt) {
  forget(folder, attempt);
  for (const char* suffix : {".json", ".json.new"}) {
    ::unlink((folder + "/" + attempt + suffix).c_str());
  }
}

}  // namespace fairlead::engine
