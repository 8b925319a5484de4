#include "sim/scenario/node_settings.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/decimal.h"
#include "base/nearest.h"
#include "sim/scenario/units_text.h"

namespace fairlead::sim {
namespace {

constexpr std::int64_t kDefaultMilliCpu = 128'000;
constexpr std::int64_t kDefaultMemory = std::int64_t{1} << 40;

const std::vector<std::string> kNodeSettings = {
    "gpu",  "class", "numa",  "cells",   "pcie",    "nvlink",    "cpu",        "memory",
    "pool", "type",  "taint", "untaint", "unlabel", "label.KEY", "extra.NAME", "LEVEL"};

bool has_prefix(const std::string& key, std::string_view prefix) {
  return key.size() > prefix.size() && key.starts_with(prefix);
}

// Settings that add to a list, or take from one.
bool may_be_repeated(const std::string& key) {
  return key == "taint" || key == "untaint" || key == "unlabel";
}

std::int32_t part_of(std::int64_t device, std::int64_t devices, std::int64_t parts) {
  if (parts == 0) return -1;
  const std::int64_t each = std::max<std::int64_t>(1, (devices + parts - 1) / parts);
  return static_cast<std::int32_t>(device / each);
}

std::vector<NumaCell> cells_of(MilliCpu cpu, std::int64_t cells) {
  std::vector<NumaCell> out;
  for (std::int64_t i = 0; i < cells; ++i) {
    out.push_back({MilliCpu(cpu.value / cells + (i < cpu.value % cells ? 1 : 0))});
  }
  return out;
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
                    cursor.placed(setting.word, parse_extra(key.substr(6), value)));
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
  Once stated;
  while (!cursor.done() && !cursor.at_keyword("device")) {
    if (cursor.accept("mig")) {
      device.mig_enabled = true;
    } else if (cursor.accept("unhealthy")) {
      device.health = DeviceHealth::kUnhealthy;
    } else if (cursor.at_setting()) {
      const Setting setting = cursor.take_setting();
      FAIRLEAD_TRY(stated.note(cursor, setting.word, setting.key));
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

}  // namespace

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

Result<void> use_class(const Cursor& cursor, const Word& word, const std::string& name,
                       Reading& reading) {
  if (reading.symbols.classes.contains(name)) return {};
  if (const DeviceClass* known = known_device_class(name)) {
    reading.add(word.line, sched::DeviceClassDefined{*known});
    return {};
  }
  if (reading.symbols.unchecked) return {};
  std::vector<std::string> known = known_device_class_names();
  for (const auto& entry : reading.symbols.classes) known.push_back(entry.first);
  const std::string nearest = nearest_name(name, known);
  return cursor.fail(word, fmt::format("'{}' is not a device class", name),
                     fmt::format("{}known: {}; or define it above: class {} memory=40000",
                                 nearest.empty() ? "" : fmt::format("did you mean {}? ", nearest),
                                 listing(known), name));
}

Result<void> read_node_settings(Cursor& cursor, Reading& reading, NodeSpec& node, Devices& devices,
                                Once& stated, bool change) {
  std::int64_t cells = -1;
  bool cells_stated = false;
  std::optional<Word> listed;
  while (!cursor.done()) {
    const Word& word = cursor.peek();
    if (cursor.accept("down")) {
      node.ready = false;
    } else if (cursor.accept("cordoned")) {
      node.schedulable = false;
    } else if (cursor.accept("mig")) {
      devices.mig = devices.stated = true;
      devices.laid_out_by = word;
    } else if (cursor.accept("device")) {
      if (!listed) node.devices.clear();
      listed = word;
      FAIRLEAD_TRY(read_device(cursor, reading, node));
    } else if (cursor.at_setting()) {
      const Setting setting = cursor.take_setting();
      if (!may_be_repeated(setting.key)) {
        FAIRLEAD_TRY(stated.note(cursor, setting.word, setting.key));
      }
      cells_stated = cells_stated || setting.key == "cells";
      FAIRLEAD_ASSIGN(const bool devices_took,
                      read_devices_setting(cursor, setting, reading, devices));
      if (devices_took) {
        if (setting.key == "numa") {
          cells = devices.numa;
        } else {
          devices.laid_out_by = setting.word;
        }
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
              fmt::format(
                  "write {}{}=N in a cluster statement, N of them in one of the level above; or "
                  "name the levels, widest first, above the first node: levels rack,switch",
                  level, setting.key == "switch" ? "es" : "s"));
        }
      }
      return cursor.unknown_setting(setting, "a node", known);
    } else {
      return cursor.fail(cursor.peek(), fmt::format("'{}' means nothing here", cursor.peek().text),
                         "allowed: KEY=VALUE, down, cordoned, mig, device");
    }
  }
  if (listed && devices.laid_out_by) {
    return cursor.fail(*devices.laid_out_by,
                       fmt::format("'{}' says nothing of the devices listed at {}",
                                   devices.laid_out_by->text, cursor.place(*listed)),
                       "state it behind each 'device', or list none");
  }
  if (devices.stated && !listed) {
    if (devices.count > 0) {
      FAIRLEAD_TRY(use_class(cursor, Word{{}, cursor.line(), 1}, devices.device_class, reading));
    }
    if (devices.count > 0 || !change) node.devices = laid_out(devices);
  }
  if (cells >= 0 && !cells_stated) node.numa = cells_of(node.cpu, cells);
  return {};
}

NodeSpec fresh_node() {
  NodeSpec node;
  node.cpu = MilliCpu(kDefaultMilliCpu);
  node.memory = Bytes(kDefaultMemory);
  return node;
}

void settle_levels(std::int32_t line, Reading& reading) {
  if (!reading.symbols.levels_defined) reading.add(line, sched::TopologyDefined{});
}

}  // namespace fairlead::sim
