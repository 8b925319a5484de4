// What people and programs ask: answered from the scheduler and the desk, at one moment.
#include <algorithm>

#include "control/desk.h"
#include "control/documents.h"
#include "control/words.h"

namespace fairlead::control {

store::Record queue_record(const QueueNode& node);
store::Record pool_record(const PoolNode& pool);
store::Record reservation_record(const ReservationNode& node);

namespace {

Tree numbers_tree(const sched::Amounts& amounts) {
  Tree out = Tree::map();
  for (const auto& [resource, amount] : amounts) out.add(resource, Tree::number(amount));
  return out;
}

Tree change_tree(const sched::Change& change) {
  Tree out = Tree::map();
  out.add("kind", Tree::string(std::string(sched::change_kind_name(change.kind))));
  if (!change.target.empty()) out.add("target", Tree::string(change.target));
  if (!change.resource.empty()) out.add("resource", Tree::string(change.resource));
  if (change.kind == sched::ChangeKind::kWaitUntil) {
    out.add("at", Tree::string(to_rfc3339(change.at)));
  } else {
    out.add("amount", Tree::number(change.amount));
  }
  out.add("text", Tree::string(change.text));
  return out;
}

Tree start_tree(const sched::ExpectedStart& start) {
  Tree out = Tree::map();
  if (start.earliest && *start.earliest != kNever) {
    out.add("earliest", Tree::string(to_rfc3339(*start.earliest)));
  }
  if (start.latest && *start.latest != kNever) {
    out.add("latest", Tree::string(to_rfc3339(*start.latest)));
  }
  out.add("reserved", Tree::boolean(start.reserved));
  out.add("declared", Tree::boolean(start.declared));
  if (!start.nodes.empty()) out.add("nodes", Tree::strings(start.nodes));
  out.add("text", Tree::string(start.text));
  return out;
}

Tree reason_tree(const sched::Reason& reason) {
  Tree out = Tree::map();
  out.add("code", Tree::string(std::string(sched::reason_code_name(reason.code))));
  out.add("rule", Tree::string(reason.rule));
  out.add("never", Tree::boolean(reason.never));
  if (!reason.pool.empty()) out.add("pool", Tree::string(reason.pool));
  if (!reason.subject.empty()) out.add("subject", Tree::string(reason.subject));
  if (!reason.resource.empty()) out.add("resource", Tree::string(reason.resource));
  out.add("asked", Tree::number(reason.asked));
  out.add("available", Tree::number(reason.available));
  if (!reason.holders.empty()) out.add("holders", Tree::strings(reason.holders));
  out.add("text", Tree::string(reason.text));
  if (reason.cheapest) out.add("cheapest", change_tree(*reason.cheapest));
  return out;
}

Outcome answer(const Tree& body) {
  Outcome outcome;
  outcome.body = to_json_line(body);
  return outcome;
}

constexpr std::size_t kMostOfAPage = std::size_t{4} << 20;  // bytes; what passes it is the last

// One page of what lies in a map by name.
template <class Map, class Show>
Tree page_of(const Map& map, std::int64_t limit, const std::string& after, Show show) {
  Tree out = Tree::map();
  Tree& items = out.add("items", Tree::list());
  auto it = after.empty() ? map.begin() : map.upper_bound(after);
  std::string last;
  std::int64_t shown = 0;
  std::size_t bytes = 0;
  for (; it != map.end() && shown < limit && bytes < kMostOfAPage; ++it) {
    auto body = show(it->second);
    if (!body) continue;
    bytes += body->size();
    items.push(Tree::json(std::move(*body)));
    last = it->first;
    ++shown;
  }
  if (it != map.end()) out.add("nextPageToken", Tree::string(last));
  return out;
}

// Appends fields to a JSON object.
std::string with_fields(std::string object, const std::string& fields) {
  object.pop_back();
  return object + "," + fields + "}";
}

}  // namespace

Tree explanation_tree(const sched::Scheduler& core, const Workload& w, std::size_t place,
                      std::size_t waiting, bool for_room) {
  Tree out = Tree::map();
  out.add("workload", Tree::string(w.core_name()));
  out.add("phase", Tree::string(word_of<Phase>(words::kPhases, w.phase)));
  const auto explained = w.in_core ? core.explain(w.core_name()) : std::unexpected(Error{});
  if (!explained || (explained->reasons.empty() && !explained->start)) {
    std::string text = w.reason;
    if (for_room) text = "it has its place, and starts when those who leave it have stopped (7.8)";
    if (text.empty()) text = "it is " + word_of<Phase>(words::kPhases, w.phase);
    out.add("text", Tree::string(text));
    return out;
  }
  out.add("text", Tree::string(explained->text()));
  out.add("never", Tree::boolean(explained->never));
  if (place > 0) {
    out.add("place", Tree::number(static_cast<std::int64_t>(place)));
    out.add("waiting", Tree::number(static_cast<std::int64_t>(waiting)));
  }
  Tree& reasons = out.add("reasons", Tree::list());
  for (const sched::Reason& reason : explained->reasons) reasons.push(reason_tree(reason));
  if (explained->cheapest) out.add("cheapest", change_tree(*explained->cheapest));
  if (explained->start) out.add("start", start_tree(*explained->start));
  return out;
}

std::pair<std::size_t, std::size_t> Desk::place_of(const Workload& w) {
  if (!places_) {
    places_.emplace();
    std::size_t place = 0;
    for (std::string& name : core_->waiting()) places_->emplace(std::move(name), ++place);
  }
  const auto found = w.in_core ? places_->find(w.core_name()) : places_->end();
  return {found == places_->end() ? 0 : found->second, places_->size()};
}

// Whether a task of it is placed, and what it needs is not released yet.
bool Desk::waits_for_room(const Workload& w) const {
  if (w.desired == Desired::kFrozen) return false;  // it waits for nothing but its resuming
  for (auto it = attempts_.lower_bound(w.id); it != attempts_.end(); ++it) {
    if (it->second.workload != w.id) break;
    if (it->second.state == AttemptState::kWaiting) return true;
  }
  return false;
}

std::pair<std::string, std::int64_t> Desk::body_of(const Outcome& outcome) {
  if (outcome.kind.empty()) return {outcome.body, outcome.revision.value_or(0)};
  if (outcome.kind == "workload") {
    const auto found = workloads_.find(outcome.id);
    if (found == workloads_.end()) return {outcome.body, 0};
    Workload& w = *found->second;
    std::string body = workload_record(w).body;
    if (outcome.with_plan) {
      const auto [place, waiting] = place_of(w);
      body = with_fields(std::move(body),
                         "\"plan\":" + to_json_line(explanation_tree(*core_, w, place, waiting,
                                                                     waits_for_room(w))));
    }
    return {std::move(body), w.revision};
  }
  Result<Outcome> shown = fail(ErrorCode::kNotFound, "gone");
  if (outcome.kind == "department") shown = queue_node(QueueKind::kDepartment, outcome.id);
  if (outcome.kind == "project") shown = queue_node(QueueKind::kProject, outcome.id);
  if (outcome.kind == "node-pool") shown = pool(outcome.id);
  if (outcome.kind == "node") shown = node(outcome.id);
  if (outcome.kind == "reservation") shown = reservation(outcome.id);
  if (outcome.kind == "user") {
    const User* found = user(outcome.id);
    if (found != nullptr) return {to_json_line(user_tree(*found)), found->revision};
  }
  if (!shown) return {outcome.body, 0};
  return {shown->body, shown->revision.value_or(0)};
}

Result<Outcome> Desk::explanation(const std::string& id) {
  FAIRLEAD_ASSIGN(Workload* const w, load_over(id));
  if (w == nullptr) {
    return fail(ErrorCode::kNotFound, "there is no workload " + id,
                "list them: fairlead list --all-projects");
  }
  const auto [place, waiting] = place_of(*w);
  Outcome outcome = answer(explanation_tree(*core_, *w, place, waiting, waits_for_room(*w)));
  return outcome;
}

Result<Outcome> Desk::queue(std::int64_t limit, const std::string& project) {
  const std::vector<std::string> line = core_->waiting();
  Tree out = Tree::map();
  out.add("waiting", Tree::number(static_cast<std::int64_t>(line.size())));
  Tree& items = out.add("items", Tree::list());
  std::int64_t shown = 0;
  for (std::size_t i = 0; i < line.size() && shown < limit; ++i) {
    const Workload* w = by_core_name(line[i]);
    if (w == nullptr || (!project.empty() && w->project() != project)) continue;
    ++shown;
    Tree item = Tree::map();
    item.add("place", Tree::number(static_cast<std::int64_t>(i) + 1));
    item.add("id", Tree::string(w->id));
    item.add("name", Tree::string(w->name()));
    item.add("project", Tree::string(w->project()));
    item.add("user", Tree::string(w->user));
    item.add("priority", Tree::number(std::int64_t{w->spec().priority}));
    item.add("requested", amounts_tree(requested(w->spec())));
    item.add("createdAt", Tree::string(to_rfc3339(w->created)));
    if (const auto explained = core_->explain(w->core_name())) {
      if (!explained->reasons.empty()) {
        item.add("reason", Tree::string(explained->reasons.front().text));
      }
      if (explained->start) item.add("start", start_tree(*explained->start));
    }
    items.push(std::move(item));
  }
  return answer(out);
}

Result<Outcome> Desk::queue_node(QueueKind kind, const std::string& name) {
  const auto found = queues_.find(name);
  if (found == queues_.end() || found->second.kind != kind) {
    return fail(ErrorCode::kNotFound, "there is no " + std::string(kind_word(kind)) + " " + name,
                "list them: fairlead " + std::string(kind_word(kind)) + " list");
  }
  Tree status = Tree::map();
  std::int64_t pending = 0;
  std::int64_t running = 0;
  for (const auto& [id, w] : workloads_) {
    if (w->project() != name) continue;
    pending += w->phase == Phase::kPending ? 1 : 0;
    running +=
        w->phase == Phase::kRunning || w->phase == Phase::kStarting || w->phase == Phase::kFrozen
            ? 1
            : 0;
  }
  Tree& workloads = status.add("workloads", Tree::map());
  workloads.add("pending", Tree::number(pending));
  workloads.add("running", Tree::number(running));
  Tree& pools = status.add("pools", Tree::list());
  for (const auto& [pool_name, pool] : pools_) {
    const auto view = core_->queue(name, pool_name);
    if (!view) continue;
    Tree map = Tree::map();
    map.add("pool", Tree::string(pool_name));
    map.add("allocated", numbers_tree(view->allocated));
    map.add("nonPreemptible", numbers_tree(view->non_preemptible));
    map.add("requested", numbers_tree(view->requested));
    map.add("fairShare", numbers_tree(view->fair_share));
    map.add("quota", numbers_tree(view->quota));
    map.add("limit", numbers_tree(view->limit));
    pools.push(std::move(map));
  }
  Outcome outcome;
  outcome.body =
      with_fields(queue_record(found->second).body, "\"status\":" + to_json_line(status));
  outcome.revision = found->second.revision;
  return outcome;
}

Result<Outcome> Desk::queue_nodes(QueueKind kind, std::int64_t limit, const std::string& after) {
  return answer(page_of(queues_, limit, after, [&](const QueueNode& node) {
    return node.kind == kind ? std::optional(queue_node(kind, node.spec.name)->body) : std::nullopt;
  }));
}

Result<Outcome> Desk::pool(const std::string& name) {
  const auto found = pools_.find(name);
  if (found == pools_.end()) {
    return fail(ErrorCode::kNotFound, "there is no node pool " + name,
                "list them: fairlead nodepool list");
  }
  Tree status = Tree::map();
  status.add("nodes", Tree::number(std::int64_t{node_.pool == name ? 1 : 0}));
  if (const auto view = core_->pool(name)) {
    status.add("capacity", numbers_tree(view->capacity));
    status.add("allocated", numbers_tree(view->allocated));
  }
  Outcome outcome;
  outcome.body = with_fields(pool_record(found->second).body, "\"status\":" + to_json_line(status));
  outcome.revision = found->second.revision;
  return outcome;
}

Result<Outcome> Desk::reservation(const std::string& name) {
  const auto found = reservations_.find(name);
  if (found == reservations_.end()) {
    return fail(ErrorCode::kNotFound, "there is no reservation " + name,
                "list them: fairlead reservation list");
  }
  const ReservationNode& node = found->second;
  Tree status = Tree::map();
  status.add("state", Tree::string(!node.problem.empty()   ? "void"
                                   : node.spec.from > now_ ? "planned"
                                                           : "active"));
  if (!node.problem.empty()) status.add("reason", Tree::string(node.problem));
  Outcome outcome;
  outcome.body = with_fields(reservation_record(node).body, "\"status\":" + to_json_line(status));
  outcome.revision = node.revision;
  return outcome;
}

Result<Outcome> Desk::reservations(std::int64_t limit, const std::string& after) {
  return answer(page_of(reservations_, limit, after, [&](const ReservationNode& node) {
    return std::optional(reservation(node.spec.name)->body);
  }));
}

Result<Outcome> Desk::pools(std::int64_t limit, const std::string& after) {
  return answer(page_of(pools_, limit, after, [&](const PoolNode& node) {
    return std::optional(pool(node.spec.name)->body);
  }));
}

namespace {

Tree device_tree(const sched::DeviceView& view, std::size_t index, const std::string& node,
                 const std::vector<DeviceClass>& classes) {
  Tree out = Tree::map();
  out.add("id", Tree::string(view.id));
  out.add("index", Tree::number(static_cast<std::int64_t>(index)));
  out.add("node", Tree::string(node));
  out.add("class", Tree::string(view.device_class));
  for (const DeviceClass& c : classes) {
    if (c.name == view.device_class) out.add("memoryMib", Tree::number(c.memory.value));
  }
  out.add("health", Tree::string(view.healthy ? "healthy" : "unhealthy"));
  out.add("freeMilli", Tree::number(view.free_milli));
  out.add("freeMib", Tree::number(view.free_mib));
  out.add("holders", Tree::strings(view.holders));
  return out;
}

}  // namespace

Result<Outcome> Desk::node(const std::string& name) {
  if (name != node_.name) {
    return fail(ErrorCode::kNotFound, "there is no node " + name, "there is " + node_.name);
  }
  const auto view = core_->node(name);
  Tree out = Tree::map();
  out.add("name", Tree::string(name));
  out.add("revision", Tree::number(node_revision_));
  out.add("pool", Tree::string(node_.pool));
  out.add("nodeType", Tree::string(node_.node_type));
  Tree& labels = out.add("labels", Tree::map());
  for (const auto& [key, value] : node_.labels) labels.add(key, Tree::string(value));
  out.add("ready", Tree::boolean(view && view->ready));
  out.add("schedulable", Tree::boolean(node_.schedulable));
  out.add("simulated", Tree::boolean(options_.inventory.simulated));
  out.add("cpuMilli", Tree::number(node_.cpu.value));
  out.add("memoryBytes", Tree::number(node_.memory.value));
  out.add("freeCpuMilli", Tree::number(view ? view->free_cpu_milli : 0));
  out.add("freeMemoryBytes", Tree::number(view ? view->free_memory : 0));
  Tree& devices = out.add("devices", Tree::list());
  for (std::size_t i = 0; view && i < view->devices.size(); ++i) {
    devices.push(device_tree(view->devices[i], i, name, options_.inventory.classes));
  }
  Outcome outcome = answer(out);
  outcome.revision = node_revision_;
  return outcome;
}

Result<Outcome> Desk::nodes(std::int64_t limit, const std::string& after) {
  const std::map<std::string, std::string> all = {{node_.name, node_.name}};
  return answer(page_of(all, limit, after,
                        [&](const std::string& name) { return std::optional(node(name)->body); }));
}

Result<Outcome> Desk::devices(std::int64_t limit, const std::string& after) {
  std::map<std::string, std::string> all;  // in the order of the node: "000007" stands for 7
  if (const auto view = core_->node(node_.name)) {
    for (std::size_t i = 0; i < view->devices.size(); ++i) {
      const std::string digits = std::to_string(i);
      all.emplace(
          std::string(6 - std::min<std::size_t>(6, digits.size()), '0') + digits,
          to_json_line(device_tree(view->devices[i], i, node_.name, options_.inventory.classes)));
    }
  }
  return answer(
      page_of(all, limit, after, [](const std::string& body) { return std::optional(body); }));
}

Present Desk::present() const {
  Present out;
  out.at = now_;
  out.cluster.device_classes = options_.inventory.classes;
  for (const auto& [name, pool] : pools_) out.cluster.pools.push_back(pool.spec);
  out.cluster.nodes.push_back(node_);
  for (const auto& [name, node] : queues_) out.cluster.queues.push_back(node.spec);
  for (const auto& [name, node] : reservations_) {
    if (node.problem.empty()) out.cluster.reservations.push_back(node.spec);
  }
  for (const auto& [id, w] : workloads_) {
    if (!w->in_core) continue;
    out.cluster.workloads.push_back(entry_of(*w));
    if (w->desired == Desired::kFrozen) out.frozen.push_back(w->core_name());
  }
  out.usage = core_->usage();
  out.runtimes = core_->runtimes();
  return out;
}

std::vector<std::string> Desk::projects_of(const Caller& caller) const {
  std::vector<std::string> names;
  for (const auto& [name, node] : queues_) {
    if (node.kind != QueueKind::kProject || caller.role == Role::kViewer) continue;
    const bool member =
        !node.members || caller.admin() ||
        std::find(node.members->begin(), node.members->end(), caller.user) != node.members->end();
    if (member) names.push_back(name);
  }
  return names;
}

std::string Desk::metrics() {
  std::map<std::string, std::int64_t> by_phase;
  for (const auto& choice : words::kPhases) by_phase[std::string(choice.word)] = 0;
  for (const auto& [id, w] : workloads_) ++by_phase[word_of<Phase>(words::kPhases, w->phase)];
  std::string out;
  const auto family = [&](const std::string& name, const char* type, const char* help) {
    out += "# HELP " + name + " " + help + "\n# TYPE " + name + " " + type + "\n";
  };
  family("fairlead_workloads", "gauge", "Workloads that are not over, by phase.");
  for (const auto& [phase, count] : by_phase) {
    out += "fairlead_workloads{phase=\"" + phase + "\"} " + std::to_string(count) + "\n";
  }
  const auto one = [&](const std::string& name, const char* type, const char* help,
                       std::int64_t value) {
    family(name, type, help);
    out += name + " " + std::to_string(value) + "\n";
  };
  one("fairlead_attempts", "gauge", "Tasks that start, run or stop.",
      static_cast<std::int64_t>(attempts_.size()));
  one("fairlead_submitted_total", "counter", "Workloads submitted since the server started.",
      counters_.submitted);
  one("fairlead_succeeded_total", "counter", "Workloads that ended well since then.",
      counters_.succeeded);
  one("fairlead_failed_total", "counter", "Workloads that failed or ran out of time since then.",
      counters_.failed);
  one("fairlead_preemptions_total", "counter", "Times that a workload was stopped for others.",
      counters_.preemptions);
  one("fairlead_commits_total", "counter", "Transactions written.", counters_.commits);
  one("fairlead_revision", "gauge", "The store's revision.", revision_);
  one("fairlead_watchers", "gauge", "Clients that watch.",
      static_cast<std::int64_t>(log_.watchers()));
  std::int64_t healthy = 0;
  std::int64_t free = 0;
  std::int64_t total = 0;
  if (const auto view = core_->node(node_.name)) {
    for (const sched::DeviceView& device : view->devices) {
      ++total;
      healthy += device.healthy ? 1 : 0;
      free += device.free_milli;
    }
  }
  one("fairlead_gpus", "gauge", "GPUs of this machine.", total);
  one("fairlead_gpus_healthy", "gauge", "GPUs that are healthy.", healthy);
  one("fairlead_gpu_milli_free", "gauge", "Thousandths of GPUs that nobody holds.", free);
  family("fairlead_queue_gpu_milli", "gauge",
         "Of each department and project: thousandths of GPUs by what they are.");
  for (const auto& [name, queue] : queues_) {
    for (const auto& [pool_name, pool] : pools_) {
      const auto view = core_->queue(name, pool_name);
      if (!view) continue;
      const auto line = [&](const char* what, const sched::Amounts& amounts) {
        const auto gpu = amounts.find("gpu");
        if (gpu == amounts.end()) return;
        out += "fairlead_queue_gpu_milli{queue=\"" + name + "\",pool=\"" + pool_name +
               "\",what=\"" + what + "\"} " + std::to_string(gpu->second) + "\n";
      };
      line("allocated", view->allocated);
      line("requested", view->requested);
      line("fair-share", view->fair_share);
    }
  }
  return out;
}

}  // namespace fairlead::control
