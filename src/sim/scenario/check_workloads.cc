// Whether workloads run where and as expected, or wait for the reason expected.

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/scenario/cursor.h"
#include "sim/scenario/observed.h"

namespace fairlead::sim {
namespace {

using Checked = std::optional<Mismatch>;

std::string joined(const std::set<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : ",") + item;
  return text.empty() ? "none" : text;
}

std::string task_text(const sched::TaskView& task) {
  std::string text = fmt::format("{} {} on {}", task.role, task.index, task.node);
  for (std::size_t i = 0; i < task.devices.size(); ++i) {
    text += (i == 0 ? ":" : "+") + task.devices[i];
    if (i < task.milli.size() && task.milli[i] != kMilli) {
      text += fmt::format("({} milli, {} MiB)", task.milli[i], task.mib[i]);
    }
  }
  for (std::size_t i = 0; i < task.cpu_cells.size(); ++i) {
    text += fmt::format("{}{}", i == 0 ? " cells " : ",", task.cpu_cells[i]);
  }
  return text;
}

const NodeSpec* node_spec(const Observed& observed, const std::string& name) {
  const auto it = observed.symbols.nodes.find(name);
  return it == observed.symbols.nodes.end() ? nullptr : &it->second;
}

const DeviceSpec* device_spec(const NodeSpec* node, const std::string& id) {
  if (node == nullptr) return nullptr;
  for (const DeviceSpec& device : node->devices) {
    if (device.id == id) return &device;
  }
  return nullptr;
}

// The domains of a level in which a task sits, each by its whole path.
std::set<std::string> domains_of(const Observed& observed, const std::string& level,
                                 const sched::TaskView& task) {
  const NodeSpec* node = node_spec(observed, task.node);
  if (level == "host" || node == nullptr) return {task.node};
  const std::vector<std::string>& levels = observed.symbols.levels;
  const auto it = std::find(levels.begin(), levels.end(), level);
  if (it != levels.end()) {
    std::string path;
    for (std::size_t i = 0; i <= static_cast<std::size_t>(it - levels.begin()); ++i) {
      path += "/" + (i < node->topology.size() ? node->topology[i] : std::string());
    }
    return {path};
  }
  std::set<std::string> domains;
  for (const std::string& id : task.devices) {
    const DeviceSpec* device = device_spec(node, id);
    if (device == nullptr) continue;
    const std::int32_t number = level == "numa"   ? device->numa
                                : level == "pcie" ? device->pcie_switch
                                                  : device->nvlink_island;
    domains.insert(fmt::format("{}/{}", task.node, number));
  }
  return domains;
}

Checked check_domain(const Observed& observed, const DomainCheck& e,
                     const std::vector<const sched::TaskView*>& tasks) {
  std::map<std::int32_t, std::set<std::string>> groups;
  for (const sched::TaskView* task : tasks) {
    std::set<std::string>& group = groups[e.per > 0 ? task->index / e.per : 0];
    group.merge(domains_of(observed, e.level, *task));
  }
  for (const auto& [group, domains] : groups) {
    const bool holds =
        e.domain.empty()
            ? static_cast<std::int64_t>(domains.size()) == e.count
            : std::all_of(domains.begin(), domains.end(), [&](const std::string& path) {
                return path.substr(path.rfind('/') + 1) == e.domain;
              });
    if (holds) continue;
    std::string text = fmt::format("in {} {}: {}", domains.size(), e.level, joined(domains));
    if (e.per > 0) text += fmt::format(" (tasks {} to {})", group * e.per, (group + 1) * e.per - 1);
    return Mismatch{text, {}};
  }
  return std::nullopt;
}

// Each task's CPUs lie in the NUMA cells of its devices.
Checked check_near(const Observed& observed, const std::vector<const sched::TaskView*>& tasks) {
  for (const sched::TaskView* task : tasks) {
    std::set<std::int32_t> near;
    for (const std::string& id : task->devices) {
      const DeviceSpec* device = device_spec(node_spec(observed, task->node), id);
      if (device != nullptr) near.insert(device->numa);
    }
    if (task->devices.empty()) continue;
    for (const std::int32_t cell : task->cpu_cells) {
      if (!near.contains(cell)) {
        return Mismatch{fmt::format("the CPUs of {} {} lie in cell {}, its devices do not",
                                    task->role, task->index, cell),
                        {}};
      }
    }
  }
  return std::nullopt;
}

// "0", "gpu-0" or "n1:0" as NODE:ID, with the node of the first task where none is named.
std::string device_key(const Observed& observed, const std::string& name, const std::string& node) {
  const std::size_t colon = name.find(':');
  const std::string on = colon == std::string::npos ? node : name.substr(0, colon);
  const std::string device = colon == std::string::npos ? name : name.substr(colon + 1);
  const NodeSpec* spec = node_spec(observed, on);
  if (spec != nullptr && device_spec(spec, device) == nullptr) {
    const auto position =
        parse_count(device, 0, static_cast<std::int64_t>(spec->devices.size()) - 1);
    if (position) return on + ":" + spec->devices[static_cast<std::size_t>(*position)].id;
  }
  return on + ":" + device;
}

Checked check_places(const Observed& observed, const ExpectWorkloads& e,
                     const std::vector<const sched::TaskView*>& tasks) {
  std::set<std::string> nodes, devices;
  std::int64_t milli = 0, mib = 0;
  std::vector<std::int32_t> slices;
  for (const sched::TaskView* task : tasks) {
    nodes.insert(task->node);
    for (const std::string& device : task->devices) devices.insert(task->node + ":" + device);
    for (const std::int64_t part : task->milli) milli += part;
    for (const std::int64_t part : task->mib) mib += part;
    for (const std::int32_t slice : task->mig_start) {
      if (slice >= 0) slices.push_back(slice);
    }
  }
  const auto count = [](const std::set<std::string>& set) {
    return static_cast<std::int64_t>(set.size());
  };
  if (e.tasks && !e.tasks->holds(static_cast<std::int64_t>(tasks.size()))) {
    return Mismatch{fmt::format("with {} tasks", tasks.size()), {}};
  }
  if (e.hosts && !e.hosts->holds(count(nodes))) {
    return Mismatch{fmt::format("on {} nodes: {}", nodes.size(), joined(nodes)), {}};
  }
  if (!e.nodes.empty() && nodes != std::set<std::string>(e.nodes.begin(), e.nodes.end())) {
    return Mismatch{"on nodes " + joined(nodes), {}};
  }
  for (const std::string& node : nodes) {
    if (!e.among.empty() && std::find(e.among.begin(), e.among.end(), node) == e.among.end()) {
      return Mismatch{"on nodes " + joined(nodes), {}};
    }
    if (std::find(e.avoided.begin(), e.avoided.end(), node) != e.avoided.end()) {
      return Mismatch{"on nodes " + joined(nodes), {}};
    }
  }
  if (e.device_count && !e.device_count->holds(count(devices))) {
    return Mismatch{fmt::format("on {} devices: {}", devices.size(), joined(devices)), {}};
  }
  if (!e.devices.empty()) {
    std::set<std::string> wanted;
    for (const std::string& name : e.devices) {
      wanted.insert(device_key(observed, name, nodes.empty() ? "" : *nodes.begin()));
    }
    if (devices != wanted) return Mismatch{"on devices " + joined(devices), {}};
  }
  for (const DomainCheck& domain : e.domains) {
    if (Checked failed = check_domain(observed, domain, tasks)) return failed;
  }
  if (e.near_cpus) {
    if (Checked failed = check_near(observed, tasks)) return failed;
  }
  if (e.milli && milli != *e.milli) return Mismatch{fmt::format("with {} milli", milli), {}};
  if (e.mib && mib != *e.mib) return Mismatch{fmt::format("with {} mib", mib), {}};
  std::sort(slices.begin(), slices.end());
  if (!e.slices.empty() && slices != e.slices) {
    std::string text;
    for (const std::int32_t slice : slices)
      text += fmt::format("{}{}", text.empty() ? "" : ",", slice);
    return Mismatch{"with slices " + text, {}};
  }
  return std::nullopt;
}

bool said(const sched::Explanation& explanation, const std::string& part) {
  if (explanation.text().find(part) != std::string::npos) return true;
  return std::any_of(
      explanation.reasons.begin(), explanation.reasons.end(), [&](const sched::Reason& reason) {
        return reason_code_name(reason.code) == part || reason.rule == part ||
               "rule " + reason.rule == part || reason.text.find(part) != std::string::npos;
      });
}

bool suggested(const sched::Explanation& explanation, const std::string& part) {
  const auto is = [&](const std::optional<sched::Change>& change) {
    return change &&
           (change_kind_name(change->kind) == part || change->text.find(part) != std::string::npos);
  };
  return is(explanation.cheapest) ||
         std::any_of(explanation.reasons.begin(), explanation.reasons.end(),
                     [&](const sched::Reason& reason) { return is(reason.cheapest); });
}

Checked check_explanation(const Observed& observed, const ExpectWorkloads& e,
                          const std::string& name) {
  if (e.texts.empty() && !e.never && e.changes.empty() && !e.cure_works && !e.starts_from &&
      !e.starts_by) {
    return std::nullopt;
  }
  const Result<sched::Explanation> explanation = observed.scheduler->explain(name);
  if (!explanation) return Mismatch{"not explained: " + explanation.error().text(), {}};
  const std::string why = explanation_text(name, observed);
  const auto stopped = observed.stopped.find(name);
  for (const std::string& part : e.texts) {
    if (stopped != observed.stopped.end() && stopped->second.find(part) != std::string::npos)
      continue;
    if (!said(*explanation, part)) return Mismatch{fmt::format("not said: \"{}\"", part), why};
  }
  for (const bool by : {false, true}) {
    const auto& expected = by ? e.starts_by : e.starts_from;
    if (!expected) continue;
    std::optional<Instant> is;
    if (explanation->start) is = by ? explanation->start->latest : explanation->start->earliest;
    if (is == expected) continue;
    const std::string when = is ? to_text(*is - observed.start) : "nobody knows when";
    return Mismatch{fmt::format("starts {} {}", by ? "by" : "from", when), why};
  }
  if (e.never && explanation->never != *e.never) {
    return Mismatch{explanation->never ? "never" : "not now", why};
  }
  for (const std::string& part : e.changes) {
    if (!suggested(*explanation, part)) {
      return Mismatch{fmt::format("no such change is suggested: {}", part), why};
    }
  }
  if (e.cure_works) {
    if (!explanation->cheapest) return Mismatch{"no change is suggested", why};
    const Result<bool> started = observed.try_change(name, *explanation->cheapest);
    if (!started) {
      return Mismatch{fmt::format("the change '{}' is not accepted: {}",
                                  explanation->cheapest->text, started.error().text()),
                      why};
    }
    if (!*started) {
      return Mismatch{
          fmt::format("it does not start after the change '{}'", explanation->cheapest->text), why};
    }
  }
  return std::nullopt;
}

Checked check_reserved(const Observed& observed, const ExpectWorkloads& e,
                       const std::optional<sched::ReservationView>& reservation) {
  if (!e.reserved) return std::nullopt;
  if (!reservation)
    return *e.reserved ? Checked(Mismatch{"nothing is reserved", {}}) : std::nullopt;
  std::string nodes;
  for (const std::string& node : reservation->nodes) nodes += (nodes.empty() ? "" : ",") + node;
  const std::string what =
      fmt::format("reserved at {} on {}", to_text(reservation->start - observed.start), nodes);
  std::vector<std::string> expected = e.reserved_nodes;
  std::sort(expected.begin(), expected.end());
  const bool holds = *e.reserved && (!e.reserved_at || reservation->start == *e.reserved_at) &&
                     (expected.empty() || expected == reservation->nodes);
  return holds ? std::nullopt : Checked(Mismatch{what, {}});
}

Checked check_known(const Observed& observed, const ExpectWorkloads& e, const std::string& name,
                    const sched::WorkloadView& view) {
  std::vector<const sched::TaskView*> tasks;
  for (const sched::TaskView& task : view.tasks) {
    if (!task.running || (!e.role.empty() && task.role != e.role)) continue;
    if (e.index >= 0 && task.index != e.index) continue;
    tasks.push_back(&task);
  }
  const bool runs = !tasks.empty();
  if (runs != (e.state == ExpectedState::kRunning)) {
    return Mismatch{state_text(name, observed), explanation_text(name, observed)};
  }
  const auto with_why = [&](Mismatch mismatch) {
    if (mismatch.why.empty()) mismatch.why = state_text(name, observed);
    return mismatch;
  };
  if (runs) {
    if (Checked failed = check_places(observed, e, tasks)) return with_why(std::move(*failed));
    std::int64_t wanted = view.wanted;
    if (!e.role.empty()) {
      const auto spec = observed.symbols.workloads.find(name);
      for (const RoleSpec& role : spec->second.roles) {
        if (role.name == e.role) wanted = role.count;
      }
    }
    if (e.wanted && wanted != *e.wanted) {
      return with_why({fmt::format("with {} of {} tasks", tasks.size(), wanted), {}});
    }
    if (!e.pool.empty() && view.pool != e.pool) return with_why({"in pool " + view.pool, {}});
    const auto seen = observed.starts.find(name);
    if (e.started_at && (seen == observed.starts.end() || seen->second.at != *e.started_at)) {
      return with_why(
          {seen == observed.starts.end()
               ? std::string("it was running from the beginning")
               : "it started " + to_text(seen->second.at - observed.start) + " after the beginning",
           {}});
    }
  }
  if (Checked failed = check_reserved(observed, e, view.reservation))
    return with_why(std::move(*failed));
  if (e.failures && view.failures != *e.failures) {
    return with_why({fmt::format("with {} failures", view.failures), {}});
  }
  if (e.succeeded && view.succeeded != *e.succeeded) {
    return with_why({fmt::format("with {} succeeded", view.succeeded), {}});
  }
  return check_explanation(observed, e, name);
}

Checked check_one(const Observed& observed, const ExpectWorkloads& e, const std::string& name) {
  const auto view = observed.scheduler->workload(name);
  const auto wrong = [&] {
    return Mismatch{state_text(name, observed), explanation_text(name, observed)};
  };
  switch (e.state) {
    case ExpectedState::kRunning:
    case ExpectedState::kPending:
      if (!view) return wrong();
      return check_known(observed, e, name, *view);
    case ExpectedState::kRefused: {
      const auto refused = observed.refused.find(name);
      if (view || refused == observed.refused.end()) return wrong();
      const std::string text = refused->second.text();
      for (const std::string& part : e.texts) {
        if (text.find(part) == std::string::npos && error_code_name(refused->second.code) != part) {
          return Mismatch{fmt::format("not said: \"{}\"", part), text};
        }
      }
      return std::nullopt;
    }
    case ExpectedState::kFinished:
    case ExpectedState::kFailed: {
      const auto ended = observed.ended.find(name);
      if (view || ended == observed.ended.end() ||
          ended->second != (e.state == ExpectedState::kFinished)) {
        return wrong();
      }
      return std::nullopt;
    }
    case ExpectedState::kGone:
      return view ? Checked(wrong()) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::string explanation_text(const std::string& workload, const Observed& observed) {
  const Result<sched::Explanation> explanation = observed.scheduler->explain(workload);
  if (!explanation) return {};
  std::string text;
  for (const sched::Reason& reason : explanation->reasons) {
    text += fmt::format("{}{} ({}{}): {}", text.empty() ? "" : "\n", reason_code_name(reason.code),
                        reason.rule, reason.never ? ", never" : "", reason.text);
  }
  if (explanation->cheapest) text += "\nwould start it: " + explanation->cheapest->text;
  if (const auto stopped = observed.stopped.find(workload); stopped != observed.stopped.end())
    text += (text.empty() ? "" : "\n") + ("last stopped: " + stopped->second);
  return text;
}

std::string state_text(const std::string& workload, const Observed& observed) {
  const auto view = observed.scheduler->workload(workload);
  if (!view) {
    const auto refused = observed.refused.find(workload);
    if (refused != observed.refused.end()) return "refused: " + refused->second.text();
    const auto ended = observed.ended.find(workload);
    if (ended != observed.ended.end()) return ended->second ? "finished" : "failed";
    return "gone";
  }
  if (view->running == 0)
    return fmt::format("pending, {} {} wanted", view->wanted, view->wanted == 1 ? "task" : "tasks");
  std::string text = fmt::format("running with {} of {} tasks", view->running, view->wanted);
  for (const sched::TaskView& task : view->tasks) {
    if (task.running) text += "; " + task_text(task);
  }
  return text;
}

std::optional<Mismatch> check_workloads(const ExpectWorkloads& e, const Observed& observed) {
  const std::vector<std::string> names = resolve(e.names, observed);
  std::int64_t holding = 0;
  std::string which;
  Checked first;
  for (const std::string& name : names) {
    Checked failed = check_one(observed, e, name);
    if (!failed) {
      ++holding;
      which += (which.empty() ? "" : " ") + name;
      continue;
    }
    if (!e.of) {
      if (names.size() > 1) failed->actual = name + " " + failed->actual;
      return failed;
    }
    if (!first) first = Mismatch{name + " " + failed->actual, failed->why};
  }
  if (!e.of || e.of->holds(holding)) return std::nullopt;
  Mismatch mismatch;
  mismatch.actual =
      fmt::format("{} of {} are{}{}", holding, names.size(), which.empty() ? "" : ": ", which);
  if (first) mismatch.why = first->actual + (first->why.empty() ? "" : "\n" + first->why);
  return mismatch;
}

}  // namespace fairlead::sim
