// The directory of a server: made with mode 0700, and held by one server at a time.
//
// The lock is the kernel's (flock), so that it ends with the process however that ends.
#pragma once

#include <string>

#include "base/result.h"

namespace fairlead::store {

class StateDir {
 public:
  // Makes the directory, and those above it, where they are missing. Errors: kConflict if another
  // server has it, with its process number; kForbidden if it belongs to someone else or others may
  // write to it; kIo.
  static Result<StateDir> open(const std::string& path);
  StateDir(StateDir&& other) noexcept;
  StateDir& operator=(StateDir&&) = delete;
  ~StateDir();

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  StateDir(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}

  std::string path_;
  int lock_;
};

// Of the server that root runs for everyone.
inline constexpr const char* kSystemStateDir = "/var/lib/fairlead";

// $FAIRLEAD_STATE, else kSystemStateDir for root, else $XDG_STATE_HOME/fairlead (if that is
// absolute), else ~/.local/state/fairlead; "" where HOME is not set either.
std::string default_state_dir();

}  // namespace fairlead::store
