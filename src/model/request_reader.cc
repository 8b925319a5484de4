// What a task asks for (semantics 2) and where it may be (6.1, 6.4).
#include "base/decimal.h"
#include "model/readers.h"
#include "model/words.h"

namespace fairlead {
namespace {

constexpr std::int32_t kMaxDevices = 1024;  // of one node

// `gpu: 2` or `gpu: 0.5`.
GpuRequest read_gpu_number(const Value& value, Findings& findings) {
  GpuRequest request;
  const auto milli = as_decimal(value, 3, 0, kMaxDevices * kMilli, findings);
  if (!milli || *milli == 0) return request;
  if (*milli < kMilli) {
    request.kind = GpuRequestKind::kPortion;
    request.count = 1;
    request.portion = MilliGpu(*milli);
  } else if (*milli % kMilli == 0) {
    request.kind = GpuRequestKind::kDevices;
    request.count = static_cast<std::int32_t>(*milli / kMilli);
  } else {
    findings.error(value, ErrorCode::kInvalidArgument,
                   value.brief() + " is neither a number of whole GPUs nor a part of one",
                   "ask for whole devices (2), for a part of one (0.5), or for a part of each of "
                   "several: {portion: 0.75, count: 2}");
  }
  return request;
}

}  // namespace

GpuRequest read_gpu_request(const Value& value, Findings& findings) {
  if (!value.is_map()) return read_gpu_number(value, findings);
  ObjectReader in(value, findings);
  GpuRequest request;
  const Value* devices = in.get("devices");
  const Value* portion = in.get("portion");
  const Value* memory = in.get("memory");
  const Value* mig = in.get("mig");
  const int stated =
      (devices != nullptr) + (portion != nullptr) + (memory != nullptr) + (mig != nullptr);
  request.count = in.int32("count", 1, kMaxDevices).value_or(1);
  const Value* limit = in.get("limit");
  const Value* compute_limit = in.get("computeLimit");
  const Value* memory_limit = in.get("memoryLimit");
  if (stated != 1) {
    findings.error(value, ErrorCode::kInvalidArgument,
                   "a GPU request is of one kind, here are " + std::to_string(stated),
                   "state one of devices, portion, memory and mig");
    return {};
  }
  if (devices != nullptr) {
    request.kind = GpuRequestKind::kDevices;
    if (in.has("count")) {
      findings.error(*in.get("count"), ErrorCode::kInvalidArgument,
                     "\"devices\" is the count already", "remove \"count\"");
    }
    request.count =
        static_cast<std::int32_t>(as_integer(*devices, 1, kMaxDevices, findings).value_or(1));
  } else if (portion != nullptr) {
    request.kind = GpuRequestKind::kPortion;
    request.portion = MilliGpu(as_decimal(*portion, 3, 1, kMilli - 1, findings).value_or(1));
  } else if (memory != nullptr) {
    request.kind = GpuRequestKind::kMemory;
    const auto mib = as_mib(*memory, findings);
    if (mib == 0) {
      findings.error(*memory, ErrorCode::kOutOfRange, "a request of no memory",
                     "ask for at least 1Mi");
    }
    request.memory = MiB(std::max<std::int64_t>(1, mib.value_or(1)));
  } else {
    request.kind = GpuRequestKind::kMig;
    request.mig_profile = as_name(*mig, findings).value_or("");
  }

  const bool shared =
      request.kind == GpuRequestKind::kPortion || request.kind == GpuRequestKind::kMemory;
  if (limit != nullptr) {
    const Value*& meant = request.kind == GpuRequestKind::kMemory ? memory_limit : compute_limit;
    if (meant != nullptr) {
      findings.error(*limit, ErrorCode::kAlreadyExists, "this limit is stated twice",
                     "remove \"limit\"");
    }
    meant = limit;
  }
  for (const Value* any : {compute_limit, memory_limit}) {
    if (any == nullptr || shared) continue;
    findings.error(*any, ErrorCode::kInvalidArgument,
                   "a limit belongs to a portion or a memory request; whole devices and MIG "
                   "instances have all there is",
                   "remove it");
    return request;
  }
  if (compute_limit != nullptr) {
    if (const auto milli = as_decimal(*compute_limit, 3, 1, kMilli, findings)) {
      request.compute_limit = MilliGpu(*milli);
      if (*milli < request.portion.value) {
        findings.error(*compute_limit, ErrorCode::kOutOfRange,
                       "the limit " + decimal_text(*milli, 3) + " is below the request " +
                           decimal_text(request.portion.value, 3),
                       "raise the limit or lower the request");
      }
    }
  }
  if (memory_limit != nullptr) {
    if (const auto mib = as_mib(*memory_limit, findings)) {
      request.memory_limit = MiB(*mib);
      if (*mib < std::max<std::int64_t>(1, request.memory.value)) {
        findings.error(*memory_limit, ErrorCode::kOutOfRange,
                       "the limit " + mib_text(*mib) + " is below the request " +
                           mib_text(request.memory.value),
                       "raise the limit or lower the request");
      }
    }
  }
  return request;
}

ExtendedResources read_extended(ObjectReader& in, std::string_view field) {
  ExtendedResources out;
  in.entries(field, [&](const Value& entry) {
    if (entry.key() == "gpu" || entry.key() == "cpu" || entry.key() == "memory") {
      in.findings().error(entry, ErrorCode::kInvalidArgument,
                          "\"" + entry.key() + "\" has a field of its own",
                          "state it outside of \"" + std::string(field) + "\"");
      return;
    }
    if (const auto amount = as_integer(entry, 0, kMaxAmount, in.findings())) {
      out.emplace(entry.key(), *amount);
    }
  });
  return out;
}

void read_task_request(ObjectReader& in, TaskRequest& request) {
  if (const Value* gpu = in.get("gpu")) request.gpu = read_gpu_request(*gpu, in.findings());
  request.cpu = MilliCpu(in.milli_cpu("cpu").value_or(0));
  request.memory = Bytes(in.bytes("memory").value_or(0));
  request.extended = read_extended(in, "resources");
  request.numa =
      in.choice<NumaPolicy>("numa", words::kNumaPolicies).value_or(NumaPolicy::kPreferred);
}

namespace {

void read_match(const Value& value, std::vector<MatchTerm>& terms, Findings& findings) {
  ObjectReader in(value, findings);
  MatchTerm term;
  term.key = in.name("key", kRequired).value_or("");
  term.op =
      in.choice<MatchOperator>("operator", words::kMatchOperators).value_or(MatchOperator::kIn);
  in.each("values", [&](const Value& item) {
    if (auto text = as_string(item, findings)) term.values.push_back(std::move(*text));
  });
  if (!in.ok()) return;
  const bool none = term.op == MatchOperator::kExists || term.op == MatchOperator::kDoesNotExist;
  const bool one = term.op == MatchOperator::kGreater || term.op == MatchOperator::kLess;
  const Value& at = field_of(value, {"values"});
  const std::string op = word_of<MatchOperator>(words::kMatchOperators, term.op);
  if (none && !term.values.empty()) {
    findings.error(at, ErrorCode::kInvalidArgument, op + " takes no values", "remove them");
  } else if (!none && term.values.empty()) {
    findings.error(at, ErrorCode::kInvalidArgument, op + " needs values", "add \"values: […]\"");
  } else if (one && (term.values.size() != 1 || !parse_decimal(term.values[0], 0))) {
    findings.error(at, ErrorCode::kInvalidArgument, op + " needs one whole number",
                   "write it as values: [\"16\"]");
  }
  terms.push_back(std::move(term));
}

// "key", "key=value", "key=value:NoSchedule", "key:NoExecute", or a map.
void read_toleration(const Value& value, std::vector<Toleration>& tolerations, Findings& findings) {
  Toleration toleration;
  if (value.is_scalar()) {
    std::string text = value.text();
    const std::size_t colon = text.rfind(':');
    for (const auto& choice : words::kTaintEffects) {
      if (colon == std::string::npos || text.substr(colon + 1) != choice.word) continue;
      toleration.effect = choice.value;
      text.resize(colon);
      break;
    }
    const std::size_t equals = text.find('=');
    if (equals != std::string::npos) toleration.value = text.substr(equals + 1);
    toleration.key = text.substr(0, equals);
    tolerations.push_back(std::move(toleration));
    return;
  }
  ObjectReader in(value, findings);
  if (const Value* key = in.get("key")) {
    if (!key->is_scalar() || !key->text().empty()) {
      toleration.key = as_name(*key, findings).value_or("");
    }
  }
  toleration.value = in.string("value");
  toleration.effect = in.choice<TaintEffect>("effect", words::kTaintEffects);
  if (in.ok()) tolerations.push_back(std::move(toleration));
}

}  // namespace

void read_constraints(ObjectReader& in, Constraints& constraints) {
  constraints.node_types = in.names("nodeTypes");
  constraints.device_classes = in.names("deviceClasses");
  constraints.node_selector = in.string_map("nodeSelector");
  in.each("affinity",
          [&](const Value& item) { read_match(item, constraints.affinity, in.findings()); });
  in.each("tolerations", [&](const Value& item) {
    read_toleration(item, constraints.tolerations, in.findings());
  });
}

void read_topology_goal(ObjectReader& in, TopologyGoal& goal) {
  goal.within = in.name("within").value_or("");
  goal.prefer = in.name("prefer").value_or("");
  goal.fewest_hosts = in.choice<bool>("hosts", words::kHosts).value_or(false);
}

}  // namespace fairlead
