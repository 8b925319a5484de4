// The folder of one attempt: records that appear whole and durable, and the lock that says who may
// decide. Its rules: README.md.
//
// The lock is on the folder itself. Making few files matters: each costs the file system's journal.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "engine/descriptor.h"
#include "engine/task.h"

namespace fairlead::engine {

class AttemptFolder {
 public:
  // Where all of them lie, made if it is not there (mode 0700). Error: kIo.
  static Result<void> prepare(const std::string& state);

  static std::string path_of(const std::string& state, const AttemptId& attempt);

  // Makes it. Error: kAlreadyExists, kIo.
  static Result<AttemptFolder> create(const std::string& state, const AttemptId& attempt);
  // Error: kNotFound, kIo.
  static Result<AttemptFolder> open(const std::string& state, const AttemptId& attempt);

  // Renames it out of sight, then deletes it: a kill in between leaves nothing that could be taken
  // for an attempt.
  static Result<void> remove(const std::string& state, const AttemptId& attempt);
  // What a removal left behind.
  static void sweep(const std::string& state);

  int get() const { return directory_.get(); }

  // Holds the lock as long as the descriptor lives; nullopt if someone else does.
  std::optional<Descriptor> try_lock() const;

  // Whether somebody has deleted it.
  bool gone() const;
  bool has(const char* name) const;
  // nullopt if it is not there. Error: kIo.
  Result<std::optional<std::string>> read(const char* name) const;

  // Whole or not at all, and durable with its name. Error: kIo.
  Result<void> write(const char* name, std::string_view text) const;
  // Durable, but its name may be there a moment before its text: for records whose being there is
  // what they say. Error: kIo, kAlreadyExists.
  Result<void> mark(const char* name, std::string_view text) const;
  // The same without waiting for the disk.
  Result<void> mark_soon(const char* name, std::string_view text) const;

  // That the folder itself is durable.
  Result<void> sync_name(const std::string& state) const;

 private:
  explicit AttemptFolder(Descriptor directory) : directory_(std::move(directory)) {}

  Result<Descriptor> make(const char* name, std::string_view text, int flags) const;

  Descriptor directory_;
};

}  // namespace fairlead::engine
