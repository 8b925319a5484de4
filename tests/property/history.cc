#include "history.h"

#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/check.h"
#include "sim/scenario/printer.h"

namespace fairlead::property {

sched::Scheduler new_scheduler(bool taking_back) {
  sched::SchedulerOptions options;
  options.reclaim = options.preempt = options.consolidate = taking_back;
  auto scheduler = sched::Scheduler::create(options);
  FAIRLEAD_CHECK(scheduler.has_value(), "the default options are legal");
  return std::move(*scheduler);
}

std::string scenario_text(const History& history, const std::string& title) {
  sim::Scenario scenario;
  scenario.title = title;
  Instant now = scenario.start;
  for (const Moment& moment : history) {
    if (moment.refused) continue;
    if (moment.at > now) {
      now = moment.at;
      scenario.steps.push_back({0, sim::ClockMoved{now, true}});
    }
    if (!moment.event) {
      const bool again = scenario.steps.empty() ||
                         std::holds_alternative<sim::DecideNow>(scenario.steps.back().what);
      if (!again) scenario.steps.push_back({0, sim::DecideNow{}});
    } else if (!std::holds_alternative<sched::TimePassed>(*moment.event)) {
      scenario.steps.push_back({0, *moment.event});
    }
  }
  return sim::print_scenario(scenario);
}

std::string exact_text(const std::vector<sched::Decision>& decisions,
                       const sched::Scheduler& scheduler) {
  std::string text;
  for (const sched::Decision& decision : decisions) {
    if (const auto* started = std::get_if<sched::Started>(&decision)) {
      text += fmt::format("start {} in {} growth={}\n", scheduler.workload_name(started->workload),
                          scheduler.pool_name(started->pool), started->growth);
      for (const sched::TaskPlacement& task : started->tasks) {
        text += fmt::format("  {}/{} {}", task.role, task.index, scheduler.node_name(task.node));
        for (const sched::DeviceClaim& d : task.devices) {
          text += fmt::format(" {}:{}:{}:{}:{}", d.device, d.milli.value, d.memory.value,
                              d.mig_start, d.mig_profile);
        }
        for (const sched::CpuClaim& c : task.cpus) {
          text += fmt::format(" cell{}:{}", c.cell, c.cpu.value);
        }
        text += "\n";
      }
    } else if (const auto* stopped = std::get_if<sched::Stopped>(&decision)) {
      text += fmt::format("stop {} {} {}", scheduler.workload_name(stopped->workload),
                          static_cast<int>(stopped->cause), stopped->text);
      for (const auto& [role, index] : stopped->tasks) text += fmt::format(" {}/{}", role, index);
      text += "\n";
    } else if (const auto* finished = std::get_if<sched::Finished>(&decision)) {
      text += fmt::format("finish {} {}\n", finished->name, finished->succeeded);
    }
  }
  return text;
}

Replayed replay(const History& history, bool taking_back) {
  Replayed out{new_scheduler(taking_back), {}};
  for (const Moment& moment : history) {
    if (moment.event) {
      const auto applied = out.scheduler.apply(moment.at, *moment.event);
      out.decisions += applied ? "" : "refused: " + applied.error().text() + "\n";
    } else {
      const auto decisions = out.scheduler.decide(moment.at);
      out.decisions += "decide\n" + exact_text(decisions, out.scheduler);
    }
  }
  return out;
}

}  // namespace fairlead::property
