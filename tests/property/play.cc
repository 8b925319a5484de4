#include "play.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace fairlead::property {
namespace {

using sched::Event;

// Genes 0 to 3 say what happens and to whom; specifications begin here.
constexpr std::size_t kSpecGenes = 4;

enum class Kind : std::uint8_t {
  kSubmit,
  kEnd,
  kRemove,
  kRequeue,
  kChange,
  kRefuse,
  kNode,
  kCondition,
  kHealth,
  kQueue,
  kTime,
  kPool,
  kAdopt,
  kCheckpoint
};

Kind kind_of(Choices& c) {
  static constexpr std::pair<Kind, int> kWeights[] = {
      {Kind::kSubmit, 40}, {Kind::kEnd, 14},      {Kind::kRemove, 6}, {Kind::kRequeue, 3},
      {Kind::kChange, 6},  {Kind::kRefuse, 4},    {Kind::kNode, 5},   {Kind::kCondition, 5},
      {Kind::kHealth, 3},  {Kind::kQueue, 4},     {Kind::kTime, 5},   {Kind::kPool, 1},
      {Kind::kAdopt, 2},   {Kind::kCheckpoint, 2}};
  auto n = static_cast<int>(c.below(100));
  for (const auto& [kind, weight] : kWeights) {
    if (n < weight) return kind;
    n -= weight;
  }
  return Kind::kSubmit;
}

template <class T>
const T* one_of(const std::vector<T>& list, Choices& c) {
  const std::size_t i = c.below(std::max<std::size_t>(1, list.size()));
  return list.empty() ? nullptr : &list[i];
}

}  // namespace

Play::Play(const Recipe& recipe, std::uint32_t checks, bool taking_back)
    : recipe_(recipe), setting_(setting_of(recipe.cluster)), driver_(checks, taking_back) {}

void Play::run() {
  build();
  for (const Genes& genes : recipe_.events) {
    if (driver_.failed()) return;
    play(genes);
  }
  if (!driver_.failed()) driver_.decide();
}

void Play::build() {
  driver_.tell(sched::TopologyDefined{setting_.levels});
  for (const DeviceClass& type : setting_.classes) driver_.tell(sched::DeviceClassDefined{type});
  for (const PoolSpec& pool : setting_.pools) driver_.tell(sched::PoolDefined{pool});
  for (const Genes& genes : recipe_.nodes) {
    driver_.tell(sched::NodeUpserted{node_of(genes, setting_, nodes_++)});
  }
  std::vector<Placed> placed;
  for (const Genes& genes : recipe_.queues) {
    QueueSpec queue = queue_of(genes, setting_, queues_++, placed);
    int depth = 0;
    for (const Placed& p : placed) depth = p.name == queue.parent ? p.depth + 1 : depth;
    placed.push_back({queue.name, depth});
    driver_.tell(sched::QueueUpserted{std::move(queue)});
  }
}

void Play::play(const Genes& genes) {
  Choices c(genes);
  const Kind kind = kind_of(c);
  const bool batched = c.chance(250);
  if (kind == Kind::kTime) {
    const Duration step = c.of({minutes(1), seconds(30), minutes(5), hours(1), hours(9)});
    Instant to = driver_.now() + step;
    const Instant wakeup = driver_.scheduler().next_wakeup();
    if (c.chance(400) && wakeup > driver_.now() && wakeup < driver_.now() + hours(24 * 8))
      to = wakeup;
    driver_.advance(to);
  } else if (auto event = event_of(genes)) {
    driver_.tell(std::move(*event));
  }
  if (!batched && !driver_.failed()) driver_.decide();
}

std::optional<Event> Play::event_of(const Genes& genes) {
  Choices c(genes);
  const Kind kind = kind_of(c);
  c.skip_to(2);
  const auto names = driver_.scheduler().workload_names();
  const auto node_names = driver_.scheduler().node_names();
  switch (kind) {
    case Kind::kSubmit:
      return submission(genes);
    case Kind::kEnd:
      return task_end(c);
    case Kind::kRemove:
      if (const auto* name = one_of(names, c)) return sched::WorkloadRemoved{*name};
      return std::nullopt;
    case Kind::kRequeue:
      if (const auto* name = one_of(names, c)) return sched::WorkloadRequeued{*name};
      return std::nullopt;
    case Kind::kChange:
      return change(c);
    case Kind::kRefuse:
      if (const auto* name = one_of(names, c)) {
        return sched::StartRefused{*name,
                                   driver_.now() + c.of({seconds(30), minutes(5), hours(1)})};
      }
      return std::nullopt;
    case Kind::kNode:
      return node_event(genes, c);
    case Kind::kCondition:
      if (const auto* name = one_of(node_names, c)) {
        const std::size_t state = c.below(4);
        return sched::NodeConditionChanged{*name, state != 1, state != 2};
      }
      return std::nullopt;
    case Kind::kHealth:
      if (const auto* name = one_of(node_names, c)) {
        const auto& devices = driver_.symbols().nodes.at(*name).devices;
        if (const auto* device = one_of(devices, c)) {
          return sched::DeviceHealthChanged{
              *name, device->id, c.of({DeviceHealth::kUnhealthy, DeviceHealth::kHealthy})};
        }
      }
      return std::nullopt;
    case Kind::kQueue:
      return queue_event(genes, c);
    case Kind::kPool: {
      PoolSpec pool = setting_.pools[c.below(setting_.pools.size())];
      pool.exchange_rates[setting_.classes.back().name] =
          c.of<std::int64_t>({1'000, 2'000, 500, 1'250});
      if (c.chance(300)) pool.gpu_strategy = Strategy::kSpread;
      return sched::PoolDefined{std::move(pool)};
    }
    case Kind::kAdopt:
      return adoption(genes, c);
    case Kind::kCheckpoint:
      return checkpoint(c);
    case Kind::kTime:
      break;
  }
  return std::nullopt;
}

std::vector<std::string> Play::leaves() {
  std::vector<std::string> out = driver_.scheduler().queue_names();
  const auto all = out;
  std::erase_if(out, [&](const std::string& queue) {
    return std::any_of(all.begin(), all.end(), [&](const std::string& other) {
      return driver_.symbols().queues.at(other).parent == queue;
    });
  });
  return out;
}

std::optional<Event> Play::submission(const Genes& genes) {
  Choices c(genes);
  c.skip_to(2);
  const auto queues = leaves();
  const auto* queue = one_of(queues, c);
  if (!queue) return std::nullopt;
  return sched::WorkloadSubmitted{
      workload_of(genes, kSpecGenes, setting_, fmt::format("w{}", workloads_++), *queue)};
}

// All that runs, as if it ended well.
std::vector<sched::TaskEnded> Play::running_tasks() {
  std::vector<sched::TaskEnded> running;
  for (const std::string& name : driver_.scheduler().workload_names()) {
    const auto view = driver_.scheduler().workload(name);
    for (const sched::TaskView& task : view->tasks) {
      running.push_back({name, task.role, task.index, sched::TaskOutcome::kSucceeded});
    }
  }
  return running;
}

std::optional<Event> Play::checkpoint(Choices& c) {
  const auto running = running_tasks();
  const auto* task = one_of(running, c);
  if (!task) return std::nullopt;
  sched::CheckpointSaved event{task->workload, {}, -1};
  const std::size_t what = c.below(3);
  if (what >= 1) event.role = task->role;
  if (what == 2) event.index = task->index;
  return event;
}

std::optional<Event> Play::task_end(Choices& c) {
  const auto running = running_tasks();
  const auto* task = one_of(running, c);
  if (!task) return std::nullopt;
  sched::TaskEnded ended = *task;
  ended.outcome = c.of(
      {sched::TaskOutcome::kSucceeded, sched::TaskOutcome::kFailed, sched::TaskOutcome::kLost});
  return ended;
}

std::optional<Event> Play::change(Choices& c) {
  const auto names = driver_.scheduler().workload_names();
  const auto* name = one_of(names, c);
  if (!name) return std::nullopt;
  const WorkloadSpec& spec = driver_.symbols().workloads.at(*name);
  sched::WorkloadChanged event;
  event.workload = *name;
  const auto* role = one_of(spec.roles, c);
  const std::int32_t count = c.of({1, 2, 3, 5});
  const auto min = static_cast<std::int32_t>(c.below(static_cast<std::size_t>(count) + 1));
  if (c.chance(300)) event.priority = c.of({50, 25, 100});
  if (c.chance(200)) event.order_key = c.of({0, -1, 1});
  if (c.chance(800)) {
    event.roles.push_back({role->name, count, spec.independent_tasks() ? count : min});
  }
  return event;
}

std::optional<Event> Play::node_event(const Genes& genes, Choices& c) {
  const auto names = driver_.scheduler().node_names();
  const std::size_t what = c.below(3);
  const auto* name = one_of(names, c);
  Genes spec_genes{};
  std::copy(genes.begin() + kSpecGenes, genes.end(), spec_genes.begin());
  if (what == 0 || !name) return sched::NodeUpserted{node_of(spec_genes, setting_, nodes_++)};
  if (what == 1) return sched::NodeRemoved{*name};
  // Another node of the same name; its devices keep their class, as hardware does.
  NodeSpec node = node_of(spec_genes, setting_, 0);
  const NodeSpec& old = driver_.symbols().nodes.at(*name);
  node.name = *name;
  for (std::size_t d = 0; d < std::min(node.devices.size(), old.devices.size()); ++d) {
    node.devices[d].device_class = old.devices[d].device_class;
    node.devices[d].mig_enabled = old.devices[d].mig_enabled;
  }
  if (driver_.now().ms % 2 == 0 && !old.numa.empty()) node.numa = {};
  return sched::NodeUpserted{std::move(node)};
}

std::optional<Event> Play::queue_event(const Genes& genes, Choices& c) {
  const auto names = driver_.scheduler().queue_names();
  const auto* name = one_of(names, c);
  const std::size_t what = c.below(8);
  if (name && what == 7) return sched::QueueRemoved{*name};
  if (!name || what == 6) {
    QueueSpec queue;
    queue.name = fmt::format("q{}", queues_++);
    if (name) queue.parent = driver_.symbols().queues.at(*name).parent;
    return sched::QueueUpserted{queue_changed(genes, kSpecGenes, setting_, std::move(queue))};
  }
  return sched::QueueUpserted{
      queue_changed(genes, kSpecGenes, setting_, driver_.symbols().queues.at(*name))};
}

std::optional<Event> Play::adoption(const Genes& genes, Choices& c) {
  const auto queues = leaves();
  const auto nodes = driver_.scheduler().node_names();
  const auto* queue = one_of(queues, c);
  const auto* node = one_of(nodes, c);
  if (!queue || !node) return std::nullopt;
  WorkloadEntry entry;
  entry.spec = workload_of(genes, kSpecGenes, setting_, fmt::format("w{}", workloads_++), *queue);
  entry.submitted = driver_.now();
  entry.started = driver_.now();
  for (const RoleSpec& role : entry.spec.roles) {
    for (std::int32_t i = 0; i < role.min; ++i) entry.running.push_back({role.name, i, *node, {}});
  }
  if (entry.running.empty()) return std::nullopt;
  return sched::WorkloadAdopted{std::move(entry)};
}

}  // namespace fairlead::property
