// The desk of the control thread: all live state, and the one transaction that is being written.
//
// One batch: begin(); any number of operations, each of which does what it says or changes nothing;
// finish(), which lets the scheduler decide, writes everything in one commit, and only then
// publishes and hands the effects to the engine. If the commit fails nothing has happened outside;
// memory is ahead of the store then and recover() builds it anew.
//
// Invariants:
//   - What the scheduler believes to run has an attempt that is not over and is known_to_core.
//   - An attempt is in the store before the engine hears of it, and its id is never used again.
//   - An attempt begins when what it holds, and the task itself, are really free (semantics 7.8).
//
// Cost: an operation O(log of what is live) + what the scheduler does; finish() one commit.
// Not thread-safe: the control thread only.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "control/caller.h"
#include "control/change_log.h"
#include "control/clock.h"
#include "control/entities.h"
#include "control/ids.h"
#include "control/present.h"
#include "control/stored.h"
#include "engine/engine.h"
#include "model/reservation.h"
#include "node/cgroups.h"
#include "node/inventory.h"
#include "sched/scheduler.h"
#include "store/store.h"

namespace fairlead::control {

struct DeskOptions {
  node::Inventory inventory;
  std::string server_user;       // who started the server: an administrator
  bool may_switch_user = false;  // the server is root: tasks run as who asked for them
  bool allow_root_tasks = false;
  node::Enforcement freezing;  // whether tasks can be frozen here, or why not
  std::string socket;          // for the tasks' environment
  std::function<void(const std::string&)> warn = [](const std::string&) {};
};

// What an operation came to. The body is made when the batch is decided, so that it tells what the
// scheduler said to it.
struct Outcome {
  int status = 200;
  std::string kind;  // of the record that the answer shows; empty: `body` is the answer
  std::string id;
  std::string body;
  std::optional<std::int64_t> revision;  // with `body`: for the ETag
  bool with_plan = false;
  std::string location;
};

// How a write is meant.
struct Intent {
  Caller caller;
  bool dry_run = false;
  std::optional<std::string> if_match;  // as sent
  bool needs_match = false;             // 428 without it
};

struct WorkloadPatch {
  std::optional<std::int32_t> priority;
  std::map<std::string, std::optional<std::string>> labels;  // null: removed
  bool sets_auto_delete = false;
  std::optional<Duration> auto_delete_after;
  std::map<std::string, sched::RoleChange> roles;
};

struct NodePatch {
  std::optional<bool> schedulable;
  std::optional<std::string> pool;
  std::optional<std::string> node_type;
  std::map<std::string, std::optional<std::string>> labels;
};

enum class QueueKind : std::uint8_t { kDepartment, kProject };
std::string_view kind_word(QueueKind kind);  // "department", "project"

struct QueueNode {
  QueueKind kind = QueueKind::kProject;
  QueueSpec spec;
  std::string description;
  std::optional<std::vector<std::string>> members;  // unset: everyone
  Instant created;
  std::int64_t revision = 0;
};

struct PoolNode {
  PoolSpec spec;
  std::int64_t revision = 0;
};

// Nodes that people keep for a time (semantics 9.3).
struct ReservationNode {
  ReservationSpec spec;
  std::string description;
  std::string problem;  // why it keeps nothing; empty: it does
  Instant created;
  std::int64_t revision = 0;
};

struct Settings {
  Duration retention = hours(24 * 30);
  std::int64_t log_bytes = std::int64_t{64} << 20;  // per task, of all its files
  std::optional<Duration> workspace_time_limit;
  std::optional<Duration> training_time_limit;
  // Of submissions of others than administrators.
  Duration max_grace_period = minutes(10);
  std::int32_t max_priority = 125;
  std::string default_project = "main";
  std::int64_t revision = 0;
};
Tree settings_tree(const Settings& settings);

struct User {
  std::string name;
  Role role = Role::kUser;
  std::string local_user;
  bool disabled = false;
  Instant created;
  std::int64_t revision = 0;
};
std::string_view role_word(Role role);

// As the API shows it.
std::string event_body(const store::Event& event);

class Desk {
 public:
  Desk(DeskOptions options, store::Store& store, engine::Engine& engine, const Clock& clock,
       IdSource& ids, ChangeLog& log);
  ~Desk();
  Desk(const Desk&) = delete;
  Desk& operator=(const Desk&) = delete;

  // Everything from the store. `first`: the engine is asked what became of its attempts (once per
  // engine). What a first start needs (a pool, a project) is written.
  Result<void> recover(bool first);

  void begin();
  // Errors: the store's. Nothing was published or started then: call recover().
  Result<void> finish();
  // Keeps what is kept now and then only (usage and run times), before the server stops.
  Result<void> close();
  // Since begin(), something is to be written.
  bool touched() const;
  // When something happens by itself next, by the clock's now(); kNever.
  Instant wake_at() const;
  // What the engine refused at once while effects were carried out: to be reported in a next batch.
  std::vector<engine::Report> take_refused() { return std::exchange(refused_, {}); }

  // --- workloads (workload_operations.cc) ---
  Result<Outcome> submit(const Intent& intent, Submission submission);
  Result<Outcome> change(const Intent& intent, const std::string& id, const WorkloadPatch& patch);
  Result<Outcome> remove(const Intent& intent, const std::string& id,
                         std::optional<Duration> grace);
  // Stops its tasks and gives back what they hold.
  Result<Outcome> suspend(const Intent& intent, const std::string& id);
  // Its tasks stand still and keep what they hold (freezing.cc).
  Result<Outcome> freeze(const Intent& intent, const std::string& id);
  Result<Outcome> resume(const Intent& intent, const std::string& id);

  // --- organization and resources (organization.cc, resources.cc) ---
  Result<Outcome> put_queue(const Intent& intent, QueueKind kind, QueueNode node, bool create);
  Result<Outcome> remove_queue(const Intent& intent, QueueKind kind, const std::string& name);
  Result<Outcome> put_pool(const Intent& intent, const PoolSpec& spec, bool create);
  Result<Outcome> change_node(const Intent& intent, const std::string& name,
                              const NodePatch& patch);
  Result<Outcome> change_settings(const Intent& intent, const Settings& settings);

  // --- reservations (reservations.cc) ---
  Result<Outcome> put_reservation(const Intent& intent, ReservationNode node, bool create);
  Result<Outcome> remove_reservation(const Intent& intent, const std::string& name);

  // --- access (access.cc) ---
  // Whether the caller may still do what they might when they asked: asked before every write, for
  // users, tokens and sessions change between a request and its turn. Errors: kUnauthenticated,
  // kForbidden, the store's.
  Result<void> check_caller(const Caller& caller) const;
  // Raised whenever somebody's rights change, after it is written.
  const std::atomic<std::uint64_t>& rights() const { return rights_; }
  Result<Outcome> put_user(const Intent& intent, User user, bool create);
  Result<Outcome> remove_user(const Intent& intent, const std::string& name);
  // `expires_in`: kUsualToken if unset, or as long as what it is made with lasts.
  Result<Outcome> create_token(const Intent& intent, const std::string& name,
                               const std::string& user, std::optional<Duration> expires_in);
  // `caller.credential`: the token that it is opened with.
  Result<Outcome> create_session(const Caller& caller, const std::string& id,
                                 const std::string& digest, Duration lasts);
  Result<Outcome> remove_session(const std::string& id);
  Result<Outcome> remove_token(const Intent& intent, const std::string& id);

  // --- what happens (reports.cc, timers.cc) ---
  void report(const engine::Report& report);
  void tick();

  // --- questions (questions.cc) ---
  Result<Outcome> explanation(const std::string& id);
  Result<Outcome> queue(std::int64_t limit, const std::string& project);
  Result<Outcome> queue_node(QueueKind kind, const std::string& name);
  Result<Outcome> queue_nodes(QueueKind kind, std::int64_t limit, const std::string& after);
  Result<Outcome> pool(const std::string& name);
  Result<Outcome> pools(std::int64_t limit, const std::string& after);
  Result<Outcome> node(const std::string& name);
  Result<Outcome> nodes(std::int64_t limit, const std::string& after);
  Result<Outcome> reservation(const std::string& name);
  Result<Outcome> reservations(std::int64_t limit, const std::string& after);
  Result<Outcome> devices(std::int64_t limit, const std::string& after);
  std::string metrics();
  // Cost: a copy of what is live, about a microsecond for each workload.
  Present present() const;
  const Settings& settings() const { return settings_; }
  // The projects in which the caller may submit.
  std::vector<std::string> projects_of(const Caller& caller) const;
  const User* user(const std::string& name) const;
  // May they see its output, or do something with it? Error: kForbidden, kNotFound.
  Result<void> check_owner(const Caller& caller, const std::string& owner,
                           const std::string& what) const;

  // The answer to an operation, after finish() has decided and before it commits: called by
  // finish() through what add_answer() was given.
  void add_audit(store::AuditEntry entry) { batch_.audit.push_back(std::move(entry)); }
  // Runs when all is decided, before the commit: the last moment to make an answer.
  void when_decided(std::function<void()> then) { decided_.push_back(std::move(then)); }
  void keep_answer(store::KeptAnswer answer) { batch_.answers.push_back(std::move(answer)); }
  // The JSON of an outcome, and the revision for its ETag.
  std::pair<std::string, std::int64_t> body_of(const Outcome& outcome);

 private:
  struct Counters {
    std::int64_t submitted = 0;
    std::int64_t succeeded = 0;
    std::int64_t failed = 0;
    std::int64_t preemptions = 0;
    std::int64_t commits = 0;
  };

  // recovery.cc
  Result<void> load();
  Result<void> load_workloads();
  Result<void> write_first();
  Result<void> tell_core_of_machine();
  void tell_core_of_reservations();
  void tell_core_of(Workload& w);
  void settle_adopted(const std::vector<engine::Adopted>& adopted);
  NodeSpec node_spec() const;
  void save_history();
  Result<void> restore_usage();
  Result<void> restore_runtimes();

  // reservations.cc
  Result<void> check_not_reserved(const std::string& node, const std::string& change) const;
  void end_reservations();

  // workload_operations.cc
  Result<void> check_submission(const Caller& caller, Submission& submission);
  Result<void> check_grace(Duration grace) const;
  Result<void> check_member(const Caller& caller, const std::string& project) const;
  Result<void> check_standing(const Caller& caller, const WorkloadSpec& spec) const;
  Result<void> check_run(const Caller& caller, Submission& submission);
  Result<Workload*> find_workload(const Intent& intent, const std::string& id, bool to_change);
  Result<Workload*> load_over(const std::string& id);
  void leave_core(Workload& w);
  WorkloadEntry entry_of(const Workload& w) const;
  Result<void> enter_core(Workload& w);
  void stop_attempts(Workload& w, const std::string& cause, const std::string& text,
                     Duration grace);
  void forget(Workload& w);

  // decisions.cc
  void decide();
  void carry_out(const sched::Started& started);
  void carry_out(const sched::Stopped& stopped);
  void carry_out(const sched::Finished& finished);
  void stop_attempt(Attempt& attempt, const engine::StopOrder& order);
  void start_what_waits();
  bool is_free(const Attempt& attempt) const;
  void count_held(const Attempt& attempt, int sign);
  void launch(Attempt& attempt);
  engine::TaskLaunch launch_of(const Workload& w, const Attempt& attempt) const;

  // freezing.cc
  void freeze_attempt(Attempt& attempt);
  void thaw_attempt(Attempt& attempt);
  void thaw(Workload& w);
  void set_pace(const Attempt& attempt);
  bool suspend_what_lost_its_tasks();
  std::vector<Attempt*> attempts_of(const Workload& w);

  // access.cc
  void sweep_access();
  Result<std::string> parent_of_token(const Caller& caller) const;

  // reports.cc
  void on(const engine::Started& started);
  void on(const engine::StartFailed& failed);
  void on(const engine::Ended& ended);
  void on(const engine::EngineWarning& warning);
  void end_attempt(Attempt& attempt, TaskPhase phase, const std::string& reason);
  // `retry_at`: of a failure or loss, when it is tried again.
  void tell_core_of_end(Workload& w, const Attempt& attempt, sched::TaskOutcome outcome,
                        std::optional<Instant> retry_at = std::nullopt);
  Instant retry_after_loss(Workload& w) const;
  void settle(Workload& w);
  void watch_time_limit(const Workload& w, const Attempt& attempt);
  void fail_workload(Workload& w, const std::string& reason);

  // The transaction.
  std::int64_t next_revision() { return ++revision_; }
  void touch(Workload& w) { dirty_workloads_.insert(w.id); }
  void touch(Workload& w, Task& task) { dirty_tasks_.insert({w.id, {task.role, task.index}}); }
  void touch(Attempt& a) { dirty_attempts_.insert(a.id); }
  void put(store::Record record, const char* watch_kind, bool added);
  void erase(const std::string& kind, const std::string& id, const char* watch_kind,
             std::string workload = {});
  void note(const Workload& w, const std::string& reason, const std::string& message,
            const std::string& actor);
  void note(const char* kind, const std::string& id, const std::string& reason,
            const std::string& message, const std::string& actor);
  void write_dirty();
  Result<void> check_match(const Intent& intent, std::int64_t revision) const;
  Result<void> check_admin(const Intent& intent) const;
  Result<void> tell(const sched::Event& event);
  void must(const sched::Event& event);

  // Its place among all that waits, from 1; 0: it does not wait. And how many wait. Cost: once
  // after each change that of Scheduler::waiting(), then O(1).
  std::pair<std::size_t, std::size_t> place_of(const Workload& w);
  bool waits_for_room(const Workload& w) const;
  Workload* by_core_name(const std::string& name);
  Task& task_of(Workload& w, std::int32_t role, std::int32_t index);
  const DeviceSpec* device_named(const std::string& id) const;

  DeskOptions options_;
  store::Store& store_;
  engine::Engine& engine_;
  const Clock& clock_;
  IdSource& ids_;
  ChangeLog& log_;

  // What the engine said once of all that it had, until that is written.
  std::vector<engine::Adopted> adopted_;

  // Live state.
  std::unique_ptr<sched::Scheduler> core_;
  std::map<std::string, std::unique_ptr<Workload>> workloads_;  // by id: not over, or stopping
  std::unordered_map<std::string, std::string> ids_by_name_;    // core name → id, of all in core
  std::map<engine::AttemptId, Attempt> attempts_;               // not over
  std::map<std::string, QueueNode> queues_;
  std::map<std::string, PoolNode> pools_;
  std::map<std::string, ReservationNode> reservations_;  // not over
  std::map<std::string, User> users_;
  Settings settings_;
  NodeSpec node_;  // the machine, as an administrator has set it
  std::int64_t node_revision_ = 0;
  std::int64_t revision_ = 0;

  // What attempts hold that are starting, running or stopping, of the machine.
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> held_devices_;  // milli, MiB
  std::int64_t held_cpu_ = 0;
  std::int64_t held_memory_ = 0;
  std::vector<engine::AttemptId> waiting_;  // to be launched, in the order of the decisions
  // Running attempts with a time limit, by when it is over (since boot).
  std::set<std::pair<std::int64_t, engine::AttemptId>> time_limits_;
  std::set<std::string> frozen_;  // ids of all that are to be frozen, and of some that were
  // What is over, by when it is forgotten.
  std::set<std::pair<std::int64_t, std::string>> retention_;
  Instant next_trim_{};
  // Usage history (semantics 3.3.e) and run times (9.1.a): whether they changed since they were
  // written, and when that was.
  bool usage_changed_ = false;
  bool runtimes_changed_ = false;
  Instant history_saved_{};

  // One batch.
  Instant now_{};
  store::Batch batch_;
  std::vector<Change> changes_;
  std::set<std::string> dirty_workloads_;
  std::set<std::pair<std::string, std::pair<std::int32_t, std::int32_t>>> dirty_tasks_;
  std::set<engine::AttemptId> dirty_attempts_;
  std::vector<std::function<void()>> decided_;
  std::vector<std::function<void()>> effects_;
  std::vector<engine::Report> refused_;
  std::vector<std::string> over_;  // workloads that may be dropped from memory
  bool core_touched_ = false;
  bool rights_touched_ = false;
  std::set<std::string> revoked_;  // tokens and sessions that are removed
  std::atomic<std::uint64_t> rights_ = 0;
  Instant next_sweep_{};
  std::optional<std::unordered_map<std::string, std::size_t>> places_;  // since the last change
  Counters counters_;
};

}  // namespace fairlead::control
