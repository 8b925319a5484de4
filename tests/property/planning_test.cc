// Rule 9 and invariant I10 of semantics 11 on random histories of workloads that say how long they
// run at most, and never run longer.
#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <rapidcheck.h>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "for_all.h"
#include "history.h"

namespace fairlead::property {
namespace {

using Step = std::array<std::uint16_t, 6>;  // genes: what happens, and numbers for it

// What a history may have that moves promises.
struct Rules {
  bool fractions = true;
  bool priorities = false;
  bool queues = false;
  bool unknown = true;  // some workloads do not say how long they run
  bool taking_back = false;
};

class PlanPlay {
 public:
  PlanPlay(const Step& cluster, Rules rules)
      : scheduler_(new_scheduler(rules.taking_back)), rules_(rules) {
    tell(sched::TopologyDefined{{}});
    DeviceClass card;
    card.name = "card";
    card.memory = MiB(1000);
    tell(sched::DeviceClassDefined{card});
    PoolSpec pool;
    pool.reservations = 1 + cluster[2] % 8;
    reservations_ = static_cast<std::size_t>(pool.reservations);
    tell(sched::PoolDefined{pool});
    gpus_ = 1 + cluster[1] % 4;
    for (int n = 0; n <= cluster[0] % 3; ++n) {
      NodeSpec node;
      node.name = fmt::format("n{}", n);
      node.cpu = MilliCpu(64'000);
      node.memory = Bytes(std::int64_t{1} << 40);
      for (int d = 0; d < gpus_; ++d) {
        DeviceSpec device;
        device.id = fmt::format("g{}", d);
        device.device_class = "card";
        node.devices.push_back(device);
      }
      tell(sched::NodeUpserted{node});
      ++nodes_;
    }
    for (const char* name : {"a", "b"}) {
      QueueSpec queue;
      queue.name = name;
      tell(sched::QueueUpserted{queue});
    }
    decide();
  }

  void play(const Step& s) {
    switch (s[0] % 4) {
      case 0:
      case 1:
        submit(s);
        break;
      case 2:
        end_one(s);
        break;
      default:
        pass_time(s);
    }
    if (complaint_.empty()) decide();
  }

  // Until all that says how long it runs has ended.
  void run_out() {
    for (int i = 0; i < 1000 && complaint_.empty(); ++i) {
      const auto next = next_end();
      if (!next) return;
      advance(*next);
      decide();
    }
  }

  const std::string& complaint() const { return complaint_; }
  const History& history() const { return history_; }
  sched::Scheduler& scheduler() { return scheduler_; }
  const std::map<std::string, WorkloadSpec>& specs() const { return specs_; }
  Instant now() const { return now_; }

 private:
  void tell(sched::Event event) {
    const auto applied = scheduler_.apply(now_, event);
    history_.push_back({now_, std::move(event), !applied});
    if (!applied && complaint_.empty()) complaint_ = applied.error().text();
  }

  void submit(const Step& s) {
    WorkloadSpec spec;
    spec.name = fmt::format("w{}", ++submitted_);
    spec.queue = rules_.queues && s[5] % 2 == 1 ? "b" : "a";
    if (rules_.priorities) spec.priority = 50 + s[5] % 3;
    RoleSpec role;
    role.request.gpu.kind = GpuRequestKind::kDevices;
    role.request.gpu.count = 1 + s[1] % gpus_;
    if (rules_.fractions && s[1] % 5 == 4) {
      role.request.gpu.kind = GpuRequestKind::kPortion;
      role.request.gpu.count = 1;
      role.request.gpu.portion = MilliGpu(s[1] % 2 == 1 ? 500 : 300);
    }
    role.count = role.min = 1 + s[2] % nodes_;
    spec.roles.push_back(role);
    if (!rules_.unknown || s[3] % 4 != 3) spec.max_runtime = hours(1 + s[3] % 7);
    specs_[spec.name] = spec;
    tell(sched::WorkloadSubmitted{spec});
  }

  void end(const std::string& workload) {
    const auto view = scheduler_.workload(workload);
    for (const sched::TaskView& task : view->tasks)
      tell(sched::TaskEnded{workload, task.role, task.index, sched::TaskOutcome::kSucceeded});
    ends_.erase(workload);
  }

  std::optional<Instant> next_end() const {
    std::optional<Instant> next;
    for (const auto& [workload, at] : ends_) {
      if (at && (!next || *at < *next)) next = at;
    }
    return next;
  }

  void advance(Instant to) {
    while (complaint_.empty()) {
      const auto next = next_end();
      if (!next || *next > to) break;
      now_ = std::max(now_, *next);
      std::vector<std::string> over;
      for (const auto& [workload, at] : ends_) {
        if (at && *at <= now_) over.push_back(workload);
      }
      for (const std::string& workload : over) end(workload);
      decide();
    }
    now_ = std::max(now_, to);
    tell(sched::TimePassed{});
  }

  void pass_time(const Step& s) { advance(now_ + minutes(30 * (1 + s[1] % 6))); }

  void end_one(const Step& s) {
    if (ends_.empty()) return;
    end(std::next(ends_.begin(), s[1] % static_cast<int>(ends_.size()))->first);
  }

  void decide() {
    if (!complaint_.empty()) return;
    history_.push_back({now_, std::nullopt, false});
    const std::map<std::string, Instant> before = reserved_;
    bool passed = false;
    for (const sched::Decision& decision : scheduler_.decide(now_)) {
      // Nothing here loses a part: each workload is a gang.
      if (const auto* stopped = std::get_if<sched::Stopped>(&decision))
        ends_.erase(scheduler_.workload_name(stopped->workload));
      const auto* started = std::get_if<sched::Started>(&decision);
      if (!started) continue;
      const std::string& name = scheduler_.workload_name(started->workload);
      const auto& spec = specs_.at(name);
      passed = passed || may_pass_some(spec, before);
      ends_[name] = spec.max_runtime ? std::optional(now_ + *spec.max_runtime) : std::nullopt;
      if (strict() && promised_.count(name) > 0 && now_ > promised_.at(name))
        complain(fmt::format("I10: {} was promised {} and starts at {}", name,
                             to_rfc3339(promised_.at(name)), to_rfc3339(now_)));
      promised_.erase(name);  // it is kept; what moves later starts again
    }
    check();
    for (const auto& [name, start] : before) {
      const auto now = reserved_.find(name);
      if (passed || now == reserved_.end() || now->second <= start) continue;
      complain(fmt::format("9.2.b: {} was to start at {} and now at {}, passed by nobody who may",
                           name, to_rfc3339(start), to_rfc3339(now->second)));
    }
  }

  // By rule 7.2, or perhaps by 7.1.
  bool may_pass_some(const WorkloadSpec& spec, const std::map<std::string, Instant>& reserved) {
    return std::any_of(reserved.begin(), reserved.end(), [&](const auto& r) {
      const WorkloadSpec& other = specs_.at(r.first);
      return other.queue != spec.queue || other.priority < spec.priority;
    });
  }

  void check() {
    if (const auto verified = scheduler_.verify(); !verified) complain(verified.error().text());
    if (!scheduler_.decide(now_).empty()) complain("a second decision at rest decides something");
    std::size_t reserved = 0;
    reserved_.clear();
    for (const std::string& name : scheduler_.workload_names()) {
      const auto view = scheduler_.workload(name);
      if (view->running > 0) {
        if (view->reservation) complain(name + " runs and holds a reservation");
        continue;
      }
      const auto explained = scheduler_.explain(name);
      if (explained->reasons.empty()) complain("I9: nobody says why " + name + " waits");
      for (const sched::Reason& reason : explained->reasons) {
        if (reason.code == sched::ReasonCode::kWaiting)
          complain(fmt::format("I5: {} waits: {}", name, reason.text));
      }
      if (!view->reservation) continue;
      ++reserved;
      const Instant start = view->reservation->start;
      reserved_[name] = start;
      if (start < now_) complain(fmt::format("{} is late", name));
      const auto [it, first] = promised_.emplace(name, start);
      if (strict() && start > it->second)
        complain(fmt::format("I10: {} was promised {}, now {}", name, to_rfc3339(it->second),
                             to_rfc3339(start)));
      // The first one is planned against what runs alone: nothing earlier holds it.
      if (reserved == 1 && first && only_one_reserved()) check_earliest(name, start);
    }
    if (reserved > reservations_) complain("more reservations than the pool allows");
  }

  // Nobody may pass a reservation by right.
  bool strict() const { return !rules_.priorities && !rules_.queues; }

  bool only_one_reserved() {
    std::size_t n = 0;
    for (const std::string& name : scheduler_.workload_names())
      n += scheduler_.workload(name)->reservation ? 1 : 0;
    return n == 1;
  }

  // By counting whole free devices of each node at each end, for gangs of whole devices.
  void check_earliest(const std::string& name, Instant start) {
    const RoleSpec& role = specs_.at(name).roles.front();
    if (role.request.gpu.kind != GpuRequestKind::kDevices) return;
    std::set<Instant> times{now_};
    for (const auto& [workload, at] : ends_) {
      if (at) times.insert(*at);
    }
    for (const Instant t : times) {
      std::int64_t places = 0;
      for (const std::string& n : scheduler_.node_names()) {
        const auto node = scheduler_.node(n);
        std::int64_t free = 0;
        for (const sched::DeviceView& device : node->devices) {
          free += std::all_of(device.holders.begin(), device.holders.end(),
                              [&](const std::string& holder) {
                                const auto at = ends_.at(holder);
                                return at && *at <= t;
                              })
                      ? 1
                      : 0;
        }
        places += free / role.request.gpu.count;
      }
      if (places < role.count) continue;
      if (t != start)
        complain(fmt::format("9.2: {} is promised {}, but has room at {}", name, to_rfc3339(start),
                             to_rfc3339(t)));
      return;
    }
    complain(fmt::format("9.2: {} is promised {}, but never has room", name, to_rfc3339(start)));
  }

  void complain(std::string text) {
    if (complaint_.empty()) complaint_ = std::move(text);
  }

  sched::Scheduler scheduler_;
  Rules rules_;
  History history_;
  Instant now_{0};
  std::string complaint_;
  int gpus_ = 1;
  int nodes_ = 0;
  int submitted_ = 0;
  std::size_t reservations_ = 0;
  std::map<std::string, WorkloadSpec> specs_;
  std::map<std::string, std::optional<Instant>> ends_;  // of what runs
  std::map<std::string, Instant> promised_;
  std::map<std::string, Instant> reserved_;  // after the last decision
};

void for_all_plans(Rules rules, const std::function<std::string(PlanPlay&)>& then = {}) {
  const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
  const auto gene = rc::gen::inRange<std::uint16_t>(0, 1000);
  const auto step = rc::gen::container<Step>(gene);
  const bool held = rc::check(info->name(), [&] {
    const Step cluster = *step;
    const auto steps = *rc::gen::scale(0.6, rc::gen::container<std::vector<Step>>(step));
    PlanPlay play(cluster, rules);
    for (const Step& s : steps) play.play(s);
    std::string complaint = play.complaint();
    if (complaint.empty() && then) complaint = then(play);
    if (complaint.empty()) {
      play.run_out();
      complaint = play.complaint();
    }
    if (!complaint.empty()) RC_FAIL(written(play.history(), info->name(), complaint));
  });
  EXPECT_TRUE(held);
}

// I10: nothing outside moves a promise here.
TEST(Planning, PromisesAreKept) {
  for_all_plans({.fractions = true, .priorities = false, .queues = false, .unknown = false});
}

TEST(Planning, PromisesAreKeptBesideWhatDoesNotSay) {
  for_all_plans({.fractions = true, .priorities = false, .queues = false, .unknown = true});
}

// Promises may be passed by right; all else holds.
TEST(Planning, BooksHoldWhilePromisesArePassed) {
  for_all_plans({.fractions = true, .priorities = true, .queues = true, .unknown = true});
}

// Who takes something back passes those alone that it may pass, and what moves passes nobody.
TEST(Planning, PromisesAreKeptBesideClaims) {
  for_all_plans({.queues = false, .unknown = false, .taking_back = true});
}

TEST(Planning, BooksHoldWhilePromisesArePassedByClaims) {
  for_all_plans({.priorities = true, .queues = true, .unknown = true, .taking_back = true});
}

TEST(Planning, NobodyIsPassedByAClaimButBehindIt) {
  for_all_plans({.priorities = true, .unknown = true, .taking_back = true});
}

// 10.2: what is kept out by a reservation starts if it ends as early as it is told to.
TEST(Planning, EndingInTimeStartsIt) {
  for_all_plans({.unknown = true}, [](PlanPlay& play) -> std::string {
    for (const std::string& name : play.scheduler().workload_names()) {
      const auto explained = play.scheduler().explain(name);
      if (!explained->cheapest || explained->cheapest->kind != sched::ChangeKind::kEndBy) continue;
      Replayed copy = replay(play.history());
      WorkloadSpec spec = play.specs().at(name);
      spec.max_runtime = milliseconds(explained->cheapest->amount);
      (void)copy.scheduler.apply(play.now(), sched::WorkloadRemoved{name});
      (void)copy.scheduler.apply(play.now(), sched::WorkloadSubmitted{spec});
      (void)copy.scheduler.decide(play.now());
      const auto view = copy.scheduler.workload(name);
      if (!view || view->running == 0)
        return fmt::format("10.2: {} does not start after '{}'", name, explained->cheapest->text);
    }
    return {};
  });
}

}  // namespace
}  // namespace fairlead::property
