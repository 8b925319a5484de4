// cluster and node statements.

#include <array>
#include <utility>

#include <fmt/format.h>

#include "sim/scenario/node_settings.h"

namespace fairlead::sim {
namespace {

constexpr std::int64_t kMostNodes = 10'000;

// racks=2 switches=2 of a cluster statement: how many domains each level has in one above it.
struct Division {
  std::string level;
  char letter;
  std::int64_t each = 0;
};

}  // namespace

Result<void> read_cluster(Cursor& cursor, Reading& reading) {
  FAIRLEAD_ASSIGN(const std::int64_t nodes, cursor.expect_number("the number of nodes"));
  if (nodes < 1 || nodes > kMostNodes) {
    return cursor.fail_here(fmt::format("{} nodes; a cluster has 1 to {}", nodes, kMostNodes));
  }
  if (!cursor.accept("node")) FAIRLEAD_TRY(cursor.expect_keyword("nodes", "the number of nodes"));
  Devices devices;
  devices.stated = true;
  Once stated;
  if (cursor.at_keyword("no") || cursor.at_number()) {
    FAIRLEAD_TRY(stated.note(cursor, cursor.peek(), "gpu"));
  }
  if (cursor.accept("no")) {
    FAIRLEAD_TRY(cursor.expect_keyword("gpu", "'no'"));
  } else if (cursor.at_number()) {
    FAIRLEAD_ASSIGN(devices.count, cursor.expect_number("the number of devices"));
    if (devices.count > kMostDevices) {
      return cursor.fail_here(fmt::format("a node has at most {} devices", kMostDevices));
    }
    if (!cursor.accept("gpus")) {
      FAIRLEAD_TRY(cursor.expect_keyword("gpu", "the number of devices"));
    }
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
        FAIRLEAD_TRY(stated.note(cursor, setting.word, division.level));
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
    FAIRLEAD_TRY(read_node_settings(settings, reading, node, devices, stated, false));
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
    Once stated;
    FAIRLEAD_TRY(read_node_settings(settings, reading, node, devices, stated, change));
    reading.add(cursor.line(), sched::NodeUpserted{std::move(node)});
  }
  return {};
}

}  // namespace fairlead::sim
