#include "sim/gavel/rounds.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/nearest.h"
#include "sim/replay/core_driver.h"
#include "sim/trace/job.h"

namespace fairlead::sim {
namespace {

constexpr double kRoundSeconds = 360;
constexpr std::int64_t kGpusPerNode = 4;
constexpr std::array<double, 3> kLevelHours{1, 10, 50};
const std::string kQueue = "gavel";

enum class Order : std::uint8_t { kFifo, kLas, kLevels };

struct Job {
  double arrival = 0;  // seconds
  double steps_left = 0;
  double fastest = 0;             // steps per second
  double advantage = 1;           // fastest ÷ slowest
  std::vector<double> rates;      // by pool; 0: cannot run there
  double service_hours = 0;       // in hours on the fastest type
  int pool = -1;                  // where it runs in this round
  double ended = -1;
  std::int64_t order_key = 0;
};

ClusterSpec cluster_of(const GavelOptions& options) {
  ClusterSpec cluster;
  QueueSpec queue;
  queue.name = kQueue;
  for (const GavelPool& pool : options.cluster) {
    DeviceClass device_class;
    device_class.name = pool.type;
    device_class.memory = MiB(16'000);
    cluster.device_classes.push_back(device_class);
    PoolSpec spec;
    spec.name = pool.type;
    cluster.pools.push_back(spec);
    queue.pools[pool.type]["gpu"].quota = kUnlimited;
    for (std::int64_t left = pool.gpus; left > 0; left -= kGpusPerNode) {
      NodeSpec node;
      node.name = fmt::format("{}-{:03}", pool.type, cluster.nodes.size());
      node.pool = pool.type;
      for (std::int64_t d = 0; d < std::min(left, kGpusPerNode); ++d) {
        DeviceSpec device;
        device.id = fmt::format("gpu-{}", d);
        device.device_class = pool.type;
        node.devices.push_back(std::move(device));
      }
      cluster.nodes.push_back(std::move(node));
    }
  }
  cluster.queues.push_back(std::move(queue));
  return cluster;
}

Result<Job> job_of(const GavelJob& trace, const GavelThroughputs& table,
                   const GavelOptions& options) {
  Job job;
  job.arrival = trace.arrival_unit * 3600 / options.jobs_per_hour;
  job.steps_left = trace.steps;
  double slowest = 0;
  for (const GavelPool& pool : options.cluster) {
    const auto rate = table.find({pool.type, trace.type, trace.gpus});
    if (rate == table.end()) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("there is no throughput of '{}' with {} GPUs on {}", trace.type,
                              trace.gpus, pool.type),
                  "add the line to the throughputs, with 0 if it cannot run there");
    }
    const double usable = trace.gpus <= pool.gpus ? rate->second : 0;
    job.rates.push_back(usable);
    job.fastest = std::max(job.fastest, usable);
    if (usable > 0) slowest = slowest > 0 ? std::min(slowest, usable) : usable;
  }
  if (job.fastest <= 0) {
    return fail(ErrorCode::kImpossible,
                fmt::format("job {} ('{}' with {} GPUs) can run on no type", trace.name,
                            trace.type, trace.gpus),
                "give a type more GPUs or a throughput above 0");
  }
  job.advantage = job.fastest / slowest;
  return job;
}

class Rounds {
 public:
  Rounds(const std::vector<GavelJob>& trace, std::vector<Job> jobs, const GavelOptions& options,
         Order order, CoreDriver core)
      : trace_(trace), jobs_(std::move(jobs)), options_(options), order_(order),
        core_(std::move(core)) {
    for (const GavelPool& pool : options.cluster) gpus_ += static_cast<std::size_t>(pool.gpus);
    result_.first = options.first;
    result_.last = options.last;
    if (jobs_.size() <= options.last) {
      result_.first = 0;
      result_.last = jobs_.size() - 1;
    }
    left_ = result_.last - result_.first + 1;
    for (const NodeSpec& node : cluster_of(options).nodes) {
      for (std::size_t p = 0; p < options.cluster.size(); ++p) {
        if (options.cluster[p].type == node.pool) pool_of_node_.push_back(static_cast<int>(p));
      }
    }
  }

  Result<GavelResult> run(const Progress& progress) {
    const std::size_t measured = left_;
    while (left_ > 0) {
      if (active_.empty()) skip_idle_time();
      FAIRLEAD_TRY(arrive());
      FAIRLEAD_TRY(place());
      ++result_.rounds;
      active_sum_ += static_cast<double>(active_.size());
      FAIRLEAD_TRY(work());
      now_ += kRoundSeconds;
      if (progress) {
        progress(1 - static_cast<double>(left_) / static_cast<double>(measured));
      }
    }
    return summary();
  }

 private:
  Instant instant() const { return Instant{static_cast<std::int64_t>(now_ * 1000)}; }

  void skip_idle_time() {
    if (next_ >= jobs_.size()) return;
    const double behind = jobs_[next_].arrival - now_;
    if (behind > 0) now_ += std::ceil(behind / kRoundSeconds) * kRoundSeconds;
  }

  Result<void> arrive() {
    while (next_ < jobs_.size() && jobs_[next_].arrival <= now_) {
      const auto number = static_cast<std::uint32_t>(next_++);
      const Job& job = jobs_[number];
      TraceJob trace;
      trace.name = trace_[number].name;
      trace.project = kQueue;
      shape_gang(trace, trace_[number].gpus, kGpusPerNode);
      WorkloadSpec spec = workload_of(trace);
      std::vector<std::size_t> pools;
      for (std::size_t p = 0; p < job.rates.size(); ++p) {
        if (job.rates[p] > 0) pools.push_back(p);
      }
      std::stable_sort(pools.begin(), pools.end(),
                       [&](std::size_t a, std::size_t b) { return job.rates[a] > job.rates[b]; });
      spec.pools.clear();
      for (const std::size_t p : pools) spec.pools.push_back(options_.cluster[p].type);
      FAIRLEAD_TRY(core_.tell(instant(), sched::WorkloadSubmitted{std::move(spec)}));
      active_.push_back(number);
      changed_ = true;
    }
    return {};
  }

  static std::int64_t level(const Job& job) {
    return std::upper_bound(kLevelHours.begin(), kLevelHours.end(), job.service_hours) -
           kLevelHours.begin();
  }

  // The jobs in the order in which the core shall serve them.
  std::vector<std::uint32_t> order() const {
    std::vector<std::uint32_t> order = active_;  // by arrival
    if (order_ == Order::kFifo) return order;
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return order_ == Order::kLas ? jobs_[a].service_hours < jobs_[b].service_hours
                                   : level(jobs_[a]) < level(jobs_[b]);
    });
    std::size_t runs = 0;
    std::size_t taken = 0;
    while (runs < order.size() && taken < gpus_) {
      taken += static_cast<std::size_t>(trace_[order[runs++]].gpus);
    }
    std::stable_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(runs),
                     [&](std::uint32_t a, std::uint32_t b) {
                       return jobs_[a].advantage > jobs_[b].advantage;
                     });
    return order;
  }

  Result<void> place() {
    const std::vector<std::uint32_t> wanted = order();
    if (!changed_ && wanted == ordered_) return {};
    changed_ = false;
    ordered_ = wanted;
    std::int64_t position = 0;
    for (const std::uint32_t n : wanted) {
      const std::int64_t key = position++;
      if (jobs_[n].order_key == key) continue;
      jobs_[n].order_key = key;
      sched::WorkloadChanged change;
      change.workload = trace_[n].name;
      change.order_key = key;
      FAIRLEAD_TRY(core_.tell(instant(), change));
    }
    std::vector<int> before;
    for (const std::uint32_t n : active_) {
      before.push_back(jobs_[n].pool);
      if (jobs_[n].pool < 0) continue;
      FAIRLEAD_TRY(core_.tell(instant(), sched::WorkloadRequeued{trace_[n].name}));
      jobs_[n].pool = -1;
    }
    for (const CoreDriver::Start& start : core_.decide(instant())) {
      jobs_[start.job].pool = pool_of_node_[start.holds.front().node];
    }
    restarted_.clear();
    for (std::size_t i = 0; i < active_.size(); ++i) {
      const int pool = jobs_[active_[i]].pool;
      if (before[i] >= 0 && pool < 0) ++result_.preemptions;
      if (before[i] >= 0 && pool >= 0 && pool != before[i]) ++result_.moves;
      const bool again = jobs_[active_[i]].service_hours > 0 && pool >= 0 && pool != before[i];
      if (again) restarted_.push_back(active_[i]);
    }
    return {};
  }

  // One round: who runs does its steps, who is done leaves when it is done.
  Result<void> work() {
    std::vector<std::uint32_t> staying;
    const Instant end{static_cast<std::int64_t>((now_ + kRoundSeconds) * 1000)};
    for (const std::uint32_t n : active_) {
      Job& job = jobs_[n];
      if (job.pool < 0) {
        staying.push_back(n);
        continue;
      }
      const double rate = job.rates[static_cast<std::size_t>(job.pool)];
      const bool restarted = std::find(restarted_.begin(), restarted_.end(), n) != restarted_.end();
      const double cost = restarted ? std::min(kRoundSeconds,
                                               static_cast<double>(options_.restart_cost.ms) / 1000)
                                    : 0;
      const double needed = job.steps_left / rate;
      job.service_hours += kRoundSeconds * rate / job.fastest / 3600;
      if (needed <= kRoundSeconds - cost) {
        job.ended = now_ + cost + needed;
        if (n >= result_.first && n <= result_.last) --left_;
        FAIRLEAD_TRY(core_.tell(end, sched::WorkloadRemoved{trace_[n].name}));
        changed_ = true;
      } else {
        job.steps_left -= rate * (kRoundSeconds - cost);
        staying.push_back(n);
      }
    }
    restarted_.clear();
    active_.swap(staying);
    return {};
  }

  GavelResult summary() {
    std::vector<double> hours;
    for (std::size_t i = result_.first; i <= result_.last; ++i) {
      hours.push_back((jobs_[i].ended - jobs_[i].arrival) / 3600);
      result_.avg_hours += hours.back();
    }
    result_.measured = hours.size();
    result_.avg_hours /= static_cast<double>(hours.size());
    std::sort(hours.begin(), hours.end());
    result_.p50_hours = hours[hours.size() / 2];
    result_.p99_hours = hours[hours.size() * 99 / 100];
    result_.mean_active = active_sum_ / static_cast<double>(result_.rounds);
    result_.core_seconds = core_.core_seconds();
    return result_;
  }

  const std::vector<GavelJob>& trace_;
  std::vector<Job> jobs_;
  const GavelOptions& options_;
  Order order_;
  CoreDriver core_;
  std::vector<int> pool_of_node_;
  std::size_t gpus_ = 0;
  std::vector<std::uint32_t> active_;   // by arrival
  std::vector<std::uint32_t> ordered_;  // as the core knows them
  std::vector<std::uint32_t> restarted_;
  std::size_t next_ = 0;
  std::size_t left_ = 0;
  double now_ = 0;
  double active_sum_ = 0;
  bool changed_ = true;
  GavelResult result_;
};

}  // namespace

Result<std::vector<GavelPool>> parse_gavel_cluster(std::string_view text) {
  std::vector<GavelPool> pools;
  const std::string all(text);
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    const std::size_t colon = part.find(':');
    GavelPool pool;
    pool.type = part.substr(0, colon);
    const std::string count(colon == std::string_view::npos ? "" : part.substr(colon + 1));
    const bool digits = !count.empty() && count.size() <= 5 &&
                        count.find_first_not_of("0123456789") == std::string::npos;
    if (digits) pool.gpus = std::stoll(count);
    const bool twice = std::any_of(pools.begin(), pools.end(),
                                   [&](const GavelPool& p) { return p.type == pool.type; });
    if (pool.type.empty() || pool.gpus < 1 || twice) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("'{}' in '{}' is not a number of GPUs of one type", part, all),
                  "write TYPE:COUNT,TYPE:COUNT, each type once, 1 to 99999 GPUs");
    }
    pools.push_back(std::move(pool));
  }
  if (pools.empty()) {
    return fail(ErrorCode::kInvalidArgument, "the cluster has no GPUs", "write TYPE:COUNT");
  }
  return pools;
}

Result<GavelResult> run_gavel(const std::vector<GavelJob>& jobs, const GavelThroughputs& rates,
                              const GavelOptions& options, const Progress& progress) {
  const std::vector<std::string> policies{"fifo", "las", "default"};
  const auto policy = std::find(policies.begin(), policies.end(), options.policy);
  if (policy == policies.end()) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("policy '{}' is not known here; there are {}", options.policy,
                            listing(policies)));
  }
  std::vector<Job> prepared;
  JobNumbers numbers;
  for (const GavelJob& job : jobs) {
    numbers[job.name] = static_cast<std::uint32_t>(prepared.size());
    FAIRLEAD_ASSIGN(Job one, job_of(job, rates, options));
    prepared.push_back(std::move(one));
  }
  FAIRLEAD_ASSIGN(CoreDriver core, CoreDriver::create(cluster_of(options), {}, numbers));
  const auto order = static_cast<Order>(policy - policies.begin());
  return Rounds(jobs, std::move(prepared), options, order, std::move(core)).run(progress);
}

}  // namespace fairlead::sim
