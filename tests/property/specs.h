// Specifications made from genes: classes, pools, nodes, queues, workloads.
#pragma once

#include <string>
#include <vector>

#include "model/cluster.h"
#include "recipe.h"

namespace fairlead::property {

// What all parts of one history draw on.
struct Setting {
  std::vector<std::string> levels;
  std::vector<DeviceClass> classes;
  std::vector<PoolSpec> pools;
};

Setting setting_of(const Genes& genes);

// Node number `n`: n0, n1, …
NodeSpec node_of(const Genes& genes, const Setting& setting, std::size_t n);

// Queue number `n`, under one of the queues before it (by name and depth) or at the root.
struct Placed {
  std::string name;
  int depth = 0;
};
QueueSpec queue_of(const Genes& genes, const Setting& setting, std::size_t n,
                   const std::vector<Placed>& before);
// New quotas, limits, weights and rank for a queue that is there.
QueueSpec queue_changed(const Genes& genes, std::size_t from, const Setting& setting,
                        QueueSpec queue);

// Uses genes from `from` on.
WorkloadSpec workload_of(const Genes& genes, std::size_t from, const Setting& setting,
                         std::string name, std::string queue);

}  // namespace fairlead::property
