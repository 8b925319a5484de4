// Checks of everything but workloads: what is free, queues, pools, nodes, devices, orders, errors.

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/scenario/cursor.h"
#include "sim/scenario/observed.h"
#include "sim/scenario/units_text.h"

namespace fairlead::sim {
namespace {

using Checked = std::optional<Mismatch>;

const sched::DeviceView* find_device(const sched::NodeView& node, const std::string& name) {
  for (const sched::DeviceView& device : node.devices) {
    if (device.id == name) return &device;
  }
  const Result<std::int64_t> position =
      parse_count(name, 0, static_cast<std::int64_t>(node.devices.size()) - 1);
  return position ? &node.devices[static_cast<std::size_t>(*position)] : nullptr;
}

// Adds what is free on a node (or one device of it) to `free`.
void add_free(const sched::NodeView& node, const sched::DeviceView* only, sched::Amounts& free) {
  for (const sched::DeviceView& device : node.devices) {
    if ((only != nullptr && &device != only) || !device.healthy) continue;
    free["milli"] += device.free_milli;
    free["mib"] += device.free_mib;
    free["gpu"] += device.holders.empty() && device.free_milli == kMilli ? 1 : 0;
  }
  if (only != nullptr) return;
  free["cpu"] += node.free_cpu_milli;
  free["memory"] += node.free_memory;
  for (const auto& [name, amount] : node.free_extended) free[name] += amount;
}

std::string holders_of(const sched::NodeView& node) {
  std::string text;
  for (const sched::DeviceView& device : node.devices) {
    text += fmt::format("{}{} {} milli, {} MiB free{}", text.empty() ? "" : "; ", device.id,
                        device.free_milli, device.free_mib, device.healthy ? "" : ", unhealthy");
    for (std::size_t i = 0; i < device.holders.size(); ++i) {
      text += (i == 0 ? ", held by " : " ") + device.holders[i];
    }
  }
  return text;
}

struct Checker {
  const Observed& observed;
  const sched::Scheduler& scheduler;

  Checked operator()(const ExpectWorkloads& e) const { return check_workloads(e, observed); }

  Checked operator()(const ExpectShared& e) const {
    std::map<std::string, std::set<std::string>> holders;  // of each device or node
    for (const std::string& name : resolve(e.names, observed)) {
      const auto view = scheduler.workload(name);
      if (!view || view->running == 0) {
        return Mismatch{name + " is not running", explanation_text(name, observed)};
      }
      for (const sched::TaskView& task : view->tasks) {
        if (!task.running) continue;
        if (!e.device) holders[task.node].insert(name);
        for (const std::string& device : task.devices) {
          if (e.device) holders[task.node + ":" + device].insert(name);
        }
      }
    }
    bool any = false;
    for (const auto& [place, names] : holders) {
      if (names.size() < 2) continue;
      any = true;
      if (e.shared) continue;
      std::string text;
      for (const std::string& name : names) text += (text.empty() ? "" : " and ") + name;
      return Mismatch{fmt::format("{} share {}", text, place), {}};
    }
    if (e.shared && !any) return Mismatch{"they share none", {}};
    return std::nullopt;
  }

  Checked operator()(const ExpectFree& e) const {
    sched::Amounts free;
    std::string why;
    for (const std::string& name : scheduler.node_names()) {
      const auto node = scheduler.node(name);
      if (!node || (e.node.empty() ? !node->ready || !node->schedulable : name != e.node)) continue;
      const sched::DeviceView* only = nullptr;
      if (!e.device.empty()) {
        only = find_device(*node, e.device);
        if (only == nullptr)
          return Mismatch{fmt::format("{} has no device {}", name, e.device), {}};
      }
      add_free(*node, only, free);
      why += fmt::format("{}{}: {}", why.empty() ? "" : "\n", name, holders_of(*node));
    }
    std::string actual;
    for (const auto& [resource, amount] : e.amounts) {
      if (free[resource] == amount) continue;
      const std::int64_t is = resource == "gpu" ? free[resource] * kMilli : free[resource];
      actual += fmt::format("{}free {} {}", actual.empty() ? "" : ", ", resource,
                            amount_text(resource, is));
    }
    if (actual.empty()) return std::nullopt;
    return Mismatch{actual, why};
  }

  Checked operator()(const ExpectFigures& e) const {
    std::map<std::string, const sched::Amounts*> is;
    const auto queue = e.of_pool ? std::nullopt : scheduler.queue(e.name, e.pool);
    const auto pool = e.of_pool ? scheduler.pool(e.name) : std::nullopt;
    if (queue) {
      is = {{"allocated", &queue->allocated}, {"non-preemptible", &queue->non_preemptible},
            {"requested", &queue->requested}, {"fair-share", &queue->fair_share},
            {"quota", &queue->quota},         {"limit", &queue->limit}};
    } else if (pool) {
      is = {{"capacity", &pool->capacity}, {"allocated", &pool->allocated}};
    } else {
      return Mismatch{fmt::format("there is no {} {}", e.of_pool ? "pool" : "queue", e.name), {}};
    }
    std::string actual;
    for (const auto& [figure, amounts] : e.figures) {
      for (const auto& [resource, amount] : amounts) {
        const auto it = is.at(figure)->find(resource);
        const std::int64_t value = it == is.at(figure)->end() ? 0 : it->second;
        if (value == amount) continue;
        actual += fmt::format("{}{} {} {}", actual.empty() ? "" : ", ", figure, resource,
                              value == kUnlimited ? "unlimited" : amount_text(resource, value));
      }
    }
    if (actual.empty()) return std::nullopt;
    std::string why;
    for (const auto& [figure, amounts] : is) {
      for (const auto& [resource, value] : *amounts) {
        why += fmt::format("{}{} {} {}", why.empty() ? "" : ", ", figure, resource,
                           value == kUnlimited ? "unlimited" : amount_text(resource, value));
      }
    }
    return Mismatch{actual, why};
  }

  Checked operator()(const ExpectNode& e) const {
    const auto node = scheduler.node(e.node);
    if (e.gone) return node ? Checked(Mismatch{"it is there", {}}) : std::nullopt;
    if (!node) return Mismatch{"there is no such node", {}};
    if (e.ready && node->ready != *e.ready) return Mismatch{node->ready ? "up" : "down", {}};
    if (e.schedulable && node->schedulable != *e.schedulable) {
      return Mismatch{node->schedulable ? "uncordoned" : "cordoned", {}};
    }
    return std::nullopt;
  }

  Checked operator()(const ExpectDevice& e) const {
    const auto node = scheduler.node(e.node);
    const sched::DeviceView* device = node ? find_device(*node, e.device) : nullptr;
    if (device == nullptr) return Mismatch{"there is no such device", {}};
    if (e.healthy && device->healthy != *e.healthy) {
      return Mismatch{device->healthy ? "healthy" : "unhealthy", {}};
    }
    if (e.holders) {
      const std::set<std::string> is(device->holders.begin(), device->holders.end());
      if (is != std::set<std::string>(e.holders->begin(), e.holders->end())) {
        std::string text;
        for (const std::string& name : is) text += (text.empty() ? "held by " : ", ") + name;
        return Mismatch{text.empty() ? "free" : text, holders_of(*node)};
      }
    }
    return std::nullopt;
  }

  Checked operator()(const ExpectStartOrder& e) const {
    std::int64_t before = -1;
    std::string previous;
    for (const std::string& name : resolve(e.names, observed)) {
      const auto it = observed.starts.find(name);
      if (it == observed.starts.end()) {
        return Mismatch{name + " never started", explanation_text(name, observed)};
      }
      if (it->second.sequence <= before) return Mismatch{started_order(), {}};
      before = it->second.sequence;
      previous = name;
    }
    return std::nullopt;
  }

  Checked operator()(const ExpectError& e) const {
    if (!observed.last_error) return Mismatch{"the event just before was accepted", {}};
    for (const std::string& text : e.texts) {
      const std::string is = observed.last_error->text();
      if (is.find(text) == std::string::npos) return Mismatch{is, {}};
    }
    return std::nullopt;
  }

  std::string started_order() const {
    std::vector<std::pair<std::int64_t, std::string>> order;
    for (const auto& [name, seen] : observed.starts) order.emplace_back(seen.sequence, name);
    std::sort(order.begin(), order.end());
    std::string text = "they started in the order";
    for (const auto& entry : order) text += " " + entry.second;
    return text;
  }
};

}  // namespace

std::optional<Mismatch> check(const Expectation& expectation, const Observed& observed) {
  return std::visit(Checker{observed, *observed.scheduler}, expectation);
}

std::vector<std::string> resolve(const std::vector<std::string>& patterns,
                                 const Observed& observed) {
  std::vector<std::string> names;
  for (const std::string& pattern : patterns) {
    if (pattern.find('*') == std::string::npos) {
      names.push_back(pattern);
      continue;
    }
    for (const std::string& name : observed.names) {
      if (matches(pattern, name)) names.push_back(name);
    }
  }
  return names;
}

}  // namespace fairlead::sim
