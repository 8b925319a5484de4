#include "sim/generate/generator.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <numbers>

#include <fmt/core.h>

#include "base/decimal.h"
#include "base/printable.h"
#include "base/rng.h"

namespace fairlead::sim {
namespace {

constexpr double kHourMs = 3'600'000;
constexpr double kSwing = 0.8;
constexpr double kBusiestHour = 14;
constexpr double kBurstGapMs = 60'000;
constexpr double kEarlyPart = 0.1;

template <class Share>
std::size_t draw(Rng& rng, const std::vector<Share>& shares) {
  double total = 0;
  for (const Share& share : shares) total += share.weight;
  double at = rng.unit() * total;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    at -= shares[i].weight;
    if (at < 0) return i;
  }
  return shares.size() - 1;
}

// Submit times with the number of the burst each belongs to.
struct Arrival {
  double at = 0;
  std::int64_t burst = 0;
};

std::vector<Arrival> draw_arrivals(const GeneratorOptions& options, Rng& rng) {
  std::vector<Arrival> arrivals;
  const auto wanted = static_cast<std::size_t>(options.jobs);
  const double gap = kHourMs / options.jobs_per_hour;
  double at = 0;
  std::int64_t burst = 0;
  while (arrivals.size() < wanted) {
    ++burst;
    if (options.arrivals == ArrivalPattern::kBursty) {
      at += rng.exponential(gap * options.burst_mean);
      const auto most = std::max<std::int64_t>(1, std::llround(2 * options.burst_mean) - 1);
      double inside = at;
      for (std::int64_t n = rng.between(1, most); n > 0 && arrivals.size() < wanted; --n) {
        arrivals.push_back(Arrival{inside, burst});
        inside += rng.exponential(kBurstGapMs);
      }
      continue;
    }
    if (options.arrivals == ArrivalPattern::kPoisson) {
      at += rng.exponential(gap);
    } else {  // thinning (Lewis and Shedler, 1979)
      while (true) {
        at += rng.exponential(gap / (1 + kSwing));
        const double hour = std::fmod(at / kHourMs, 24.0) - kBusiestHour;
        const double rate = 1 + kSwing * std::cos(hour * std::numbers::pi / 12);
        if (rng.unit() * (1 + kSwing) < rate) break;
      }
    }
    arrivals.push_back(Arrival{at, burst});
  }
  std::stable_sort(arrivals.begin(), arrivals.end(),
                   [](const Arrival& a, const Arrival& b) { return a.at < b.at; });
  return arrivals;
}

void set_request(TraceJob& job, std::int64_t milli, const GeneratorOptions& options) {
  if (milli < kMilli) {
    job.request.gpu.kind = GpuRequestKind::kPortion;
    job.request.gpu.count = 1;
    job.request.gpu.portion = MilliGpu(milli);
  } else {
    shape_gang(job, milli / kMilli, options.gpus_per_node);
  }
  const std::int64_t task_milli = std::min(milli, options.gpus_per_node * kMilli);
  job.request.cpu = MilliCpu(options.cpu_milli_per_gpu * task_milli / kMilli);
  job.request.memory = Bytes((options.memory_mib_per_gpu * task_milli / kMilli) << 20);
}

// What all jobs of a burst have in common.
struct Template {
  std::size_t size = 0;
  std::size_t project = 0;
  std::int64_t user = 0;
  double log_median = 0;
};

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

struct Weighted {
  std::string_view name;
  double weight = 1;
};

// "NAME" or "NAME:WEIGHT", comma-separated.
Result<std::vector<Weighted>> parse_weights(std::string_view text) {
  std::vector<Weighted> out;
  for (const std::string_view part : split(text, ',')) {
    const std::size_t colon = part.find(':');
    Weighted item{part.substr(0, colon), 1};
    if (!is_printable(item.name)) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("'{}' holds control characters", printable(std::string(item.name))),
                  "write NAME:WEIGHT on one line");
    }
    if (colon != std::string_view::npos) {
      const std::string_view weight = part.substr(colon + 1);
      const char* end = weight.data() + weight.size();
      const auto parsed = std::from_chars(weight.data(), end, item.weight);
      if (parsed.ec != std::errc{} || parsed.ptr != end || !(item.weight > 0) ||
          item.weight > 1e9) {
        return fail(ErrorCode::kInvalidArgument,
                    fmt::format("'{}' in '{}' is not a weight", weight, part),
                    "write NAME:WEIGHT with a weight above 0, at most 1000000000");
      }
    }
    if (item.name.empty()) {
      return fail(ErrorCode::kInvalidArgument, fmt::format("'{}' has an empty part", text),
                  "write NAME:WEIGHT,NAME:WEIGHT");
    }
    out.push_back(item);
  }
  return out;
}

std::unexpected<Error> stated_twice(std::string_view name) {
  return fail(ErrorCode::kInvalidArgument, fmt::format("'{}' has two weights", name),
              "state one of them, or their sum");
}

}  // namespace

std::vector<TraceJob> generate_jobs(const GeneratorOptions& options) {
  const Rng root(options.seed);
  Rng arrival_rng = root.fork(1);
  Rng rng = root.fork(2);
  std::vector<TraceJob> jobs;
  std::map<std::int64_t, Template> templates;
  for (const Arrival& arrival : draw_arrivals(options, arrival_rng)) {
    const auto [found, is_new] = templates.try_emplace(
        options.arrivals == ArrivalPattern::kBursty ? arrival.burst
                                                    : static_cast<std::int64_t>(jobs.size()));
    Template& shape = found->second;
    if (is_new) {
      shape.size = draw(rng, options.sizes);
      shape.project = draw(rng, options.projects);
      shape.user = rng.between(1, options.users_per_project);
      // Half of the spread is between templates, half inside one.
      shape.log_median = std::log(static_cast<double>(options.duration_median.ms)) +
                         options.duration_sigma * std::numbers::sqrt2 / 2 * rng.normal();
    }
    TraceJob job;
    job.name = fmt::format("job-{:05}", jobs.size());
    job.project = options.projects[shape.project].name;
    job.user = fmt::format("{}-{}", job.project, shape.user);
    job.submit = Instant{static_cast<std::int64_t>(arrival.at)};
    double ms = std::exp(shape.log_median +
                         options.duration_sigma * std::numbers::sqrt2 / 2 * rng.normal());
    if (rng.unit() < options.failing_share) {
      job.outcome = JobOutcome::kFailed;
      ms *= kEarlyPart * rng.unit();
    }
    const auto longest = static_cast<double>(options.duration_max.ms);
    job.run_time = Duration{static_cast<std::int64_t>(std::clamp(ms, 1000.0, longest))};
    set_request(job, options.sizes[shape.size].milli, options);
    jobs.push_back(std::move(job));
  }
  return jobs;
}

Result<std::vector<SizeShare>> parse_sizes(std::string_view text) {
  FAIRLEAD_ASSIGN(const std::vector<Weighted> parts, parse_weights(text));
  std::vector<SizeShare> out;
  for (const Weighted& part : parts) {
    const auto milli = parse_decimal(part.name, 3);
    if (!milli || *milli <= 0 || *milli > 100'000 * kMilli ||
        (*milli > kMilli && *milli % kMilli != 0)) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("'{}' is not a number of GPUs", part.name),
                  "allowed are 1 to 100000, or a portion from 0.001 to 0.999");
    }
    const bool twice = std::any_of(out.begin(), out.end(),
                                   [&](const SizeShare& size) { return size.milli == *milli; });
    if (twice) return stated_twice(part.name);
    out.push_back(SizeShare{*milli, part.weight});
  }
  return out;
}

Result<std::vector<ProjectShare>> parse_projects(std::string_view text) {
  FAIRLEAD_ASSIGN(const std::vector<Weighted> parts, parse_weights(text));
  std::vector<ProjectShare> out;
  for (const Weighted& part : parts) {
    const bool twice = std::any_of(out.begin(), out.end(), [&](const ProjectShare& project) {
      return project.name == part.name;
    });
    if (twice) return stated_twice(part.name);
    out.push_back({std::string(part.name), part.weight});
  }
  return out;
}

Result<ArrivalPattern> parse_arrivals(std::string_view text) {
  if (text == "poisson") return ArrivalPattern::kPoisson;
  if (text == "bursty") return ArrivalPattern::kBursty;
  if (text == "diurnal") return ArrivalPattern::kDiurnal;
  return fail(ErrorCode::kInvalidArgument, fmt::format("arrivals '{}' are not known", text),
              "allowed are poisson, bursty, diurnal");
}

}  // namespace fairlead::sim
