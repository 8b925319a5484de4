#include "node/inventory.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <sched.h>
#include <unistd.h>

#include "base/decimal.h"
#include "node/nvml.h"
#include "node/own_limits.h"
#include "node/simulated_gpus.h"
#include "node/text_files.h"

namespace fairlead::node {
namespace {

std::string host_name(const std::string& proc) {
  std::string name = read_word(proc + "/sys/kernel/hostname").value_or("localhost");
  return name.empty() ? "localhost" : name;
}

std::vector<int> allowed_cpus() {
  // More CPUs than fit the usual set need a larger one; the kernel says so by EINVAL.
  for (int most = CPU_SETSIZE; most <= 1 << 20; most *= 2) {
    cpu_set_t* set = CPU_ALLOC(static_cast<std::size_t>(most));
    const std::size_t size = CPU_ALLOC_SIZE(static_cast<std::size_t>(most));
    std::vector<int> cpus;
    const bool known = ::sched_getaffinity(0, size, set) == 0;
    for (int i = 0; known && i < most; ++i) {
      if (CPU_ISSET_S(static_cast<std::size_t>(i), size, set)) cpus.push_back(i);
    }
    CPU_FREE(set);
    if (known) return cpus;
  }
  return {0};
}

// CPUs of each NUMA node, by its number.
std::map<int, std::vector<int>> numa_nodes(const std::string& sys) {
  std::map<int, std::vector<int>> nodes;
  const std::string folder = sys + "/devices/system/node";
  for (const int node : parse_number_list(read_word(folder + "/online").value_or(""))) {
    nodes[node] = parse_number_list(
        read_word(folder + "/node" + std::to_string(node) + "/cpulist").value_or(""));
  }
  return nodes;
}

void count_host(const InventoryOptions& options, const std::map<int, std::vector<int>>& numa,
                Inventory& out) {
  const OwnLimits limits = own_limits(options.sys + "/fs/cgroup", options.proc + "/self/cgroup");
  const std::vector<int> cpus = options.cpus.empty() ? allowed_cpus() : options.cpus;
  out.node.cpu = MilliCpu(static_cast<std::int64_t>(cpus.size()) * kMilli);
  const bool cut = limits.cpu && *limits.cpu < out.node.cpu;
  if (numa.size() > 1 && !cut) {
    std::int64_t counted = 0;
    for (const auto& [number, members] : numa) {
      std::int64_t count = 0;
      for (const int cpu : members) count += std::count(cpus.begin(), cpus.end(), cpu);
      out.node.numa.push_back({MilliCpu(count * kMilli)});
      counted += count;
    }
    if (MilliCpu(counted * kMilli) != out.node.cpu) out.node.numa.clear();
  }
  if (cut) {
    out.notes.push_back("of " + cpu_text(out.node.cpu.value) + " CPUs a control group leaves " +
                        cpu_text(limits.cpu->value));
    out.node.cpu = *limits.cpu;
  }

  const std::string meminfo = read_text(options.proc + "/meminfo").value_or("");
  for (const std::string& line : split(meminfo, '\n')) {
    if (!line.starts_with("MemTotal:")) continue;
    const auto words = split(line, ' ');
    if (words.size() >= 2)
      out.node.memory = Bytes(std::strtoll(words[1].c_str(), nullptr, 10) << 10);
  }
  if (limits.memory && *limits.memory < out.node.memory) {
    out.notes.push_back("of " + std::to_string(out.node.memory.value >> 20) +
                        " MiB of memory a control group leaves " +
                        std::to_string(limits.memory->value >> 20) + " MiB");
    out.node.memory = *limits.memory;
  }
}

// Cells are numbered from 0 in the order of their numbers, as in NodeSpec::numa.
std::int32_t numa_of(const std::string& folder, const std::map<int, std::vector<int>>& numa) {
  const auto stated = read_number(folder + "/numa_node");
  const std::vector<int> near =
      parse_number_list(read_word(folder + "/local_cpulist").value_or(""));
  std::int32_t cell = 0;
  for (const auto& [number, cpus] : numa) {
    const bool holds =
        !near.empty() && std::find(cpus.begin(), cpus.end(), near.front()) != cpus.end();
    // Firmware that says nothing leaves -1; then the CPUs that are near tell.
    if (stated && *stated >= 0 ? *stated == number : holds) return cell;
    ++cell;
  }
  return -1;
}

// The port above the switch: two steps up from the device. Empty where there is no switch.
std::string switch_of(const std::string& folder) {
  std::error_code error;
  std::filesystem::path path = std::filesystem::canonical(folder, error);
  if (error) return {};
  path = path.parent_path().parent_path();
  return path.filename().string().find(':') != std::string::npos &&
                 !path.filename().string().starts_with("pci")
             ? path.string()
             : std::string();
}

void place_devices(const InventoryOptions& options, const std::map<int, std::vector<int>>& numa,
                   Inventory& out) {
  std::map<std::string, std::int32_t> switches;
  for (const Gpu& gpu : out.gpus) {
    DeviceSpec device;
    device.id = gpu.uuid;
    DeviceClass device_class = device_class_of(gpu);
    device.device_class = device_class.name;
    device.nvlink_island = gpu.nvlink_island;
    device.mig_enabled = gpu.mig_enabled;
    if (!gpu.pci.empty()) {
      const std::string folder = options.sys + "/bus/pci/devices/" + gpu.pci;
      if (!out.node.numa.empty()) device.numa = numa_of(folder, numa);
      const std::string port = switch_of(folder);
      if (!port.empty()) {
        const auto next = static_cast<std::int32_t>(switches.size());
        device.pcie_switch = switches.try_emplace(port, next).first->second;
      }
    }
    out.node.devices.push_back(std::move(device));
    if (std::none_of(out.classes.begin(), out.classes.end(),
                     [&](const DeviceClass& one) { return one.name == device_class.name; })) {
      out.classes.push_back(std::move(device_class));
    }
  }
}

}  // namespace

Result<Inventory> take_inventory(const InventoryOptions& options) {
  Inventory out;
  out.node.name = options.name.empty() ? host_name(options.proc) : options.name;
  const auto numa = numa_nodes(options.sys);
  count_host(options, numa, out);
  if (out.node.memory.value <= 0) {
    return fail(Error{ErrorCode::kIo,
                      "it does not say how much memory there is",
                      options.proc + "/meminfo",
                      {},
                      "is /proc mounted?"});
  }
  if (!options.simulated_gpus.empty()) {
    FAIRLEAD_ASSIGN(out.gpus, simulated_gpus(options.simulated_gpus));
    out.simulated = true;
    out.notes.push_back("the GPUs are simulated: " + options.simulated_gpus);
  } else {
    NvmlFindings found = ask_nvml(options.nvml);
    out.gpus = std::move(found.gpus);
    if (!found.note.empty()) out.notes.push_back(std::move(found.note));
  }
  place_devices(options, numa, out);
  return out;
}

}  // namespace fairlead::node
