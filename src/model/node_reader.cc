// Nodes of a cluster document: single ones and groups, devices in full or by count.
#include <algorithm>
#include <charconv>

#include "base/decimal.h"
#include "base/nearest.h"
#include "model/readers.h"
#include "model/words.h"

namespace fairlead {
namespace {

constexpr std::int32_t kMaxDevicesPerNode = 1024;
constexpr std::int32_t kMaxNumaCells = 64;

// A name with a place for a number: "node-{0000}" counts 0000, 0001, …; "rack{1}" 1, 2, ….
struct NamePattern {
  std::string before;
  std::string after;
  std::int64_t first = 0;
  std::size_t width = 1;
  bool numbered = false;

  std::string at(std::int64_t n) const {
    if (!numbered) return before;
    std::string digits = std::to_string(first + n);
    if (digits.size() < width) digits.insert(0, width - digits.size(), '0');
    return before + digits + after;
  }
};

// Reads the name of a node or a domain. Braces that are no place for a number are refused.
NamePattern read_pattern(const std::optional<std::string>& name, const Value& place,
                         Findings& findings) {
  NamePattern pattern;
  if (!name) return pattern;
  const std::string& text = *name;
  pattern.before = text;
  if (text.find_first_of("{}") == std::string::npos) return pattern;
  const std::size_t open = text.find('{');
  const std::size_t close = text.find('}');
  const std::size_t width = open < close && close != std::string::npos ? close - open - 1 : 0;
  if (width >= 1 && width <= 9 && text.find_first_of("{}", close + 1) == std::string::npos) {
    const char* begin = text.data() + open + 1;
    const auto [end, error] = std::from_chars(begin, begin + width, pattern.first);
    if (error == std::errc() && end == begin + width && pattern.first >= 0) {
      pattern.before = text.substr(0, open);
      pattern.after = text.substr(close + 1);
      pattern.width = width;
      pattern.numbered = true;
      return pattern;
    }
  }
  findings.error(place, ErrorCode::kInvalidArgument,
                 "the braces of " + place.brief() + " hold no number",
                 "write the first number with its width: node-{0000}");
  return pattern;
}

// "8 x H100-80GB", "8xT4", "T4".
bool parse_short_devices(const std::string& text, std::int64_t& count, std::string& device_class) {
  std::size_t i = 0;
  while (i < text.size() && text[i] >= '0' && text[i] <= '9') ++i;
  const std::size_t after_digits = i;
  while (i < text.size() && text[i] == ' ') ++i;
  // "4x T4" has a count; a class may itself begin with a digit ("3090").
  if (after_digits > 0 && after_digits < 10 && i < text.size() && text[i] == 'x') {
    count = 0;
    std::from_chars(text.data(), text.data() + after_digits, count);
    ++i;
    while (i < text.size() && text[i] == ' ') ++i;
    device_class = text.substr(i);
  } else {
    count = 1;
    device_class = text;
  }
  return !device_class.empty() && device_class.find(' ') == std::string::npos;
}

void add_devices(std::vector<DeviceSpec>& devices, const DeviceSpec& like, std::int64_t count,
                 const std::function<void(DeviceSpec&, std::int32_t)>& place = {}) {
  for (std::int32_t i = 0; i < count && devices.size() < kMaxDevicesPerNode; ++i) {
    DeviceSpec device = like;
    if (device.id.empty()) device.id = "gpu-" + std::to_string(devices.size());
    if (place) place(device, i);
    devices.push_back(std::move(device));
  }
}

void read_device(const Value& value, std::vector<DeviceSpec>& devices, Findings& findings) {
  if (value.is_scalar()) {
    std::int64_t count = 0;
    DeviceSpec like;
    if (!parse_short_devices(value.text(), count, like.device_class) || count < 1 ||
        count > kMaxDevicesPerNode) {
      findings.error(value, ErrorCode::kInvalidArgument,
                     value.brief() + " is not a number of devices of a class",
                     "write it as \"8 x H100-80GB\" with 1 to 1024 devices");
      return;
    }
    add_devices(devices, like, count);
    return;
  }
  ObjectReader in(value, findings);
  DeviceSpec like;
  like.id = in.name("id").value_or("");
  like.device_class = in.name("class", kRequired).value_or("");
  const std::int32_t count = in.int32("count", 1, kMaxDevicesPerNode).value_or(1);
  like.numa = in.int32("numa", -1, kMaxNumaCells).value_or(-1);
  like.pcie_switch = in.int32("pcieSwitch", -1, kMaxDevicesPerNode).value_or(-1);
  like.nvlink_island = in.int32("nvlinkIsland", -1, kMaxDevicesPerNode).value_or(-1);
  const std::int32_t per_numa = in.int32("perNuma", 1, kMaxDevicesPerNode).value_or(0);
  const std::int32_t per_switch = in.int32("perPcieSwitch", 1, kMaxDevicesPerNode).value_or(0);
  const std::int32_t per_island = in.int32("perNvlinkIsland", 1, kMaxDevicesPerNode).value_or(0);
  like.mig_enabled = in.boolean("mig").value_or(false);
  like.health = in.choice<DeviceHealth>("health", words::kHealth).value_or(DeviceHealth::kHealthy);
  if (count > 1 && !like.id.empty()) {
    findings.error(*in.get("id"), ErrorCode::kInvalidArgument,
                   "an id names one device, but there are " + std::to_string(count),
                   "leave out the id, or state each device by itself");
    return;
  }
  add_devices(devices, like, count, [&](DeviceSpec& device, std::int32_t i) {
    if (per_numa > 0) device.numa = i / per_numa;
    if (per_switch > 0) device.pcie_switch = i / per_switch;
    if (per_island > 0) device.nvlink_island = i / per_island;
  });
}

void read_devices(ObjectReader& in, NodeSpec& node) {
  const Value* gpus = in.get("gpus");
  if (gpus == nullptr) return;
  if (!gpus->is_list()) {
    read_device(*gpus, node.devices, in.findings());
    return;
  }
  for (const Value& item : gpus->items()) read_device(item, node.devices, in.findings());
  if (node.devices.size() >= kMaxDevicesPerNode && gpus->items().size() > 1) {
    in.findings().error(*gpus, ErrorCode::kOutOfRange, "a node has at most 1024 devices");
  }
}

// `numa: 2` is that many equal cells; `numa: [48, 48]` their CPUs.
void read_numa(ObjectReader& in, NodeSpec& node) {
  const Value* numa = in.get("numa");
  if (numa == nullptr) return;
  if (numa->is_list()) {
    for (const Value& cell : numa->items()) {
      if (const auto cpu = as_milli_cpu(cell, in.findings())) {
        node.numa.push_back(NumaCell{MilliCpu(*cpu)});
      }
    }
    if (numa->items().size() > static_cast<std::size_t>(kMaxNumaCells)) {
      in.findings().error(*numa, ErrorCode::kOutOfRange, "a node has at most 64 NUMA nodes");
    }
    return;
  }
  const auto cells = as_integer(*numa, 1, kMaxNumaCells, in.findings());
  if (!cells) return;
  if (node.cpu.value % *cells != 0) {
    in.findings().error(*numa, ErrorCode::kInvalidArgument,
                        cpu_text(node.cpu.value) + " CPUs cannot be divided evenly into " +
                            std::to_string(*cells) + " NUMA nodes",
                        "state the CPUs of each: numa: [48, 48]");
    return;
  }
  node.numa.assign(static_cast<std::size_t>(*cells), NumaCell{MilliCpu(node.cpu.value / *cells)});
}

// "key=value:NoSchedule", "key:NoExecute", or a map.
void read_taint(const Value& value, std::vector<Taint>& taints, Findings& findings) {
  Taint taint;
  if (value.is_scalar()) {
    const std::string& text = value.text();
    const std::size_t colon = text.rfind(':');
    const std::size_t equals = text.find('=');
    const std::string effect = colon == std::string::npos ? "" : text.substr(colon + 1);
    for (const auto& choice : words::kTaintEffects) {
      if (choice.word != effect) continue;
      taint.effect = choice.value;
      taint.key = text.substr(0, std::min(colon, equals));
      if (equals < colon) taint.value = text.substr(equals + 1, colon - equals - 1);
      if (taint.key.empty()) break;
      taints.push_back(std::move(taint));
      return;
    }
    findings.error(value, ErrorCode::kInvalidArgument, value.brief() + " is not a taint",
                   "write it as key=value:NoSchedule (or PreferNoSchedule, NoExecute)");
    return;
  }
  ObjectReader in(value, findings);
  taint.key = in.name("key", kRequired).value_or("");
  taint.value = in.string("value").value_or("");
  taint.effect =
      in.choice<TaintEffect>("effect", words::kTaintEffects).value_or(TaintEffect::kNoSchedule);
  if (in.ok()) taints.push_back(std::move(taint));
}

// The domain of a group's nodes at one level: a name, or {name: "rack-{00}", every: 8}.
struct Domain {
  NamePattern pattern;
  std::int64_t every = 1;
};

Domain read_domain(const Value& value, Findings& findings) {
  Domain domain;
  if (value.is_map()) {
    ObjectReader in(value, findings);
    domain.pattern = read_pattern(in.name("name", kRequired), field_of(value, {"name"}), findings);
    domain.every = in.integer("every", 1, kMaxAmount).value_or(1);
  } else if (!value.is_null()) {
    domain.pattern = read_pattern(as_name(value, findings), value, findings);
  }
  return domain;
}

std::vector<Domain> read_topology(ObjectReader& in, const std::vector<std::string>& levels) {
  std::vector<Domain> domains(levels.size());
  const Value* topology = in.get("topology");
  if (topology == nullptr) return domains;
  Findings& findings = in.findings();
  if (topology->is_list()) {
    if (topology->items().size() > levels.size()) {
      findings.error(
          *topology, ErrorCode::kInvalidArgument,
          "the node has " + std::to_string(topology->items().size()) +
              " topology domains, the cluster " + std::to_string(levels.size()) + " levels",
          "state the levels in the cluster's \"topology\", widest first, without the host");
      return domains;
    }
    for (std::size_t i = 0; i < topology->items().size(); ++i) {
      const Value& item = topology->items()[i];
      if (item.is_scalar() && item.text().empty()) continue;  // belongs to none at this level
      domains[i] = read_domain(item, findings);
    }
    return domains;
  }
  if (!topology->is_map()) {
    findings.error(*topology, ErrorCode::kInvalidArgument,
                   topology->brief() + " stands where domains by level are needed",
                   "write it as {rack: r1, switch: s3}");
    return domains;
  }
  for (const Value& entry : topology->items()) {
    const auto level = std::find(levels.begin(), levels.end(), entry.key());
    if (level == levels.end()) {
      report_unknown(entry, findings, "topology level", entry.key(), levels);
      continue;
    }
    domains[static_cast<std::size_t>(level - levels.begin())] = read_domain(entry, findings);
  }
  return domains;
}

}  // namespace

void read_nodes(const Value& value, ClusterDraft& draft, Findings& findings) {
  ObjectReader in(value, findings);
  if (!in.ok()) return;
  NodeSpec node;
  const NamePattern name =
      read_pattern(in.name("name", kRequired), field_of(value, {"name"}), findings);
  const std::int64_t count =
      in.integer("count", 1, static_cast<std::int64_t>(draft.limits.nodes)).value_or(1);
  node.pool = in.name("pool").value_or("default");
  node.node_type = in.name("nodeType").value_or("");
  node.labels = in.string_map("labels");
  in.each("taints", [&](const Value& item) { read_taint(item, node.taints, findings); });
  node.cpu = MilliCpu(in.milli_cpu("cpu").value_or(0));
  node.memory = Bytes(in.bytes("memory").value_or(0));
  node.extended = read_extended(in, "resources");
  read_numa(in, node);
  read_devices(in, node);
  const std::vector<Domain> domains = read_topology(in, draft.cluster.topology_levels);
  node.ready = in.boolean("ready").value_or(true);
  node.schedulable = in.boolean("schedulable").value_or(true);
  in.finish();

  if (count > 1 && !name.numbered) {
    findings.error(field_of(value, {"name"}), ErrorCode::kInvalidArgument,
                   std::to_string(count) + " nodes cannot all be called \"" + name.before + "\"",
                   "put a number into the name: \"" + name.before + "-{000}\"");
    return;
  }
  const std::size_t devices = node.devices.size() * static_cast<std::size_t>(count);
  if (draft.cluster.nodes.size() + static_cast<std::size_t>(count) > draft.limits.nodes ||
      draft.device_count + devices > draft.limits.devices) {
    findings.error(field_of(value, {"count"}), ErrorCode::kOutOfRange,
                   "the document describes more than " + std::to_string(draft.limits.nodes) +
                       " nodes or " + std::to_string(draft.limits.devices) + " devices",
                   "split it");
    return;
  }
  draft.device_count += devices;
  for (std::int64_t i = 0; i < count; ++i) {
    NodeSpec one = node;
    one.name = name.at(i);
    for (const Domain& domain : domains)
      one.topology.push_back(domain.pattern.at(i / domain.every));
    draft.cluster.nodes.push_back(std::move(one));
    draft.places.nodes.push_back(&value);
  }
}

}  // namespace fairlead
