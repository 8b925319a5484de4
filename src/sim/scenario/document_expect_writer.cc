// Expectations as document trees.

#include <utility>

#include <fmt/format.h>

#include "base/decimal.h"
#include "sim/scenario/document_words.h"
#include "sim/scenario/document_writers.h"
#include "sim/scenario/time_text.h"
#include "sim/scenario/units_text.h"

namespace fairlead::sim {
namespace {

void add_bound(Tree& map, const char* field, const std::optional<Bound>& bound) {
  if (!bound) return;
  if (bound->comparison == Comparison::kExactly) {
    map.add(field, Tree::number(bound->value));
    return;
  }
  Tree& tree = map.add(field, Tree::map());
  tree.add(bound->comparison == Comparison::kAtLeast ? "atLeast" : "atMost",
           Tree::number(bound->value));
}

void add_number(Tree& map, const char* field, const std::optional<std::int64_t>& number) {
  if (number) map.add(field, Tree::number(*number));
}

void add_strings(Tree& map, const char* field, const std::vector<std::string>& items) {
  if (!items.empty()) map.add(field, Tree::strings(items));
}

void add_names(Tree& map, const char* field, const std::vector<std::string>& names) {
  if (names.size() == 1) {
    map.add(field, Tree::string(names.front()));
  } else {
    map.add(field, Tree::strings(names));
  }
}

Tree amounts_tree(const std::map<std::string, std::int64_t>& amounts) {
  Tree map = Tree::map();
  for (const auto& [resource, amount] : amounts) {
    if (amount == kUnlimited) {
      map.add(resource, Tree::string("unlimited"));
    } else if (resource == "gpu" || resource == "cpu") {
      map.add(resource, Tree::number(decimal_text(amount, 3)));
    } else if (resource == "memory") {
      map.add(resource, Tree::string(bytes_text(amount)));
    } else {
      map.add(resource, Tree::number(amount));
    }
  }
  return map;
}

struct ExpectationWriter {
  Instant start;

  Tree operator()(const ExpectWorkloads& e) const {
    Tree map = Tree::map();
    add_names(map, "workload", e.names);
    add_bound(map, "count", e.of);
    if (!e.role.empty()) map.add("role", Tree::string(e.role));
    if (e.index >= 0) map.add("task", Tree::number(e.index));
    map.add("state", Tree::string(word_of<ExpectedState>(words::kExpectedStates, e.state)));
    add_bound(map, "tasks", e.tasks);
    add_number(map, "wanted", e.wanted);
    add_bound(map, "hosts", e.hosts);
    add_bound(map, "deviceCount", e.device_count);
    add_strings(map, "nodes", e.nodes);
    add_strings(map, "among", e.among);
    add_strings(map, "notOn", e.avoided);
    add_strings(map, "devices", e.devices);
    if (!e.domains.empty()) {
      Tree& domains = map.add("domains", Tree::list());
      for (const DomainCheck& d : e.domains) {
        Tree domain = Tree::map();
        domain.add("level", Tree::string(d.level));
        if (!d.domain.empty()) domain.add("name", Tree::string(d.domain));
        if (d.domain.empty() && d.count != 1) domain.add("count", Tree::number(d.count));
        if (d.per > 0) domain.add("perTasks", Tree::number(d.per));
        domains.push(std::move(domain));
      }
    }
    if (!e.pool.empty()) map.add("pool", Tree::string(e.pool));
    if (e.near_cpus) map.add("nearCpus", Tree::boolean(true));
    add_number(map, "milli", e.milli);
    add_number(map, "mib", e.mib);
    if (!e.slices.empty()) {
      Tree& slices = map.add("slices", Tree::list());
      for (const std::int32_t slice : e.slices) slices.push(Tree::number(slice));
    }
    if (e.started_at) map.add("startedAt", Tree::string(instant_text(*e.started_at, start)));
    if (e.reserved) map.add("reserved", Tree::boolean(*e.reserved));
    if (e.reserved_at) map.add("reservedAt", Tree::string(instant_text(*e.reserved_at, start)));
    add_strings(map, "reservedOn", e.reserved_nodes);
    if (e.starts_from) map.add("startsFrom", Tree::string(instant_text(*e.starts_from, start)));
    if (e.starts_by) map.add("startsBy", Tree::string(instant_text(*e.starts_by, start)));
    add_number(map, "failures", e.failures);
    add_number(map, "succeeded", e.succeeded);
    add_strings(map, "says", e.texts);
    if (e.never) map.add("never", Tree::boolean(*e.never));
    add_strings(map, "change", e.changes);
    if (e.cure_works) map.add("cureWorks", Tree::boolean(true));
    return map;
  }

  Tree operator()(const ExpectShared& e) const {
    Tree map = Tree::map();
    map.add("workloads", Tree::strings(e.names));
    map.add(e.shared ? "share" : "apart", Tree::string(e.device ? "device" : "node"));
    return map;
  }

  Tree operator()(const ExpectFree& e) const {
    std::map<std::string, std::int64_t> amounts = e.amounts;
    if (amounts.contains("gpu")) amounts["gpu"] *= kMilli;
    Tree map = Tree::map();
    map.add("free", amounts_tree(amounts));
    if (!e.node.empty()) map.add("node", Tree::string(e.node));
    if (!e.device.empty()) map.add("device", Tree::string(e.device));
    return map;
  }

  Tree operator()(const ExpectFigures& e) const {
    Tree map = Tree::map();
    map.add(e.of_pool ? "pool" : "queue", Tree::string(e.name));
    if (!e.of_pool && e.pool != "default") map.add("pool", Tree::string(e.pool));
    for (const auto& [field, figure] : words::kFigures) {
      const auto it = e.figures.find(figure);
      if (it != e.figures.end()) map.add(field, amounts_tree(it->second));
    }
    return map;
  }

  Tree operator()(const ExpectNode& e) const {
    Tree map = Tree::map();
    map.add("node", Tree::string(e.node));
    if (e.ready) map.add("ready", Tree::boolean(*e.ready));
    if (e.schedulable) map.add("schedulable", Tree::boolean(*e.schedulable));
    if (e.gone) map.add("gone", Tree::boolean(true));
    return map;
  }

  Tree operator()(const ExpectDevice& e) const {
    Tree map = Tree::map();
    map.add("device", Tree::string(e.node + ":" + e.device));
    if (e.healthy) map.add("healthy", Tree::boolean(*e.healthy));
    if (e.holders) map.add("holders", Tree::strings(*e.holders));
    return map;
  }

  Tree operator()(const ExpectStartOrder& e) const {
    Tree map = Tree::map();
    map.add("startOrder", Tree::strings(e.names));
    return map;
  }

  Tree operator()(const ExpectError& e) const {
    Tree map = Tree::map();
    map.add("error", Tree::strings(e.texts));
    return map;
  }
};

}  // namespace

Tree expectation_tree(const Expectation& expectation, Instant start) {
  return std::visit(ExpectationWriter{start}, expectation);
}

}  // namespace fairlead::sim
