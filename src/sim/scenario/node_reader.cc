// levels, class, pool, cluster and node statements.

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/decimal.h"
#include "base/nearest.h"
#include "sim/scenario/reading.h"

namespace fairlead::sim {
namespace {

constexpr std::int64_t kMostNodes = 10'000;
constexpr std::int64_t kMostDevices = 64;
constexpr const char* kDefaultClass = "H100-80GB";
constexpr std::int64_t kDefaultMilliCpu = 128'000;
constexpr std::int64_t kDefaultMemory = std::int64_t{1} << 40;

const std::vector<std::string> kNodeSettings = {
    "gpu",  "class", "numa",  "cells",   "pcie",    "nvlink",    "cpu",        "memory",
    "pool", "type",  "taint", "untaint", "unlabel", "label.KEY", "extra.NAME", "LEVEL"};

bool has_prefix(const std::string& key, std::string_view prefix) {
  return key.size() > prefix.size() && key.starts_with(prefix);
}

// Devices of a node as their count and how they are spread over it.
struct Devices {
  std::int64_t count = 0;
  std::string device_class = kDefaultClass;
  std::int64_t numa = 0;  // 0: not known
  std::int64_t pcie = 0;
  std::int64_t nvlink = 0;
  bool mig = false;
  bool stated = false;
};

std::int32_t part_of(std::int64_t device, std::int64_t devices, std::int64_t parts) {
  if (parts == 0) return -1;
  const std::int64_t each = std::max<std::int64_t>(1, (devices + parts - 1) / parts);
  return static_cast<std::int32_t>(device / each);
}

std::vector<DeviceSpec> laid_out(const Devices& devices) {
  std::vector<DeviceSpec> out;
  for (std::int64_t i = 0; i < devices.count; ++i) {
    DeviceSpec device;
    device.id = fmt::format("gpu-{}", i);
    device.device_class = devices.device_class;
    device.numa = part_of(i, devices.count, devices.numa);
    device.pcie_switch = part_of(i, devices.count, devices.pcie);
    device.nvlink_island = part_of(i, devices.count, devices.nvlink);
    device.mig_enabled = devices.mig;
    out.push_back(std::move(device));
  }
  return out;
}

std::vector<NumaCell> cells_of(MilliCpu cpu, std::int64_t cells) {
  std::vector<NumaCell> out;
  for (std::int64_t i = 0; i < cells; ++i) {
    out.push_back({MilliCpu(cpu.value / cells + (i < cpu.value % cells ? 1 : 0))});
  }
  return out;
}

// A class must be told to the core before its first device.
Result<void> use_class(const Cursor& cursor, const Word& word, const std::string& name,
                       Reading& reading) {
  if (reading.symbols.classes.contains(name)) return {};
  if (const DeviceClass* known = known_device_class(name)) {
    reading.add(word.line, sched::DeviceClassDefined{*known});
    return {};
  }
  std::vector<std::string> known = known_device_class_names();
  for (const auto& entry : reading.symbols.classes) known.push_back(entry.first);
  const std::string nearest = nearest_name(name, known);
  return cursor.fail(word, fmt::format("'{}' is not a device class", name),
                     fmt::format("{}known: {}; or define it above: class {} memory=40000",
                                 nearest.empty() ? "" : fmt::format("did you mean {}? ", nearest),
                                 listing(known), name));
}

Result<Taint> parse_taint(const Cursor& cursor, const Setting& setting) {
  Taint taint;
  std::string_view rest = setting.value;
  if (const std::size_t colon = rest.rfind(':'); colon != std::string_view::npos) {
    const std::string_view effect = rest.substr(colon + 1);
    if (effect == "no-schedule") {
      taint.effect = TaintEffect::kNoSchedule;
    } else if (effect == "prefer-no-schedule") {
      taint.effect = TaintEffect::kPreferNoSchedule;
    } else if (effect == "no-execute") {
      taint.effect = TaintEffect::kNoExecute;
    } else {
      return cursor.fail(setting.word, fmt::format("'{}' is not an effect of a taint", effect),
                         "allowed: no-schedule, prefer-no-schedule, no-execute");
    }
    rest = rest.substr(0, colon);
  }
  const std::size_t equals = rest.find('=');
  taint.key = rest.substr(0, equals);
  if (equals != std::string_view::npos) taint.value = rest.substr(equals + 1);
  if (taint.key.empty()) {
    return cursor.fail(setting.word, "a taint needs a key", "taint=dedicated=ml:no-schedule");
  }
  return taint;
}

// One setting of a node that is not about its devices as a whole.
Result<bool> read_node_setting(const Cursor& cursor, const Setting& setting, Reading& reading,
                               NodeSpec& node) {
  const std::string& key = setting.key;
  const std::string& value = setting.value;
  if (key == "cpu") {
    FAIRLEAD_ASSIGN(node.cpu.value, cursor.placed(setting.word, parse_cpu(value)));
  } else if (key == "memory") {
    FAIRLEAD_ASSIGN(node.memory.value, cursor.placed(setting.word, parse_memory(value)));
  } else if (key == "pool") {
    node.pool = value;
  } else if (key == "type") {
    node.node_type = value;
  } else if (key == "cells") {
    node.numa.clear();
    for (const std::string& part : split_list(value)) {
      FAIRLEAD_ASSIGN(const std::int64_t cpu, cursor.placed(setting.word, parse_cpu(part)));
      node.numa.push_back({MilliCpu(cpu)});
    }
  } else if (has_prefix(key, "label.")) {
    node.labels[key.substr(6)] = value;
  } else if (has_prefix(key, "extra.")) {
    FAIRLEAD_ASSIGN(node.extended[key.substr(6)],
                    cursor.placed(setting.word, parse_count(value, 0, kMaxAmount)));
  } else if (key == "unlabel") {
    if (node.labels.erase(value) == 0) {
      return cursor.fail(setting.word, fmt::format("{} has no label '{}'", node.name, value));
    }
  } else if (key == "taint") {
    FAIRLEAD_ASSIGN(Taint taint, parse_taint(cursor, setting));
    node.taints.push_back(std::move(taint));
  } else if (key == "untaint") {
    if (std::erase_if(node.taints, [&](const Taint& t) { return t.key == value; }) == 0) {
      return cursor.fail(setting.word, fmt::format("{} has no taint '{}'", node.name, value));
    }
  } else {
    const auto level = std::find(reading.symbols.levels.begin(), reading.symbols.levels.end(), key);
    if (level == reading.symbols.levels.end()) return false;
    node.topology.resize(reading.symbols.levels.size());
    node.topology[static_cast<std::size_t>(level - reading.symbols.levels.begin())] = value;
  }
  return true;
}

Result<bool> read_devices_setting(const Cursor& cursor, const Setting& setting, Reading& reading,
                                  Devices& devices) {
  std::int64_t* number = nullptr;
  std::int64_t most = kMostDevices;
  if (setting.key == "gpu") number = &devices.count;
  if (setting.key == "numa") number = &devices.numa, most = 16;
  if (setting.key == "pcie") number = &devices.pcie;
  if (setting.key == "nvlink") number = &devices.nvlink;
  if (number != nullptr) {
    FAIRLEAD_ASSIGN(*number, cursor.placed(setting.word, parse_count(setting.value, 0, most)));
  } else if (setting.key == "class") {
    FAIRLEAD_TRY(use_class(cursor, setting.word, setting.value, reading));
    devices.device_class = setting.value;
  } else {
    return false;
  }
  devices.stated = true;
  return true;
}

// device IDS [class= numa= pcie= nvlink=] [mig] [unhealthy]
Result<void> read_device(Cursor& cursor, Reading& reading, NodeSpec& node) {
  FAIRLEAD_ASSIGN(const Word word, cursor.expect_word("the id of a device"));
  FAIRLEAD_ASSIGN(const auto ids, cursor.placed(word, expand_names(word.text)));
  DeviceSpec device;
  device.device_class = kDefaultClass;
  bool class_stated = false;
  while (!cursor.done() && !cursor.at_keyword("device")) {
    if (cursor.accept("mig")) {
      device.mig_enabled = true;
    } else if (cursor.accept("unhealthy")) {
      device.health = DeviceHealth::kUnhealthy;
    } else if (cursor.at_setting()) {
      const Setting setting = cursor.take_setting();
      std::int32_t* number = setting.key == "numa"     ? &device.numa
                             : setting.key == "pcie"   ? &device.pcie_switch
                             : setting.key == "nvlink" ? &device.nvlink_island
                                                       : nullptr;
      if (number != nullptr) {
        FAIRLEAD_ASSIGN(const std::int64_t value,
                        cursor.placed(setting.word, parse_count(setting.value, -1, 1023)));
        *number = static_cast<std::int32_t>(value);
      } else if (setting.key == "class") {
        FAIRLEAD_TRY(use_class(cursor, setting.word, setting.value, reading));
        device.device_class = setting.value;
        class_stated = true;
      } else {
        const std::vector<std::string> known = {"class", "numa", "pcie", "nvlink"};
        return cursor.unknown_setting(setting, "a device", known);
      }
    } else {
      return cursor.fail(cursor.peek(), fmt::format("'{}' means nothing here", cursor.peek().text),
                         "allowed: class=, numa=, pcie=, nvlink=, mig, unhealthy, device");
    }
  }
  if (!class_stated) FAIRLEAD_TRY(use_class(cursor, word, device.device_class, reading));
  for (const std::string& id : ids) {
    device.id = id;
    node.devices.push_back(device);
  }
  return {};
}

// The settings of a node up to the end of the statement. `numa` cells follow the CPUs.
Result<void> read_node_settings(Cursor& cursor, Reading& reading, NodeSpec& node, Devices& devices,
                                bool change) {
  std::int64_t cells = -1;
  bool listed = false;
  while (!cursor.done()) {
    if (cursor.accept("down")) {
      node.ready = false;
    } else if (cursor.accept("cordoned")) {
      node.schedulable = false;
    } else if (cursor.accept("mig")) {
      devices.mig = devices.stated = true;
    } else if (cursor.accept("device")) {
      if (!listed) node.devices.clear();
      listed = true;
      FAIRLEAD_TRY(read_device(cursor, reading, node));
    } else if (cursor.at_setting()) {
      const Setting setting = cursor.take_setting();
      FAIRLEAD_ASSIGN(const bool devices_took,
                      read_devices_setting(cursor, setting, reading, devices));
      if (devices_took) {
        if (setting.key == "numa") cells = devices.numa;
        continue;
      }
      FAIRLEAD_ASSIGN(const bool node_took, read_node_setting(cursor, setting, reading, node));
      if (node_took) continue;
      std::vector<std::string> known = kNodeSettings;
      known.insert(known.end(), reading.symbols.levels.begin(), reading.symbols.levels.end());
      for (const char* level : {"zone", "rack", "switch"}) {
        if (setting.key == level) {
          return cursor.fail(
              setting.word, fmt::format("there is no topology level '{}'", level),
              "name the levels, widest first, above the first node: levels rack,switch");
        }
      }
      return cursor.unknown_setting(setting, "a node", known);
    } else {
      return cursor.fail(cursor.peek(), fmt::format("'{}' means nothing here", cursor.peek().text),
                         "allowed: KEY=VALUE, down, cordoned, mig, device");
    }
  }
  if (devices.stated && !listed) {
    if (devices.count > 0) {
      FAIRLEAD_TRY(use_class(cursor, Word{{}, cursor.line(), 1}, devices.device_class, reading));
    }
    if (devices.count > 0 || !change) node.devices = laid_out(devices);
  }
  if (cells >= 0) node.numa = cells_of(node.cpu, cells);
  return {};
}

NodeSpec fresh_node() {
  NodeSpec node;
  node.cpu = MilliCpu(kDefaultMilliCpu);
  node.memory = Bytes(kDefaultMemory);
  return node;
}

// Tells the core of levels if no statement did: nodes come after.
void settle_levels(std::int32_t line, Reading& reading) {
  if (!reading.symbols.levels_defined) reading.add(line, sched::TopologyDefined{});
}

// racks=2 switches=2 of a cluster statement: how many domains each level has in one above it.
struct Division {
  std::string level;
  char letter;
  std::int64_t each = 0;
};

}  // namespace

Result<void> read_levels(Cursor& cursor, Reading& reading) {
  if (!reading.symbols.nodes.empty() || reading.symbols.levels_defined) {
    return cursor.fail_here("levels must come once, above the first node");
  }
  std::vector<std::string> levels;
  while (!cursor.done()) {
    const Word word = cursor.take();
    for (std::string& level : split_list(word.text)) {
      if (level.empty() || level == "host" ||
          std::find(levels.begin(), levels.end(), level) != levels.end()) {
        return cursor.fail(word, fmt::format("'{}' cannot be a level", level),
                           "each level has a name of its own; 'host' is always there");
      }
      levels.push_back(std::move(level));
    }
  }
  if (levels.empty()) return cursor.fail_here("no level is named", "levels rack,switch");
  reading.add(cursor.line(), sched::TopologyDefined{std::move(levels)});
  return {};
}

Result<void> read_class(Cursor& cursor, Reading& reading) {
  FAIRLEAD_ASSIGN(const Word name, cursor.expect_word("the name of the device class"));
  DeviceClass device_class;
  device_class.name = name.text;
  const std::vector<std::string> known = {"memory", "mig-compute", "mig-memory"};
  while (!cursor.done()) {
    if (cursor.accept("profile")) {
      FAIRLEAD_ASSIGN(const Word profile_name, cursor.expect_word("the name of the MIG profile"));
      MigProfile profile;
      profile.name = profile_name.text;
      while (!cursor.done() && !cursor.at_keyword("profile")) {
        if (!cursor.at_setting()) {
          return cursor.fail(cursor.peek(),
                             fmt::format("'{}' is not a setting", cursor.peek().text),
                             "profile 1g.10gb compute=1 slices=1 memory=9856 starts=0,1,2");
        }
        const Setting s = cursor.take_setting();
        if (s.key == "compute" || s.key == "slices") {
          FAIRLEAD_ASSIGN(const std::int64_t n, cursor.placed(s.word, parse_count(s.value, 0, 16)));
          (s.key == "compute" ? profile.compute_slices : profile.memory_slices) =
              static_cast<std::int32_t>(n);
        } else if (s.key == "memory") {
          FAIRLEAD_ASSIGN(profile.memory.value, cursor.placed(s.word, parse_mib(s.value)));
        } else if (s.key == "starts") {
          for (const std::string& part : split_list(s.value)) {
            FAIRLEAD_ASSIGN(const std::int64_t n, cursor.placed(s.word, parse_count(part, 0, 15)));
            profile.starts.push_back(static_cast<std::int32_t>(n));
          }
        } else {
          const std::vector<std::string> of_profile = {"compute", "slices", "memory", "starts"};
          return cursor.unknown_setting(s, "a MIG profile", of_profile);
        }
      }
      device_class.mig_profiles.push_back(std::move(profile));
      continue;
    }
    if (!cursor.at_setting()) {
      return cursor.fail(cursor.peek(), fmt::format("'{}' is not a setting", cursor.peek().text),
                         "class CARD memory=46068");
    }
    const Setting s = cursor.take_setting();
    if (s.key == "memory") {
      FAIRLEAD_ASSIGN(device_class.memory.value, cursor.placed(s.word, parse_mib(s.value)));
    } else if (s.key == "mig-compute" || s.key == "mig-memory") {
      FAIRLEAD_ASSIGN(const std::int64_t n, cursor.placed(s.word, parse_count(s.value, 0, 16)));
      (s.key == "mig-compute" ? device_class.mig_compute_slices : device_class.mig_memory_slices) =
          static_cast<std::int32_t>(n);
    } else {
      return cursor.unknown_setting(s, "a device class", known);
    }
  }
  if (device_class.memory.value <= 0) {
    return cursor.fail(name, fmt::format("class {} has no memory", name.text),
                       "state it in MiB: memory=46068");
  }
  reading.add(cursor.line(), sched::DeviceClassDefined{std::move(device_class)});
  return {};
}

Result<void> read_pool(Cursor& cursor, Reading& reading, bool change) {
  FAIRLEAD_ASSIGN(const Word name, cursor.expect_word("the name of the pool"));
  PoolSpec pool;
  pool.name = name.text;
  if (change) {
    const auto it = reading.symbols.pools.find(name.text);
    if (it != reading.symbols.pools.end()) {
      pool = it->second;
    } else if (name.text != "default") {
      return cursor.unknown(name, "a pool defined above", names_of(reading.symbols.pools));
    }
  }
  while (!cursor.done()) {
    if (!cursor.at_setting()) {
      return cursor.fail(cursor.peek(), fmt::format("'{}' is not a setting", cursor.peek().text),
                         "pool default gpu=spread cpu=binpack rate.H100-80GB=2");
    }
    const Setting s = cursor.take_setting();
    const auto strategy = [&](Strategy& out) -> Result<void> {
      if (s.value != "binpack" && s.value != "spread") {
        return cursor.fail(s.word, fmt::format("'{}' is not a strategy", s.value),
                           "allowed: binpack, spread");
      }
      out = s.value == "spread" ? Strategy::kSpread : Strategy::kBinpack;
      return {};
    };
    const auto duration = [&](Duration& out) -> Result<void> {
      FAIRLEAD_ASSIGN(out, cursor.placed(s.word, parse_duration(s.value)));
      return {};
    };
    if (s.key == "gpu") {
      FAIRLEAD_TRY(strategy(pool.gpu_strategy));
    } else if (s.key == "cpu") {
      FAIRLEAD_TRY(strategy(pool.cpu_strategy));
    } else if (has_prefix(s.key, "rate.")) {
      FAIRLEAD_ASSIGN(pool.exchange_rates[s.key.substr(5)],
                      cursor.placed(s.word, parse_decimal(s.value, 3)));
    } else if (has_prefix(s.key, "price.")) {
      FAIRLEAD_ASSIGN(pool.prices[s.key.substr(6)],
                      cursor.placed(s.word, parse_decimal(s.value, 3)));
    } else if (s.key == "k") {
      FAIRLEAD_ASSIGN(pool.k_value_milli, cursor.placed(s.word, parse_decimal(s.value, 3)));
    } else if (s.key == "half-life") {
      FAIRLEAD_TRY(duration(pool.usage_half_life));
    } else if (s.key == "window") {
      if (s.value != "sliding" && s.value != "tumbling") {
        return cursor.fail(s.word, fmt::format("'{}' is not a window", s.value),
                           "allowed: sliding, tumbling");
      }
      pool.usage_window = s.value == "sliding" ? UsageWindow::kSliding : UsageWindow::kTumbling;
    } else if (s.key == "window-length") {
      FAIRLEAD_TRY(duration(pool.usage_window_length));
    } else if (s.key == "aging") {
      FAIRLEAD_TRY(duration(pool.aging_interval));
    } else if (s.key == "aging-max") {
      FAIRLEAD_ASSIGN(const std::int64_t n,
                      cursor.placed(s.word, parse_count(s.value, 0, 1'000'000)));
      pool.aging_max = static_cast<std::int32_t>(n);
    } else {
      const std::vector<std::string> known = {"gpu",   "cpu",       "rate.CLASS", "price.CLASS",
                                              "k",     "half-life", "window",     "window-length",
                                              "aging", "aging-max"};
      return cursor.unknown_setting(s, "a pool", known);
    }
  }
  reading.add(cursor.line(), sched::PoolDefined{std::move(pool)});
  return {};
}

Result<void> read_cluster(Cursor& cursor, Reading& reading) {
  FAIRLEAD_ASSIGN(const std::int64_t nodes, cursor.expect_number("the number of nodes"));
  if (nodes < 1 || nodes > kMostNodes) {
    return cursor.fail_here(fmt::format("{} nodes; a cluster has 1 to {}", nodes, kMostNodes));
  }
  if (!cursor.accept("node")) FAIRLEAD_TRY(cursor.expect_keyword("nodes", "the number of nodes"));
  Devices devices;
  devices.stated = true;
  if (cursor.accept("no")) {
    FAIRLEAD_TRY(cursor.expect_keyword("gpu", "'no'"));
  } else if (cursor.at_number()) {
    FAIRLEAD_ASSIGN(devices.count, cursor.expect_number("the number of devices"));
    if (devices.count > kMostDevices) {
      return cursor.fail_here(fmt::format("a node has at most {} devices", kMostDevices));
    }
    FAIRLEAD_TRY(cursor.expect_keyword("gpu", "the number of devices"));
    cursor.accept("each");
  }
  // Domains of the levels, taken out before the rest, which is about nodes.
  std::array<Division, 3> divisions{{{"zone", 'z'}, {"rack", 'r'}, {"switch", 's'}}};
  Statement rest;
  while (!cursor.done()) {
    bool taken = false;
    if (cursor.at_setting()) {
      const Setting setting = Cursor(cursor).take_setting();
      for (Division& division : divisions) {
        if (setting.key != division.level + (division.level == "switch" ? "es" : "s")) continue;
        FAIRLEAD_ASSIGN(division.each,
                        cursor.placed(setting.word, parse_count(setting.value, 1, kMostNodes)));
        taken = true;
      }
    }
    const Word& word = cursor.take();
    if (!taken) rest.words.push_back(word);
  }
  std::int64_t domains = 1;
  std::vector<std::string> levels;
  for (const Division& division : divisions) {
    if (division.each == 0) continue;
    levels.push_back(division.level);
    domains *= division.each;
    if (domains > nodes || nodes % domains != 0) {
      return cursor.fail_here(fmt::format("{} nodes cannot be divided evenly into {} {}s", nodes,
                                          domains, division.level),
                              "write the nodes one by one: node n1 gpu=8 rack=r1");
    }
  }
  if (!levels.empty()) {
    if (reading.symbols.levels_defined) {
      return cursor.fail_here("the levels are defined above",
                              "leave out the levels statement, or name the domains of each node");
    }
    reading.add(cursor.line(), sched::TopologyDefined{levels});
  }
  settle_levels(cursor.line(), reading);
  NodeSpec node = fresh_node();
  if (!rest.words.empty()) {
    std::string file = cursor.place(rest.words.front());
    file.resize(file.rfind(':', file.rfind(':') - 1));
    Cursor settings(rest, file);
    FAIRLEAD_TRY(read_node_settings(settings, reading, node, devices, false));
  } else {
    if (devices.count > 0) {
      FAIRLEAD_TRY(
          use_class(cursor, Word{{}, cursor.line(), 1, false}, devices.device_class, reading));
    }
    node.devices = laid_out(devices);
  }
  for (std::int64_t i = 0; i < nodes; ++i) {
    node.name = fmt::format("n{}", i + 1);
    if (reading.symbols.nodes.contains(node.name)) {
      return cursor.fail_here(fmt::format("there is a node {} already", node.name));
    }
    if (!levels.empty()) node.topology.clear();
    std::int64_t so_far = 1;
    std::string path;
    for (const Division& division : divisions) {
      if (division.each == 0) continue;
      so_far *= division.each;
      const std::int64_t domain = i / (nodes / so_far);
      path += fmt::format("{}{}", division.letter, domain % division.each + 1);
      node.topology.push_back(path);
    }
    reading.add(cursor.line(), sched::NodeUpserted{node});
  }
  return {};
}

Result<void> read_nodes(Cursor& cursor, Reading& reading, bool change) {
  FAIRLEAD_ASSIGN(const Word word, cursor.expect_word("the name of the node"));
  FAIRLEAD_ASSIGN(const auto names, cursor.placed(word, expand_names(word.text)));
  settle_levels(cursor.line(), reading);
  for (const std::string& name : names) {
    NodeSpec node = fresh_node();
    Devices devices;
    if (change) {
      const auto it = reading.symbols.nodes.find(name);
      if (it == reading.symbols.nodes.end()) {
        return cursor.unknown(word, "a node", names_of(reading.symbols.nodes));
      }
      node = it->second;
      if (!node.devices.empty()) {
        devices.count = static_cast<std::int64_t>(node.devices.size());
        devices.device_class = node.devices.front().device_class;
      }
    }
    node.name = name;
    Cursor settings = cursor;
    FAIRLEAD_TRY(read_node_settings(settings, reading, node, devices, change));
    reading.add(cursor.line(), sched::NodeUpserted{std::move(node)});
  }
  return {};
}

}  // namespace fairlead::sim
