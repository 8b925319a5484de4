#include "sim/scenario/event_text.h"

#include <fmt/format.h>

#include "sim/log/decision_codec.h"

namespace fairlead::sim {
namespace {

struct EventText {
  std::string operator()(const sched::TopologyDefined& e) const {
    return fmt::format("levels: {}", e.levels.size());
  }
  std::string operator()(const sched::DeviceClassDefined& e) const {
    return "class " + e.device_class.name;
  }
  std::string operator()(const sched::PoolDefined& e) const { return "pool " + e.pool.name; }
  std::string operator()(const sched::NodeUpserted& e) const { return "node " + e.node.name; }
  std::string operator()(const sched::NodeRemoved& e) const { return "node removed: " + e.node; }
  std::string operator()(const sched::NodeConditionChanged& e) const {
    return fmt::format("node {}: {}, {}", e.node, e.ready ? "ready" : "down",
                       e.schedulable ? "schedulable" : "cordoned");
  }
  std::string operator()(const sched::DeviceHealthChanged& e) const {
    return fmt::format("device {}:{} {}", e.node, e.device,
                       e.health == DeviceHealth::kHealthy ? "healthy" : "unhealthy");
  }
  std::string operator()(const sched::QueueUpserted& e) const { return "queue " + e.queue.name; }
  std::string operator()(const sched::QueueRemoved& e) const { return "queue removed: " + e.queue; }
  std::string operator()(const sched::WorkloadSubmitted& e) const {
    return "submitted: " + e.workload.name;
  }
  std::string operator()(const sched::WorkloadAdopted& e) const {
    return fmt::format("found: {}, {} tasks running", e.entry.spec.name, e.entry.running.size());
  }
  std::string operator()(const sched::WorkloadChanged& e) const { return "changed: " + e.workload; }
  std::string operator()(const sched::WorkloadRemoved& e) const { return "removed: " + e.workload; }
  std::string operator()(const sched::TaskEnded& e) const {
    const char* outcome = e.outcome == sched::TaskOutcome::kSucceeded ? "succeeded"
                          : e.outcome == sched::TaskOutcome::kFailed  ? "failed"
                                                                      : "lost";
    return fmt::format("task {} {} {} {}", e.workload, e.role, e.index, outcome);
  }
  std::string operator()(const sched::CheckpointSaved& e) const {
    std::string text = "saved: " + e.workload;
    if (!e.role.empty()) text += " " + e.role;
    if (e.index >= 0) text += fmt::format(" {}", e.index);
    return text;
  }
  std::string operator()(const sched::WorkloadRequeued& e) const {
    return "requeued: " + e.workload;
  }
  std::string operator()(const sched::StartRefused& e) const {
    return "start refused: " + e.workload;
  }
  std::string operator()(const sched::MixStated& e) const {
    return fmt::format("mix of {} requests stated", e.entries.size());
  }
  std::string operator()(const sched::ReservationUpserted& e) const {
    return fmt::format("reserved: {}, {} nodes", e.reservation.name, e.reservation.nodes.size());
  }
  std::string operator()(const sched::ReservationRemoved& e) const {
    return "reservation removed: " + e.reservation;
  }
  std::string operator()(const sched::UsageRestored& e) const {
    return "usage restored: " + (e.queue.empty() ? "pool " + e.pool : e.queue);
  }
  std::string operator()(const sched::RuntimesRestored& e) const {
    return fmt::format("runtimes restored: {} of {} {}", e.last.size(), e.user, e.template_name);
  }
  std::string operator()(const sched::TimePassed&) const { return "time passed"; }
};

std::string_view cause_text(sched::StopCause cause) {
  switch (cause) {
    case sched::StopCause::kShrunk:
      return "shrunk";
    case sched::StopCause::kNodeShrunk:
      return "its node shrank";
    case sched::StopCause::kReclaimed:
      return "reclaimed";
    case sched::StopCause::kPreempted:
      return "preempted";
    case sched::StopCause::kMoved:
      return "moved";
    case sched::StopCause::kStale:
      return "below its minimum";
  }
  return "";
}

struct DecisionText {
  const NamedDecision& named;

  std::string operator()(const sched::Started& e) const {
    std::string text = fmt::format("-> {} {} in pool {}:", e.growth ? "grow" : "start",
                                   named.workload, named.pool);
    for (std::size_t t = 0; t < e.tasks.size(); ++t) {
      const sched::TaskPlacement& task = e.tasks[t];
      text += fmt::format(" {}/{} {}", task.role, task.index, named.nodes[t]);
      for (std::size_t i = 0; i < task.devices.size(); ++i) {
        const sched::DeviceClaim& claim = task.devices[i];
        text += fmt::format("{}{}", i == 0 ? ":" : "+", claim.device);
        if (claim.milli != kWholeGpu) {
          text += fmt::format("({} milli, {} MiB)", claim.milli.value, claim.memory.value);
        }
        if (claim.mig_start >= 0) text += fmt::format("@{}", claim.mig_start);
      }
      text += ';';
    }
    return text;
  }
  std::string operator()(const sched::Stopped& e) const {
    std::string text = fmt::format("-> stop of {}:", named.workload);
    for (const auto& [role, index] : e.tasks) text += fmt::format(" {}/{}", role, index);
    text += fmt::format("; {}", cause_text(e.cause));
    if (!named.claimant.empty()) text += fmt::format(" for {}", named.claimant);
    if (!e.text.empty()) text += ": " + e.text;
    return text;
  }
  std::string operator()(const sched::Finished& e) const {
    return fmt::format("-> {} {}", e.name, e.succeeded ? "finished" : "failed");
  }
};

}  // namespace

std::string event_text(const sched::Event& event) {
  return std::visit(EventText{}, event);
}

std::string decision_text(const sched::Decision& decision, const sched::Scheduler& scheduler) {
  return decision_text(named({decision}, scheduler).front());
}

std::string decision_text(const NamedDecision& decision) {
  return std::visit(DecisionText{decision}, decision.decision);
}

}  // namespace fairlead::sim
