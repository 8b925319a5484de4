#include "cli/client/tables.h"

#include <algorithm>
#include <set>

#include "base/decimal.h"
#include "base/printable.h"
#include "cli/client/answer.h"
#include "cli/client/voice.h"
#include "cli/output.h"

namespace fairlead::cli {
namespace {

using Align = Table::Align;

std::string cell(const Value& value, std::string_view path) {
  return text_at(value, path, "-");
}

std::string age_at(const Value& value, std::string_view path, Instant now) {
  const auto at = instant_at(value, path);
  return at ? age_text(now - *at) : "-";
}

// The only node, or "<multiple>".
std::string node_of(const Value& workload) {
  const std::span<const Value> nodes = list_at(workload, "status.nodes");
  if (nodes.size() > 1) return "<multiple>";
  return nodes.empty() ? "-" : joined_at(workload, "status.nodes");
}

std::string taken_and_total(std::int64_t taken, std::int64_t total, int places) {
  return decimal_text(taken, places) + "/" + decimal_text(total, places);
}

// An amount of a queue in a pool: GPUs, "unlimited" for -1.
std::string gpus_of(const Value& pool, std::string_view field) {
  const Value* amounts = value_at(pool, field);
  if (amounts == nullptr) return "-";
  const auto gpu = number_at(*amounts, "gpu");
  return gpu == -1 ? "unlimited" : milli_text(gpu);
}

std::string command_of(const Value& workload) {
  std::string out;
  for (const Value& word : list_at(workload, "document.run.command")) {
    out += (out.empty() ? "" : " ") + word.text();
  }
  return out.empty() ? "-" : out;
}

Table table_of(const std::vector<std::string>& left, const std::vector<std::string>& right = {}) {
  Table table;
  for (const std::string& name : left) table.column(name);
  for (const std::string& name : right) table.column(name, Align::kRight);
  return table;
}

}  // namespace

std::string workload_table(const Items& items, Columns columns, Instant now) {
  const bool classic = columns == Columns::kClassic;
  const bool wide = columns == Columns::kWide;
  Table table =
      classic ? table_of({"NAME", "STATUS", "AGE", "NODE", "IMAGE", "TYPE", "PROJECT", "USER"},
                         {"GPUs Allocated (Requested)", "PODs Running (Pending)"})
              : table_of({"NAME", "STATUS", "AGE", "NODE", "TYPE", "PROJECT", "USER"},
                         {"GPUS ALLOCATED (REQUESTED)", "TASKS RUNNING (PENDING)"});
  if (classic) table.column("SERVICE URL(S)");
  if (wide) {
    for (const char* name :
         {"POOL", "PRIORITY", "PREEMPTIBILITY", "ID", "IMAGE", "SERVICE URLS", "COMMAND"}) {
      table.column(name);
    }
  }
  for (const Value* item : items) {
    const std::int64_t wanted = number_at(*item, "status.tasks.wanted").value_or(0);
    const std::int64_t running = number_at(*item, "status.tasks.running").value_or(0);
    const std::string phase = text_at(*item, "status.phase");
    const bool waits = phase == "pending" || phase == "starting" || phase == "running";
    std::vector<std::string> row{
        cell(*item, "name"),
        phase,
        age_at(*item, "createdAt", now),
        node_of(*item),
        cell(*item, "type"),
        cell(*item, "project"),
        cell(*item, "user"),
        milli_text(number_at(*item, "status.allocated.gpuMilli").value_or(0)) + " (" +
            milli_text(number_at(*item, "status.requested.gpuMilli").value_or(0)) + ")",
        std::to_string(running) + " (" +
            std::to_string(waits ? std::max<std::int64_t>(0, wanted - running) : 0) + ")"};
    const std::string image = printable(cell(*item, "document.run.image"));
    const std::string urls = joined_at(*item, "status.urls");
    if (classic) {
      row.insert(row.begin() + 4, image);
      row.push_back(urls.empty() ? "-" : urls);
    }
    if (wide) {
      row.insert(row.end(), {cell(*item, "status.pool"), cell(*item, "priority"),
                             cell(*item, "preemptibility"), cell(*item, "id"), image,
                             urls.empty() ? "-" : urls, printable(command_of(*item))});
    }
    table.row(std::move(row));
  }
  return table.text();
}

std::string task_table(const Items& items, Instant now) {
  Table table = table_of({"TASK", "STATUS", "AGE", "NODE", "GPUS", "EXIT"}, {"ATTEMPT"});
  for (const Value* item : items) {
    std::string devices;
    for (const Value& device : list_at(*item, "devices")) {
      devices += (devices.empty() ? "" : ",") + text_at(device, "id");
      const auto milli = number_at(device, "milli");
      if (milli && *milli < 1000) devices += ":" + decimal_text(*milli, 3);
    }
    table.row({text_at(*item, "role") + "-" + text_at(*item, "index"), cell(*item, "phase"),
               age_at(*item, "createdAt", now), cell(*item, "node"),
               devices.empty() ? "-" : devices, cell(*item, "exitCode"), cell(*item, "attempt")});
  }
  return table.text();
}

std::string node_gpus(const Value& node) {
  std::int64_t total = 0;
  std::int64_t free = 0;
  for (const Value& device : list_at(node, "devices")) {
    total += 1000;
    free += number_at(device, "freeMilli").value_or(0);
  }
  return taken_and_total(total - free, total, 3);
}

std::string node_table(const Items& items, bool wide) {
  Table table = table_of({"NAME", "STATUS", "POOL", "GPU TYPE"},
                         {"GPUS ALLOCATED/TOTAL", "CPUS ALLOCATED/TOTAL", "MEMORY FREE", "MEMORY"});
  if (wide) {
    for (const char* name : {"NODE TYPE", "LABELS"}) table.column(name);
  }
  for (const Value* item : items) {
    std::set<std::string> classes;
    for (const Value& device : list_at(*item, "devices")) classes.insert(cell(device, "class"));
    std::string types;
    for (const std::string& name : classes) types += (types.empty() ? "" : ",") + name;
    std::string status = true_at(*item, "ready") ? "ready" : "not ready";
    if (!true_at(*item, "schedulable")) status += ", cordoned";
    if (true_at(*item, "simulated")) status += ", simulated";
    const std::int64_t cpu = number_at(*item, "cpuMilli").value_or(0);
    const std::int64_t free_cpu = number_at(*item, "freeCpuMilli").value_or(0);
    std::vector<std::string> row{cell(*item, "name"),
                                 status,
                                 cell(*item, "pool"),
                                 types.empty() ? "-" : types,
                                 node_gpus(*item),
                                 taken_and_total(cpu - free_cpu, cpu, 3),
                                 size_text(number_at(*item, "freeMemoryBytes")),
                                 size_text(number_at(*item, "memoryBytes"))};
    if (wide) {
      std::string labels;
      if (const Value* map = value_at(*item, "labels")) {
        for (const Value& label : map->items()) {
          labels += (labels.empty() ? "" : ",") + printable(label.key() + "=" + label.text());
        }
      }
      row.insert(row.end(), {cell(*item, "nodeType"), labels.empty() ? "-" : labels});
    }
    table.row(std::move(row));
  }
  return table.text();
}

std::string queue_table(const Items& items, const std::string& marked) {
  Table table = table_of(
      {"NAME", "DEPARTMENT", "POOL"},
      {"QUOTA GPUS", "ALLOCATED", "REQUESTED", "FAIR SHARE", "LIMIT", "RUNNING", "PENDING"});
  for (const Value* item : items) {
    std::string name = cell(*item, "name");
    if (!marked.empty() && name == marked) name += " (default)";
    const std::string parent = cell(*item, "document.parent");
    const std::string running = cell(*item, "status.workloads.running");
    const std::string pending = cell(*item, "status.workloads.pending");
    bool first = true;
    for (const Value& pool : list_at(*item, "status.pools")) {
      const bool limited = gpus_of(pool, "limit") != "unlimited";
      table.row({first ? name : "", first ? parent : "", cell(pool, "pool"), gpus_of(pool, "quota"),
                 gpus_of(pool, "allocated"), gpus_of(pool, "requested"), gpus_of(pool, "fairShare"),
                 limited ? gpus_of(pool, "limit") : "-", first ? running : "",
                 first ? pending : ""});
      first = false;
    }
    if (first) table.row({name, parent, "-", "-", "-", "-", "-", "-", running, pending});
  }
  return table.text();
}

std::string pool_table(const Items& items) {
  Table table = table_of({"NAME"}, {"NODES", "GPUS ALLOCATED/TOTAL", "CPUS ALLOCATED/TOTAL"});
  for (const Value* item : items) {
    const auto amounts = [&](const std::string& resource) {
      const auto total = number_at(*item, "status.capacity." + resource);
      const auto taken = number_at(*item, "status.allocated." + resource);
      return total ? taken_and_total(taken.value_or(0), *total, 3) : std::string("-");
    };
    table.row({cell(*item, "name"), cell(*item, "status.nodes"), amounts("gpu"), amounts("cpu")});
  }
  return table.text();
}

std::string reservation_table(const Items& items) {
  Table table = table_of({"NAME", "STATE", "FROM", "UNTIL", "NODES", "FOR"});
  for (const Value* item : items) {
    const std::string projects = joined_at(*item, "document.for");
    table.row({cell(*item, "name"), cell(*item, "status.state"), cell(*item, "document.from"),
               cell(*item, "document.until"), joined_at(*item, "document.nodes"),
               projects.empty() ? "nobody" : projects});
  }
  return table.text();
}

std::string device_table(const Items& items) {
  Table table = table_of({"NODE", "GPU", "CLASS", "HEALTH"}, {"FREE", "MEMORY FREE", "MEMORY"});
  table.column("HOLDERS");
  for (const Value* item : items) {
    const auto mib = [&](std::string_view path) {
      const auto value = number_at(*item, path);
      return size_text(value ? std::optional(*value << 20) : std::nullopt);
    };
    const std::string holders = joined_at(*item, "holders");
    table.row({cell(*item, "node"), cell(*item, "id"), cell(*item, "class"), cell(*item, "health"),
               milli_text(number_at(*item, "freeMilli")), mib("freeMib"), mib("memoryMib"),
               holders.empty() ? "-" : holders});
  }
  return table.text();
}

std::string waiting_table(const Items& items, Instant now) {
  Table table;
  table.column("PLACE", Align::kRight);
  for (const char* name : {"NAME", "PROJECT", "USER"}) table.column(name);
  for (const char* name : {"PRIORITY", "GPUS"}) table.column(name, Align::kRight);
  for (const char* name : {"WAITING", "START", "REASON"}) table.column(name);
  for (const Value* item : items) {
    const std::string start = start_text(value_at(*item, "start"), now);
    table.row(
        {cell(*item, "place"), cell(*item, "name"), cell(*item, "project"), cell(*item, "user"),
         cell(*item, "priority"), milli_text(number_at(*item, "requested.gpuMilli").value_or(0)),
         age_at(*item, "createdAt", now), start.empty() ? "-" : start, cell(*item, "reason")});
  }
  return table.text();
}

std::string event_table(const Items& items, Instant now) {
  Table table = table_of({"AGE", "KIND", "NAME", "REASON", "BY", "MESSAGE"});
  for (const Value* item : items) {
    table.row({age_at(*item, "at", now), cell(*item, "kind"),
               text_at(*item, "name", text_at(*item, "id", "-")), cell(*item, "reason"),
               cell(*item, "actor"), cell(*item, "message")});
  }
  return table.text();
}

std::string audit_table(const Items& items) {
  Table table = table_of({"AT", "USER", "VIA", "METHOD", "PATH", "STATUS", "CODE"});
  for (const Value* item : items) {
    table.row({cell(*item, "at"), cell(*item, "user"), cell(*item, "via"), cell(*item, "method"),
               cell(*item, "path"), cell(*item, "status"), cell(*item, "code")});
  }
  return table.text();
}

std::string user_table(const Items& items, Instant now) {
  Table table = table_of({"NAME", "ROLE", "LOCAL USER", "STATUS", "AGE"});
  for (const Value* item : items) {
    table.row({cell(*item, "name"), cell(*item, "role"), cell(*item, "localUser"),
               true_at(*item, "disabled") ? "disabled" : "active",
               age_at(*item, "createdAt", now)});
  }
  return table.text();
}

std::string token_table(const Items& items, Instant now) {
  Table table = table_of({"ID", "NAME", "USER", "AGE", "EXPIRES"});
  for (const Value* item : items) {
    table.row({cell(*item, "id"), cell(*item, "name"), cell(*item, "user"),
               age_at(*item, "createdAt", now), cell(*item, "expiresAt")});
  }
  return table.text();
}

}  // namespace fairlead::cli
