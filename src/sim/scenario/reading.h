// The scenario being read, shared by the readers of each kind of statement.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "sim/scenario/cursor.h"
#include "sim/scenario/once.h"
#include "sim/scenario/scenario.h"
#include "sim/scenario/scenario_size.h"
#include "sim/scenario/symbols.h"

namespace fairlead::sim {

struct Reading {
  Scenario scenario;
  Symbols symbols;
  Once stated;  // of what holds for the whole file
  ScenarioSize size;
  // Queues that the file defines somewhere, each with its parent and its place.
  std::map<std::string, std::pair<std::string, Word>> queues_of_file;

  void add(std::int32_t line, sched::Event event) {
    symbols.note(event);
    size.note(event);
    scenario.steps.push_back({line, std::move(event)});
  }
  template <class What>
  void add_step(std::int32_t line, What what) {
    size.note_step();
    scenario.steps.push_back({line, std::move(what)});
  }
};

// Each reads the rest of one statement, its first word being taken.
// pool_reader.cc
Result<void> read_levels(Cursor& cursor, Reading& reading);
Result<void> read_class(Cursor& cursor, Reading& reading);
Result<void> read_pool(Cursor& cursor, Reading& reading, bool change);
// node_reader.cc
Result<void> read_cluster(Cursor& cursor, Reading& reading);
Result<void> read_nodes(Cursor& cursor, Reading& reading, bool change);
// queue_reader.cc
Result<void> read_queue(Cursor& cursor, Reading& reading, bool change);
// Notes a queue before the file is read, so that a parent defined below its child is known.
void foresee_queue(const Statement& statement, Reading& reading);
// workload_reader.cc
Result<void> read_submit(Cursor& cursor, Reading& reading);
Result<void> read_running(Cursor& cursor, Reading& reading);
Result<void> read_workload_change(Cursor& cursor, Reading& reading);
Result<void> read_mix(Cursor& cursor, Reading& reading);
// event_reader.cc: everything else that happens; `verb` is the first word.
Result<void> read_event(const Word& verb, Cursor& cursor, Reading& reading);
// expect_reader.cc
Result<Expectation> read_expectation(Cursor& cursor, const Reading& reading);

// "n1:0" or "n1:gpu-0": the node and the id of the device.
Result<std::pair<std::string, std::string>> read_device_name(const Cursor& cursor, const Word& word,
                                                             const Symbols& symbols);

// Names and ranges of names, one word: nodes that are there.
Result<std::vector<std::string>> read_node_names(Cursor& cursor, const Reading& reading);

// One statement, whatever it is.
Result<void> read_statement(const Statement& statement, Reading& reading);

}  // namespace fairlead::sim
