// What a scenario has said so far: the present specification of everything that has a name.
//
// Invariant: after note() of the same events, holds what a core that accepted all of them would
// have been told last. So that a statement can change one setting of a thing and a misspelt name is
// found while reading.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/time.h"
#include "sched/event.h"

namespace fairlead::sim {

struct Symbols {
  Instant now;
  bool unchecked = false;  // names may be of nothing: the core shall say so
  std::vector<std::string> levels;
  bool levels_defined = false;
  std::map<std::string, DeviceClass> classes;
  std::map<std::string, PoolSpec> pools;
  std::map<std::string, NodeSpec> nodes;
  std::map<std::string, QueueSpec> queues;
  std::map<std::string, WorkloadSpec> workloads;

  void note(const sched::Event& event);
};

template <class Map>
std::vector<std::string> names_of(const Map& map) {
  std::vector<std::string> names;
  names.reserve(map.size());
  for (const auto& entry : map) names.push_back(entry.first);
  return names;
}

}  // namespace fairlead::sim
