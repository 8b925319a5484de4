// The scheduling core's state and its parts: what Scheduler (sched/scheduler.h) forwards to.
//
// events.cc    takes deltas            nodes.cc     nodes and pools coming, changing, leaving
// progress.cc  tasks starting, ending  wants.cc     what a workload waits for next, and its demand
// checks.cc    numbers of events within bounds
// decide.cc    one decision            pass.cc      the service order over one pool
// claims.cc    who takes back, in which order    take_back.cc reclaim, preempt, move
// planning.cc  reservations            passing.cc   who need not mind them
// kept_nodes.cc what people keep       forecasting.cc when what waits starts
// node_demand.cc nodes that would serve what waits
// explain.cc   why a workload waits    views.cc     read-only views    verify.cc  invariants
//
// Invariant (I11): everything kept incrementally equals a rebuild from the tasks; verify() checks.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <vector>

#include "sched/evict/taker.h"
#include "sched/order/gates.h"
#include "sched/order/pending.h"
#include "sched/order/service_order.h"
#include "sched/place/gang.h"
#include "sched/place/placement_pool.h"
#include "sched/plan/history.h"
#include "sched/plan/planner.h"
#include "sched/plan/runtime.h"
#include "sched/plan/timeline.h"
#include "sched/scheduler.h"
#include "sched/share/usage.h"
#include "sched/state/queue_tree.h"
#include "sched/state/workload_table.h"

namespace fairlead::sched {

// 7.3.b, 7.6.b: how long a claim that costs much to look at is put off at most.
inline constexpr Duration kPutOff = seconds(10);

// One pool with everything the core keeps about it.
struct PoolCore {
  PoolCore(std::unique_ptr<PlacementPool> pool, UsageHistory history,
           const WorkloadTable& workloads, const Shapes& shapes, const TaskClasses& classes)
      : placement(std::move(pool)),
        usage(std::move(history)),
        timeline(placement->state, workloads, shapes, classes) {}

  std::unique_ptr<PlacementPool> placement;
  UsageHistory usage;
  std::vector<NodeId> members;        // in the order in which they were added
  std::vector<std::int64_t> rates;    // 2.7, thousandths, by ClassId
  std::vector<std::int64_t> devices;  // healthy devices of usable nodes, by ClassId
  std::uint64_t charge_version = 0;   // rises when a least charge may have changed
  bool share_dirty = true;
  bool full_pass = true;  // something may have become possible; else only fresh buckets are tried
  // Rule 7: whether claims are to be looked at; what tells one state of the victims from the next;
  // when the first of those that are protected yet is not any more.
  bool claims_due = false;
  std::uint64_t claims_version = 0;
  std::uint64_t claims_seen = UINT64_MAX;  // when all claims were looked at
  std::vector<BucketId> fresh_claims;      // what came up since
  // GPU that can be taken at most: of all losers; of each queue, of its children together, and of
  // all roots, as of a claims_version.
  std::int64_t takeable_gpu = 0;
  struct Takeable {
    std::vector<std::int64_t> of_queue;
    std::vector<std::int64_t> of_children;
    std::int64_t of_roots = 0;
    std::uint64_t version = UINT64_MAX;
  };
  Takeable takeable;
  Instant unprotected_at = kNever;
  std::uint64_t spared_in = 0;  // outside event after which a claim met what 7.7 spares; 0: none
  // Claims that were put off though they may be served now (7.3.b, 7.6.b), and when they are looked
  // at again at the latest.
  std::vector<BucketId> put_off;
  Instant put_off_until = kNever;
  std::uint64_t turn = 0;       // of those that failed before
  std::vector<QueueId> losers;  // queues that may lose something to others
  // What claims turn to, while claims are looked at: that of all losers, and by queue its own.
  struct Herd {
    std::unique_ptr<Victims> victims;
    std::unique_ptr<Taker> taker;
  };
  Herd of_losers;
  std::map<QueueId, Herd> of_queue;

  // Rule 9.
  Timeline timeline;
  std::unique_ptr<Planner> planner;  // from the first plan on
  std::uint64_t planned_at = 0;      // release_version when plans were last improved
  Instant improve_from{INT64_MIN};   // not before: the last time took long
  Instant search_again = kNever;     // a search for a start that was in vain may be made then
  std::int64_t plan_steps = 0;       // of the search under way
  bool plans_changed = false;        // by what started past them
  bool rights_changed = false;       // to pass them, by new shares or new holdings

  PoolState& state() { return placement->state; }
  const PoolState& state() const { return placement->state; }
};

class Pass;

class Core {
 public:
  explicit Core(SchedulerOptions options);
  ~Core();

  // events.cc
  Result<void> apply(Instant now, const Event& event);
  Result<void> admit(const WorkloadSpec& spec);

  // decide.cc
  std::vector<Decision> decide(Instant now);
  Instant next_wakeup();

  // explain.cc
  Result<Explanation> explain(const std::string& name);

  // views.cc
  ExpectedStart expected_start(WorkloadId id);
  std::optional<ReservationView> reservation_view(WorkloadId id) const;
  std::optional<WorkloadView> workload_view(const std::string& name) const;
  std::optional<QueueView> queue_view(const std::string& name, const std::string& pool);
  std::optional<NodeView> node_view(const std::string& name) const;
  std::optional<PoolView> pool_view(const std::string& name) const;
  std::vector<KeptView> kept_by_people() const;
  std::vector<UsageRestored> usage() const;
  std::vector<RuntimesRestored> runtimes() const;
  std::optional<Duration> usual_runtime(const std::string& name) const;
  std::vector<std::string> waiting();
  std::vector<NodeDemandView> node_demand();  // node_demand.cc
  std::vector<std::string> workload_names() const;
  std::vector<std::string> queue_names() const;
  std::vector<std::string> node_names() const;
  std::vector<std::string> pool_names() const;
  std::vector<std::pair<std::string, std::int64_t>> counters() const;

  // verify.cc
  Result<void> verify();
  Result<void> verify_holds(const std::vector<RequirementId>& requirements);

  const WorkloadTable& workloads() const { return workloads_; }
  const NodeState& node(NodeId id) const { return nodes_[id.index()]; }
  const std::string& pool_name(PoolId id) const { return pools_[id.index()]->state().spec.name; }
  std::size_t pending_count() const { return workloads_.size() - running_workloads_; }
  std::size_t running_count() const { return running_workloads_; }

 private:
  friend class Pass;
  friend class Explainer;
  friend class NaivePass;  // of its test

  // events.cc: one per event that is not about nodes or tasks
  Result<void> on(const TopologyDefined& e);
  Result<void> on(const DeviceClassDefined& e);
  Result<void> on(const PoolDefined& e);
  Result<void> on(const QueueUpserted& e);
  Result<void> on(const QueueRemoved& e);
  Result<void> on(const WorkloadSubmitted& e);
  Result<void> on(const WorkloadAdopted& e);
  Result<void> on(const WorkloadChanged& e);
  Result<void> on(const WorkloadRemoved& e);
  Result<void> on(const MixStated& e);
  Result<void> on(const ReservationUpserted& e);
  Result<void> on(const ReservationRemoved& e);
  Result<void> on(const UsageRestored& e);
  Result<void> on(const RuntimesRestored& e);
  Result<void> on(const TimePassed&) { return {}; }
  Result<void> check_spec(const WorkloadSpec& spec) const;
  Result<void> check_countable(const WorkloadSpec& spec, QueueId queue) const;
  Result<void> check_goal(const WorkloadSpec& spec, const TopologyGoal& goal,
                          const std::string& what) const;
  WorkloadId add_workload(const WorkloadSpec& spec, ShapeId shape);
  void retire_classes();
  void drop_indices(TaskClassId task_class);
  void observe(const Shape& shape);
  void recharge(PoolId pool);
  void set_rates(PoolCore& pool);

  // nodes.cc
  Result<void> on(const NodeUpserted& e);
  Result<void> on(const NodeRemoved& e);
  Result<void> on(const NodeConditionChanged& e);
  Result<void> on(const DeviceHealthChanged& e);
  Result<NodeRoom> empty_room(const NodeSpec& spec);
  PoolId pool_named(const std::string& name);
  PoolId find_pool(const std::string& name) const;
  void count_capacity(const NodeState& node, std::int64_t sign);
  void node_changed(NodeId id);
  void resettle(NodeId id, const std::vector<std::string>& old_devices);
  void lose_all(NodeId id);
  void ensure_ordered(PoolCore& pool);

  // progress.cc
  Result<void> on(const TaskEnded& e);
  Result<void> on(const CheckpointSaved& e);
  Result<void> on(const WorkloadRequeued& e);
  Result<void> on(const StartRefused& e);
  void note_held(PoolId pool, QueueId queue);
  void count_preemptible(const WorkloadRecord& w, std::int64_t tasks);
  std::int64_t smallest_unit(const WorkloadRecord& w) const;
  void count_smallest_unit(WorkloadRecord& w);
  void start_task(WorkloadId id, PoolId pool, TaskPlacement placement, bool non_preemptible);
  void stop_task(WorkloadId id, std::int32_t role, std::int32_t index, TaskState then);
  void stop_all(WorkloadId id);
  void settle_minimum(WorkloadId id);
  void after_change(WorkloadId id);
  void finish(WorkloadId id, bool succeeded);
  void back_off(WorkloadId id, Instant until);
  void remove_workload(WorkloadId id);
  TaskSlot& task_slot(WorkloadRecord& w, std::int32_t role, std::int32_t index);
  static const TaskSlot& task_slot(const WorkloadRecord& w, const TaskRef& task);

  // wants.cc
  void refresh_wants(WorkloadId id);
  void withdraw_wants(WorkloadId id);
  void add_entry(WorkloadId id, EntryKind kind, std::int32_t role, std::int32_t tasks, bool alone,
                 std::vector<std::pair<TaskClassId, std::int64_t>> needs, bool non_preemptible);
  void refresh_demand(WorkloadId id);
  ResourceVector least_charge(PoolCore& pool, TaskClassId task_class) const;
  ResourceVector greatest_charge(const PoolCore& pool, TaskClassId task_class) const;
  bool charge_varies(const PoolCore& pool, TaskClassId task_class) const;
  const ResourceVector& demand_in(Requirement& requirement, PoolId pool);
  std::int64_t gpu_charge(const PoolCore& pool, const TaskClass& task,
                          const TaskPlacement& placement) const;
  std::int64_t cost_rate(const PoolCore& pool, const TaskClass& task,
                         const TaskPlacement& placement) const;
  ResourceVector amounts(const TaskClass& task, std::int64_t gpu) const;
  std::int64_t minus_priority(const WorkloadRecord& w, PoolId pool) const;
  EntryKey entry_key(WorkloadId id, const Entry& entry) const;
  std::int32_t wanted(const WorkloadRecord& w, const Shape& shape, std::size_t role) const;
  std::vector<std::int32_t> pending_indices(const WorkloadRecord& w, const Shape& shape,
                                            std::size_t role, std::int32_t most) const;
  void rekey_aged(PoolId pool);

  // decide.cc
  void wake();
  Stopped stop_of(WorkloadId id, StopCause cause) const;
  void note_staleness(WorkloadId id, bool below);
  void stop_stale();
  void divide(PoolCore& pool);
  std::int64_t room_margin(PoolCore& pool, RequirementId id);
  enum class Attempt : std::uint8_t {
    kStarted,
    kNoRoom,
    kGateShut,
    kRanOut,  // of a claim: there may be victims for it (7.6)
  };
  Attempt attempt(PoolCore& pool, BucketId bucket, WorkloadId id);
  // What a start of the requirement is, for good: committing may give the requirement back.
  struct StartKind {
    bool non_preemptible = false;
    bool growth = false;
  };
  StartKind start_kind(const Requirement& requirement, const WorkloadRecord& w) const;
  Started commit(WorkloadId id, PoolId pool, StartKind kind, std::vector<TaskPlacement> tasks);
  GangRequest request_for(PoolCore& pool, const WorkloadRecord& w,
                          const Requirement& requirement) const;
  std::vector<SlotRange> ranges_for(PoolCore& pool, const WorkloadRecord& w,
                                    const Shape& shape) const;
  Goal compile(const PoolCore& pool, const TopologyGoal& goal) const;
  // `steps`: those that are left, for all ranges together; null: the usual ones for each.
  GangOutcome place(PoolCore& pool, const WorkloadRecord& w, GangRequest& request,
                    std::int64_t* steps = nullptr);
  bool within_gates(PoolCore& pool, const WorkloadRecord& w, const Requirement& requirement,
                    const GangRequest& request, const std::vector<TaskPlacement>& tasks);

  void serve_all();

  // claims.cc
  bool claim_all();
  // Whether a claim of a requirement can lead anywhere, whoever makes it.
  struct Chances {
    bool scattered = false;  // 7.3: the pool as a whole has what it asks
    bool reclaimable = false;
  };
  Chances chances(const PoolCore& pool, RequirementId id);
  // What is the same for all claims of a queue.
  struct Standing {
    bool gates_open = false;           // windows and budgets (5.4)
    std::int64_t lowest_priority = 0;  // of what it runs and may lose; INT64_MAX if nothing
    std::int64_t gpu_below_share = 0;  // what it may reclaim at most
  };
  Standing standing(PoolCore& pool, QueueId queue);
  bool within_non_preemptible_quota(const PoolCore& pool, QueueId queue,
                                    const ResourceVector& demand, bool non_preemptible) const;
  bool free_in_all(const PoolCore& pool, const Requirement& requirement) const;
  std::vector<WorkloadId> by_own_priority(const PoolCore& pool, const Bucket& bucket) const;
  std::vector<WorkloadId> claimants(PoolCore& pool, const Bucket& bucket);
  std::int64_t claim_priority(const PoolCore& pool, const Head& head) const;
  bool moves_pause(const PoolCore& pool, RequirementId id);
  void look_again(PoolCore& pool);
  void put_off(PoolCore& pool, BucketId bucket, Instant until);
  bool runs_below(PoolId pool, QueueId queue, std::int64_t priority) const;
  std::int64_t takeable_gpu(PoolId pool, QueueId queue, std::int64_t of_children) const;
  void count_takeable(PoolCore& pool);
  bool one_to_one(const PoolCore& pool) const;
  bool surely_too_little(PoolCore& pool, QueueId queue, const GangRequest& request);
  std::vector<QueueId> losers(const PoolCore& pool) const;
  void note_losable(PoolId pool, QueueId queue, std::vector<WorkloadId>& out) const;

  // take_back.cc
  Duration protected_for(TakeBack rule, const ShareGuard& guard, QueueId victim) const;
  PoolCore::Herd herd(PoolCore& pool, const std::vector<WorkloadId>& ids);
  Taker* taker(PoolCore& pool, TakeBack rule, QueueId queue, const GangRequest& request,
               PoolCore::Herd& own);
  Attempt take_back(PoolCore& pool, BucketId bucket, WorkloadId id);
  Attempt claim_past(PoolCore& pool, BucketId bucket, WorkloadId id, const ResourceVector& demand);
  class PastReservations;
  Attempt claim_in(PoolCore& pool, BucketId bucket, WorkloadId id, const PastReservations& past);
  std::string eviction_text(const PoolCore& pool, TakeBack rule, const WorkloadRecord& victim,
                            const WorkloadRecord& claimant, const ResourceSet& contested,
                            const ResourceVector& given) const;
  bool unsay_start(const TaskRef& task);
  void carry_out(PoolCore& pool, TakeBack rule, WorkloadId claimant, RequirementId requirement,
                 VictimSet outcome);

  // planning.cc
  Runtime runtime_of(const WorkloadRecord& w) const;
  Duration planned_runtime(WorkloadId id) const;
  void expect_end(WorkloadId id, std::int32_t role, std::int32_t index);
  void forget_end(WorkloadId id, std::int32_t role, std::int32_t index);
  void extend_overruns(PoolCore& pool);
  bool stands(const PoolCore& pool, const Reservation& r);
  std::optional<Reservation> plan(PoolCore& pool, WorkloadId id, RequirementId requirement,
                                  const Passes& passes);
  void count_reserved(const PoolCore& pool, const Reservation& r, std::int64_t times);
  void add_plan(PoolCore& pool, Reservation reservation);
  void replace_plan(PoolCore& pool, std::size_t position, Reservation reservation);
  Reservation remove_plan(PoolCore& pool, std::size_t position);
  void drop_reservation(PoolCore& pool, std::size_t position);
  void drop_reservation_of(WorkloadId id);
  void note_more_room(PoolCore& pool);
  void keep_plans(PoolCore& pool);
  void mend_plans(PoolCore& pool);
  void improve_plans(PoolCore& pool);
  bool plan_all_anew(PoolCore& pool);
  Instant next_plan(const PoolCore& pool) const;
  RequirementId requirement_of(const Reservation& r, const PoolCore& pool) const;
  bool may_plan(PoolCore& pool, RequirementId id);
  enum class Planned : std::uint8_t {
    kReserved,
    kNoStart,  // none was found for anybody who asks the same
    kNotThis,  // all of the bucket have one, the pool allows no more, or a gate is in the way
  };
  const EntryKey* first_without_reservation(const Bucket& bucket) const;
  Planned reserve(PoolCore& pool, BucketId bucket);
  void forecast(PoolCore& pool);
  void forecast_all();

  // kept_nodes.cc
  void forget_reserved(NodeId node);
  void forget_user(QueueId queue);

  // passing.cc
  void note_rights(PoolCore& pool, QueueId charged);
  bool may_pass(const PoolCore& pool, WorkloadId id, const ResourceVector& demand,
                const Reservation& r);
  bool room_behind(PoolCore& pool, RequirementId id);
  std::vector<WorkloadId> who_may_pass(PoolCore& pool, const Bucket& bucket);
  Attempt attempt_behind(PoolCore& pool, BucketId bucket, WorkloadId id);
  // While it lives the pool shows what the workload may use: reservations that it need not mind,
  // by right or because it ends before them, neither hide room nor count at gates.
  // Cost: O(reservations); where it passes one, also Timeline::hide(), twice.
  class PastReservations {
   public:
    PastReservations(Core& core, PoolCore& pool, WorkloadId id, const ResourceVector& demand);
    PastReservations(const PastReservations&) = delete;
    PastReservations& operator=(const PastReservations&) = delete;
    ~PastReservations();
    bool by_right() const { return by_right_; }
    // What it shows: until when the workload runs at most, and what it passes by right. Until plans
    // change.
    Instant until() const { return until_; }
    Passes passes() const;

   private:
    Core& core_;
    PoolCore& pool_;
    bool shows_ = false;  // other room than to all
    bool by_right_ = false;
    Instant until_ = kNever;
    std::vector<bool> passes_;         // by position
    std::vector<Reservation> passed_;  // as they count at gates
  };

  bool place_cheaper(PoolCore& pool, const WorkloadRecord& w, const Requirement& requirement,
                     const GangRequest& request, GangOutcome& outcome);

  SchedulerOptions options_;
  ResourceNames resources_;
  DeviceClasses devices_;
  TaskClasses classes_;
  Shapes shapes_;
  QueueTree queues_;
  WorkloadTable workloads_;
  PendingSet pending_;
  std::vector<std::string> levels_;
  std::vector<NodeState> nodes_;
  std::vector<NodeId> free_nodes_;
  ResourceVector hardware_;  // CPU, memory and named resources of all nodes
  std::map<std::string, NodeId> node_by_name_;
  std::vector<std::unique_ptr<PoolCore>> pools_;
  std::map<std::string, PoolId> pool_by_name_;
  // Workloads that back off, by when they may be tried again.
  std::priority_queue<std::pair<Instant, WorkloadId>, std::vector<std::pair<Instant, WorkloadId>>,
                      std::greater<>>
      backing_off_;
  std::set<std::pair<Instant, WorkloadId>> stale_;  // 8.3: gangs below their minimum, by when
  std::vector<Decision> decisions_;  // made by apply(), handed out by the next decide()
  std::size_t running_workloads_ = 0;
  std::int64_t next_sequence_ = 0;
  Instant now_{INT64_MIN};
  Instant last_decided_{INT64_MIN};
  bool deciding_ = false;           // what is reserved is hidden
  bool gates_follow_time_ = false;  // some queue has windows or a budget
  std::unique_ptr<Pass> pass_;
  RuntimeHistory history_;
  struct StartRange {
    std::optional<Instant> earliest;
    std::optional<Instant> latest;
    bool declared = false;
  };
  std::vector<StartRange> starts_;  // by workload, if they are known
  std::vector<WorkloadId> line_;    // what waits with its gates open, as it would be served
  bool starts_known_ = false;       // nothing happened since
  std::int64_t placements_ = 0;
  std::int64_t attempts_ = 0;
  std::vector<bool> done_;               // pools that had their pass in this decision, by PoolId
  std::uint64_t outside_events_ = 1;     // that were applied, and one
  bool some_min_runtime_ = false;        // some queue protects what started lately (7.4)
  std::vector<QueueId> lost_something_;  // queues that the last served claim took from
  std::int64_t claims_ = 0;              // searches for victims
  std::int64_t claim_steps_ = 0;         // that these took
  std::int64_t served_claims_ = 0;       // that found them
  std::int64_t evictions_ = 0;           // workloads stopped, whole or in part
  std::int64_t unsaid_ = 0;              // tasks that started and were taken in one decision
};

}  // namespace fairlead::sched
