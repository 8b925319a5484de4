#include "cli/simulate_report.h"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "base/decimal.h"
#include "cli/output.h"
#include "sim/csv/csv_file.h"
#include "sim/report/text.h"
#include "sim/report/time_columns.h"

namespace fairlead::cli {
namespace {

using Json = nlohmann::ordered_json;
using sim::duration_words;
using sim::fixed;
using sim::grouped;
using sim::time_cell;
using Align = Table::Align;

constexpr std::size_t kFull = 100;   // percent arrived
constexpr std::size_t kListed = 20;  // jobs that never ran

// Six decimals: what is below has no meaning here, and the text stays short.
double rounded(double value) {
  return std::round(value * 1e6) / 1e6;
}

Json settings_json(const Settings& settings) {
  Json out = Json::object();
  for (const auto& [key, value] : settings) out[key] = value;
  return out;
}

Json by_arrived(const sim::ByArrived& values) {
  Json out = Json::array();
  for (const double value : values) out.push_back(value < 0 ? Json() : Json(rounded(value)));
  return out;
}

Json openb_run(const sim::OpenbRun& run, bool speed) {
  Json out;
  out["unallocatedPercent"] = by_arrived(run.unallocated_percent);
  out["fragmentationPercent"] = by_arrived(run.fragmentation_percent);
  out["pods"] = run.pods;
  out["placed"] = run.placed;
  if (speed) out["decisionsPerSecond"] = std::round(run.decisions_per_second());
  return out;
}

Json churn_run(const sim::ChurnRun& run, bool speed) {
  Json out;
  out["lostPercent"] = rounded(run.lost_percent);
  out["unallocatedPercent"] = rounded(run.unallocated_percent);
  out["fragmentationPercent"] = rounded(run.fragmentation_percent);
  out["pods"] = run.pods;
  out["lostPods"] = run.lost_pods;
  if (speed) out["decisionsPerSecond"] = std::round(run.decisions_per_second());
  return out;
}

template <class Run, class ToJson>
std::string seeds_json(const char* command, const std::string& policy, const Settings& settings,
                       const std::vector<Run>& runs, const ToJson& to_json) {
  Json out;
  out["command"] = command;
  out["policy"] = policy;
  out["settings"] = settings_json(settings);
  out["seeds"] = Json::array();
  for (const Run& run : runs) {
    Json one;
    one["seed"] = run.seed;
    one.update(to_json(run));
    out["seeds"].push_back(std::move(one));
  }
  out["mean"] = to_json(mean_of(runs));
  return out.dump(2) + "\n";
}

Json waits_json(const char* key, const std::vector<sim::WaitGroup>& groups) {
  Json out = Json::array();
  for (const sim::WaitGroup& group : groups) {
    const sim::Quantiles& q = group.wait;
    out.push_back({{key, group.label},
                   {"jobs", q.count},
                   {"avgSeconds", rounded(q.mean)},
                   {"p50Seconds", rounded(q.p50)},
                   {"p90Seconds", rounded(q.p90)},
                   {"p99Seconds", rounded(q.p99)},
                   {"maxSeconds", rounded(q.max)}});
  }
  return out;
}

Json fairness_json(const std::vector<sim::FairnessRow>& rows) {
  Json out = Json::array();
  for (const sim::FairnessRow& row : rows) {
    out.push_back({{"project", row.project},
                   {"quotaGpus", row.quota_gpus < 0 ? Json() : Json(rounded(row.quota_gpus))},
                   {"receivedGpuHours", rounded(row.received_gpu_hours)},
                   {"receivedPercent", rounded(row.received_percent)},
                   {"entitledGpuHours", rounded(row.entitled_gpu_hours)},
                   {"receivedOfEntitled",
                    row.entitled_gpu_hours > 0 ? Json(rounded(row.received_of_entitled)) : Json()},
                   {"missedGpuHours", rounded(row.missed_gpu_hours)},
                   {"lentGpuHours", rounded(row.lent_gpu_hours)},
                   {"waitingGpuHours", rounded(row.waiting_gpu_hours)},
                   {"lostGpuHours", rounded(row.lost_gpu_hours)},
                   {"preemptions", row.preemptions}});
  }
  return out;
}

// The first column left, the others right.
std::string text_of(sim::TextTable table) {
  table.settle_times();
  Table out;
  for (std::size_t i = 0; i < table.header.size(); ++i) {
    out.column(std::move(table.header[i]), i == 0 ? Align::kLeft : Align::kRight);
  }
  for (auto& row : table.rows) out.row(std::move(row));
  return out.text();
}

Json rho_json(const sim::FinishTimeFairness& f) {
  return {{"worst", rounded(f.worst)},
          {"p50", rounded(f.p50)},
          {"p90", rounded(f.p90)},
          {"p99", rounded(f.p99)},
          {"unfairPercent", rounded(f.unfair_percent)}};
}

std::string wait_rows(const char* what, const std::vector<sim::WaitGroup>& groups) {
  sim::TextTable table;
  table.column(what);
  table.column("JOBS");
  for (const char* name : {"MEAN WAIT", "P50", "P90", "P99", "LONGEST"}) table.time_column(name);
  for (const sim::WaitGroup& group : groups) {
    const sim::Quantiles& q = group.wait;
    table.rows.push_back({group.label, grouped(static_cast<double>(q.count)), time_cell(q.mean),
                          time_cell(q.p50), time_cell(q.p90), time_cell(q.p99), time_cell(q.max)});
  }
  return text_of(std::move(table));
}

}  // namespace

std::string openb_json(const std::string& policy, const Settings& settings,
                       const std::vector<sim::OpenbRun>& runs, bool speed) {
  return seeds_json("openb", policy, settings, runs,
                    [&](const sim::OpenbRun& run) { return openb_run(run, speed); });
}

std::string openb_table(const std::string& policy, const std::vector<sim::OpenbRun>& runs,
                        bool speed) {
  Table table;
  table.column("POLICY");
  table.column("SEED", Align::kRight);
  for (const char* name :
       {"UNALLOCATED@80%", "@90%", "@100%", "@110%", "@120%", "FRAGMENTED@100%", "PLACED"}) {
    table.column(name, Align::kRight);
  }
  if (speed) table.column("DECISIONS/S", Align::kRight);
  const auto add = [&](const sim::OpenbRun& run, const std::string& seed) {
    std::vector<std::string> cells{policy, seed};
    for (const std::size_t at : {80U, 90U, 100U, 110U, 120U}) {
      cells.push_back(fixed(run.unallocated_percent[at], 2));
    }
    cells.push_back(fixed(run.fragmentation_percent[kFull], 2));
    cells.push_back(grouped(static_cast<double>(run.placed)));
    if (speed) cells.push_back(grouped(run.decisions_per_second()));
    table.row(std::move(cells));
  };
  for (const sim::OpenbRun& run : runs) add(run, std::to_string(run.seed));
  if (runs.size() > 1) add(sim::mean_of(runs), "mean");
  return table.text();
}

std::string churn_json(const std::string& policy, const Settings& settings,
                       const std::vector<sim::ChurnRun>& runs, bool speed) {
  return seeds_json("openb --churn", policy, settings, runs,
                    [&](const sim::ChurnRun& run) { return churn_run(run, speed); });
}

std::string churn_table(const std::string& policy, const std::vector<sim::ChurnRun>& runs,
                        bool speed) {
  Table table;
  table.column("POLICY");
  for (const char* name :
       {"SEED", "LOST VOLUME %", "UNALLOCATED %", "FRAGMENTED %", "PODS", "LOST"}) {
    table.column(name, Align::kRight);
  }
  if (speed) table.column("DECISIONS/S", Align::kRight);
  const auto add = [&](const sim::ChurnRun& run, const std::string& seed) {
    std::vector<std::string> cells{policy,
                                   seed,
                                   fixed(run.lost_percent, 2),
                                   fixed(run.unallocated_percent, 2),
                                   fixed(run.fragmentation_percent, 2),
                                   grouped(static_cast<double>(run.pods)),
                                   grouped(static_cast<double>(run.lost_pods))};
    if (speed) cells.push_back(grouped(run.decisions_per_second()));
    table.row(std::move(cells));
  };
  for (const sim::ChurnRun& run : runs) add(run, std::to_string(run.seed));
  if (runs.size() > 1) add(sim::mean_of(runs), "mean");
  return table.text();
}

std::string gavel_json(const std::string& policy, const Settings& settings,
                       const sim::GavelResult& result) {
  Json out;
  out["command"] = "gavel";
  out["policy"] = policy;
  out["settings"] = settings_json(settings);
  out["avgJctHours"] = rounded(result.avg_hours);
  out["p50JctHours"] = rounded(result.p50_hours);
  out["p99JctHours"] = rounded(result.p99_hours);
  out["measuredJobs"] = result.measured;
  out["firstMeasured"] = result.first;
  out["lastMeasured"] = result.last;
  out["rounds"] = result.rounds;
  out["avgActiveJobs"] = rounded(result.mean_active);
  out["preemptions"] = result.preemptions;
  out["moves"] = result.moves;
  return out.dump(2) + "\n";
}

std::string gavel_table(const std::string& policy, const sim::GavelResult& result) {
  sim::TextTable table;
  table.column("POLICY");
  table.column("MEASURED");
  for (const char* name : {"AVG JCT", "P50", "P99"}) table.time_column(name);
  for (const char* name : {"ACTIVE JOBS", "PREEMPTIONS", "MOVES"}) table.column(name);
  table.rows.push_back({policy, grouped(static_cast<double>(result.measured)),
                        time_cell(result.avg_hours * 3600), time_cell(result.p50_hours * 3600),
                        time_cell(result.p99_hours * 3600), fixed(result.mean_active, 1),
                        grouped(static_cast<double>(result.preemptions)),
                        grouped(static_cast<double>(result.moves))});
  return text_of(std::move(table));
}

std::string replay_json(const std::string& policy, const Settings& settings,
                        const sim::ReplayResult& result, const sim::Summary& s,
                        const sim::Comparison& comparison) {
  Json out;
  out["policy"] = policy;
  out["settings"] = settings_json(settings);
  out["jobs"] = s.jobs;
  out["finished"] = s.finished;
  out["refused"] = s.refused;
  out["unfinished"] = s.unfinished;
  out["avgJctSeconds"] = rounded(s.completion.mean);
  out["p50JctSeconds"] = rounded(s.completion.p50);
  out["p90JctSeconds"] = rounded(s.completion.p90);
  out["p99JctSeconds"] = rounded(s.completion.p99);
  out["makespanSeconds"] = rounded(s.makespan_seconds);
  out["avgWaitSeconds"] = rounded(s.wait.mean);
  out["p50WaitSeconds"] = rounded(s.wait.p50);
  out["p90WaitSeconds"] = rounded(s.wait.p90);
  out["p99WaitSeconds"] = rounded(s.wait.p99);
  out["preemptions"] = result.preemptions;
  out["moves"] = result.moves;
  out["starts"] = result.decisions;
  out["refusedStarts"] = result.refused_starts;
  out["faults"] = result.faults;
  out["faultStops"] = result.fault_stops;
  out["lostGpuHours"] = rounded(s.lost_gpu_hours);
  if (!s.buckets.empty()) {
    out["capacityGpus"] = rounded(s.capacity_gpus);
    out["allocatedPercent"] = rounded(s.allocated_percent);
    out["fragmentationPercent"] = rounded(s.fragmentation_percent);
  }
  out["waitsBySize"] = waits_json("size", s.by_size);
  out["waitsByProject"] = waits_json("project", s.by_project);
  if (!s.fairness.empty()) out["fairness"] = fairness_json(s.fairness);
  if (!s.finish_time.sorted.empty()) {
    out["finishTimeFairness"] = rho_json(s.finish_time);
  }
  for (const sim::PolicyFairness& policy_row : comparison.policies) {
    Json row = {{"policy", policy_row.policy}};
    row.update(rho_json(policy_row.rho));
    row["avgJctSeconds"] = rounded(policy_row.completion.mean);
    out["fairnessByPolicy"].push_back(std::move(row));
  }
  for (const sim::SafetyRow& row : comparison.safety) {
    out["quotaSafety"].push_back({{"project", row.project},
                                  {"quotaGpus", rounded(row.quota_gpus)},
                                  {"jobsWithinQuota", row.within},
                                  {"waitedLonger", row.longer},
                                  {"waitedLongerThanDrain", row.unsafe},
                                  {"drainSeconds", rounded(row.drain_seconds)},
                                  {"longestExcessSeconds", rounded(row.longest_excess_seconds)}});
  }
  Json never = Json::array();
  for (const sim::JobRecord& job : result.jobs) {
    if (job.finished() || never.size() == kListed) continue;
    never.push_back({{"name", job.name},
                     {"state", job.end == sim::JobEnd::kRefused ? "refused" : "unfinished"},
                     {"why", job.note}});
  }
  out["neverFinished"] = std::move(never);
  return out.dump(2) + "\n";
}

std::string replay_table(const sim::ReplayResult& result, const sim::Summary& s) {
  std::string out;
  const auto fact = [&](const std::string& label, const std::string& value) {
    out += label + std::string(22 - std::min<std::size_t>(21, label.size()), ' ') + value + "\n";
  };
  fact("jobs", grouped(static_cast<double>(s.finished)) + " finished of " +
                   grouped(static_cast<double>(s.jobs)) + " in " +
                   duration_words(s.makespan_seconds));
  if (s.refused > 0)
    fact("refused", grouped(static_cast<double>(s.refused)) + " can never run here");
  if (s.unfinished > 0) fact("still waiting", grouped(static_cast<double>(s.unfinished)));
  fact("GPUs allocated", fixed(s.allocated_percent, 1) + " % of " + grouped(s.capacity_gpus));
  fact("GPUs fragmented", fixed(s.fragmentation_percent, 1) + " %");
  fact("mean wait", duration_words(s.wait.mean) + ", half at most " + duration_words(s.wait.p50) +
                        ", 99 % at most " + duration_words(s.wait.p99));
  fact("mean completion", duration_words(s.completion.mean));
  if (result.preemptions + result.moves > 0) {
    fact("preemptions", grouped(static_cast<double>(result.preemptions)) + ", and " +
                            grouped(static_cast<double>(result.moves)) + " moves");
  }
  if (result.faults > 0) {
    fact("faults", grouped(static_cast<double>(result.faults)) + ", " +
                       grouped(static_cast<double>(result.fault_stops)) + " running jobs stopped");
  }
  if (result.refused_starts > 0) {
    fact("refused starts", grouped(static_cast<double>(result.refused_starts)));
  }
  if (s.lost_gpu_hours > 0) fact("GPU-hours lost", grouped(s.lost_gpu_hours));
  if (!s.finish_time.sorted.empty()) {
    fact("finish-time fairness",
         fixed(s.finish_time.unfair_percent, 1) + " % of the jobs above 1, half at most " +
             fixed(s.finish_time.p50, 2) + ", 99 % at most " + fixed(s.finish_time.p99, 2) +
             ", worst " + fixed(s.finish_time.worst, 2));
  }
  out += "\n" + wait_rows("SIZE", s.by_size);
  out += "\n" + wait_rows("PROJECT", s.by_project);
  if (s.fairness.empty()) return out;
  Table shares;
  shares.column("PROJECT");
  for (const char* name : {"QUOTA", "RECEIVED GPU-H", "OF ALL", "ENTITLED", "OF ENTITLED", "MISSED",
                           "WHILE LENT", "PREEMPTED", "LOST GPU-H"}) {
    shares.column(name, Align::kRight);
  }
  for (const sim::FairnessRow& row : s.fairness) {
    shares.row(sim::fairness_cells(row, "-"));
  }
  return out + "\n" + shares.text();
}

std::string comparison_table(const sim::Comparison& comparison) {
  if (comparison.policies.empty()) return {};
  sim::TextTable policies;
  policies.column("POLICY");
  for (const char* name : {"WORST RHO", "P99", "P90", "P50", "ABOVE 1"}) policies.column(name);
  policies.time_column("AVG JCT");
  for (const sim::PolicyFairness& row : comparison.policies) {
    policies.rows.push_back({row.policy, fixed(row.rho.worst, 2), fixed(row.rho.p99, 2),
                             fixed(row.rho.p90, 2), fixed(row.rho.p50, 2),
                             fixed(row.rho.unfair_percent, 1) + " %",
                             time_cell(row.completion.mean)});
  }
  std::string out = "\n" + text_of(std::move(policies));
  if (comparison.safety.empty()) return out;
  sim::TextTable safety;
  safety.column("PROJECT");
  for (const char* name : {"QUOTA", "WITHIN QUOTA", "WAITED LONGER", "BEYOND A DRAIN"}) {
    safety.column(name);
  }
  safety.time_column("DRAIN");
  safety.time_column("LONGEST EXCESS");
  for (const sim::SafetyRow& row : comparison.safety) {
    safety.rows.push_back(
        {row.project, fixed(row.quota_gpus, 0), grouped(static_cast<double>(row.within)),
         grouped(static_cast<double>(row.longer)), grouped(static_cast<double>(row.unsafe)),
         time_cell(row.drain_seconds), time_cell(row.longest_excess_seconds)});
  }
  return out + "\n" + text_of(std::move(safety));
}

std::string completion_table(const std::string& policy, const sim::ReplayResult& result,
                             const sim::Summary& s) {
  sim::TextTable table;
  table.column("POLICY");
  table.column("JOBS");
  for (const char* name : {"AVG JCT", "P50", "P99", "MAKESPAN"}) table.time_column(name);
  for (const char* name : {"PREEMPTIONS", "MOVES"}) table.column(name);
  table.rows.push_back({policy, grouped(static_cast<double>(s.finished)),
                        time_cell(s.completion.mean), time_cell(s.completion.p50),
                        time_cell(s.completion.p99), time_cell(s.makespan_seconds),
                        grouped(static_cast<double>(result.preemptions)),
                        grouped(static_cast<double>(result.moves))});
  return text_of(std::move(table));
}

std::string records_text(const sim::ReplayResult& result) {
  std::string out =
      "name,project,gpus,submit_s,first_start_s,end_s,duration_s,preemptions,faults,state\n";
  const auto time = [](Instant t) { return t == kNever ? "" : decimal_text(t.ms, 3); };
  for (const sim::JobRecord& job : result.jobs) {
    const char* state =
        job.finished() ? "finished" : (job.end == sim::JobEnd::kRefused ? "refused" : "unfinished");
    out += sim::csv_cell(job.name) + "," + sim::csv_cell(job.project) + "," +
           decimal_text(job.milli, 3) + "," + time(job.submit) + "," + time(job.first_start) + "," +
           time(job.ended) + "," + decimal_text(job.run_time.ms, 3) + "," +
           std::to_string(job.preemptions) + "," + std::to_string(job.faults) + "," + state + "\n";
  }
  return out;
}

}  // namespace fairlead::cli
