// Expectations of a scenario document.

#include <utility>

#include <fmt/format.h>

#include "model/readers.h"
#include "sim/scenario/document_parts.h"
#include "sim/scenario/document_words.h"
#include "sim/scenario/units_text.h"

namespace fairlead::sim {
namespace {

// 3, or {atLeast: 3}, or {atMost: 3}.
std::optional<Bound> read_bound(ObjectReader& in, std::string_view field) {
  const Value* value = in.get(field);
  if (value == nullptr) return std::nullopt;
  Bound bound;
  if (value->is_scalar()) {
    const auto number = as_integer(*value, 0, kMaxAmount, in.findings());
    if (!number) return std::nullopt;
    bound.value = *number;
    return bound;
  }
  ObjectReader map(*value, in.findings());
  if (const auto least = map.integer("atLeast")) bound = {Comparison::kAtLeast, *least};
  if (const auto most = map.integer("atMost")) bound = {Comparison::kAtMost, *most};
  return bound;
}

std::optional<std::int64_t> read_amount(const Value& value, Findings& findings) {
  const auto text = as_string(value, findings);
  if (!text) return std::nullopt;
  if (*text == "unlimited" || *text == "-1") return kUnlimited;
  if (value.key() == "memory") return as_bytes(value, findings);
  const Result<std::int64_t> amount = parse_amount(value.key(), *text);
  if (amount) return *amount;
  findings.error(value, amount.error());
  return std::nullopt;
}

std::map<std::string, std::int64_t> read_amounts(ObjectReader& in, std::string_view field) {
  std::map<std::string, std::int64_t> amounts;
  in.entries(field, [&](const Value& item) {
    if (const auto amount = read_amount(item, in.findings())) amounts[item.key()] = *amount;
  });
  return amounts;
}

DomainCheck read_domain(const Value& value, Findings& findings) {
  ObjectReader in(value, findings);
  DomainCheck domain;
  domain.level = in.name("level", kRequired).value_or("");
  domain.domain = in.name("name").value_or("");
  domain.count = in.integer("count", 1).value_or(1);
  domain.per = in.int32("perTasks", 1).value_or(0);
  return domain;
}

Expectation read_workloads(ObjectReader& in, const Reading& reading) {
  ExpectWorkloads e;
  e.names = in.names("workload");
  e.of = read_bound(in, "count");
  e.role = in.name("role").value_or("");
  e.index = in.int32("task").value_or(-1);
  e.state =
      in.choice<ExpectedState>("state", words::kExpectedStates).value_or(ExpectedState::kRunning);
  e.tasks = read_bound(in, "tasks");
  e.wanted = in.integer("wanted");
  e.hosts = read_bound(in, "hosts");
  e.device_count = read_bound(in, "deviceCount");
  e.nodes = in.names("nodes");
  e.among = in.names("among");
  e.avoided = in.names("notOn");
  e.devices = in.names("devices");
  in.each("domains",
          [&](const Value& item) { e.domains.push_back(read_domain(item, in.findings())); });
  e.pool = in.name("pool").value_or("");
  e.near_cpus = in.boolean("nearCpus").value_or(false);
  e.milli = in.integer("milli");
  e.mib = in.integer("mib");
  in.each("slices", [&](const Value& item) {
    if (const auto n = as_integer(item, 0, 15, in.findings())) {
      e.slices.push_back(static_cast<std::int32_t>(*n));
    }
  });
  const auto time = [&](std::string_view field, std::optional<Instant>& out) {
    if (const Value* at = in.get(field))
      out = as_scenario_time(*at, in.findings(), reading.scenario.start);
  };
  time("startedAt", e.started_at);
  time("reservedAt", e.reserved_at);
  time("startsFrom", e.starts_from);
  time("startsBy", e.starts_by);
  e.reserved = in.boolean("reserved");
  e.reserved_nodes = in.names("reservedOn");
  if (e.reserved_at || !e.reserved_nodes.empty()) e.reserved = e.reserved.value_or(true);
  e.failures = in.integer("failures");
  e.succeeded = in.integer("succeeded");
  const auto texts = [&](std::string_view field, std::vector<std::string>& out) {
    const Value* value = in.get(field);
    if (value != nullptr && value->is_scalar()) {
      out.push_back(value->text());
    } else {
      in.each(field, [&](const Value& item) {
        if (const auto text = as_string(item, in.findings())) out.push_back(*text);
      });
    }
  };
  texts("says", e.texts);
  e.never = in.boolean("never");
  texts("change", e.changes);
  e.cure_works = in.boolean("cureWorks").value_or(false);
  return e;
}

Expectation read_shared(ObjectReader& in) {
  ExpectShared e;
  e.names = in.names("workloads");
  const bool apart = in.has("apart");
  e.shared = !apart;
  e.device =
      in.choice<bool>(apart ? "apart" : "share", words::kSharedThings, kRequired).value_or(true);
  return e;
}

Expectation read_free(ObjectReader& in) {
  ExpectFree e;
  e.amounts = read_amounts(in, "free");
  if (e.amounts.contains("gpu")) {
    if (e.amounts["gpu"] % kMilli != 0) {
      in.findings().error(*in.get("free"), ErrorCode::kInvalidArgument,
                          "\"gpu\" counts whole free devices here", "for parts state \"milli\"");
    }
    e.amounts["gpu"] /= kMilli;
  }
  e.node = in.name("node").value_or("");
  e.device = in.name("device").value_or("");
  return e;
}

Expectation read_figures(ObjectReader& in, bool of_pool) {
  ExpectFigures e;
  e.of_pool = of_pool;
  e.name = in.name(of_pool ? "pool" : "queue", kRequired).value_or("");
  if (!of_pool) e.pool = in.name("pool").value_or("default");
  for (const auto& [field, figure] : words::kFigures) {
    if (!in.has(field)) continue;
    e.figures[figure] = read_amounts(in, field);
  }
  return e;
}

Expectation read_node(ObjectReader& in) {
  ExpectNode e;
  e.node = in.name("node", kRequired).value_or("");
  e.ready = in.boolean("ready");
  e.schedulable = in.boolean("schedulable");
  e.gone = in.boolean("gone").value_or(false);
  return e;
}

Expectation read_device(ObjectReader& in, const Reading& reading) {
  ExpectDevice e;
  if (auto device = as_device(*in.get("device"), in.findings(), reading)) {
    e.node = std::move(device->first);
    e.device = std::move(device->second);
  }
  e.healthy = in.boolean("healthy");
  if (in.has("holders")) e.holders = in.names("holders");
  return e;
}

std::optional<Expectation> read_map(ObjectReader& in, const Reading& reading) {
  if (in.has("workload")) return read_workloads(in, reading);
  if (in.has("workloads")) return read_shared(in);
  if (in.has("free")) return read_free(in);
  if (in.has("queue")) return read_figures(in, false);
  if (in.has("pool")) return read_figures(in, true);
  if (in.has("device")) return read_device(in, reading);
  if (in.has("node")) return read_node(in);
  if (in.has("startOrder")) return ExpectStartOrder{in.names("startOrder")};
  if (const Value* error = in.get("error")) {
    ExpectError e;
    if (error->is_scalar()) {
      e.texts.push_back(error->text());
    } else {
      for (const Value& item : error->items()) e.texts.push_back(item.text());
    }
    return e;
  }
  in.findings().error(
      in.value(), ErrorCode::kInvalidArgument, "the expectation is about nothing",
      "name what it is about: workload, workloads, free, queue, pool, node, device, "
      "startOrder or error");
  return std::nullopt;
}

}  // namespace

std::optional<Expectation> read_document_expectation(const Value& value, Findings& findings,
                                                     const Reading& reading) {
  if (value.is_scalar()) {
    const auto statement = statement_of(value, findings);
    if (!statement) return std::nullopt;
    Cursor cursor(*statement, reading.scenario.file);
    cursor.accept("expect");
    Result<Expectation> expectation = read_expectation(cursor, reading);
    if (expectation) return std::move(*expectation);
    findings.error(value, Error{expectation.error().code,
                                expectation.error().message,
                                {},
                                {},
                                expectation.error().cure});
    return std::nullopt;
  }
  ObjectReader in(value, findings);
  if (!in.ok()) return std::nullopt;
  return read_map(in, reading);
}

}  // namespace fairlead::sim
