#include "cli/client/top.h"

#include <algorithm>

#include "base/decimal.h"
#include "base/printable.h"
#include "cli/client/answer.h"
#include "cli/output.h"

namespace fairlead::cli {
namespace {

using Align = Table::Align;

// "40 %" of a whole; "-" of nothing.
std::string percent(std::int64_t part, std::int64_t whole) {
  return whole <= 0 ? "-" : std::to_string(part * 100 / whole) + " %";
}

// Bytes of one character, at least one.
std::size_t step(std::string_view text) {
  return std::max<std::size_t>(1, utf8_length(text));
}

std::string cut(const std::string& line, int columns) {
  std::string_view rest = line;
  int shown = 0;
  while (!rest.empty() && shown < columns) {
    rest.remove_prefix(std::min(step(rest), rest.size()));
    ++shown;
  }
  return line.substr(0, line.size() - rest.size());
}

// The first lines of a table; what is left out is counted.
std::string first_lines(const std::string& table, int lines, int columns) {
  std::string out;
  int used = 0;
  int left = 0;
  for (std::size_t at = 0; at < table.size();) {
    const std::size_t end = std::min(table.find('\n', at), table.size());
    if (used < lines) {
      out += cut(table.substr(at, end - at), columns) + "\n";
      ++used;
    } else {
      ++left;
    }
    at = end + 1;
  }
  return left == 0 ? out : out + "… " + std::to_string(left) + " more\n";
}

bool runs(const Value& workload) {
  const std::string phase = text_at(workload, "status.phase");
  return phase == "running" || phase == "frozen" || phase == "starting" || phase == "stopping";
}

}  // namespace

std::string top_node_table(const Items& nodes) {
  Table table;
  for (const char* name : {"NAME", "STATUS"}) table.column(name);
  for (const char* name : {"GPUS", "GPU ALLOCATED", "GPU MEMORY", "ALLOCATED", "CPUS",
                           "CPU ALLOCATED", "MEMORY", "MEMORY ALLOCATED"}) {
    table.column(name, Align::kRight);
  }
  for (const Value* node : nodes) {
    std::int64_t gpus = 0;
    std::int64_t free_gpus = 0;
    std::int64_t mib = 0;
    std::int64_t free_mib = 0;
    for (const Value& device : list_at(*node, "devices")) {
      gpus += 1000;
      free_gpus += number_at(device, "freeMilli").value_or(0);
      mib += number_at(device, "memoryMib").value_or(0);
      free_mib += number_at(device, "freeMib").value_or(0);
    }
    const std::int64_t cpu = number_at(*node, "cpuMilli").value_or(0);
    const std::int64_t bytes = number_at(*node, "memoryBytes").value_or(0);
    table.row({text_at(*node, "name"),
               std::string(true_at(*node, "ready") ? "ready" : "not ready") +
                   (true_at(*node, "schedulable") ? "" : ", cordoned"),
               milli_text(gpus), percent(gpus - free_gpus, gpus), size_text(mib << 20),
               percent(mib - free_mib, mib), milli_text(cpu),
               percent(cpu - number_at(*node, "freeCpuMilli").value_or(0), cpu), size_text(bytes),
               percent(bytes - number_at(*node, "freeMemoryBytes").value_or(0), bytes)});
  }
  return table.text();
}

std::string top_job_table(const Items& workloads, Instant now) {
  Table table;
  for (const char* name : {"NAME", "PROJECT", "USER", "TYPE", "STATUS"}) table.column(name);
  table.column("DURATION", Align::kRight);
  table.column("NODE");
  for (const char* name : {"GPUS", "GPU MEMORY", "CPUS", "MEMORY"}) {
    table.column(name, Align::kRight);
  }
  for (const Value* item : workloads) {
    if (!runs(*item)) continue;
    const auto started = instant_at(*item, "status.startedAt");
    const auto mib = number_at(*item, "status.allocated.gpuMemoryMib").value_or(0);
    const std::string nodes = joined_at(*item, "status.nodes");
    table.row({text_at(*item, "name"), text_at(*item, "project"), text_at(*item, "user"),
               text_at(*item, "type"), text_at(*item, "status.phase"),
               started ? age_text(now - *started) : "-", nodes.empty() ? "-" : nodes,
               milli_text(number_at(*item, "status.allocated.gpuMilli").value_or(0)),
               size_text(mib << 20),
               milli_text(number_at(*item, "status.allocated.cpuMilli").value_or(0)),
               size_text(number_at(*item, "status.allocated.memoryBytes").value_or(0))});
  }
  return table.text();
}

std::string top_screen(const Items& nodes, const Items& workloads, const Items& waiting, int rows,
                       int columns, Instant now) {
  const auto running = std::count_if(workloads.begin(), workloads.end(),
                                     [](const Value* item) { return runs(*item); });
  std::string out = cut(counted(static_cast<std::int64_t>(nodes.size()), "node") + ", " +
                            std::to_string(running) + " running, " +
                            std::to_string(waiting.size()) + " waiting    q quits",
                        columns) +
                    "\n\n";
  // A third of what is left for each part, with its header and what is left out.
  const int part = std::max(2, (rows - 6) / 3 - 1);
  out += first_lines(top_node_table(nodes), part, columns) + "\n";
  out += first_lines(top_job_table(workloads, now), part, columns) + "\n";
  if (!waiting.empty()) out += first_lines(waiting_table(waiting, now), part, columns);
  return out;
}

}  // namespace fairlead::cli
