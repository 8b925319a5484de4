#include "base/output_file.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "base/check.h"

namespace fairlead {
namespace {

std::unexpected<Error> io_error(const std::string& path, const std::string& what, int error,
                                std::string cure = {}) {
  return fail(Error{ErrorCode::kIo, what + ": " + std::strerror(error), path, {}, std::move(cure)});
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// The file that a link leads to, so that the link stays; the path itself where there is none yet.
std::string resolved(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), &std::free);
  return real ? std::string(real.get()) : path;
}

// Where /proc shows an open file; the only way to name one that has no name.
std::string seen_as(int descriptor) {
  return "/proc/self/fd/" + std::to_string(descriptor);
}

mode_t default_mode() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

}  // namespace

Result<OutputFile> OutputFile::create(const std::string& path) {
  OutputFile out;
  out.path_ = resolved(path);
  struct stat status{};
  const bool exists = ::stat(out.path_.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) {
    return fail(Error{ErrorCode::kIo, "is a folder", path, {}, "name a file in it"});
  }
  if (exists && !S_ISREG(status.st_mode)) {
    out.file_ = std::fopen(out.path_.c_str(), "wb");
    if (out.file_ == nullptr) return io_error(path, "cannot be opened for writing", errno);
    return out;
  }
  const std::string folder = folder_of(out.path_);
  struct stat folder_status{};
  if (::stat(folder.c_str(), &folder_status) != 0) {
    return io_error(path, "the folder \"" + folder + "\" cannot be used", errno,
                    "create it first: mkdir -p " + folder);
  }
  const int descriptor = out.open_temporary();
  if (descriptor < 0) return io_error(path, "cannot be created", errno);
  const mode_t mode = exists ? status.st_mode & 07777 : default_mode();
  if (::fchmod(descriptor, mode) == 0) out.file_ = ::fdopen(descriptor, "wb");
  if (out.file_ == nullptr) {
    const int error = errno;
    ::close(descriptor);
    return io_error(path, "cannot be created", error);
  }
  return out;
}

int OutputFile::open_temporary() {
  const int unnamed = ::open(folder_of(path_).c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  if (unnamed >= 0 && ::access(seen_as(unnamed).c_str(), F_OK) == 0) {
    unnamed_ = true;
    return unnamed;
  }
  if (unnamed >= 0) ::close(unnamed);
  temporary_ = path_ + ".XXXXXX";
  const int named = ::mkostemp(temporary_.data(), O_CLOEXEC);
  if (named < 0) temporary_.clear();
  return named;
}

bool OutputFile::put_in_place() {
  if (unnamed_) {
    const std::string seen = seen_as(::fileno(file_));
    const auto name_it = [&](const std::string& name) {
      return ::linkat(AT_FDCWD, seen.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0;
    };
    if (name_it(path_)) return true;
    if (errno != EEXIST) return false;
    // An older one is replaced by a rename, which takes a name.
    for (int i = 0; temporary_.empty(); ++i) {
      const std::string name = path_ + "." + std::to_string(::getpid()) + "-" + std::to_string(i);
      if (name_it(name)) {
        temporary_ = name;
      } else if (errno != EEXIST) {
        return false;
      }
    }
  }
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) return false;
  temporary_.clear();
  return true;
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})),
      unnamed_(std::exchange(other.unnamed_, false)),
      file_(std::exchange(other.file_, nullptr)),
      write_error_(other.write_error_) {}

OutputFile::~OutputFile() {
  if (file_ != nullptr) std::fclose(file_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void OutputFile::write(std::string_view text) {
  FAIRLEAD_CHECK(file_ != nullptr, "write() comes before commit()");
  if (write_error_ != 0 || text.empty()) return;
  if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) write_error_ = errno;
}

Result<void> OutputFile::commit() {
  FAIRLEAD_CHECK(file_ != nullptr, "commit() is called once");
  if (write_error_ == 0 && std::fflush(file_) != 0) write_error_ = errno;
  const bool direct = !unnamed_ && temporary_.empty();
  if (write_error_ == 0 && !direct && ::fsync(::fileno(file_)) != 0) write_error_ = errno;
  const bool in_place = direct || (write_error_ == 0 && put_in_place());
  const int place_error = errno;
  if (std::fclose(std::exchange(file_, nullptr)) != 0 && write_error_ == 0 && direct) {
    write_error_ = errno;
  }
  if (write_error_ != 0) return io_error(path_, "cannot be written", write_error_);
  if (!in_place) return io_error(path_, "cannot be put in place", place_error);
  if (direct) return {};
  // The name is durable once the folder is. Some file systems refuse this; the file is whole
  // anyway.
  const int folder = ::open(folder_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0) {
    (void)::fsync(folder);
    ::close(folder);
  }
  return {};
}

Result<void> write_file(const std::string& path, std::string_view text) {
  FAIRLEAD_ASSIGN(OutputFile out, OutputFile::create(path));
  out.write(text);
  return out.commit();
}

}  // namespace fairlead
