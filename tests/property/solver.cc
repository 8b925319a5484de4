#include "solver.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace fairlead::property {
namespace {

constexpr int kMostSteps = 30'000;

bool tolerated(const RoleSpec& role, const Taint& taint) {
  if (taint.effect == TaintEffect::kPreferNoSchedule) return true;
  const auto& list = role.constraints.tolerations;
  return std::any_of(list.begin(), list.end(), [&](const Toleration& t) {
    return (t.key.empty() || t.key == taint.key) && (!t.value || *t.value == taint.value) &&
           (!t.effect || *t.effect == taint.effect);
  });
}

bool term_holds(const MatchTerm& term, const Labels& labels) {
  const auto it = labels.find(term.key);
  const bool there = it != labels.end();
  const bool among =
      there && std::find(term.values.begin(), term.values.end(), it->second) != term.values.end();
  switch (term.op) {
    case MatchOperator::kIn:
      return among;
    case MatchOperator::kNotIn:
      return !among;
    case MatchOperator::kExists:
      return there;
    case MatchOperator::kDoesNotExist:
      return !there;
    default:
      return false;  // not generated
  }
}

// The domain of a node at a level, by its whole path; empty if it belongs to none.
std::vector<std::string> domain_of(const NodeSpec& node, const std::string& level,
                                   const sim::Symbols& symbols) {
  if (level == "host") return {"host", node.name};
  std::vector<std::string> path;
  for (std::size_t l = 0; l < symbols.levels.size(); ++l) {
    path.push_back(l < node.topology.size() ? node.topology[l] : std::string());
    if (symbols.levels[l] == level) break;
  }
  if (path.empty() || path.back().empty()) return {};
  return path;
}

// One way in which a node's devices can hold a task.
using DeviceSet = std::vector<std::pair<std::size_t, HeldDevice>>;

class Search {
 public:
  Search(const Question& question, std::vector<NodeRoom> rooms, const sim::Symbols& symbols)
      : question_(question), rooms_(std::move(rooms)), symbols_(symbols) {
    placed_ = question.running;
  }

  Solution run() {
    Solution out;
    if (from(0, 0)) {
      out.answer = Answer::kFits;
      for (const std::string& line : story_) out.text += (out.text.empty() ? "" : ", ") + line;
    } else if (steps_ > kMostSteps) {
      out.answer = Answer::kUnknown;
    }
    return out;
  }

 private:
  bool from(std::size_t t, std::size_t first_node) {
    if (t == question_.tasks.size()) return question_.gates(charge_);
    const PlacedTask& task = question_.tasks[t];
    const RoleSpec& role = question_.spec->roles[task.role];
    // Tasks of a role without segments are alike: each set of nodes once.
    const bool alike = t > 0 && question_.tasks[t - 1].role == task.role && role.segment_size == 0;
    for (std::size_t n = alike ? first_node : 0; n < rooms_.size(); ++n) {
      if (!on_node(t, n)) continue;
      return true;
    }
    return false;
  }

  bool on_node(std::size_t t, std::size_t n) {
    const PlacedTask& task = question_.tasks[t];
    const RoleSpec& role = question_.spec->roles[task.role];
    const NodeSpec& node = *rooms_[n].spec;
    if (node.pool != question_.pool || !node.ready || !node.schedulable) return false;
    if (!node_allowed(role, node) || !host_room(role, rooms_[n])) return false;
    if (!in_domains(task, role, node)) return false;
    std::set<std::vector<std::tuple<std::string, std::int64_t, std::int64_t, std::uint32_t,
                                    std::int32_t, std::int32_t, std::int32_t>>>
        seen;
    std::vector<DeviceSet> ways;
    DeviceSet chosen;
    device_sets(role, rooms_[n], 0, chosen, ways);
    for (const DeviceSet& way : ways) {
      if (++steps_ > kMostSteps) return false;
      auto& signature_list = signature_;
      signature_list.clear();
      for (const auto& [d, held] : way) {
        const DeviceRoom& device = rooms_[n].devices[d];
        signature_list.emplace_back(device.type->name, device.milli, device.mib, device.slices,
                                    device.compute, device.spec->numa, held.mig_start);
      }
      std::sort(signature_list.begin(), signature_list.end());
      if (!seen.insert(signature_list).second) continue;
      if (with_devices(t, n, way)) return true;
    }
    return false;
  }

  bool with_devices(std::size_t t, std::size_t n, const DeviceSet& way) {
    const PlacedTask& task = question_.tasks[t];
    const RoleSpec& role = question_.spec->roles[task.role];
    const NodeRoom before = rooms_[n];
    const Amounts charge_before = charge_;
    HeldTask held;
    std::vector<std::string> classes;
    std::string line = fmt::format("{}/{} on {}", role.name, task.index, before.spec->name);
    for (const auto& [d, device] : way) {
      held.devices.push_back(device);
      classes.push_back(before.devices[d].type->name);
      line += fmt::format(":{}", device.id);
    }
    if (!take_cores(role, rooms_[n], way)) return false;
    take(rooms_[n], held, role.request);
    if (rooms_[n].cells.size() == 1) rooms_[n].cells[0] = rooms_[n].cpu;
    for (const auto& [name, amount] : charge_of(role, classes, question_.pool, symbols_)) {
      charge_[name] += amount;
    }
    placed_.push_back({task.role, task.index, before.spec->name});
    story_.push_back(line);
    if (from(t + 1, n)) return true;
    story_.pop_back();
    placed_.pop_back();
    charge_ = charge_before;
    rooms_[n] = before;
    return false;
  }

  bool host_room(const RoleSpec& role, const NodeRoom& room) const {
    if (room.cpu < role.request.cpu.value || room.memory < role.request.memory.value) return false;
    return std::all_of(role.request.extended.begin(), role.request.extended.end(),
                       [&](const auto& claim) {
                         const auto it = room.extended.find(claim.first);
                         return (it == room.extended.end() ? 0 : it->second) >= claim.second;
                       });
  }

  // 6.4: with what is placed already, the whole, the role and the segment stay in one domain each.
  bool in_domains(const PlacedTask& task, const RoleSpec& role, const NodeSpec& node) const {
    const auto holds = [&](const std::string& level, const auto& with) {
      if (level.empty()) return true;
      const auto domain = domain_of(node, level, symbols_);
      if (domain.empty()) return false;
      return std::all_of(placed_.begin(), placed_.end(), [&](const PlacedTask& other) {
        return !with(other) || domain_of(symbols_.nodes.at(other.node), level, symbols_) == domain;
      });
    };
    if (!holds(question_.spec->topology.within, [](const PlacedTask&) { return true; }))
      return false;
    const auto of_role = [&](const PlacedTask& o) { return o.role == task.role; };
    if (!holds(role.topology.within, of_role)) return false;
    return role.segment_size == 0 || holds(role.segment_topology.within, [&](const PlacedTask& o) {
             return of_role(o) && o.index / role.segment_size == task.index / role.segment_size;
           });
  }

  // All ways to take the role's devices from the node, by ascending position.
  void device_sets(const RoleSpec& role, const NodeRoom& room, std::size_t first, DeviceSet& chosen,
                   std::vector<DeviceSet>& ways) const {
    const GpuRequest& gpu = role.request.gpu;
    if (static_cast<std::int32_t>(chosen.size()) == gpu.count) {
      ways.push_back(chosen);
      return;
    }
    for (std::size_t d = first; d < room.devices.size(); ++d) {
      const DeviceRoom& device = room.devices[d];
      if (!device_allowed(role, device)) continue;
      HeldDevice held;
      held.id = device.spec->id;
      switch (gpu.kind) {
        case GpuRequestKind::kNone:
          continue;
        case GpuRequestKind::kDevices:
          if (!device.untouched()) continue;
          held.milli = kMilli;
          held.mib = device.mib;
          break;
        case GpuRequestKind::kPortion:
          held.milli = gpu.portion.value;
          held.mib = gpu.portion.value * device.type->memory.value / kMilli;
          break;
        case GpuRequestKind::kMemory:
          held.mib = gpu.memory.value;
          break;
        case GpuRequestKind::kMig: {
          instances(role, room, d, chosen, ways);
          continue;
        }
      }
      if (held.milli > device.milli || held.mib > device.mib) continue;
      chosen.emplace_back(d, held);
      device_sets(role, room, d + 1, chosen, ways);
      chosen.pop_back();
    }
  }

  // 2.5: one more instance on device `d`, at each legal start.
  void instances(const RoleSpec& role, const NodeRoom& room, std::size_t d, DeviceSet& chosen,
                 std::vector<DeviceSet>& ways) const {
    const DeviceRoom& device = room.devices[d];
    for (const MigProfile& profile : device.type->mig_profiles) {
      if (profile.name != role.request.gpu.mig_profile) continue;
      for (const std::int32_t start : profile.starts) {
        HeldDevice held;
        held.id = device.spec->id;
        held.milli = kMilli * profile.compute_slices / device.type->mig_compute_slices;
        held.mib = profile.memory.value;
        held.mig_start = start;
        const std::uint32_t mask = ((std::uint32_t{1} << profile.memory_slices) - 1) << start;
        if ((device.slices & mask) != mask || device.compute < profile.compute_slices ||
            device.mib < held.mib || device.milli < held.milli) {
          continue;
        }
        NodeRoom less = room;
        HeldTask one;
        one.devices = {held};
        take(less, one, gpu_only(role.request));
        chosen.emplace_back(d, held);
        device_sets(role, less, d, chosen, ways);
        chosen.pop_back();
      }
    }
  }

  static TaskRequest gpu_only(const TaskRequest& request) {
    TaskRequest out;
    out.gpu = request.gpu;
    return out;
  }

  // 6.3: cores near the devices where that is required; elsewhere anywhere on the node.
  bool take_cores(const RoleSpec& role, NodeRoom& room, const DeviceSet& way) const {
    std::int64_t missing = role.request.cpu.value;
    const bool near = role.request.numa == NumaPolicy::kRequired && !role.request.gpu.none();
    if (missing == 0 || room.spec->numa.size() < 2) return true;
    if (room.cells.empty()) return !near;
    for (const bool own : {true, false}) {
      for (std::size_t c = 0; c < room.cells.size() && (own || !near); ++c) {
        const bool here = std::any_of(way.begin(), way.end(), [&](const auto& held) {
          return room.devices[held.first].spec->numa == static_cast<std::int32_t>(c);
        });
        if (here != own) continue;
        const std::int64_t part = std::min(missing, room.cells[c]);
        room.cells[c] -= part;
        missing -= part;
      }
    }
    return missing == 0;
  }

  const Question& question_;
  std::vector<NodeRoom> rooms_;
  const sim::Symbols& symbols_;
  std::vector<PlacedTask> placed_;
  std::vector<std::string> story_;
  Amounts charge_;
  int steps_ = 0;
  std::vector<std::tuple<std::string, std::int64_t, std::int64_t, std::uint32_t, std::int32_t,
                         std::int32_t, std::int32_t>>
      signature_;
};

}  // namespace

bool device_allowed(const RoleSpec& role, const DeviceRoom& device) {
  const auto& names = role.constraints.device_classes;
  return device.spec->health == DeviceHealth::kHealthy &&
         device.spec->mig_enabled == (role.request.gpu.kind == GpuRequestKind::kMig) &&
         (names.empty() || std::find(names.begin(), names.end(), device.type->name) != names.end());
}

bool node_allowed(const RoleSpec& role, const NodeSpec& node) {
  const Constraints& c = role.constraints;
  if (!c.node_types.empty() &&
      std::find(c.node_types.begin(), c.node_types.end(), node.node_type) == c.node_types.end()) {
    return false;
  }
  for (const auto& [key, value] : c.node_selector) {
    const auto it = node.labels.find(key);
    if (it == node.labels.end() || it->second != value) return false;
  }
  for (const MatchTerm& term : c.affinity) {
    if (!term_holds(term, node.labels)) return false;
  }
  if (role.request.gpu.none() && !c.device_classes.empty()) {
    const bool has = std::any_of(node.devices.begin(), node.devices.end(), [&](const auto& d) {
      return std::find(c.device_classes.begin(), c.device_classes.end(), d.device_class) !=
             c.device_classes.end();
    });
    if (!has) return false;
  }
  return std::all_of(node.taints.begin(), node.taints.end(),
                     [&](const Taint& taint) { return tolerated(role, taint); });
}

Solution solve(const Question& question, std::vector<NodeRoom> rooms, const sim::Symbols& symbols) {
  return Search(question, std::move(rooms), symbols).run();
}

}  // namespace fairlead::property
