// The folder of sockets and notices (README.md), for one engine at a time, and its tidying.
//
// What lies in it loses nothing when it goes, but what nobody answers for any more is litter: of
// tasks that were lost, and of engines that were killed for good. It is removed when that is
// certain: its engine's lock is free, and no supervisor answers.
#pragma once

#include <string>

#include "base/result.h"
#include "engine/descriptor.h"

namespace fairlead::engine {

class RuntimeFolder {
 public:
  // Made if it is not there (wire.h). Error: kIo; kConflict if another engine uses it, told after
  // 2 s: who sweeps it holds it for a moment.
  static Result<RuntimeFolder> open(const std::string& path);

  // Removes what is left of attempts that no supervisor holds.
  void sweep() const;
  // Removes folders beside this one, named like it up to the last "-", whose engine and tasks are
  // gone. Their names tell nothing of their engines' state, so that nobody else ever would.
  void sweep_neighbours() const;
  // Gives it back where nothing is left in it.
  void remove_if_empty() const;

 private:
  RuntimeFolder(std::string path, Descriptor lock)
      : path_(std::move(path)), lock_(std::move(lock)) {}

  std::string path_;
  Descriptor lock_;
};

// Socket and notice of an attempt whose supervisor was killed.
void forget_lost(const std::string& folder, const std::string& attempt);

}  // namespace fairlead::engine
