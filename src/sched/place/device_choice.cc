#include "sched/place/device_choice.h"

#include <algorithm>
#include <array>
#include <bit>

#include "sched/place/fit.h"

namespace fairlead::sched {
namespace {

// The three nearness levels of 6.3, nearest first.
std::int32_t group_of(const DeviceState& d, int level) {
  return level == 0 ? d.nvlink_island : (level == 1 ? d.pcie_switch : d.numa);
}

struct Group {
  std::int32_t key = 0;
  DeviceList members;
};

void pick_nearest(const NodeRoom& room, const DeviceList& from, std::size_t n, int level,
                  DeviceList& out) {
  if (n == 0) return;
  if (level == 3 || from.size() == n) {
    out.insert(out.end(), from.begin(), from.begin() + static_cast<std::ptrdiff_t>(n));
    return;
  }
  boost::container::small_vector<Group, 4> groups;
  for (const std::uint16_t d : from) {
    const std::int32_t key = group_of(room.devices[d], level);
    auto it =
        std::find_if(groups.begin(), groups.end(), [&](const Group& g) { return g.key == key; });
    if (it == groups.end()) {
      groups.push_back({key, {}});
      it = groups.end() - 1;
    }
    it->members.push_back(d);
  }
  // The smallest group that holds all; else the largest one whole, and the rest likewise.
  const Group* smallest = nullptr;
  const Group* largest = &groups.front();
  for (const Group& g : groups) {
    if (g.members.size() >= n && (!smallest || g.members.size() < smallest->members.size())) {
      smallest = &g;
    }
    if (g.members.size() > largest->members.size()) largest = &g;
  }
  if (smallest) {
    pick_nearest(room, smallest->members, n, level + 1, out);
    return;
  }
  DeviceList rest;
  out.insert(out.end(), largest->members.begin(), largest->members.end());
  for (const std::uint16_t d : from) {
    if (group_of(room.devices[d], level) != largest->key) rest.push_back(d);
  }
  pick_nearest(room, rest, n - largest->members.size(), level, out);
}

void sort_for_fraction(const TaskClass& task, const NodeRoom& room, DeviceChoice choice,
                       DeviceList& list) {
  const bool by_memory = task.gpu_kind == GpuRequestKind::kMemory;
  std::stable_sort(list.begin(), list.end(), [&](std::uint16_t a, std::uint16_t b) {
    const DeviceState& x = room.devices[a];
    const DeviceState& y = room.devices[b];
    const std::array<std::int64_t, 2> kx{by_memory ? x.free_mib : x.free_milli,
                                         by_memory ? x.free_milli : x.free_mib};
    const std::array<std::int64_t, 2> ky{by_memory ? y.free_mib : y.free_milli,
                                         by_memory ? y.free_milli : y.free_mib};
    return choice == DeviceChoice::kBestFit ? kx < ky : ky < kx;
  });
}

// The first n of the list that leave room for all further tasks that fit now. With t of them, a
// device that takes t or more of the tasks loses nothing that t − 1 need; of the others as many may
// go as Σ min(t − 1, caps[j]) exceeds (t − 1)·n.
DeviceList first_that_spare(const TaskClass& task, const NodeRoom& room, std::size_t n,
                            const DeviceList& list) {
  ShareCounts caps;
  for (const std::uint16_t d : list) caps.push_back(shares_on(task, room.devices[d]));
  const auto each = static_cast<std::int64_t>(n);
  const std::int64_t t = tasks_on_distinct(caps, each);
  std::int64_t slack = -(t - 1) * each;
  for (const std::int64_t c : caps) slack += std::min(t - 1, c);
  DeviceList out;
  for (std::size_t i = 0; i < list.size() && out.size() < n; ++i) {
    if (caps[i] < t && slack-- <= 0) continue;
    out.push_back(list[i]);
  }
  return out;
}

DeviceList pick(const TaskClass& task, const NodeRoom& room, DeviceChoice choice,
                std::int32_t preferred, const DeviceList& with_room) {
  const auto n = static_cast<std::size_t>(task.gpu_count);
  if (task.gpu_kind == GpuRequestKind::kDevices) return nearest_devices(room, with_room, n);
  if (n == 1 && preferred >= 0 &&
      std::find(with_room.begin(), with_room.end(), preferred) != with_room.end()) {
    return {static_cast<std::uint16_t>(preferred)};
  }
  DeviceList sorted = with_room;
  sort_for_fraction(task, room, choice, sorted);
  if (n > 1) return first_that_spare(task, room, n, sorted);
  sorted.resize(n);
  return sorted;
}

// Devices whose own NUMA cells also hold the task's cores: the fewest cells, then the ones left
// with least. Every cell that lends cores also lends a device. Empty if there is no such set.
DeviceList pick_near_cores(const TaskClass& task, const NodeRoom& room, DeviceChoice choice,
                           std::int32_t preferred, const DeviceList& with_room) {
  const auto n = static_cast<std::size_t>(task.gpu_count);
  const std::size_t cells = std::min<std::size_t>(room.cells.size(), 8);
  std::uint32_t best = 0;
  std::array<std::size_t, 2> best_key{};
  for (std::uint32_t subset = 1; subset < (std::uint32_t{1} << cells); ++subset) {
    const auto lent = static_cast<std::size_t>(std::popcount(subset));
    if (lent > n || (best != 0 && lent > best_key[0])) continue;
    std::int64_t cpu = 0;
    std::size_t devices = 0;
    bool each = true;
    for (std::size_t c = 0; c < cells; ++c) {
      if ((subset >> c & 1) == 0) continue;
      cpu += room.cells[c].free_cpu;
      const auto here = static_cast<std::size_t>(std::count_if(
          with_room.begin(), with_room.end(),
          [&](std::uint16_t d) { return room.devices[d].numa == static_cast<std::int32_t>(c); }));
      devices += here;
      each = each && here > 0;
    }
    if (!each || devices < n || cpu < task.cpu) continue;
    const std::array<std::size_t, 2> key{lent, devices};
    if (best == 0 || key < best_key) {
      best = subset;
      best_key = key;
    }
  }
  if (best == 0) return {};
  DeviceList chosen;
  DeviceList rest;
  for (std::size_t c = 0; c < cells; ++c) {
    if ((best >> c & 1) == 0) continue;
    DeviceList here;
    for (const std::uint16_t d : with_room) {
      if (room.devices[d].numa == static_cast<std::int32_t>(c)) here.push_back(d);
    }
    if (best_key[0] == 1) return pick(task, room, choice, preferred, here);
    chosen.push_back(here.front());
    rest.insert(rest.end(), here.begin() + 1, here.end());
  }
  const std::size_t more = n - chosen.size();
  if (more > 0) {
    DeviceList extra = nearest_devices(room, rest, more);
    chosen.insert(chosen.end(), extra.begin(), extra.end());
  }
  return chosen;
}

std::size_t untouched_in_cell(const NodeRoom& room, std::size_t cell) {
  return static_cast<std::size_t>(
      std::count_if(room.devices.begin(), room.devices.end(), [&](const DeviceState& d) {
        return d.healthy && d.numa == static_cast<std::int32_t>(cell) && d.untouched();
      }));
}

// Cores from the cells of the task's devices first; then from the cells whose free GPUs need them
// least (6.2).
void take_cores(const TaskClass& task, const NodeRoom& room, TaskPlacement& placement) {
  if (task.cpu == 0) return;
  boost::container::small_vector<std::uint16_t, 4> order;
  for (std::size_t c = 0; c < room.cells.size(); ++c)
    order.push_back(static_cast<std::uint16_t>(c));
  if (room.cells.size() > 1) {
    const auto key = [&](std::uint16_t c) {
      const bool own = std::any_of(
          placement.devices.begin(), placement.devices.end(),
          [&](const DeviceClaim& claim) { return room.devices[claim.device].numa == c; });
      return std::array<std::int64_t, 3>{own ? 0 : 1,
                                         static_cast<std::int64_t>(untouched_in_cell(room, c)),
                                         -room.cells[c].free_cpu};
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint16_t a, std::uint16_t b) { return key(a) < key(b); });
  }
  std::int64_t missing = task.cpu;
  for (const std::uint16_t c : order) {
    const std::int64_t part = std::min(missing, room.cells[c].free_cpu);
    if (part <= 0) continue;
    placement.cpus.push_back({c, MilliCpu(part)});
    missing -= part;
    if (missing == 0) break;
  }
}

std::optional<TaskPlacement> choose_mig(const TaskClass& task, const NodeRoom& room) {
  TaskPlacement placement;
  NodeRoom trial = room;
  for (std::int32_t i = 0; i < task.gpu_count; ++i) {
    std::optional<DeviceClaim> best;
    int best_free = 0;
    for (std::size_t d = 0; d < trial.devices.size(); ++d) {
      if (!device_eligible(task, trial.devices[d])) continue;
      auto claim = mig_claim(task, trial.devices[d]);
      const int free = std::popcount(trial.devices[d].mig_free_slices);
      if (!claim || (best && free >= best_free)) continue;
      claim->device = static_cast<std::uint16_t>(d);
      best = claim;
      best_free = free;
    }
    if (!best) return std::nullopt;
    TaskPlacement one;
    one.devices.push_back(*best);
    trial.take(one, {}, {});
    placement.devices.push_back(*best);
  }
  return placement;
}

}  // namespace

bool device_eligible(const TaskClass& task, const DeviceState& device) {
  return device.healthy && device.mig == (task.gpu_kind == GpuRequestKind::kMig) &&
         task.on_device[device.device_class.index()].allowed;
}

bool device_has_room(const TaskClass& task, const DeviceState& device) {
  if (!device_eligible(task, device)) return false;
  if (task.gpu_kind == GpuRequestKind::kDevices) return device.untouched();
  return device.free_milli >= task.milli &&
         device.free_mib >= task.on_device[device.device_class.index()].mib;
}

std::int64_t shares_on(const TaskClass& task, const DeviceState& device) {
  const std::int64_t mib = task.on_device[device.device_class.index()].mib;
  if (task.gpu_kind == GpuRequestKind::kMemory) return device.free_mib / mib;
  const std::int64_t by_milli = device.free_milli / task.milli;
  return mib > 0 ? std::min(by_milli, device.free_mib / mib) : by_milli;
}

std::int64_t tasks_on_distinct(const ShareCounts& caps, std::int64_t n) {
  std::int64_t sum = 0;
  for (const std::int64_t c : caps) sum += c;
  for (std::int64_t t = sum / n; t > 0;) {
    std::int64_t covered = 0;
    for (const std::int64_t c : caps) covered += std::min(t, c);
    if (covered >= t * n) return t;
    t = covered / n < t ? covered / n : t - 1;
  }
  return 0;
}

DeviceList nearest_devices(const NodeRoom& room, const DeviceList& free, std::size_t n) {
  DeviceList out;
  pick_nearest(room, free, n, 0, out);
  return out;
}

std::optional<DeviceClaim> mig_claim(const TaskClass& task, const DeviceState& device) {
  const OnDevice& on = task.on_device[device.device_class.index()];
  if (!device.mig || on.mig_profile < 0) return std::nullopt;
  const DeviceClass& device_class = *on.device_class;
  const MigProfile& profile = device_class.mig_profiles[static_cast<std::size_t>(on.mig_profile)];
  if (device.mig_free_compute < profile.compute_slices || device.free_mib < on.mib)
    return std::nullopt;
  const auto mask_at = [](std::int32_t start, std::int32_t slices) {
    return ((std::uint32_t{1} << slices) - 1) << start;
  };
  // Of the legal starts, the one that leaves the most starts legal for all profiles.
  std::int32_t best_start = -1;
  std::int32_t best_left = -1;
  for (const std::int32_t start : profile.starts) {
    const std::uint32_t mask = mask_at(start, profile.memory_slices);
    if ((device.mig_free_slices & mask) != mask) continue;
    const std::uint32_t left = device.mig_free_slices & ~mask;
    std::int32_t starts_left = 0;
    for (const MigProfile& other : device_class.mig_profiles) {
      for (const std::int32_t s : other.starts) {
        const std::uint32_t m = mask_at(s, other.memory_slices);
        if ((left & m) == m) starts_left += other.memory_slices;
      }
    }
    if (starts_left > best_left) {
      best_left = starts_left;
      best_start = start;
    }
  }
  if (best_start < 0) return std::nullopt;
  DeviceClaim claim;
  claim.mig_start = static_cast<std::int16_t>(best_start);
  claim.mig_profile = static_cast<std::int16_t>(on.mig_profile);
  claim.mig_memory_slices = static_cast<std::int16_t>(profile.memory_slices);
  claim.mig_compute_slices = static_cast<std::int16_t>(profile.compute_slices);
  claim.milli = MilliGpu(on.charge_milli / task.gpu_count);
  claim.memory = profile.memory;
  return claim;
}

DeviceClaim device_claim(const TaskClass& task, const NodeRoom& room, std::uint16_t device) {
  DeviceClaim claim;
  claim.device = device;
  claim.milli = MilliGpu(task.milli);
  claim.memory = MiB(task.gpu_kind == GpuRequestKind::kDevices
                         ? room.devices[device].total_mib
                         : task.on_device[room.devices[device].device_class.index()].mib);
  return claim;
}

std::optional<TaskPlacement> choose(const TaskClass& task, const NodeRoom& room,
                                    DeviceChoice choice, std::int32_t preferred_device) {
  if (room.cpu < task.cpu || room.memory < task.memory) return std::nullopt;
  for (const auto& [resource, amount] : task.extended) {
    if (room.extended_free(resource) < amount) return std::nullopt;
  }
  TaskPlacement placement;
  if (task.gpu_kind == GpuRequestKind::kMig) {
    auto mig = choose_mig(task, room);
    if (!mig) return std::nullopt;
    placement = std::move(*mig);
  } else if (task.needs_gpu()) {
    DeviceList with_room;
    for (std::size_t d = 0; d < room.devices.size(); ++d) {
      if (device_has_room(task, room.devices[d]))
        with_room.push_back(static_cast<std::uint16_t>(d));
    }
    if (with_room.size() < static_cast<std::size_t>(task.gpu_count)) return std::nullopt;
    DeviceList chosen;
    const bool whole = task.gpu_kind == GpuRequestKind::kDevices;
    if (task.cpu > 0 && (task.numa_required || (whole && room.cells.size() > 1))) {
      chosen = pick_near_cores(task, room, choice, preferred_device, with_room);
      if (chosen.empty() && task.numa_required) return std::nullopt;
    }
    if (chosen.empty()) chosen = pick(task, room, choice, preferred_device, with_room);
    std::sort(chosen.begin(), chosen.end());
    for (const std::uint16_t d : chosen) placement.devices.push_back(device_claim(task, room, d));
  }
  take_cores(task, room, placement);
  return placement;
}

}  // namespace fairlead::sched
