#include "sim/gavel/rounds.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/core.h>

#include "base/nearest.h"
#include "sim/gavel/assignment.h"
#include "sim/replay/core_driver.h"
#include "sim/trace/job.h"

namespace fairlead::sim {
namespace {

constexpr double kRoundSeconds = 360;
constexpr double kMaxJobSeconds = 100.0 * 366 * 86'400;
constexpr std::int64_t kGpusPerNode = 4;
constexpr std::array<double, 3> kLevelHours{1, 10, 50};
// A job changes its type only for more than 2 % of the fastest type's speed.
constexpr std::int64_t kStickiness = 20;
const std::string kQueue = "gavel";

enum class Order : std::uint8_t { kFifo, kLas, kLevels };

struct Job {
  double arrival = 0;  // seconds
  double steps_left = 0;
  double fastest = 0;         // steps per second
  std::vector<double> rates;  // by pool; 0: cannot run there
  double service_hours = 0;   // in hours on the fastest type
  int type = -1;              // where it runs in this round; -1: nowhere
  double ended = -1;
  int asked = -1;  // the type its constraint names; -1: not submitted
};

ClusterSpec cluster_of(const GavelOptions& options) {
  ClusterSpec cluster;
  QueueSpec queue;
  queue.name = kQueue;
  queue.pools["default"]["gpu"].quota = kUnlimited;
  cluster.pools.emplace_back();
  for (const GavelPool& pool : options.cluster) {
    DeviceClass device_class;
    device_class.name = pool.type;
    device_class.memory = MiB(16'000);
    cluster.device_classes.push_back(device_class);
    for (std::int64_t left = pool.gpus; left > 0; left -= kGpusPerNode) {
      NodeSpec node;
      node.name = fmt::format("{}-{:03}", pool.type, cluster.nodes.size());
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
  for (const GavelPool& pool : options.cluster) {
    const auto rate = table.find({pool.type, trace.type, trace.gpus});
    if (rate == table.end()) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("there is no throughput of '{}' with {} GPUs on {}", trace.type,
                              trace.gpus, pool.type),
                  "add the line to the throughputs, with 0 if it cannot run there");
    }
    const double usable = trace.gpus <= pool.gpus ? rate->second : 0;
    // Each round is played: years without end would take as long.
    if (usable > 0 && trace.steps / usable > kMaxJobSeconds) {
      return fail(ErrorCode::kOutOfRange,
                  fmt::format("job {} ('{}' with {} GPUs) takes more than 100 years on {}",
                              trace.name, trace.type, trace.gpus, pool.type),
                  "lower its total_steps, or raise its steps_per_s (0 if it cannot run there)");
    }
    job.rates.push_back(usable);
    job.fastest = std::max(job.fastest, usable);
  }
  if (job.fastest <= 0) {
    return fail(ErrorCode::kImpossible,
                fmt::format("job {} ('{}' with {} GPUs) can run on no type", trace.name, trace.type,
                            trace.gpus),
                "give a type more GPUs or a throughput above 0");
  }
  return job;
}

class Rounds {
 public:
  Rounds(const std::vector<GavelJob>& trace, std::vector<Job> jobs, const GavelOptions& options,
         Order order, CoreDriver core)
      : trace_(trace),
        jobs_(std::move(jobs)),
        options_(options),
        order_(order),
        core_(std::move(core)) {
    result_.first = options.first;
    result_.last = options.last;
    result_.types = options.cluster;
    result_.use = OverTime(1 + options.cluster.size(), kRoundSeconds / 3600);
    if (jobs_.size() <= options.last) {
      result_.first = 0;
      result_.last = jobs_.size() - 1;
    }
    left_ = result_.last - result_.first + 1;
    for (const NodeSpec& node : cluster_of(options).nodes) {
      for (std::size_t p = 0; p < options.cluster.size(); ++p) {
        if (options.cluster[p].type == node.devices.front().device_class) {
          type_of_node_.push_back(static_cast<int>(p));
        }
      }
    }
  }

  Result<GavelResult> run(const Progress& progress) {
    const std::size_t measured = left_;
    while (left_ > 0) {
      if (active_.empty()) skip_idle_time();
      arrive();
      FAIRLEAD_TRY(place());
      ++result_.rounds;
      active_sum_ += static_cast<double>(active_.size());
      note_use();
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
    if (behind <= 0) return;
    const double before = now_;
    now_ += std::ceil(behind / kRoundSeconds) * kRoundSeconds;
    result_.use.add(before / 3600, now_ / 3600, std::vector<double>(1 + options_.cluster.size()));
  }

  // The present round.
  void note_use() {
    std::vector<double> now(1 + options_.cluster.size());
    now[0] = static_cast<double>(active_.size());
    for (const std::uint32_t n : active_) {
      const int type = jobs_[n].type;
      if (type < 0) continue;
      const auto t = static_cast<std::size_t>(type);
      now[1 + t] += 100.0 * trace_[n].gpus / static_cast<double>(options_.cluster[t].gpus);
    }
    result_.use.add(now_ / 3600, (now_ + kRoundSeconds) / 3600, now);
  }

  void arrive() {
    while (next_ < jobs_.size() && jobs_[next_].arrival <= now_) {
      active_.push_back(static_cast<std::uint32_t>(next_++));
    }
  }

  static std::int64_t level(const Job& job) {
    return std::upper_bound(kLevelHours.begin(), kLevelHours.end(), job.service_hours) -
           kLevelHours.begin();
  }

  // The jobs in the policy's order.
  std::vector<std::uint32_t> order() const {
    std::vector<std::uint32_t> order = active_;  // by arrival
    if (order_ == Order::kFifo) return order;
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return order_ == Order::kLas ? jobs_[a].service_hours < jobs_[b].service_hours
                                   : level(jobs_[a]) < level(jobs_[b]);
    });
    return order;
  }

  // Types by the policy: jobs in order, each on the fastest type that has GPUs left.
  std::vector<int> fastest_left(const std::vector<std::uint32_t>& order) const {
    std::vector<std::int64_t> left;
    for (const GavelPool& pool : options_.cluster) left.push_back(pool.gpus);
    std::vector<int> types;
    for (const std::uint32_t n : order) {
      int best = -1;
      for (std::size_t t = 0; t < left.size(); ++t) {
        const double rate = jobs_[n].rates[t];
        if (rate <= 0 || left[t] < trace_[n].gpus) continue;
        if (best < 0 || rate > jobs_[n].rates[static_cast<std::size_t>(best)]) {
          best = static_cast<int>(t);
        }
      }
      if (best >= 0) left[static_cast<std::size_t>(best)] -= trace_[n].gpus;
      types.push_back(best);
    }
    return types;
  }

  // Types by the highest sum of relative speeds, for the first jobs that fill the cluster.
  std::vector<int> assigned(const std::vector<std::uint32_t>& order) const {
    TypeAssignment assignment;
    for (const GavelPool& pool : options_.cluster) assignment.add_type(pool.gpus);
    std::vector<int> types(order.size(), -1);
    std::vector<std::size_t> members;
    for (std::size_t i = 0; i < order.size(); ++i) {
      const Job& job = jobs_[order[i]];
      std::vector<std::int64_t> weights;
      for (std::size_t t = 0; t < job.rates.size(); ++t) {
        const auto weight = static_cast<std::int64_t>(1000 * job.rates[t] / job.fastest);
        const bool same = job.type == static_cast<int>(t);
        weights.push_back(job.rates[t] > 0 ? weight + (same ? kStickiness : 0) : -1);
      }
      if (assignment.add_job(trace_[order[i]].gpus, std::move(weights))) members.push_back(i);
    }
    for (std::size_t m = 0; m < members.size(); ++m) types[members[m]] = assignment.type_of(m);
    return types;
  }

  Result<void> place() {
    const std::vector<std::uint32_t> wanted = order();
    const std::vector<int> types = order_ == Order::kFifo ? fastest_left(wanted) : assigned(wanted);
    std::vector<int> before;
    for (const std::uint32_t n : active_) before.push_back(jobs_[n].type);
    // First everything that gives room, then what takes it.
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      Job& job = jobs_[wanted[i]];
      if (job.asked < 0 || job.asked == types[i]) continue;
      FAIRLEAD_TRY(core_.tell(instant(), sched::WorkloadRemoved{trace_[wanted[i]].name}));
      job.asked = -1;
      job.type = -1;
    }
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (types[i] < 0 || jobs_[wanted[i]].asked == types[i]) continue;
      FAIRLEAD_TRY(submit(wanted[i], types[i], static_cast<std::int64_t>(i)));
    }
    for (const CoreDriver::Start& start : core_.decide(instant()).starts) {
      jobs_[start.job].type = type_of_node_[start.holds.front().node];
    }
    restarted_.clear();
    for (std::size_t i = 0; i < active_.size(); ++i) {
      const Job& job = jobs_[active_[i]];
      if (before[i] >= 0 && job.type < 0) ++result_.preemptions;
      if (before[i] >= 0 && job.type >= 0 && job.type != before[i]) ++result_.moves;
      const bool again = job.service_hours > 0 && job.type >= 0 && job.type != before[i];
      if (again) restarted_.push_back(active_[i]);
    }
    return {};
  }

  Result<void> submit(std::uint32_t number, int type, std::int64_t order_key) {
    TraceJob trace;
    trace.name = trace_[number].name;
    trace.project = kQueue;
    shape_gang(trace, trace_[number].gpus, kGpusPerNode);
    trace.device_classes = {options_.cluster[static_cast<std::size_t>(type)].type};
    WorkloadSpec spec = workload_of(trace);
    spec.order_key = order_key;
    jobs_[number].asked = type;
    return core_.tell(instant(), sched::WorkloadSubmitted{std::move(spec)});
  }

  // One round: who runs does its steps, who is done leaves when it is done.
  Result<void> work() {
    std::vector<std::uint32_t> staying;
    const Instant end{static_cast<std::int64_t>((now_ + kRoundSeconds) * 1000)};
    for (const std::uint32_t n : active_) {
      Job& job = jobs_[n];
      if (job.type < 0) {
        staying.push_back(n);
        continue;
      }
      const double rate = job.rates[static_cast<std::size_t>(job.type)];
      const bool restarted = std::find(restarted_.begin(), restarted_.end(), n) != restarted_.end();
      const double cost =
          restarted ? std::min(kRoundSeconds, static_cast<double>(options_.restart_cost.ms) / 1000)
                    : 0;
      const double needed = job.steps_left / rate;
      job.service_hours += kRoundSeconds * rate / job.fastest / 3600;
      if (needed <= kRoundSeconds - cost) {
        job.ended = now_ + cost + needed;
        if (n >= result_.first && n <= result_.last) --left_;
        FAIRLEAD_TRY(core_.tell(end, sched::WorkloadRemoved{trace_[n].name}));
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
    result_.hours = std::move(hours);
    result_.mean_active = active_sum_ / static_cast<double>(result_.rounds);
    result_.core_seconds = core_.core_seconds();
    return result_;
  }

  const std::vector<GavelJob>& trace_;
  std::vector<Job> jobs_;
  const GavelOptions& options_;
  Order order_;
  CoreDriver core_;
  std::vector<int> type_of_node_;
  std::vector<std::uint32_t> active_;  // by arrival
  std::vector<std::uint32_t> restarted_;
  std::size_t next_ = 0;
  std::size_t left_ = 0;
  double now_ = 0;
  double active_sum_ = 0;
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
