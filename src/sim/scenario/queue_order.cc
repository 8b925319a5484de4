#include "sim/scenario/queue_order.h"

#include <algorithm>
#include <map>
#include <set>

namespace fairlead::sim {

std::string cycle_above(const std::string& queue, const ParentOf& parent_of) {
  std::vector<std::string> path;
  std::set<std::string> seen;
  std::string at = queue;
  while (seen.insert(at).second) {
    path.push_back(at);
    at = parent_of(at);
    if (at.empty()) return {};
  }
  std::string cycle;
  for (auto i = std::find(path.begin(), path.end(), at); i != path.end(); ++i) cycle += *i + " → ";
  return cycle + at;
}

Error cycle_error(const std::string& cycle) {
  return Error{ErrorCode::kInvalidArgument,
               "the queues form a cycle: " + cycle,
               {},
               {},
               "give one of them another parent, or none"};
}

std::vector<std::size_t> parents_first(const std::vector<QueueSpec>& queues) {
  std::map<std::string, std::size_t> by_name;
  for (std::size_t i = 0; i < queues.size(); ++i) by_name.emplace(queues[i].name, i);
  std::vector<std::size_t> order;
  std::vector<bool> told(queues.size(), false);
  for (std::size_t i = 0; i < queues.size(); ++i) {
    std::vector<std::size_t> path;
    for (auto at = by_name.find(queues[i].name); at != by_name.end() && !told[at->second];
         at = by_name.find(queues[at->second].parent)) {
      told[at->second] = true;
      path.push_back(at->second);
    }
    order.insert(order.end(), path.rbegin(), path.rend());
  }
  return order;
}

}  // namespace fairlead::sim
