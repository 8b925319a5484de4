#include "cli/whatif_report.h"

#include <cmath>

#include <nlohmann/json.hpp>

#include "base/printable.h"
#include "cli/output.h"
#include "sim/report/text.h"

namespace fairlead::cli {
namespace {

using Json = nlohmann::ordered_json;
using sim::duration_words;
using sim::fixed;

double rounded(double value) {
  return std::round(value * 1e4) / 1e4;
}

std::string arrow(const std::string& before, const std::string& after) {
  return before == after ? before : before + " → " + after;
}

std::string arrow(std::int64_t before, std::int64_t after) {
  return arrow(std::to_string(before), std::to_string(after));
}

void add_row(Table& table, const sim::GroupRow& row) {
  table.row({row.queue.empty() ? "all" : printable(row.queue), std::to_string(row.workloads),
             std::to_string(row.earlier), std::to_string(row.later), std::to_string(row.newly),
             std::to_string(row.never),
             arrow(duration_words(row.before.mean_wait_seconds),
                   duration_words(row.after.mean_wait_seconds)),
             arrow(duration_words(row.before.p95_wait_seconds),
                   duration_words(row.after.p95_wait_seconds)),
             arrow(row.before.preemptions, row.after.preemptions),
             arrow(fixed(row.before.gpu_hours, 1), fixed(row.after.gpu_hours, 1))});
}

std::string wait_cell(double seconds, bool started) {
  return started ? duration_words(seconds) : "not within " + duration_words(seconds);
}

std::string moved_table(const char* heading, const std::vector<sim::Moved>& list) {
  if (list.empty()) return {};
  Table table;
  for (const char* name : {heading, "QUEUE", "WAIT AS IT WAS", "WITH THE CHANGE"}) {
    table.column(name);
  }
  for (const sim::Moved& m : list) {
    table.row({printable(m.workload), printable(m.queue),
               wait_cell(m.wait_before_seconds, m.started_before),
               wait_cell(m.wait_after_seconds, m.started_after)});
  }
  return "\n" + table.text();
}

Json figures_json(const sim::GroupFigures& f) {
  return {{"started", f.started},
          {"notEnded", f.running},
          {"waiting", f.waiting},
          {"refused", f.refused},
          {"avgWaitSeconds", rounded(f.mean_wait_seconds)},
          {"p95WaitSeconds", rounded(f.p95_wait_seconds)},
          {"preemptions", f.preemptions},
          {"moves", f.moves},
          {"gpuHours", rounded(f.gpu_hours)}};
}

Json row_json(const sim::GroupRow& row) {
  Json out;
  if (!row.queue.empty()) out["queue"] = row.queue;
  out["workloads"] = row.workloads;
  out["earlier"] = row.earlier;
  out["later"] = row.later;
  out["newly"] = row.newly;
  out["never"] = row.never;
  out["before"] = figures_json(row.before);
  out["after"] = figures_json(row.after);
  return out;
}

Json moved_json(const std::vector<sim::Moved>& list) {
  Json out = Json::array();
  for (const sim::Moved& m : list) {
    out.push_back({{"workload", m.workload},
                   {"queue", m.queue},
                   {"startedBefore", m.started_before},
                   {"startedAfter", m.started_after},
                   {"waitBeforeSeconds", rounded(m.wait_before_seconds)},
                   {"waitAfterSeconds", rounded(m.wait_after_seconds)}});
  }
  return out;
}

}  // namespace

std::string whatif_table(const sim::WhatIfComparison& c) {
  std::string out = (c.ahead ? "the next " : "log of ") + duration_words(c.length_seconds) +
                    ", changed after " + duration_words(c.changed_at_seconds) + "\n";
  out += "GPU time used: " +
         arrow(fixed(c.used_percent_before, 1) + " %", fixed(c.used_percent_after, 1) + " %") +
         " of " +
         arrow(fixed(c.capacity_gpu_hours_before, 1), fixed(c.capacity_gpu_hours_after, 1)) +
         " GPU-hours\n";
  out += "at the end: " + arrow(c.all.before.running, c.all.after.running) + " running, " +
         arrow(c.all.before.waiting, c.all.after.waiting) + " waiting\n";
  for (const sim::AddedWorkload& added : c.added) {
    out += printable(added.workload) + " would start " +
           (added.started ? "after waiting " + duration_words(added.wait_seconds)
                          : "not within " + duration_words(added.wait_seconds) +
                                (c.ahead ? "" : ", the rest of the log")) +
           "\n";
  }
  Table table;
  table.column("QUEUE");
  for (const char* name : {"WORKLOADS", "EARLIER", "LATER", "NEWLY", "NO MORE", "MEAN WAIT",
                           "95 % WAIT", "PREEMPTIONS", "GPU-H"}) {
    table.column(name, Table::Align::kRight);
  }
  for (const sim::GroupRow& row : c.queues) add_row(table, row);
  add_row(table, c.all);
  return out + "\n" + table.text() + moved_table("GAINS MOST", c.gained) +
         moved_table("LOSES MOST", c.lost);
}

std::string whatif_json(const sim::KeyValues& settings, const sim::WhatIfComparison& c) {
  Json out;
  Json& set = out["settings"] = Json::object();
  for (const auto& [key, value] : settings) set[key] = value;
  out["ahead"] = c.ahead;
  out["logSeconds"] = rounded(c.length_seconds);
  out["changedAtSeconds"] = rounded(c.changed_at_seconds);
  out["notAsRecorded"] = c.not_as_recorded;
  out["unknownRuntimes"] = c.unknown_runtimes;
  out["usedPercentBefore"] = rounded(c.used_percent_before);
  out["usedPercentAfter"] = rounded(c.used_percent_after);
  out["capacityGpuHoursBefore"] = rounded(c.capacity_gpu_hours_before);
  out["capacityGpuHoursAfter"] = rounded(c.capacity_gpu_hours_after);
  out["all"] = row_json(c.all);
  Json& queues = out["queues"] = Json::array();
  for (const sim::GroupRow& row : c.queues) queues.push_back(row_json(row));
  out["gained"] = moved_json(c.gained);
  out["lost"] = moved_json(c.lost);
  Json& added = out["added"] = Json::array();
  for (const sim::AddedWorkload& one : c.added) {
    added.push_back({{"workload", one.workload},
                     {"queue", one.queue},
                     {"started", one.started},
                     {"waitSeconds", rounded(one.wait_seconds)}});
  }
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace fairlead::cli
