// A scenario as a document tree.

#include <iterator>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/decimal.h"
#include "model/cluster_printer.h"
#include "model/readers.h"
#include "model/tree.h"
#include "model/words.h"
#include "sim/scenario/document.h"
#include "sim/scenario/document_writers.h"
#include "sim/scenario/symbols.h"
#include "sim/scenario/time_text.h"

namespace fairlead::sim {
namespace {

Tree fields_of(const ClusterSpec& cluster) {
  Tree map = Tree::map();
  add_cluster_fields(cluster, map);
  return map;
}

Tree one(std::string key, Tree value) {
  Tree map = Tree::map();
  map.add(std::move(key), std::move(value));
  return map;
}

Tree named(std::string key, const std::string& name) {
  return one(std::move(key), Tree::string(name));
}

struct EventWriter {
  const Symbols& symbols;
  Instant start;

  Tree operator()(const sched::TopologyDefined& e) const {
    ClusterSpec cluster;
    cluster.topology_levels = e.levels;
    return fields_of(cluster);
  }
  Tree operator()(const sched::DeviceClassDefined& e) const {
    ClusterSpec cluster;
    cluster.device_classes.push_back(e.device_class);
    return fields_of(cluster);
  }
  Tree operator()(const sched::PoolDefined& e) const {
    ClusterSpec cluster;
    cluster.pools.push_back(e.pool);
    return fields_of(cluster);
  }
  Tree operator()(const sched::NodeUpserted& e) const {
    ClusterSpec cluster;
    cluster.nodes.push_back(e.node);
    return fields_of(cluster);
  }
  Tree operator()(const sched::NodeRemoved& e) const { return named("removeNode", e.node); }
  Tree operator()(const sched::NodeConditionChanged& e) const {
    const auto it = symbols.nodes.find(e.node);
    const bool schedulable = it == symbols.nodes.end() || it->second.schedulable;
    if (schedulable != e.schedulable) return named(e.schedulable ? "uncordon" : "cordon", e.node);
    return named(e.ready ? "up" : "down", e.node);
  }
  Tree operator()(const sched::DeviceHealthChanged& e) const {
    return named(e.health == DeviceHealth::kHealthy ? "healthy" : "unhealthy",
                 e.node + ":" + e.device);
  }
  Tree operator()(const sched::QueueUpserted& e) const {
    ClusterSpec cluster;
    cluster.queues.push_back(e.queue);
    return fields_of(cluster);
  }
  Tree operator()(const sched::QueueRemoved& e) const { return named("removeQueue", e.queue); }
  Tree operator()(const sched::WorkloadSubmitted& e) const {
    WorkloadEntry entry;
    entry.spec = e.workload;
    return one("submit", workload_tree(entry));
  }
  Tree operator()(const sched::WorkloadAdopted& e) const {
    return one("submit", workload_tree(e.entry));
  }
  Tree operator()(const sched::WorkloadChanged& e) const {
    Tree map = Tree::map();
    map.add("workload", Tree::string(e.workload));
    if (e.priority) map.add("priority", Tree::number(*e.priority));
    if (e.order_key) map.add("orderKey", Tree::number(*e.order_key));
    if (!e.roles.empty()) {
      Tree& roles = map.add("roles", Tree::list());
      for (const sched::RoleChange& change : e.roles) {
        Tree role = Tree::map();
        role.add("name", Tree::string(change.role));
        if (change.count) role.add("count", Tree::number(*change.count));
        if (change.min) role.add("min", Tree::number(*change.min));
        roles.push(std::move(role));
      }
    }
    return one("change", std::move(map));
  }
  Tree operator()(const sched::WorkloadRemoved& e) const { return named("remove", e.workload); }
  Tree operator()(const sched::TaskEnded& e) const {
    return end_tree({e.workload, e.role, e.index, e.outcome});
  }
  Tree operator()(const sched::CheckpointSaved& e) const {
    return tasks_tree("checkpoint", e.workload, e.role, e.index);
  }
  Tree operator()(const sched::WorkloadRequeued& e) const { return named("requeue", e.workload); }
  Tree operator()(const sched::StartRefused& e) const {
    Tree map = Tree::map();
    map.add("workload", Tree::string(e.workload));
    map.add("retry", Tree::string(to_text(e.retry_at - symbols.now)));
    return one("refuseStart", std::move(map));
  }
  Tree operator()(const sched::ReservationUpserted& e) const {
    const ReservationSpec& r = e.reservation;
    Tree map = Tree::map();
    map.add("name", Tree::string(r.name));
    map.add("nodes", Tree::strings(r.nodes));
    map.add("from", Tree::string(instant_text(r.from, start)));
    map.add("until", Tree::string(instant_text(r.until, start)));
    if (!r.queues.empty()) map.add("for", Tree::strings(r.queues));
    return one("reserve", std::move(map));
  }
  Tree operator()(const sched::ReservationRemoved& e) const {
    return named("release", e.reservation);
  }
  Tree operator()(const sched::MixStated& e) const {
    Tree list = Tree::list();
    for (const sched::MixStated::Entry& entry : e.entries) {
      // A workload of one such task, without what only workloads have.
      Tree map = Tree::map();
      map.add("count", Tree::number(entry.count));
      if (!entry.request.gpu.none()) map.add("gpu", gpu_tree(entry.request.gpu));
      if (entry.request.cpu.value != 0) {
        map.add("cpu", Tree::number(decimal_text(entry.request.cpu.value, 3)));
      }
      if (entry.request.memory.value != 0) {
        map.add("memory", Tree::string(bytes_text(entry.request.memory.value)));
      }
      if (!entry.constraints.device_classes.empty()) {
        map.add("deviceClasses", Tree::strings(entry.constraints.device_classes));
      }
      list.push(std::move(map));
    }
    return one("mix", std::move(list));
  }
  // A scenario begins without a history; that it was told makes the core decide.
  Tree operator()(const sched::UsageRestored&) const { return one("decide", Tree::boolean(true)); }
  Tree operator()(const sched::RuntimesRestored&) const {
    return one("decide", Tree::boolean(true));
  }
  Tree operator()(const sched::TimePassed&) const { return one("decide", Tree::boolean(true)); }

  static Tree end_tree(const TasksEnd& e) {
    const char* verb = e.outcome == sched::TaskOutcome::kSucceeded ? "finish"
                       : e.outcome == sched::TaskOutcome::kFailed  ? "fail"
                                                                   : "lose";
    return tasks_tree(verb, e.workload, e.role, e.index);
  }
  static Tree tasks_tree(const char* verb, const std::string& workload, const std::string& role,
                         std::int32_t index) {
    if (role.empty() && index < 0) return named(verb, workload);
    Tree map = Tree::map();
    map.add("workload", Tree::string(workload));
    if (!role.empty()) map.add("role", Tree::string(role));
    if (index >= 0) map.add("index", Tree::number(index));
    return one(verb, std::move(map));
  }
};

// Takes the first steps that build a cluster, up to the first that does not.
class Opening {
 public:
  bool take(const sched::Event& event) {
    if (const auto* e = std::get_if<sched::TopologyDefined>(&event)) {
      cluster.topology_levels = e->levels;
    } else if (const auto* c = std::get_if<sched::DeviceClassDefined>(&event)) {
      cluster.device_classes.push_back(c->device_class);
    } else if (const auto* p = std::get_if<sched::PoolDefined>(&event)) {
      if (!names_.insert("pool " + p->pool.name).second) return false;
      cluster.pools.push_back(p->pool);
    } else if (const auto* n = std::get_if<sched::NodeUpserted>(&event)) {
      if (!names_.insert("node " + n->node.name).second) return false;
      cluster.nodes.push_back(n->node);
    } else if (const auto* q = std::get_if<sched::QueueUpserted>(&event)) {
      if (!names_.insert("queue " + q->queue.name).second) return false;
      cluster.queues.push_back(q->queue);
    } else {
      return false;
    }
    return true;
  }

  ClusterSpec cluster;

 private:
  std::set<std::string> names_;
};

// Steps of the document: events, then expectations, each time beginning anew.
class StepsWriter {
 public:
  explicit StepsWriter(Instant start) : start_(start) { symbols_.now = start; }

  void note(const sched::Event& event) { symbols_.note(event); }

  void take(const Step& step) {
    std::visit([this](const auto& what) { take_one(what); }, step.what);
  }

  Tree finish() {
    flush();
    return std::move(steps_);
  }

 private:
  void take_one(const sched::Event& event) {
    add_event(std::visit(EventWriter{symbols_, start_}, event));
    symbols_.note(event);
  }
  void take_one(const DecideNow&) { add_event(one("decide", Tree::boolean(true))); }
  void take_one(const TasksEnd& end) { add_event(EventWriter::end_tree(end)); }
  void take_one(const ClockMoved& move) {
    flush();
    step_.add("at", Tree::string(instant_text(move.to, start_)));
    if (move.asleep) step_.add("asleep", Tree::boolean(true));
    symbols_.now = move.to;
  }
  void take_one(const Expectation& expectation) {
    expect_.push(expectation_tree(expectation, start_));
  }

  void add_event(Tree tree) {
    if (!expect_.empty()) flush();
    events_.push(std::move(tree));
  }

  void flush() {
    if (!events_.empty()) step_.add("events", std::move(events_));
    if (!expect_.empty()) step_.add("expect", std::move(expect_));
    if (!step_.empty()) steps_.push(std::move(step_));
    events_ = Tree::list();
    expect_ = Tree::list();
    step_ = Tree::map();
  }

  Instant start_;
  Symbols symbols_;
  Tree steps_ = Tree::list();
  Tree step_ = Tree::map();
  Tree events_ = Tree::list();
  Tree expect_ = Tree::list();
};

Tree scenario_tree(const Scenario& scenario, bool unchecked) {
  Tree root = Tree::map();
  root.add("apiVersion", Tree::string("fairlead/v1"));
  root.add("kind", Tree::string("Scenario"));
  if (!scenario.title.empty()) root.add("title", Tree::string(scenario.title));
  if (!scenario.story.empty()) root.add("story", Tree::strings(scenario.story));
  if (unchecked) root.add("unchecked", Tree::boolean(true));
  if (!scenario.rules.empty()) root.add("rules", Tree::strings(scenario.rules));
  if (scenario.start != kScenarioStart) root.add("start", Tree::string(to_rfc3339(scenario.start)));
  const sched::SchedulerOptions usual;
  if (scenario.options.placement != usual.placement) {
    root.add("placement", Tree::string(scenario.options.placement));
  }
  if (scenario.options.seed != usual.seed) {
    root.add("seed", Tree::number(std::to_string(scenario.options.seed)));
  }
  if (scenario.options.search_steps != usual.search_steps) {
    root.add("searchSteps", Tree::number(scenario.options.search_steps));
  }
  Opening opening;
  StepsWriter steps(scenario.start);
  auto step = scenario.steps.begin();
  for (; step != scenario.steps.end(); ++step) {
    const auto* event = std::get_if<sched::Event>(&step->what);
    if (event == nullptr || !opening.take(*event)) break;
    steps.note(*event);
  }
  add_cluster_fields(opening.cluster, root);
  for (; step != scenario.steps.end(); ++step) steps.take(*step);
  root.add("steps", steps.finish());
  return root;
}

// Marked `unchecked` if only then it can be read again.
std::string marked_at_need(const Scenario& scenario, std::string (*print)(const Tree&),
                           const char* file) {
  std::string plain = print(scenario_tree(scenario, false));
  if (parse_scenario_document(plain, file)) return plain;
  std::string marked = print(scenario_tree(scenario, true));
  return parse_scenario_document(marked, file) ? marked : plain;
}

}  // namespace

std::string scenario_yaml(const Scenario& scenario) {
  return marked_at_need(scenario, to_yaml, "scenario.yaml");
}

std::string scenario_json(const Scenario& scenario) {
  return marked_at_need(scenario, to_json, "scenario.json");
}

}  // namespace fairlead::sim
