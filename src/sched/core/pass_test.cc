// A pass against rule 4 taken literally: before each start, every queue's next workload is looked
// for among all that waits, and every key is computed anew.
#include "sched/core/pass.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "base/rng.h"
#include "sched/core/core.h"
#include "sched/scheduler_testing.h"

namespace fairlead::sched {

class NaivePass {
 public:
  explicit NaivePass(Core& core) : core_(core) {}

  std::vector<Decision> decide(Instant now) {
    core_.now_ = now;
    core_.wake();
    core_.stop_stale();
    done_.assign(core_.pools_.size(), false);
    const std::vector<PoolId> order = core_.pending_.pool_order(core_.pools_.size());
    for (const bool again : {false, true}) {
      for (const PoolId id : order) {
        pool_ = core_.pools_[id.index()].get();
        // What a gate kept out at its real charge is known to fail until something changes.
        if (pool_->full_pass) std::erase_if(dropped_, [&](const auto& d) { return d.first == id; });
        forget_what_is_fresh();
        core_.ensure_ordered(*pool_);
        core_.divide(*pool_);
        while (serve_one()) {
        }
        pool_->full_pass = false;
        done_[id.index()] = true;
      }
      if (again) break;
    }
    core_.last_decided_ = now;
    return std::exchange(core_.decisions_, {});
  }

 private:
  struct Choice {
    Head head;
    ResourceVector demand;
    QueueKey key;
  };

  bool waits_for_a_better_pool(const Requirement& requirement, RequirementId id,
                               std::int32_t stage) {
    return std::any_of(requirement.pools.begin(), requirement.pools.end(), [&](const auto& other) {
      PoolCore& pool = *core_.pools_[other.pool.index()];
      core_.ensure_ordered(pool);
      return other.stage < stage && !done_[other.pool.index()] && core_.room_margin(pool, id) >= 0;
    });
  }

  void forget_what_is_fresh() {
    const PoolId id = pool_->state().id;
    for (const BucketId fresh : core_.pending_.take_fresh(id)) dropped_.erase({id, fresh});
  }

  std::optional<Choice> next_of(QueueId q) {
    const PoolId pool = pool_->state().id;
    std::optional<Choice> best;
    for (const QueueId child : core_.queues_.get(q).children) {
      if (!core_.queues_.get(child).alive) continue;
      auto next = next_of(child);
      if (next && (!best || served_before(next->key, best->key))) best = std::move(next);
    }
    const auto& waiting = core_.pending_.queues_in(pool);
    if (q.index() < waiting.size()) {
      for (const Head& head : waiting[q.index()].heads) {
        const RequirementId id = core_.pending_.bucket(head.bucket).requirement;
        Requirement& requirement = core_.pending_.requirement(id);
        if (dropped_.count({pool, head.bucket}) > 0 || core_.room_margin(*pool_, id) < 0) continue;
        if (waits_for_a_better_pool(requirement, id, requirement.in(pool).stage)) continue;
        const ResourceVector demand = core_.demand_in(requirement, pool);
        const GateRequest gate{pool, q, &demand, requirement.non_preemptible};
        if (!gates_open(core_.queues_, core_.resources_, gate, core_.now_, nullptr)) continue;
        best = Choice{head, demand, {}};
        break;
      }
    }
    if (best) best->key = queue_key(core_.queues_, pool, q, best->demand, pool_->state().capacity);
    return best;
  }

  bool serve_one() {
    std::optional<Choice> best;
    for (const QueueId root : core_.queues_.roots()) {
      auto next = next_of(root);
      if (next && (!best || served_before(next->key, best->key))) best = std::move(next);
    }
    if (!best) return false;
    const RequirementId id = core_.pending_.bucket(best->head.bucket).requirement;
    const auto outcome = core_.attempt(*pool_, best->head.bucket, best->head.key.workload);
    if (outcome == Core::Attempt::kGateShut)
      dropped_.insert({pool_->state().id, best->head.bucket});
    if (outcome == Core::Attempt::kNoRoom) {
      core_.pending_.requirement(id).in(pool_->state().id).failed_at =
          pool_->state().release_version;
    }
    if (outcome == Core::Attempt::kStarted) forget_what_is_fresh();
    return true;
  }

  Core& core_;
  PoolCore* pool_ = nullptr;
  std::vector<bool> done_;
  std::set<std::pair<PoolId, BucketId>> dropped_;
};

namespace {

// Two cores that hear the same: one decides in passes, the other takes the rule literally.
class Twins {
 public:
  explicit Twins(std::uint64_t seed)
      : rng_(seed), fast_(free_room_only()), plain_(free_room_only()), naive_(plain_) {}

  void play() {
    set_up();
    for (int step = 0; step < 60 && !::testing::Test::HasFailure(); ++step) {
      const auto events = 1 + below(6);
      for (std::int64_t i = 0; i < events; ++i) happen();
      now_ = now_ + minutes(below(30));
      compare(step);
    }
  }

 private:
  static SchedulerOptions free_room_only() {
    SchedulerOptions options;
    options.reclaim = options.preempt = options.consolidate = false;
    return options;
  }
  std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>(rng_.below(static_cast<std::uint64_t>(n)));
  }
  bool chance(std::int64_t percent) { return below(100) < percent; }

  bool tell(const Event& event) {
    const auto a = fast_.apply(now_, event);
    const auto b = plain_.apply(now_, event);
    EXPECT_EQ(a.has_value(), b.has_value());
    return a.has_value();
  }

  QueueSpec queue(const std::string& name, const std::string& parent) {
    QueueSpec spec;
    spec.name = name;
    spec.parent = parent;
    spec.rank = static_cast<std::int32_t>(100 + below(2));
    for (const char* pool : {"p0", "p1"}) {
      Entitlement gpu{below(5) * 1000, kUnlimited, below(4) * 500};
      if (chance(25)) gpu.limit = gpu.quota + below(4) * 1000;
      spec.pools[pool]["gpu"] = gpu;
    }
    return spec;
  }

  void set_up() {
    tell(DeviceClassDefined{*known_device_class("T4")});
    tell(DeviceClassDefined{*known_device_class("V100-16GB")});
    for (const char* pool : {"p0", "p1"}) {
      PoolSpec spec;
      spec.name = pool;
      if (chance(30)) spec.exchange_rates["V100-16GB"] = 2000;
      tell(PoolDefined{spec});
    }
    for (int d = 0; d < 3; ++d) {
      const std::string department = "d" + std::to_string(d);
      tell(QueueUpserted{queue(department, "")});
      for (int q = 0; q < 3; ++q) {
        leaves_.push_back(department + "q" + std::to_string(q));
        tell(QueueUpserted{queue(leaves_.back(), department)});
      }
    }
    for (int n = 0; n < 6; ++n) {
      NodeSpec node = testing::Cluster::node_spec("n" + std::to_string(n), 1 + n % 4);
      node.pool = n < 4 ? "p0" : "p1";
      for (DeviceSpec& device : node.devices) {
        if (n % 2 == 1) device.device_class = "V100-16GB";
      }
      tell(NodeUpserted{node});
    }
  }

  void submit() {
    TaskRequest request = testing::cpus(1000 * (1 + below(3)));
    const std::int64_t kind = below(10);
    if (kind < 4) {
      request = testing::gpus(static_cast<std::int32_t>(1 + below(3)));
    } else if (kind < 9) {
      request = testing::portion(100 * (1 + below(9)));
    }
    WorkloadSpec spec = testing::Cluster::workload("w" + std::to_string(next_++), request);
    spec.queue = leaves_[static_cast<std::size_t>(below(std::ssize(leaves_)))];
    spec.priority = static_cast<std::int32_t>(50 + 10 * below(3));
    RoleSpec& role = spec.roles.front();
    role.count = static_cast<std::int32_t>(1 + below(3));
    role.min = static_cast<std::int32_t>(1 + below(role.count));
    const Preemptibility kinds[] = {Preemptibility::kPreemptible, Preemptibility::kNonPreemptible,
                                    Preemptibility::kSemiPreemptible};
    spec.preemptibility = kinds[below(3)];
    const std::vector<std::string> pools[] = {{"p0"}, {"p1"}, {"p0", "p1"}, {"p1", "p0"}};
    spec.pools = pools[below(4)];
    tell(WorkloadSubmitted{spec});
  }

  void happen() {
    const std::int64_t kind = below(10);
    if (kind < 6) return submit();
    if (kind == 6 && chance(20)) {
      const auto q = static_cast<std::size_t>(below(std::ssize(leaves_)));
      tell(QueueUpserted{queue(leaves_[q], leaves_[q].substr(0, 2))});
      return;
    }
    if (running_.empty()) return;
    const auto i = static_cast<std::size_t>(below(std::ssize(running_)));
    tell(running_[i]);
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
  }

  static std::string text_of(const Core& core, const std::vector<Decision>& decisions) {
    std::string out;
    for (const Decision& d : decisions) {
      const auto* started = std::get_if<Started>(&d);
      if (!started) continue;
      out += core.workloads().get(started->workload).name + " in " + core.pool_name(started->pool) +
             ":";
      for (const TaskPlacement& t : started->tasks) {
        out += " " + std::to_string(t.role) + "-" + std::to_string(t.index) + "@" +
               core.node(t.node).spec.name;
      }
      out += '\n';
    }
    return out;
  }

  void compare(int step) {
    const std::vector<Decision> decisions = fast_.decide(now_);
    ASSERT_EQ(text_of(fast_, decisions), text_of(plain_, naive_.decide(now_))) << "step " << step;
    const auto sound = fast_.verify();
    ASSERT_TRUE(sound) << sound.error().text();
    for (const Decision& d : decisions) {
      const auto* started = std::get_if<Started>(&d);
      if (!started) continue;
      for (const TaskPlacement& t : started->tasks) {
        running_.push_back({fast_.workloads().get(started->workload).name, "worker", t.index,
                            chance(80) ? TaskOutcome::kSucceeded : TaskOutcome::kLost});
      }
    }
  }

  Rng rng_;
  Core fast_;
  Core plain_;
  NaivePass naive_;
  Instant now_{0};
  int next_ = 0;
  std::vector<std::string> leaves_;
  std::vector<TaskEnded> running_;
};

TEST(Pass, ServesAsRuleFourSaysBeforeEachStart) {
  for (std::uint64_t seed = 1; seed <= 100 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Twins(seed).play();
  }
}

}  // namespace
}  // namespace fairlead::sched
