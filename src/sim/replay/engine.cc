#include "sim/replay/engine.h"

#include <algorithm>
#include <set>

#include "base/check.h"
#include "base/wide.h"

namespace fairlead::sim {
namespace {

constexpr std::int64_t kEntitlementSamples = 4096;
constexpr Duration kFirstRetry = seconds(10);
constexpr Duration kLastRetry = minutes(5);
const std::string kSharedQueue = "everyone";

std::vector<std::string> pool_names(const ClusterSpec& cluster) {
  std::vector<std::string> names;
  for (const PoolSpec& pool : cluster.pools) names.push_back(pool.name);
  for (const NodeSpec& node : cluster.nodes) {
    if (std::count(names.begin(), names.end(), node.pool) == 0) names.push_back(node.pool);
  }
  return names;
}

// The cluster with a queue for every project of the trace.
ClusterSpec with_queues(ClusterSpec cluster, const std::vector<TraceJob>& jobs, bool shared) {
  std::set<std::string> known;
  for (const QueueSpec& queue : cluster.queues) known.insert(queue.name);
  std::set<std::string> wanted;
  if (shared) wanted.insert(kSharedQueue);
  for (const TraceJob& job : jobs) {
    if (!shared) wanted.insert(job.project);
  }
  for (const std::string& name : wanted) {
    if (known.contains(name)) continue;
    QueueSpec queue;
    queue.name = name;
    for (const std::string& pool : pool_names(cluster)) {
      queue.pools[pool]["gpu"].quota = shared ? kUnlimited : 0;
    }
    cluster.queues.push_back(std::move(queue));
  }
  return cluster;
}

}  // namespace

Result<ReplayEngine> ReplayEngine::create(const ClusterSpec& cluster,
                                          const std::vector<TraceJob>& jobs,
                                          const ReplayOptions& options) {
  auto numbers = std::make_unique<JobNumbers>();
  for (std::uint32_t i = 0; i < jobs.size(); ++i) {
    if (!numbers->emplace(jobs[i].name, i).second) {
      return fail(ErrorCode::kAlreadyExists, "two jobs of the trace are named " + jobs[i].name,
                  "give each job its own name");
    }
  }
  const bool shared = options.policy.one_line();
  const ClusterSpec full = with_queues(cluster, jobs, shared);
  sched::SchedulerOptions core;
  core.placement = options.placement;
  core.seed = options.seed;
  // Under the other policies the policy alone says who stops.
  const bool rule7 = options.take_back && options.policy.kind() == PolicyKind::kDefault;
  core.reclaim = core.preempt = core.consolidate = rule7;
  core.restart_cost = options.restart_cost;
  FAIRLEAD_ASSIGN(CoreDriver real, CoreDriver::create(full, core, *numbers, options.recorder));
  std::optional<CoreDriver> shadow;
  if (options.policy.preemptive()) {
    FAIRLEAD_ASSIGN(shadow, CoreDriver::create(full, core, *numbers));
  }
  return ReplayEngine(cluster, jobs, options, std::move(numbers), std::move(real),
                      std::move(shadow));
}

ReplayEngine::ReplayEngine(const ClusterSpec& cluster, const std::vector<TraceJob>& jobs,
                           const ReplayOptions& options, std::unique_ptr<JobNumbers> numbers,
                           CoreDriver real, std::optional<CoreDriver> shadow)
    : cluster_(cluster),
      trace_(jobs),
      options_(options),
      numbers_(std::move(numbers)),
      real_(std::move(real)),
      shadow_(std::move(shadow)),
      chosen_(jobs.size()),
      jobs_(jobs.size()),
      ledger_(cluster, jobs),
      rng_(options.seed),
      left_(jobs.size()),
      refusals_(jobs.size()) {
  for (std::uint32_t i = 0; i < jobs.size(); ++i) {
    const TraceJob& job = jobs[i];
    jobs_[i].milli = job_milli(job);
    jobs_[i].remaining = job.run_time;
    projects_.push_back(ledger_.project(job.project));
    JobRecord record;
    record.name = job.name;
    record.project = job.project;
    record.milli = jobs_[i].milli;
    record.submit = job.submit;
    record.run_time = job.run_time;
    records_.push_back(std::move(record));
    timeline_.add(Timed{job.submit, TimedKind::kArrival, i, 0});
  }
  for (std::uint32_t i = 0; i < options.faults.size(); ++i) {
    timeline_.add(Timed{options.faults[i].at, TimedKind::kFault, i, 0});
  }
  const Duration span = jobs.empty() ? Duration{0} : jobs.back().submit - jobs.front().submit;
  entitlement_every_ = Duration{std::max<std::int64_t>(1, span.ms / kEntitlementSamples)};
}

Result<ReplayResult> ReplayEngine::run(const Progress& progress) {
  while (left_ > 0 && !timeline_.empty()) {
    now_ = timeline_.next();
    ledger_.advance(now_);
    while (!timeline_.empty() && timeline_.next() == now_) FAIRLEAD_TRY(handle(timeline_.take()));
    FAIRLEAD_TRY(choose());
    FAIRLEAD_TRY(settle());
    if (progress) {
      progress(1.0 - static_cast<double>(left_) / static_cast<double>(trace_.size()));
    }
  }
  return result();
}

Result<void> ReplayEngine::handle(const Timed& what) {
  switch (what.kind) {
    case TimedKind::kFinish:
      return jobs_[what.subject].version == what.version ? finish(what.subject) : Result<void>{};
    case TimedKind::kDemotion:
      if (jobs_[what.subject].version == what.version) demote(what.subject);
      return {};
    case TimedKind::kArrival:
      return arrive(what.subject);
    case TimedKind::kFault:
      strike(options_.faults[what.subject]);
      return {};
    case TimedKind::kNotice:
      return notice(options_.faults[what.subject]);
    case TimedKind::kRepair:
      return repair(options_.faults[what.subject]);
    case TimedKind::kWake:
      return {};
  }
  return {};
}

Result<void> ReplayEngine::tell(const sched::Event& event) {
  FAIRLEAD_TRY(real_.tell(now_, event));
  if (shadow_) FAIRLEAD_TRY(shadow_->tell(now_, event));
  return {};
}

Result<void> ReplayEngine::arrive(std::uint32_t number) {
  RunningJob& job = jobs_[number];
  job.sequence = ++sequence_;
  job.arrival = number;
  job.submitted = job.updated = now_;
  job.order_key = options_.policy.order_key(job.progress());
  WorkloadSpec spec = workload_of(trace_[number]);
  spec.pools = pool_names(cluster_);
  spec.order_key = job.order_key;
  if (options_.policy.kind() == PolicyKind::kPlanner) {
    spec.max_runtime =
        job.remaining +
        (options_.start_costs.empty() ? options_.restart_cost : options_.start_costs[number]);
  }
  if (options_.policy.one_line()) {
    spec.queue = kSharedQueue;
    spec.priority = WorkloadSpec{}.priority;
  }
  const auto told = tell(sched::WorkloadSubmitted{std::move(spec)});
  if (!told) {
    if (told.error().code != ErrorCode::kImpossible) return fail(told.error());
    records_[number].end = JobEnd::kRefused;
    records_[number].note = told.error().message;
    job.phase = JobPhase::kGone;
    --left_;
    return {};
  }
  job.phase = JobPhase::kWaiting;
  ++waiting_;
  ledger_.wait_begins(projects_[number], job.milli);
  active_.insert(std::lower_bound(active_.begin(), active_.end(), number), number);
  return {};
}

Result<void> ReplayEngine::finish(std::uint32_t number) {
  RunningJob& job = jobs_[number];
  advance(number);
  FAIRLEAD_CHECK(job.remaining.ms == 0 && job.cost_left.ms == 0,
                 "a job ends when its work is done");
  FAIRLEAD_TRY(tell(sched::WorkloadRemoved{trace_[number].name}));
  ledger_.give(projects_[number], job.milli, job.holds);
  job.holds.clear();
  job.phase = JobPhase::kGone;
  ++job.version;
  std::erase(active_, number);
  std::erase(shadow_running_, number);
  records_[number].end = JobEnd::kFinished;
  records_[number].ended = now_;
  --left_;
  return {};
}

void ReplayEngine::demote(std::uint32_t number) {
  RunningJob& job = jobs_[number];
  advance(number);
  const int level = options_.policy.level(job.progress());
  if (level != job.level) {
    job.level = level;
    job.sequence = ++sequence_;
  }
  if (const auto after = options_.policy.until_demotion(job.progress())) {
    timeline_.add(Timed{now_ + *after, TimedKind::kDemotion, number, job.version});
  }
}

void ReplayEngine::advance(std::uint32_t number) {
  RunningJob& job = jobs_[number];
  lose(number, job.advance(now_));
}

void ReplayEngine::lose(std::uint32_t number, Duration time) {
  const double lost =
      static_cast<double>(time.ms) * static_cast<double>(jobs_[number].milli) / kMilli;
  totals_.lost_gpu_ms += lost;
  ledger_.lose(projects_[number], lost);
}

Duration ReplayEngine::undo(RunningJob& job) const {
  const std::int64_t every = options_.checkpoint_every.ms;
  const Duration lost{every > 0 ? job.since_start.ms % every : 0};
  job.remaining = job.remaining + lost;
  job.since_start = job.since_start - lost;
  return lost;
}

void ReplayEngine::schedule(std::uint32_t number) {
  const RunningJob& job = jobs_[number];
  if (!job.stalled) {
    timeline_.add(Timed{job.projected_end(), TimedKind::kFinish, number, job.version});
  }
  if (const auto after = options_.policy.until_demotion(job.progress())) {
    timeline_.add(Timed{now_ + *after, TimedKind::kDemotion, number, job.version});
  }
}

Result<void> ReplayEngine::requeue(std::uint32_t number, bool by_fault) {
  advance(number);
  FAIRLEAD_TRY(real_.tell(now_, sched::WorkloadRequeued{trace_[number].name}));
  set_aside(Displaced{number, jobs_[number].holds, by_fault, {}});
  return {};
}

void ReplayEngine::take_back(std::uint32_t number) {
  advance(number);
  const Duration lost = undo(jobs_[number]);
  set_aside(Displaced{number, jobs_[number].holds, false, lost});
}

void ReplayEngine::set_aside(Displaced what) {
  RunningJob& job = jobs_[what.job];
  ledger_.give(projects_[what.job], job.milli, job.holds);
  ledger_.wait_begins(projects_[what.job], job.milli);
  job.holds.clear();
  job.phase = JobPhase::kWaiting;
  job.stalled = false;
  ++job.version;
  ++waiting_;
  const bool again = std::any_of(displaced_.begin(), displaced_.end(),
                                 [&](const Displaced& d) { return d.job == what.job; });
  if (!again) displaced_.push_back(std::move(what));
}

Result<bool> ReplayEngine::start(CoreDriver::Start&& start) {
  const std::uint32_t number = start.job;
  RunningJob& job = jobs_[number];
  if (options_.refused_starts_milli > 0 && rng_.between(0, 999) < options_.refused_starts_milli) {
    const int tries = std::min(refusals_[number]++, 6);
    const Duration back_off = std::min(kLastRetry, kFirstRetry * (std::int64_t{1} << tries));
    const Instant retry = now_ + back_off;
    FAIRLEAD_TRY(real_.tell(now_, sched::StartRefused{trace_[number].name, retry}));
    if (std::erase(shadow_running_, number) > 0) {
      FAIRLEAD_TRY(shadow_->tell(now_, sched::StartRefused{trace_[number].name, retry}));
    }
    chosen_[number] = false;
    timeline_.add(Timed{retry, TimedKind::kWake, 0, 0});
    ++totals_.refused_starts;
    return false;
  }
  refusals_[number] = 0;
  job.holds = std::move(start.holds);
  job.phase = JobPhase::kRunning;
  job.updated = now_;
  --waiting_;
  ++totals_.decisions;
  ledger_.wait_ends(projects_[number], job.milli);
  ledger_.take(projects_[number], job.milli, job.holds);
  const auto displaced = std::find_if(displaced_.begin(), displaced_.end(),
                                      [&](const Displaced& d) { return d.job == number; });
  const bool untouched =
      displaced != displaced_.end() && !displaced->by_fault && job.on_same_nodes(displaced->holds);
  if (untouched) {
    job.remaining = job.remaining - displaced->lost;
    job.since_start = job.since_start + displaced->lost;
    displaced->lost = Duration{};
  } else {
    job.since_start = Duration{0};
    if (!options_.start_costs.empty())
      job.cost_left = options_.start_costs[number];
    else
      job.cost_left = job.started_before ? options_.restart_cost : Duration{0};
  }
  if (!job.started_before) {
    job.started_before = true;
    records_[number].first_start = now_;
  }
  job.stalled = on_broken(job);
  schedule(number);
  return true;
}

Result<void> ReplayEngine::settle() {
  int stage = 0;
  while (true) {
    bool refused = false;
    CoreDriver::Outcome outcome = real_.decide(now_);
    for (const std::uint32_t n : outcome.stopped) {
      if (jobs_[n].phase == JobPhase::kRunning) take_back(n);
    }
    for (CoreDriver::Start& one : outcome.starts) {
      FAIRLEAD_ASSIGN(const bool started, start(std::move(one)));
      refused = refused || !started;
    }
    if (refused) continue;
    if (!shadow_) break;
    if (stage == 2) break;
    FAIRLEAD_ASSIGN(const bool again, make_room(++stage));
    if (!again) break;
  }
  close_instant();
  ledger_.sample(now_);
  if (now_ >= next_entitlement_) sample_entitlements();
  const Instant wake = real_.core().next_wakeup();
  if (wake != kNever && wake > now_ && wake != woken_until_) {
    woken_until_ = wake;
    timeline_.add(Timed{wake, TimedKind::kWake, 0, 0});
  }
  return {};
}

void ReplayEngine::close_instant() {
  for (const Displaced& d : displaced_) {
    RunningJob& job = jobs_[d.job];
    const bool runs = job.phase == JobPhase::kRunning;
    lose(d.job, d.lost);
    if (d.by_fault) {
      ++totals_.fault_stops;
      ++records_[d.job].faults;
    } else if (!runs) {
      ++totals_.preemptions;
      ++records_[d.job].preemptions;
      ledger_.preempt(projects_[d.job]);
    } else if (!job.on_same_nodes(d.holds)) {
      ++totals_.moves;
    }
  }
  displaced_.clear();
}

void ReplayEngine::sample_entitlements() {
  next_entitlement_ = now_ + entitlement_every_;
  if (options_.policy.one_line()) return;
  for (const auto& [name, number] : ledger_.projects()) {
    std::int64_t entitled = 0;
    for (const std::string& pool : pool_names(cluster_)) {
      const auto view = real_.core().queue(name, pool);
      if (!view) continue;
      const auto share = view->fair_share.find("gpu");
      if (share != view->fair_share.end()) entitled += std::max<std::int64_t>(0, share->second);
    }
    ledger_.entitle(number, entitled);
  }
}

ReplayResult ReplayEngine::result() {
  for (std::uint32_t i = 0; i < jobs_.size(); ++i) {
    if (jobs_[i].phase != JobPhase::kWaiting) continue;
    if (const auto why = real_.core().explain(trace_[i].name)) records_[i].note = why->text();
  }
  totals_.jobs = std::move(records_);
  totals_.samples = ledger_.take_samples();
  totals_.projects = ledger_.take_projects();
  totals_.end = now_;
  totals_.core_seconds = real_.core_seconds() + (shadow_ ? shadow_->core_seconds() : 0);
  return std::move(totals_);
}

Result<ReplayResult> replay(const ClusterSpec& cluster, const std::vector<TraceJob>& jobs,
                            const ReplayOptions& options, const Progress& progress) {
  FAIRLEAD_ASSIGN(ReplayEngine engine, ReplayEngine::create(cluster, jobs, options));
  return engine.run(progress);
}

}  // namespace fairlead::sim
