#include "sim/whatif/comparison.h"

#include <algorithm>
#include <map>

namespace fairlead::sim {
namespace {

constexpr std::size_t kMostListed = 10;
constexpr double kMsPerHour = 3'600'000;

double seconds_of(Duration d) {
  return static_cast<double>(d.ms) / 1000;
}

double percent(double part, double whole) {
  return whole > 0 ? 100 * part / whole : 0;
}

// The figures of one run as they come in.
struct Tally {
  GroupFigures figures;
  std::vector<double> waits;

  void add(const Fate& fate) {
    figures.started += fate.started();
    figures.running += fate.running;
    figures.waiting += fate.waiting;
    figures.refused += fate.refused;
    figures.preemptions += fate.taken_back;
    figures.moves += fate.moved;
    figures.gpu_hours += static_cast<double>(fate.gpu_milli_ms) / kMilli / kMsPerHour;
    if (fate.started()) waits.push_back(seconds_of(fate.first_start - fate.submitted));
  }

  GroupFigures done() {
    if (waits.empty()) return figures;
    std::sort(waits.begin(), waits.end());
    double sum = 0;
    for (const double wait : waits) sum += wait;
    const auto n = static_cast<double>(waits.size());
    figures.mean_wait_seconds = sum / n;
    figures.p95_wait_seconds = waits[static_cast<std::size_t>(0.95 * n)];
    return figures;
  }
};

struct Group {
  GroupRow row;
  Tally before;
  Tally after;

  void add(const Fate& was, const Fate& is) {
    ++row.workloads;
    before.add(was);
    after.add(is);
    if (was.started() && is.started()) {
      row.earlier += is.first_start < was.first_start;
      row.later += is.first_start > was.first_start;
    } else {
      row.newly += is.started();
      row.never += was.started();
    }
  }

  GroupRow done(std::string queue) {
    row.queue = std::move(queue);
    row.before = before.done();
    row.after = after.done();
    return row;
  }
};

Duration wait_of(const Fate& fate, Instant end) {
  return (fate.started() ? fate.first_start : end) - fate.submitted;
}

void keep_best(std::vector<Moved>& list, bool gains) {
  std::stable_sort(list.begin(), list.end(), [gains](const Moved& a, const Moved& b) {
    return gains ? a.gain_seconds() > b.gain_seconds() : a.gain_seconds() < b.gain_seconds();
  });
  if (list.size() > kMostListed) list.resize(kMostListed);
}

}  // namespace

WhatIfComparison compare(const History& history, const RunOutcome& before,
                         const RunOutcome& after) {
  WhatIfComparison out;
  out.ahead = !history.recorded;
  out.unknown_runtimes = history.unknown;
  out.length_seconds = seconds_of(history.end - history.start);
  out.changed_at_seconds = seconds_of(after.changed_at - history.start);
  std::map<LifeName, const Fate*> was;
  for (const Fate& fate : before.fates) {
    was.emplace(fate.name, &fate);
    const Life* life = history.life(fate.name);
    const Instant recorded = life != nullptr && life->first_start ? *life->first_start : kNever;
    out.not_as_recorded += history.recorded && recorded != fate.first_start;
  }
  Group all;
  std::map<std::string, Group> queues;
  for (const Fate& is : after.fates) {
    if (is.added) {
      out.added.push_back(
          {is.name.first, is.queue, is.started(), seconds_of(wait_of(is, history.end))});
      continue;
    }
    const auto it = was.find(is.name);
    if (it == was.end()) continue;
    const Fate& then = *it->second;
    all.add(then, is);
    queues[is.queue].add(then, is);
    Moved moved{is.name.first,
                is.queue,
                seconds_of(wait_of(then, history.end)),
                seconds_of(wait_of(is, history.end)),
                then.started(),
                is.started()};
    if (moved.gain_seconds() > 0) out.gained.push_back(moved);
    if (moved.gain_seconds() < 0) out.lost.push_back(std::move(moved));
  }
  keep_best(out.gained, true);
  keep_best(out.lost, false);
  out.all = all.done("");
  for (auto& [name, group] : queues) out.queues.push_back(group.done(name));
  out.used_percent_before = percent(before.used_gpu_ms, before.capacity_gpu_ms);
  out.used_percent_after = percent(after.used_gpu_ms, after.capacity_gpu_ms);
  out.capacity_gpu_hours_before = before.capacity_gpu_ms / kMsPerHour;
  out.capacity_gpu_hours_after = after.capacity_gpu_ms / kMsPerHour;
  out.use_before = before.buckets;
  out.use_after = after.buckets;
  return out;
}

}  // namespace fairlead::sim
