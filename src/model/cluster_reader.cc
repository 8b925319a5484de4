#include "model/cluster_reader.h"

#include <algorithm>
#include <set>

#include "base/nearest.h"
#include "model/readers.h"
#include "model/words.h"

namespace fairlead {
namespace {

MigProfile read_mig_profile(const Value& value, Findings& findings) {
  ObjectReader in(value, findings);
  MigProfile profile;
  profile.name = in.name("name", kRequired).value_or("");
  profile.compute_slices = in.int32("computeSlices", 1, 16, kRequired).value_or(1);
  profile.memory_slices = in.int32("memorySlices", 1, 16, kRequired).value_or(1);
  profile.memory = MiB(in.mib("memory", kRequired).value_or(0));
  in.each(
      "starts",
      [&](const Value& item) {
        if (const auto start = as_integer(item, 0, 15, findings)) {
          profile.starts.push_back(static_cast<std::int32_t>(*start));
        }
      },
      kRequired);
  return profile;
}

// A known class by its name, or one in full.
void read_device_class(const Value& value, ClusterDraft& draft, Findings& findings) {
  DeviceClass device_class;
  if (value.is_scalar()) {
    const DeviceClass* known = known_device_class(value.text());
    if (known == nullptr) {
      report_unknown(value, findings, "device class", value.text(), known_device_class_names());
      return;
    }
    device_class = *known;
  } else {
    ObjectReader in(value, findings);
    if (!in.ok()) return;
    device_class.name = in.name("name", kRequired).value_or("");
    device_class.memory = MiB(in.mib("memory", kRequired).value_or(0));
    if (const Value* stated = in.get("mig")) {
      ObjectReader mig(*stated, findings);
      device_class.mig_compute_slices = mig.int32("computeSlices", 1, 16, kRequired).value_or(0);
      device_class.mig_memory_slices = mig.int32("memorySlices", 1, 16, kRequired).value_or(0);
      mig.each(
          "profiles",
          [&](const Value& item) {
            device_class.mig_profiles.push_back(read_mig_profile(item, findings));
          },
          kRequired);
    }
  }
  draft.cluster.device_classes.push_back(std::move(device_class));
  draft.places.device_classes.push_back(&value);
}

std::map<std::string, std::int64_t> read_milli_map(ObjectReader& in, std::string_view field,
                                                   std::int64_t most) {
  std::map<std::string, std::int64_t> out;
  in.entries(field, [&](const Value& entry) {
    if (const auto milli = as_decimal(entry, 3, 0, most, in.findings())) {
      out.emplace(entry.key(), *milli);
    }
  });
  return out;
}

void read_strategy(ObjectReader& in, PoolSpec& pool) {
  const Value* value = in.get("strategy");
  if (value == nullptr) return;
  Findings& findings = in.findings();
  if (!value->is_map()) {
    if (const auto both = as_choice<Strategy>(*value, words::kStrategies, findings)) {
      pool.gpu_strategy = *both;
      pool.cpu_strategy = *both;
    }
    return;
  }
  ObjectReader each(*value, findings);
  pool.gpu_strategy = each.choice<Strategy>("gpu", words::kStrategies).value_or(Strategy::kBinpack);
  pool.cpu_strategy = each.choice<Strategy>("cpu", words::kStrategies).value_or(Strategy::kBinpack);
}

}  // namespace

void read_pool(const Value& value, ClusterDraft& draft, Findings& findings) {
  PoolSpec pool;
  ObjectReader in(value, findings);
  if (!in.ok()) return;
  pool.name = in.name("name", kRequired).value_or("");
  read_strategy(in, pool);
  pool.exchange_rates = read_milli_map(in, "exchangeRates", kMaxAmount);
  pool.prices = read_milli_map(in, "prices", 1'000'000'000);
  if (const Value* stated = in.get("usage")) {
    ObjectReader usage(*stated, findings);
    pool.k_value_milli = usage.decimal("k", 3, 0, 1'000'000).value_or(0);
    pool.usage_half_life = usage.duration("halfLife").value_or(pool.usage_half_life);
    pool.usage_window =
        usage.choice<UsageWindow>("window", words::kUsageWindows).value_or(UsageWindow::kSliding);
    pool.usage_window_length = usage.duration("windowLength").value_or(pool.usage_window_length);
    for (const char* field : {"halfLife", "windowLength"}) {
      const Value* duration = usage.get(field);
      const Duration read =
          std::string_view(field) == "halfLife" ? pool.usage_half_life : pool.usage_window_length;
      if (duration == nullptr || read > Duration{0}) continue;
      findings.error(*duration, ErrorCode::kOutOfRange, "this time cannot be 0",
                     "state a time such as 7d; k: 0 turns usage history off");
    }
  }
  if (const Value* stated = in.get("aging")) {
    ObjectReader aging(*stated, findings);
    pool.aging_interval = aging.duration("interval", kRequired).value_or(Duration{0});
    pool.aging_max = aging.int32("max", 0, 1'000'000'000, kRequired).value_or(0);
    if (aging.has("interval") && aging.has("max") &&
        (pool.aging_interval > Duration{0}) != (pool.aging_max > 0)) {
      findings.error(*stated, ErrorCode::kInvalidArgument,
                     "aging by at most " + std::to_string(pool.aging_max) + " each " +
                         to_text(pool.aging_interval) + " changes nothing",
                     "state both above 0, or leave \"aging\" out");
    }
  }
  pool.reservations = in.int32("reservations", 0, kMostReservations).value_or(pool.reservations);
  pool.consolidate = in.boolean("consolidate").value_or(true);
  draft.cluster.pools.push_back(std::move(pool));
  draft.places.pools.push_back(&value);
}

namespace {

void check_api_version(ObjectReader& in) {
  const auto version = in.string("apiVersion");
  if (version && *version == "fairlead/v1") return;
  if (in.get("apiVersion") == nullptr) {
    in.findings().error(in.value(), ErrorCode::kInvalidArgument,
                        "the field \"apiVersion\" is missing", "add \"apiVersion: fairlead/v1\"");
    return;
  }
  if (!version) return;
  in.findings().error(*in.get("apiVersion"), ErrorCode::kInvalidArgument,
                      in.get("apiVersion")->brief() + " is not a version this program reads",
                      "write apiVersion: fairlead/v1");
}

void report_kind(const Value& root, const std::string& kind, Findings& findings) {
  static const std::vector<std::string> kKinds = {"Cluster", "Workload", "Scenario", "Share"};
  if (!root.is_map()) {
    findings.error(root, ErrorCode::kInvalidArgument,
                   root.brief() + " stands where a document is needed",
                   "begin it with \"apiVersion: fairlead/v1\" and \"kind: Cluster\"");
  } else if (kind.empty()) {
    findings.error(root, ErrorCode::kInvalidArgument, "the document does not say what it is",
                   "add \"kind: Cluster\" or another: Workload, Scenario, Share");
  } else if (kind == "Scenario" || kind == "Share") {
    findings.error(*root.find("kind"), ErrorCode::kInvalidArgument,
                   "a " + kind + " stands where a Cluster or a Workload is needed",
                   kind == "Share" ? "`fairlead share` reads it, from a file of its own"
                                   : "`fairlead scenario` reads it, from a file of its own");
  } else {
    report_unknown(*root.find("kind"), findings, "kind of document", kind, kKinds);
  }
}

}  // namespace

void report_unknown(const Value& at, Findings& findings, const std::string& what,
                    const std::string& name, const std::vector<std::string>& names) {
  std::vector<std::string> known;  // each once, in their order
  std::set<std::string_view> seen;
  for (const std::string& one : names) {
    if (seen.insert(one).second) known.push_back(one);
  }
  const std::string near = nearest_name(name, known);
  std::string message = "there is no " + what + " \"" + name.substr(0, 100) + "\"";
  message += known.empty() ? "; none is defined" : "; there is " + listing(known);
  findings.error(at, ErrorCode::kNotFound, std::move(message),
                 near.empty() ? "" : "did you mean \"" + near + "\"?");
}

const Value& field_of(const Value& place, std::initializer_list<std::string_view> path) {
  const Value* at = &place;
  for (const std::string_view field : path) {
    const Value* next = at->find(field);
    if (next == nullptr) break;
    at = next;
  }
  return *at;
}

std::string document_kind(const Value& root) {
  const Value* kind = root.find("kind");
  return kind != nullptr && kind->is_scalar() ? kind->text() : "";
}

ReservationSpec read_reservation(ObjectReader& in) {
  ReservationSpec spec;
  spec.name = in.name("name", kRequired).value_or("");
  spec.nodes = in.names("nodes");
  if (in.ok() && spec.nodes.empty()) {
    in.findings().error(in.value(), ErrorCode::kInvalidArgument, "\"nodes\" names none",
                        "name the nodes that are kept: nodes: [n1]");
  }
  spec.from = in.instant("from", kRequired).value_or(Instant{});
  spec.until = in.instant("until", kRequired).value_or(Instant{});
  spec.queues = in.names("for");
  return spec;
}

void read_cluster_fields(ObjectReader& in, ClusterDraft& draft) {
  Findings& findings = in.findings();
  draft.places.root = &in.value();
  for (std::string& level : in.names("topology")) {
    draft.cluster.topology_levels.push_back(std::move(level));
  }
  in.each("deviceClasses", [&](const Value& item) { read_device_class(item, draft, findings); });
  in.each("pools", [&](const Value& item) { read_pool(item, draft, findings); });
  in.each("nodes", [&](const Value& item) { read_nodes(item, draft, findings); });
  for (const char* field : {"queues", "departments"}) {
    in.each(field, [&](const Value& item) { read_queue(item, "", draft, findings); });
  }
  in.each("reservations", [&](const Value& item) {
    ObjectReader reservation(item, findings);
    draft.cluster.reservations.push_back(read_reservation(reservation));
    draft.places.reservations.push_back(&item);
  });
  in.each("workloads", [&](const Value& item) {
    draft.cluster.workloads.push_back(read_workload(item, findings, draft.limits));
    draft.places.workloads.push_back(&item);
  });
}

std::expected<ClusterDocument, std::vector<Error>> parse_cluster(const Document& document,
                                                                 ClusterLimits limits) {
  Findings findings(document.file());
  ClusterDraft draft;
  draft.limits = limits;
  ClusterDocument out;
  for (const Value& root : document.roots()) {
    const std::string kind = document_kind(root);
    if (kind == "Cluster") {
      ObjectReader in(root, findings);
      in.allow({"kind"});
      check_api_version(in);
      if (out.has_cluster) {
        findings.error(root, ErrorCode::kAlreadyExists,
                       "a second cluster in one file; the first begins on line " +
                           std::to_string(draft.places.root->line()),
                       "put each into a file of its own");
        in.open_entries();
        continue;
      }
      out.has_cluster = true;
      read_cluster_fields(in, draft);
    } else if (kind == "Workload") {
      {
        ObjectReader in(root, findings);
        check_api_version(in);
        in.open_entries();
      }
      draft.cluster.workloads.push_back(read_workload(root, findings, limits));
      draft.places.workloads.push_back(&root);
    } else {
      report_kind(root, kind, findings);
    }
  }
  if (document.roots().empty()) {
    const Value nothing;
    findings.error(nothing, ErrorCode::kInvalidArgument, "the document is empty",
                   "begin it with \"apiVersion: fairlead/v1\" and \"kind: Cluster\"");
  } else if (out.has_cluster) {
    check_cluster(draft, findings);
  } else {
    check_workloads_alone(draft, findings);
  }
  if (!findings.ok()) return std::unexpected(findings.take_errors());
  out.cluster = std::move(draft.cluster);
  out.warnings = findings.take_warnings();
  return out;
}

std::expected<ClusterDocument, std::vector<Error>> parse_cluster(std::string_view text,
                                                                 std::string file,
                                                                 ClusterLimits limits) {
  auto document = Document::parse(text, std::move(file));
  if (!document) return std::unexpected(std::move(document).error());
  return parse_cluster(*document, limits);
}

}  // namespace fairlead
