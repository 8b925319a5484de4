#include "store/state_dir.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace fairlead::store {
namespace {

std::string why() {
  return std::strerror(errno);
}

std::string read_all(int fd) {
  char text[64];
  const ssize_t n = pread(fd, text, sizeof text, 0);
  std::string out(text, n > 0 ? static_cast<std::size_t>(n) : 0);
  while (!out.empty() && out.back() == '\n') out.pop_back();
  return out;
}

}  // namespace

Result<StateDir> StateDir::open(const std::string& path) {
  if (path.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                "where the state directory shall be is not known: HOME is not set",
                "name it with --state DIR");
  }
  std::error_code error;
  const std::string absolute = std::filesystem::absolute(path, error).lexically_normal().string();
  std::filesystem::create_directories(std::filesystem::path(absolute).parent_path(), error);
  if (mkdir(absolute.c_str(), 0700) != 0 && errno != EEXIST) {
    return fail(ErrorCode::kIo, "the state directory " + absolute + " cannot be made: " + why(),
                "name another with --state DIR");
  }
  struct stat info{};
  if (stat(absolute.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) {
    return fail(ErrorCode::kIo, absolute + " is not a directory", "name another with --state DIR");
  }
  if (info.st_uid != geteuid()) {
    return fail(ErrorCode::kForbidden,
                "the state directory " + absolute + " belongs to user " +
                    std::to_string(info.st_uid) + ", and the server runs as " +
                    std::to_string(geteuid()),
                "start the server as its owner, or name another with --state DIR");
  }
  if ((info.st_mode & 0022) != 0) {
    return fail(ErrorCode::kForbidden, "others may write to the state directory " + absolute,
                "chmod 700 " + absolute);
  }
  const std::string file = absolute + "/lock";
  const int lock = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock < 0) {
    return fail(ErrorCode::kIo, file + " cannot be opened: " + why(),
                "make " + absolute + " writable for the server");
  }
  if (flock(lock, LOCK_EX | LOCK_NB) != 0) {
    const std::string holder = read_all(lock);
    close(lock);
    return fail(ErrorCode::kConflict,
                "a server already runs on the state directory " + absolute +
                    (holder.empty() ? "" : " (process " + holder + ")"),
                "use it, stop it, or name another directory with --state DIR");
  }
  const std::string me = std::to_string(getpid()) + "\n";
  // Only for the message above: a full disk is no reason not to start.
  if (ftruncate(lock, 0) == 0) static_cast<void>(!pwrite(lock, me.data(), me.size(), 0));
  return StateDir(absolute, lock);
}

StateDir::StateDir(StateDir&& other) noexcept : path_(std::move(other.path_)), lock_(other.lock_) {
  other.lock_ = -1;
}

StateDir::~StateDir() {
  if (lock_ >= 0) close(lock_);
}

std::string default_state_dir() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  if (const std::string stated = variable("FAIRLEAD_STATE"); !stated.empty()) return stated;
  if (geteuid() == 0) return kSystemStateDir;
  if (const std::string base = variable("XDG_STATE_HOME"); base.starts_with('/')) {
    return base + "/fairlead";
  }
  const std::string home = variable("HOME");
  return home.empty() ? "" : home + "/.local/state/fairlead";
}

}  // namespace fairlead::store
