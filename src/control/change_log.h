// What changed, for those who watch: the last changes in memory, each once, as JSON that all
// watchers share.
//
// Invariant: revisions rise. A watcher is told every change after the revision it begins at, or is
// told that it must list again.
// Cost: publish() O(watchers) calls; begin() O(changes kept). Thread-safe; callbacks run under the
// lock and must not block.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace fairlead::control {

enum class ChangeType : std::uint8_t { kAdded, kModified, kDeleted };

struct Change {
  std::int64_t revision = 0;
  ChangeType type = ChangeType::kModified;
  std::string kind;  // of the API: "workload", "task", "event", "project", …
  std::string id;
  std::string workload;  // id, of workloads, tasks and their events
  std::shared_ptr<const std::string> body;
};

class ChangeLog {
 public:
  using Watcher = std::function<void(const Change&)>;
  using Ticket = std::uint64_t;

  // `last`: the revision of the store when the server started; what is older is not known.
  explicit ChangeLog(std::int64_t last, std::size_t keep = 65'536)
      : keep_(keep), first_(last), last_(last) {}

  void publish(std::vector<Change> changes);

  // Calls `watcher` for all that came after `since` (now) and all that comes (later). False if what
  // came after `since` is not known any more; nothing is called then.
  bool begin(std::int64_t since, Watcher watcher, Ticket& ticket);
  // After it returns, the watcher is not called again.
  void end(Ticket ticket);

  std::int64_t last() const;
  std::size_t watchers() const;

 private:
  const std::size_t keep_;
  mutable std::mutex mutex_;
  // All below: guarded by mutex_.
  std::deque<Change> changes_;
  std::int64_t first_;  // changes after it are kept
  std::int64_t last_;
  std::map<Ticket, Watcher> watchers_;
  Ticket next_ticket_ = 1;
};

}  // namespace fairlead::control
