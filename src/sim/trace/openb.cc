#include "sim/trace/openb.h"

#include <unordered_set>

#include <fmt/core.h>

#include "base/quantity.h"

namespace fairlead::sim {
namespace {

constexpr std::int64_t kMaxGpusPerNode = 1024;

std::vector<std::string> split_models(std::string_view text) {
  std::vector<std::string> models;
  while (!text.empty()) {
    const std::size_t bar = std::min(text.find('|'), text.size());
    if (bar > 0) models.emplace_back(text.substr(0, bar));
    text.remove_prefix(std::min(bar + 1, text.size()));
  }
  return models;
}

}  // namespace

Checked<std::vector<OpenbNode>> read_openb_nodes(const CsvFile& file) {
  FAIRLEAD_ASSIGN(const std::size_t name, checked(file.column("sn")));
  FAIRLEAD_ASSIGN(const std::size_t cpu, checked(file.column("cpu_milli")));
  FAIRLEAD_ASSIGN(const std::size_t memory, checked(file.column("memory_mib")));
  FAIRLEAD_ASSIGN(const std::size_t gpu, checked(file.column("gpu")));
  FAIRLEAD_ASSIGN(const std::size_t model, checked(file.column("model")));
  std::vector<OpenbNode> nodes;
  std::unordered_set<std::string> names;
  FAIRLEAD_TRY(read_rows(file, [&](std::size_t row) -> Result<void> {
    OpenbNode node;
    FAIRLEAD_ASSIGN(node.name, file.text(row, name));
    if (!names.insert(node.name).second) {
      return fail(file.error(row, name, fmt::format("node '{}' is there twice", node.name),
                             "give each node its own name", ErrorCode::kAlreadyExists));
    }
    FAIRLEAD_ASSIGN(node.cpu_milli, file.integer(row, cpu, 0, kMaxAmount));
    FAIRLEAD_ASSIGN(node.memory_mib, file.integer(row, memory, 0, kMaxAmount >> 20));
    FAIRLEAD_ASSIGN(const std::int64_t gpus, file.integer(row, gpu, 0, kMaxGpusPerNode));
    node.gpus = static_cast<std::int32_t>(gpus);
    if (gpus > 0) {
      FAIRLEAD_ASSIGN(node.model, file.text(row, model));
    }
    nodes.push_back(std::move(node));
    return {};
  }));
  return nodes;
}

Checked<std::vector<OpenbPod>> read_openb_pods(const CsvFile& file) {
  FAIRLEAD_ASSIGN(const std::size_t name, checked(file.column("name")));
  FAIRLEAD_ASSIGN(const std::size_t cpu, checked(file.column("cpu_milli")));
  FAIRLEAD_ASSIGN(const std::size_t memory, checked(file.column("memory_mib")));
  FAIRLEAD_ASSIGN(const std::size_t gpu, checked(file.column("num_gpu")));
  FAIRLEAD_ASSIGN(const std::size_t milli, checked(file.column("gpu_milli")));
  const auto spec = file.find_column("gpu_spec");
  std::vector<OpenbPod> pods;
  FAIRLEAD_TRY(read_rows(file, [&](std::size_t row) -> Result<void> {
    OpenbPod pod;
    FAIRLEAD_ASSIGN(pod.name, file.text(row, name));
    FAIRLEAD_ASSIGN(pod.cpu_milli, file.integer(row, cpu, 0, kMaxAmount));
    FAIRLEAD_ASSIGN(pod.memory_mib, file.integer(row, memory, 0, kMaxAmount >> 20));
    FAIRLEAD_ASSIGN(const std::int64_t gpus, file.integer(row, gpu, 0, kMaxGpusPerNode));
    pod.gpus = static_cast<std::int32_t>(gpus);
    if (gpus == 1) {
      FAIRLEAD_ASSIGN(pod.gpu_milli, file.integer(row, milli, 1, 1000));
    } else if (gpus > 1) {
      FAIRLEAD_ASSIGN(pod.gpu_milli, file.integer(row, milli, 1000, 1000));
    }
    if (spec && gpus > 0) pod.models = split_models(file.cell(row, *spec));
    pods.push_back(std::move(pod));
    return {};
  }));
  return pods;
}

}  // namespace fairlead::sim
