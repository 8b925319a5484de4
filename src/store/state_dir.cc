#include "store/state_dir.h"

#include <cerrno>
#include <cstdio>
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

// Whoever may write to a directory on the way can put another in its place; in a sticky one (/tmp)
// that is for the owner of each entry alone. A link leads wherever its owner wants, and what it
// leads over is on the way too. Requires: `way` leads to `end`, so that no link leads in a circle.
Result<void> check_way(const std::filesystem::path& way, const struct stat& end) {
  std::filesystem::path so_far;
  for (const std::filesystem::path& part : way) {
    so_far /= part;
    struct stat info{};
    if (lstat(so_far.c_str(), &info) != 0) continue;
    const std::string here = so_far.string();
    if (S_ISLNK(info.st_mode)) {
      if (info.st_uid != 0 && info.st_uid != geteuid()) {
        return fail(ErrorCode::kForbidden,
                    "the state directory lies behind the link " + here +
                        ", which belongs to user " + std::to_string(info.st_uid),
                    "name the directory itself with --state DIR");
      }
      std::error_code error;
      const std::filesystem::path target = std::filesystem::read_symlink(so_far, error);
      if (!error) FAIRLEAD_TRY(check_way(so_far.parent_path() / target, end));
      continue;
    }
    if (info.st_dev == end.st_dev && info.st_ino == end.st_ino) continue;  // looked at by itself
    if ((info.st_mode & S_IWOTH) != 0 && (info.st_mode & S_ISVTX) == 0) {
      return fail(ErrorCode::kForbidden,
                  "anyone may put another in the place of the state directory: " + here +
                      " can be written to by all",
                  "chmod o-w " + here + ", or name another with --state DIR");
    }
  }
  return {};
}

// Of the directory and what lies in it and in its folders: earlier servers left wider modes.
std::size_t close_to_others(const std::filesystem::path& folder, int depth) {
  std::size_t closed = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    struct stat info{};
    const std::string path = it->path().string();
    if (lstat(path.c_str(), &info) != 0 || info.st_uid != geteuid()) continue;
    // Sockets have the mode they were made with.
    if (!S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)) continue;
    if ((info.st_mode & 0066) != 0 && chmod(path.c_str(), info.st_mode & 0700) == 0) ++closed;
    if (S_ISDIR(info.st_mode) && depth > 0) closed += close_to_others(path, depth - 1);
  }
  return closed;
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
  FAIRLEAD_TRY(check_way(absolute, info));
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
  std::vector<std::string> notes;
  if ((info.st_mode & 0077) != 0 && chmod(absolute.c_str(), 0700) == 0) {
    char mode[8];
    std::snprintf(&mode[0], sizeof mode, "%04o", static_cast<unsigned>(info.st_mode & 07777));
    notes.push_back("the state directory " + absolute + " had mode " + &mode[0] +
                    ", so that others could look into it; it has 0700 now");
  }
  if (const std::size_t closed = close_to_others(absolute, 1); closed > 0) {
    notes.push_back(std::to_string(closed) + " files in " + absolute +
                    " could be read by others, and no more can");
  }
  const std::string me = std::to_string(getpid()) + "\n";
  // Only for the message above: a full disk is no reason not to start.
  if (ftruncate(lock, 0) == 0) static_cast<void>(!pwrite(lock, me.data(), me.size(), 0));
  StateDir made(absolute, lock);
  made.notes_ = std::move(notes);
  return made;
}

StateDir::StateDir(StateDir&& other) noexcept
    : path_(std::move(other.path_)), lock_(other.lock_), notes_(std::move(other.notes_)) {
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
