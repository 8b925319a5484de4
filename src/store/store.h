// Durable records of the control plane behind one interface.
//
// A record is a document with the few columns by which it is found. A Batch is written whole or not
// at all, and commit() returns when it is on the disk: persist, then acknowledge (law 4). Revisions
// are given by the writer and rise by one with every change and event of all kinds.
//
// Cost: commit() one transaction, O(changes × log records) and one flush; get() and find() O(log
// n); list() O(log n + rows returned), with several phases O(rows of those phases). Threads:
// commit() and trim() from one thread; reads from any.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace fairlead::store {

struct Record {
  std::string kind = {};  // "workload", "task", "queue", …
  std::string id = {};    // unique in its kind; ids of one kind sort by creation where that matters
  std::string scope = {};  // the project of a workload, the workload of a task; else empty
  std::string name = {};   // unique in kind and scope; empty: has none
  std::string phase = {};
  std::string owner = {};  // a user
  Instant created = {};
  std::int64_t revision = 0;
  std::string body = {};  // JSON

  friend bool operator==(const Record&, const Record&) = default;
};

struct Event {
  std::int64_t revision = 0;
  Instant at = {};
  std::string kind = {};
  std::string id = {};
  std::string name = {};
  std::string project = {};
  std::string workload = {};  // id, of workloads and tasks
  std::string reason = {};
  std::string message = {};
  std::string actor = {};

  friend bool operator==(const Event&, const Event&) = default;
};

struct AuditEntry {
  std::int64_t number = 0;  // given by the store
  Instant at = {};
  std::string user = {};
  std::string via = {};
  std::string method = {};
  std::string path = {};
  int status = 0;
  std::string code = {};
  std::string request = {};

  friend bool operator==(const AuditEntry&, const AuditEntry&) = default;
};

// The first answer to a request that carried a key of its sender's.
struct KeptAnswer {
  std::string user = {};
  std::string key = {};
  std::string digest = {};  // of the request
  int status = 0;
  std::string body = {};
  Instant at = {};

  friend bool operator==(const KeptAnswer&, const KeptAnswer&) = default;
};

struct Batch {
  struct Key {
    std::string kind = {};
    std::string id = {};
  };
  std::vector<Record> put = {};  // new, or in the place of the one with its kind and id
  std::vector<Key> erase = {};   // after the puts; what is not there is no error
  std::vector<Event> events = {};
  std::vector<AuditEntry> audit = {};
  std::vector<KeptAnswer> answers = {};
  std::int64_t revision = 0;  // the last one given

  bool empty() const {
    return put.empty() && erase.empty() && events.empty() && audit.empty() && answers.empty();
  }
};

enum class Order : std::uint8_t { kOldest, kNewest };

struct Query {
  std::string kind = {};
  std::optional<std::string> scope = {};
  std::optional<std::string> name = {};
  std::optional<std::string> owner = {};
  std::vector<std::string> phases = {};  // any of; empty: all
  std::string after = {};                // id after which (in the order) it goes on
  Order order = Order::kOldest;
  std::int64_t limit = 100;
  std::int64_t bytes = std::int64_t{1} << 40;  // of bodies: the record that reaches it is the last
};

struct EventQuery {
  std::string workload = {};  // empty: of all
  std::string project = {};   // empty: of all
  std::int64_t after = 0;
  Order order = Order::kOldest;
  std::int64_t limit = 100;
};

class Store {
 public:
  virtual ~Store() = default;

  // Errors: kUnavailable if the disk is full, read-only or failing, with what to do; nothing of the
  // batch is there then. kAlreadyExists if a name is taken.
  virtual Result<void> commit(const Batch& batch) = 0;

  // Forgets events and audit before `events`, answers before `answers`. In steps, so that no step
  // holds up a commit for long; true when all is done.
  virtual Result<bool> trim(Instant events, Instant answers) = 0;

  virtual Result<std::int64_t> revision() const = 0;
  virtual Result<std::optional<Record>> get(const std::string& kind,
                                            const std::string& id) const = 0;
  virtual Result<std::vector<Record>> list(const Query& query) const = 0;
  // All of one kind, by id. Stops at the first error of `each`.
  virtual Result<void> scan(const std::string& kind,
                            const std::function<Result<void>(Record&&)>& each) const = 0;
  virtual Result<std::vector<Event>> events(const EventQuery& query) const = 0;
  // Newest first; before number `before` unless that is 0.
  virtual Result<std::vector<AuditEntry>> audit(std::int64_t before, std::int64_t limit) const = 0;
  virtual Result<std::optional<KeptAnswer>> answer(const std::string& user,
                                                   const std::string& key) const = 0;
};

}  // namespace fairlead::store
