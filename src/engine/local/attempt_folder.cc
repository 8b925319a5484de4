#include "engine/local/attempt_folder.h"

#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <sys/file.h>
#include <sys/stat.h>
#include <vector>

namespace fairlead::engine {
namespace {

constexpr std::string_view kRemoved = ".removed-";

std::unexpected<Error> io(const std::string& path, const char* what, int error) {
  return fail(Error{error == ENOENT   ? ErrorCode::kNotFound
                    : error == EEXIST ? ErrorCode::kAlreadyExists
                                      : ErrorCode::kIo,
                    std::string(what) + ": " + std::strerror(error),
                    path,
                    {},
                    error == ENOSPC ? "make room on the disk of the state directory" : ""});
}

std::string attempts_of(const std::string& state) {
  return state + "/attempts";
}

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

void delete_tree(int parent, const char* name) {
  const int directory = ::openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  if (directory < 0) return;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::fdopendir(directory), &::closedir);
  while (const dirent* entry = entries ? ::readdir(entries.get()) : nullptr) {
    if (entry->d_name[0] != '.') ::unlinkat(directory, &entry->d_name[0], 0);
  }
  ::unlinkat(parent, name, AT_REMOVEDIR);
}

}  // namespace

Result<void> AttemptFolder::prepare(const std::string& state) {
  for (const std::string& path : {state, attempts_of(state)}) {
    if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
      return io(path, "cannot be made", errno);
    }
  }
  if (::access(attempts_of(state).c_str(), W_OK | X_OK) != 0) {
    return io(attempts_of(state), "cannot be written to", errno);
  }
  return {};
}

std::string AttemptFolder::path_of(const std::string& state, const AttemptId& attempt) {
  return attempts_of(state) + "/" + attempt;
}

Result<AttemptFolder> AttemptFolder::create(const std::string& state, const AttemptId& attempt) {
  const std::string path = path_of(state, attempt);
  if (::mkdir(path.c_str(), 0700) != 0) return io(path, "cannot be made", errno);
  return open(state, attempt);
}

Result<AttemptFolder> AttemptFolder::open(const std::string& state, const AttemptId& attempt) {
  const std::string path = path_of(state, attempt);
  Descriptor directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory) return io(path, "cannot be opened", errno);
  return AttemptFolder(std::move(directory));
}

Result<void> AttemptFolder::remove(const std::string& state, const AttemptId& attempt) {
  const std::string path = path_of(state, attempt);
  const std::string aside = std::string(kRemoved) + attempt;
  if (::rename(path.c_str(), (attempts_of(state) + "/" + aside).c_str()) != 0) {
    if (errno == ENOENT) return {};
    return io(path, "cannot be removed", errno);
  }
  const Descriptor parent(::open(attempts_of(state).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  delete_tree(parent.get(), aside.c_str());
  return {};
}

void AttemptFolder::sweep(const std::string& state) {
  std::vector<std::string> left;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(attempts_of(state).c_str()),
                                                    &::closedir);
  while (const dirent* entry = entries ? ::readdir(entries.get()) : nullptr) {
    if (std::string_view(entry->d_name).starts_with(kRemoved)) left.emplace_back(entry->d_name);
  }
  for (const std::string& name : left) delete_tree(::dirfd(entries.get()), name.c_str());
}

std::optional<Descriptor> AttemptFolder::try_lock() const {
  Descriptor lock(::openat(get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!lock || ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) return std::nullopt;
  return lock;
}

bool AttemptFolder::gone() const {
  struct stat status{};
  return ::fstat(get(), &status) == 0 && status.st_nlink == 0;
}

bool AttemptFolder::has(const char* name) const {
  return ::faccessat(get(), name, F_OK, 0) == 0;
}

Result<std::optional<std::string>> AttemptFolder::read(const char* name) const {
  const Descriptor file(::openat(get(), name, O_RDONLY | O_CLOEXEC));
  if (!file && errno == ENOENT) return std::nullopt;
  struct stat status{};
  if (!file || ::fstat(file.get(), &status) != 0) return io(name, "cannot be opened", errno);
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t have = 0;
  while (have < text.size()) {
    const ssize_t got = ::read(file.get(), text.data() + have, text.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return io(name, "cannot be read", errno);
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  text.resize(have);
  return text;
}

Result<Descriptor> AttemptFolder::make(const char* name, std::string_view text, int flags) const {
  Descriptor file(::openat(get(), name, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0600));
  if (!file) return io(name, "cannot be made", errno);
  if (write_all(file.get(), text)) return file;
  const int error = errno;
  ::unlinkat(get(), name, 0);
  return io(name, "cannot be written", error);
}

Result<void> AttemptFolder::write(const char* name, std::string_view text) const {
  const std::string temporary = std::string(name) + ".new";
  FAIRLEAD_ASSIGN(const Descriptor file, make(temporary.c_str(), text, O_TRUNC));
  // Named first and synced then: one commit of the file system's journal holds all of it. A loss of
  // power in between can leave a record cut off, which reading takes as not written.
  if (::renameat(get(), temporary.c_str(), get(), name) != 0 || ::fsync(file.get()) != 0 ||
      ::fsync(get()) != 0) {
    return io(name, "cannot be made durable", errno);
  }
  return {};
}

Result<void> AttemptFolder::mark(const char* name, std::string_view text) const {
  FAIRLEAD_ASSIGN(const Descriptor file, make(name, text, O_EXCL));
  if (::fsync(file.get()) == 0 && ::fsync(get()) == 0) return {};
  return io(name, "cannot be made durable", errno);
}

Result<void> AttemptFolder::mark_soon(const char* name, std::string_view text) const {
  FAIRLEAD_ASSIGN(const Descriptor file, make(name, text, O_EXCL));
  return {};
}

Result<void> AttemptFolder::sync_name(const std::string& state) const {
  const Descriptor parent(::open(attempts_of(state).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (parent && ::fsync(parent.get()) == 0) return {};
  return io(attempts_of(state), "cannot be made durable", errno);
}

}  // namespace fairlead::engine
