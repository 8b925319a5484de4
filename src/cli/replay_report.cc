#include "cli/replay_report.h"

#include <algorithm>
#include <map>
#include <variant>

#include "base/decimal.h"
#include "base/nearest.h"
#include "base/printable.h"
#include "cli/output.h"
#include "model/queue.h"
#include "model/tree.h"
#include "sim/scenario/event_text.h"
#include "sim/scenario/time_text.h"

namespace fairlead::cli {
namespace {

constexpr std::size_t kMostWaitingInTable = 20;
constexpr std::size_t kMostWaitingInJson = 1000;

struct Waiting {
  std::string name;
  std::string queue;
  Duration waited;
  std::optional<sched::ExpectedStart> start;
  std::vector<sched::Reason> reasons;
};

// Of those that nothing runs of, by submit order; `total` counts all.
std::vector<Waiting> waiting_of(const sim::Replayer& replayer, Instant at, std::size_t most,
                                std::map<std::string, std::int64_t>& by_queue, std::size_t& total) {
  std::vector<Waiting> out;
  const sched::Scheduler& core = replayer.core();
  for (const std::string& name : core.workload_names()) {
    const auto view = core.workload(name);
    if (view->state != sched::WorkloadState::kPending) continue;
    ++total;
    ++by_queue[view->queue];
    if (out.size() == most) continue;
    Waiting one{name, view->queue, at - view->submitted, {}, {}};
    if (auto why = core.explain(name)) {
      one.reasons = std::move(why->reasons);
      one.start = std::move(why->start);
    }
    out.push_back(std::move(one));
  }
  return out;
}

std::string reason_text(const sched::Reason& reason) {
  std::string text(sched::reason_code_name(reason.code));
  if (!reason.rule.empty()) text += " (" + reason.rule + ")";
  return text + ": " + reason.text;
}

std::int64_t gpus(const sched::Amounts& amounts) {
  const auto it = amounts.find("gpu");
  return it == amounts.end() ? 0 : it->second;
}

std::string gpu_cell(std::int64_t milli) {
  return milli == kUnlimited ? "unlimited" : decimal_text(milli, 3);
}

Tree gpu_tree_of(std::int64_t milli) {
  return milli == kUnlimited ? Tree::null() : Tree::number(decimal_text(milli, 3));
}

template <class Visit>
void each_queue(const sched::Scheduler& core, Visit visit) {
  for (const std::string& pool : core.pool_names()) {
    for (const std::string& name : core.queue_names()) {
      if (const auto view = core.queue(name, pool)) visit(pool, *view);
    }
  }
}

std::string stop_text(const ReplayReport& report, const sim::Replayer& replayer) {
  return sim::instant_text(report.at, replayer.start()) + ", record " +
         std::to_string(replayer.counts().records) + (report.ended ? ", the last" : "");
}

std::string difference_text(const sim::Difference& d, Instant start) {
  std::string out = "record " + std::to_string(d.record) + " at " + sim::instant_text(d.at, start) +
                    " (byte " + std::to_string(d.offset) + ") came out differently\n";
  const auto list = [&](const char* heading, const std::vector<std::string>& lines) {
    out += heading;
    out += lines.empty() ? " nothing\n" : "\n";
    for (const std::string& line : lines) out += "  " + printable(line) + "\n";
  };
  list("events before:", d.events_before);
  list("recorded:", d.recorded);
  list("replayed:", d.replayed);
  return out;
}

// "2h", "1h to 3h", "by 3h" of what has a reservation; "unknown".
std::string start_cell(const std::optional<sched::ExpectedStart>& start, Instant zero) {
  const auto text = [&](Instant at) { return sim::instant_text(at, zero); };
  if (!start || (!start->earliest && !start->latest)) return "unknown";
  if (start->reserved) return "by " + text(*start->latest);
  if (!start->latest) return "from " + text(*start->earliest);
  if (!start->earliest || *start->earliest == *start->latest) return text(*start->latest);
  return text(*start->earliest) + " to " + text(*start->latest);
}

std::string kept_text(const sched::Scheduler& core, Instant zero) {
  Table table;
  for (const char* name : {"KEPT", "POOL", "FROM", "UNTIL", "NODES", "FOR"}) table.column(name);
  const auto list = [](const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ",") + printable(name);
    return text.empty() ? std::string("nobody") : text;
  };
  for (const sched::KeptView& one : core.kept_by_people()) {
    table.row({printable(one.name), printable(one.pool), sim::instant_text(one.from, zero),
               sim::instant_text(one.until, zero), list(one.nodes), list(one.queues)});
  }
  return table.empty() ? std::string() : "\n" + table.text();
}

std::string node_demand_text(const sched::Scheduler& core) {
  Table table;
  table.column("NODES THAT WOULD SERVE WHAT WAITS");
  table.column("POOL");
  for (const char* name : {"NODES", "WORKLOADS", "TASKS"}) table.column(name, Table::Align::kRight);
  for (const sched::NodeDemandView& one : core.node_demand()) {
    table.row({"like " + printable(one.like), printable(one.pool), std::to_string(one.nodes),
               std::to_string(one.workloads), std::to_string(one.tasks)});
  }
  return table.empty() ? std::string() : "\n" + table.text();
}

std::string state_text(const sim::Replayer& replayer, Instant at) {
  std::map<std::string, std::int64_t> by_queue;
  std::size_t total = 0;
  const auto waiting = waiting_of(replayer, at, kMostWaitingInTable, by_queue, total);
  Table queues;
  queues.column("QUEUE");
  queues.column("POOL");
  for (const char* name : {"GPUS", "QUOTA", "FAIR SHARE", "LIMIT", "WAITING"}) {
    queues.column(name, Table::Align::kRight);
  }
  each_queue(replayer.core(), [&](const std::string& pool, const sched::QueueView& view) {
    queues.row({view.name, pool, gpu_cell(gpus(view.allocated)), gpu_cell(gpus(view.quota)),
                gpu_cell(gpus(view.fair_share)), gpu_cell(gpus(view.limit)),
                std::to_string(by_queue[view.name])});
  });
  std::string out;
  if (!queues.empty()) out += "\n" + queues.text();
  if (waiting.empty()) return out + kept_text(replayer.core(), replayer.start());
  Table table;
  for (const char* name : {"WAITING", "QUEUE", "FOR", "STARTS", "WHY"}) table.column(name);
  for (const Waiting& one : waiting) {
    table.row({printable(one.name), printable(one.queue), to_text(one.waited),
               start_cell(one.start, replayer.start()),
               one.reasons.empty() ? "" : printable(reason_text(one.reasons.front()))});
  }
  out += "\n" + table.text();
  if (total > waiting.size()) {
    out += "and " + std::to_string(total - waiting.size()) + " more; -o json lists them\n";
  }
  return out + kept_text(replayer.core(), replayer.start()) + node_demand_text(replayer.core());
}

Tree difference_tree(const sim::Difference& d, Instant start) {
  Tree map = Tree::map();
  map.add("record", Tree::number(d.record));
  map.add("offset", Tree::number(static_cast<std::int64_t>(d.offset)));
  map.add("atSeconds", Tree::number(decimal_text((d.at - start).ms, 3)));
  map.add("eventsBefore", Tree::strings(d.events_before));
  map.add("recorded", Tree::strings(d.recorded));
  map.add("replayed", Tree::strings(d.replayed));
  return map;
}

Tree queues_tree(const sim::Replayer& replayer,
                 const std::map<std::string, std::int64_t>& waiting) {
  Tree list = Tree::list();
  each_queue(replayer.core(), [&](const std::string& pool, const sched::QueueView& view) {
    Tree map = Tree::map();
    map.add("queue", Tree::string(view.name));
    map.add("pool", Tree::string(pool));
    map.add("gpus", gpu_tree_of(gpus(view.allocated)));
    map.add("quotaGpus", gpu_tree_of(gpus(view.quota)));
    map.add("fairShareGpus", gpu_tree_of(gpus(view.fair_share)));
    map.add("limitGpus", gpu_tree_of(gpus(view.limit)));
    const auto it = waiting.find(view.name);
    map.add("waiting", Tree::number(it == waiting.end() ? 0 : it->second));
    list.push(std::move(map));
  });
  return list;
}

Tree waiting_tree(const std::vector<Waiting>& waiting, Instant zero) {
  Tree list = Tree::list();
  for (const Waiting& one : waiting) {
    Tree map = Tree::map();
    map.add("name", Tree::string(one.name));
    map.add("queue", Tree::string(one.queue));
    map.add("waitedSeconds", Tree::number(decimal_text(one.waited.ms, 3)));
    const auto seconds = [&](const std::optional<Instant>& when) {
      return when ? Tree::number(decimal_text((*when - zero).ms, 3)) : Tree::null();
    };
    const sched::ExpectedStart start = one.start.value_or(sched::ExpectedStart{});
    map.add("startsFromSeconds", seconds(start.earliest));
    map.add("startsBySeconds", seconds(start.latest));
    map.add("reserved", Tree::boolean(start.reserved));
    map.add("reservedNodes", Tree::strings(start.nodes));
    Tree& reasons = map.add("reasons", Tree::list());
    for (const sched::Reason& reason : one.reasons) {
      Tree item = Tree::map();
      item.add("code", Tree::string(std::string(sched::reason_code_name(reason.code))));
      item.add("rule", Tree::string(reason.rule));
      item.add("never", Tree::boolean(reason.never));
      item.add("text", Tree::string(reason.text));
      reasons.push(std::move(item));
    }
    list.push(std::move(map));
  }
  return list;
}

}  // namespace

std::vector<std::string> record_lines(const sim::LogRecord& record, Instant start) {
  const std::string at = sim::instant_text(record.at, start);
  const std::string before = std::string(at.size() < 8 ? 8 - at.size() : 0, ' ') + at + "  ";
  std::vector<std::string> lines;
  if (const auto* event = std::get_if<sim::EventRecord>(&record.what)) {
    lines.push_back(before + sim::event_text(event->event));
  } else if (const auto* refusal = std::get_if<sim::RefusalRecord>(&record.what)) {
    lines.push_back(before + "  turned away: " + refusal->error.text());
  } else {
    for (const sim::NamedDecision& one : std::get<sim::DecisionRecord>(record.what).decisions) {
      lines.push_back(before + "  " + sim::decision_text(one));
    }
  }
  return lines;
}

Result<std::vector<std::string>> why_lines(const std::string& workload,
                                           const sched::Scheduler& core) {
  const auto view = core.workload(workload);
  if (!view) {
    const std::string near = nearest_name(workload, core.workload_names());
    return fail(Error{ErrorCode::kNotFound,
                      "no workload is named \"" + workload + "\" at this point of the log",
                      {},
                      "--why",
                      near.empty() ? "" : "did you mean \"" + near + "\"?"});
  }
  std::string text = workload + ": " + std::to_string(view->running) + " of " +
                     std::to_string(view->wanted) + " tasks run";
  for (std::size_t i = 0; i < view->tasks.size(); ++i) {
    text += (i == 0 ? " on " : ", ") + view->tasks[i].node;
  }
  std::vector<std::string> lines{std::move(text)};
  const auto why = core.explain(workload);
  if (!why) return lines;
  for (const sched::Reason& reason : why->reasons) lines.push_back("  " + reason_text(reason));
  if (why->cheapest) lines.push_back("  what would start it: " + why->cheapest->text);
  if (why->start && (why->start->earliest || why->start->latest))
    lines.push_back("  " + why->start->text);
  return lines;
}

std::string replay_text(const ReplayReport& report, const sim::Replayer& replayer) {
  const sim::ReplayCounts& n = replayer.counts();
  const auto count = [](std::int64_t number, const char* what) {
    return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
  };
  std::string out = printable(report.file) + ": " + count(n.records, "record") + ", " +
                    count(n.events, "event") + " (" + std::to_string(n.refused) +
                    " turned away), " + count(n.decides, "decision") + ": " +
                    count(n.starts, "start") + ", " + count(n.stops, "stop") + ", " +
                    count(n.finishes, "end") + "\n";
  if (const auto& d = replayer.difference()) return out + difference_text(*d, replayer.start());
  out += "all as recorded, up to " + stop_text(report, replayer) + "\n" +
         state_text(replayer, report.at);
  if (report.why.empty()) return out;
  out += "\n";
  const auto lines = why_lines(report.why, replayer.core());
  for (const std::string& line : *lines) {
    out += printable(line) + "\n";
  }
  return out;
}

std::string replay_json_text(const ReplayReport& report, const sim::Replayer& replayer) {
  const sim::ReplayCounts& n = replayer.counts();
  Tree root = Tree::map();
  root.add("file", Tree::string(report.file));
  root.add("recordedBy", Tree::string(replayer.header().program));
  root.add("asRecorded", Tree::boolean(!replayer.difference()));
  root.add("records", Tree::number(n.records));
  root.add("events", Tree::number(n.events));
  root.add("turnedAway", Tree::number(n.refused));
  root.add("decisions", Tree::number(n.decides));
  root.add("starts", Tree::number(n.starts));
  root.add("stops", Tree::number(n.stops));
  root.add("ends", Tree::number(n.finishes));
  root.add("stoppedAtSeconds", Tree::number(decimal_text((report.at - replayer.start()).ms, 3)));
  root.add("ended", Tree::boolean(report.ended));
  if (const auto& torn = replayer.torn()) {
    Tree& map = root.add("torn", Tree::map());
    map.add("offset", Tree::number(static_cast<std::int64_t>(torn->offset)));
    map.add("bytes", Tree::number(static_cast<std::int64_t>(torn->bytes)));
  } else {
    root.add("torn", Tree::null());
  }
  if (!report.shown.empty()) root.add("shown", Tree::strings(report.shown));
  if (const auto& d = replayer.difference()) {
    root.add("difference", difference_tree(*d, replayer.start()));
    return to_json(root);
  }
  root.add("difference", Tree::null());
  std::map<std::string, std::int64_t> by_queue;
  std::size_t total = 0;
  const auto waiting = waiting_of(replayer, report.at, kMostWaitingInJson, by_queue, total);
  root.add("queues", queues_tree(replayer, by_queue));
  root.add("waitingTotal", Tree::number(static_cast<std::int64_t>(total)));
  root.add("waiting", waiting_tree(waiting, replayer.start()));
  Tree& kept = root.add("kept", Tree::list());
  for (const sched::KeptView& one : replayer.core().kept_by_people()) {
    Tree map = Tree::map();
    map.add("name", Tree::string(one.name));
    map.add("pool", Tree::string(one.pool));
    map.add("fromSeconds", Tree::number(decimal_text((one.from - replayer.start()).ms, 3)));
    map.add("untilSeconds", Tree::number(decimal_text((one.until - replayer.start()).ms, 3)));
    map.add("nodes", Tree::strings(one.nodes));
    map.add("queues", Tree::strings(one.queues));
    kept.push(std::move(map));
  }
  Tree& nodes = root.add("nodeDemand", Tree::list());
  for (const sched::NodeDemandView& one : replayer.core().node_demand()) {
    Tree map = Tree::map();
    map.add("pool", Tree::string(one.pool));
    map.add("like", Tree::string(one.like));
    map.add("nodes", Tree::number(one.nodes));
    map.add("workloads", Tree::number(one.workloads));
    map.add("tasks", Tree::number(one.tasks));
    nodes.push(std::move(map));
  }
  if (!report.why.empty()) root.add("why", Tree::strings(*why_lines(report.why, replayer.core())));
  return to_json(root);
}

}  // namespace fairlead::cli
