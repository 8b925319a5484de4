#include "cli/client/details.h"

#include <algorithm>

#include "base/decimal.h"
#include "base/printable.h"
#include "cli/client/answer.h"
#include "cli/client/voice.h"

namespace fairlead::cli {
namespace {

std::string map_text(const Value* map) {
  std::string out;
  if (map == nullptr) return out;
  for (const Value& item : map->items()) {
    out += (out.empty() ? "" : ", ") + printable(item.key() + "=" + item.text());
  }
  return out;
}

std::string command_text(const Value& workload) {
  std::string out;
  for (const Value& word : list_at(workload, "document.run.command")) {
    const bool plain = word.text().find_first_of(" \t\"'$\\") == std::string::npos;
    out += (out.empty() ? "" : " ") +
           (plain && !word.text().empty() ? word.text() : "'" + word.text() + "'");
  }
  return printable(out);
}

std::string tasks_text(const Value& workload) {
  const Value* tasks = value_at(workload, "status.tasks");
  if (tasks == nullptr) return {};
  std::string out =
      text_at(*tasks, "running", "0") + " of " + text_at(*tasks, "wanted", "?") + " running";
  for (const char* word : {"frozen", "starting", "stopping", "succeeded", "failed"}) {
    if (const auto count = number_at(*tasks, word); count.value_or(0) > 0) {
      out += ", " + std::to_string(*count) + " " + word;
    }
  }
  return out;
}

// Only if it says something: 0 times is not news.
std::string times_text(const Value& workload, std::string_view path) {
  const auto count = number_at(workload, path);
  return count.value_or(0) == 0 ? "" : std::to_string(*count);
}

std::string section(const std::string& title, const std::string& body) {
  return "\n" + title + "\n" + body;
}

}  // namespace

std::string key_lines(const std::vector<std::pair<std::string, std::string>>& pairs) {
  std::size_t width = 0;
  for (const auto& [key, value] : pairs) {
    if (!value.empty()) width = std::max(width, key.size());
  }
  std::string out;
  for (const auto& [key, value] : pairs) {
    if (value.empty()) continue;
    out += key + ":" + std::string(width - key.size() + 2, ' ') + value + "\n";
  }
  return out;
}

std::string workload_details(const Value& workload, const Items& tasks, const Items& events,
                             Instant now) {
  std::string out = key_lines({
      {"Name", text_at(workload, "name")},
      {"Id", text_at(workload, "id")},
      {"Project", text_at(workload, "project")},
      {"Type", text_at(workload, "type")},
      {"Status", state_text(workload, now)},
      {"Reason", text_at(workload, "status.reason")},
      {"User", text_at(workload, "user")},
      {"Priority", text_at(workload, "priority")},
      {"Preemptibility", text_at(workload, "preemptibility")},
      {"Pool", text_at(workload, "status.pool")},
      {"Nodes", joined_at(workload, "status.nodes")},
      {"Created", text_at(workload, "createdAt")},
      {"Started", text_at(workload, "status.startedAt")},
      {"Ended", text_at(workload, "status.endedAt")},
      {"Exit code", text_at(workload, "status.exitCode")},
      {"Requested", amounts_text(value_at(workload, "status.requested"))},
      {"Allocated", amounts_text(value_at(workload, "status.allocated"))},
      {"Tasks", tasks_text(workload)},
      {"Completions", text_at(workload, "status.completions")},
      {"Preemptions", times_text(workload, "status.preemptions")},
      {"Restarts", times_text(workload, "status.restarts")},
      {"Labels", map_text(value_at(workload, "labels"))},
      {"Command", command_text(workload)},
      {"Folder", text_at(workload, "document.run.workingDir")},
  });
  if (!tasks.empty()) out += section("Tasks", task_table(tasks, now));
  if (!events.empty()) out += section("Events", event_table(events, now));
  return out;
}

std::string node_details(const Value& node) {
  std::string status = true_at(node, "ready") ? "ready" : "not ready";
  if (!true_at(node, "schedulable")) status += ", cordoned: nothing new starts here";
  std::string out = key_lines({
      {"Name", text_at(node, "name")},
      {"Status", status},
      {"Simulated", true_at(node, "simulated") ? "yes, its GPUs are not real" : ""},
      {"Pool", text_at(node, "pool")},
      {"Type", text_at(node, "nodeType")},
      {"Labels", map_text(value_at(node, "labels"))},
      {"GPUs", node_gpus(node) + " allocated"},
      {"CPUs", milli_text(number_at(node, "freeCpuMilli")) + " free of " +
                   milli_text(number_at(node, "cpuMilli"))},
      {"Memory", size_text(number_at(node, "freeMemoryBytes")) + " free of " +
                     size_text(number_at(node, "memoryBytes"))},
  });
  Items devices;
  for (const Value& device : list_at(node, "devices")) devices.push_back(&device);
  return devices.empty() ? out : out + section("GPUs", device_table(devices));
}

std::string queue_details(const Value& queue) {
  const Value* document = value_at(queue, "document");
  std::string out = key_lines({
      {"Name", text_at(queue, "name")},
      {"Kind", text_at(queue, "kind")},
      {"Department", text_at(queue, "document.parent")},
      {"Description", text_at(queue, "document.description")},
      {"Members", joined_at(queue, "document.members")},
      {"Rank", text_at(queue, "document.rank")},
      {"Created", text_at(queue, "createdAt")},
      {"Running", text_at(queue, "status.workloads.running")},
      {"Pending", text_at(queue, "status.workloads.pending")},
  });
  out += section("Shares", queue_table({&queue}, ""));
  if (document != nullptr) out += section("Document", to_yaml(tree_of(*document)));
  return out;
}

std::string pool_details(const Value& pool) {
  const Value* document = value_at(pool, "document");
  std::string out = pool_table({&pool});
  if (document != nullptr) out += section("Document", to_yaml(tree_of(*document)));
  return out;
}

std::string reservation_details(const Value& reservation) {
  std::string out = reservation_table({&reservation});
  const std::string why = text_at(reservation, "status.reason");
  if (!why.empty()) out += "\nIt keeps nothing: " + why + "\n";
  if (const Value* document = value_at(reservation, "document"))
    out += section("Document", to_yaml(tree_of(*document)));
  return out;
}

}  // namespace fairlead::cli
