// The directory of a server: made with mode 0700, and held by one server at a time.
//
// The lock is the kernel's (flock), so that it ends with the process however that ends. Nobody else
// can read what lies in it, or put another directory in its place: it holds everyone's submissions.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace fairlead::store {

class StateDir {
 public:
  // Makes the directory, and those above it, where they are missing. What others may read of it is
  // closed to them, and said in notes(). Errors: kConflict if another server has it, with its
  // process number; kForbidden if it belongs to someone else, others may write to it or to a
  // directory above it, or the way to it leads over a link of someone else's; kIo.
  static Result<StateDir> open(const std::string& path);
  StateDir(StateDir&& other) noexcept;
  StateDir& operator=(StateDir&&) = delete;
  ~StateDir();

  const std::string& path() const { return path_; }
  // What was mended, for people.
  const std::vector<std::string>& notes() const { return notes_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  StateDir(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}

  std::string path_;
  int lock_;
  std::vector<std::string> notes_;
};

// Of the server that root runs for everyone.
inline constexpr const char* kSystemStateDir = "/var/lib/fairlead";

// $FAIRLEAD_STATE, else kSystemStateDir for root, else $XDG_STATE_HOME/fairlead (if that is
// absolute), else ~/.local/state/fairlead; "" where HOME is not set either.
std::string default_state_dir();

}  // namespace fairlead::store
