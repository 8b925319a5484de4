// The queue tree: parents that exist, no cycle, and guarantees that add up (3.4: what does not add
// up is reported and allowed).
#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "base/decimal.h"
#include "base/wide.h"
#include "model/readers.h"

namespace fairlead {
namespace {

std::string amount_text(std::int64_t amount, const std::string& resource) {
  if (amount == kUnlimited) return "unlimited";
  if (resource == "gpu") return decimal_text(amount, 3) + " GPUs";
  if (resource == "cpu") return cpu_text(amount) + " CPUs";
  if (resource == "memory") return bytes_text(amount) + " of memory";
  return std::to_string(amount) + " of " + resource;
}

using Capacity = std::map<std::string, std::map<std::string, std::int64_t>>;  // pool, resource

// What the nodes of each pool have, GPUs in exchange units (2.7).
Capacity capacity_of(const ClusterSpec& cluster) {
  Capacity out;
  std::map<std::string, const PoolSpec*> pools;
  for (const PoolSpec& pool : cluster.pools) pools[pool.name] = &pool;
  for (const NodeSpec& node : cluster.nodes) {
    auto& of_pool = out[node.pool];
    const auto pool = pools.find(node.pool);
    std::int64_t gpu = 0;
    for (const DeviceSpec& device : node.devices) {
      std::int64_t rate = kMilli;
      if (pool != pools.end()) {
        const auto stated = pool->second->exchange_rates.find(device.device_class);
        if (stated != pool->second->exchange_rates.end()) rate = stated->second;
      }
      gpu += rate;
    }
    const auto add = [&](const std::string& resource, std::int64_t amount) {
      std::int64_t& sum = of_pool[resource];
      sum = std::min(kMaxTotal, sum + std::min(kMaxTotal, amount));
    };
    add("gpu", gpu);
    add("cpu", node.cpu.value);
    add("memory", node.memory.value);
    for (const auto& [resource, amount] : node.extended) add(resource, amount);
  }
  return out;
}

class QueueChecks {
 public:
  QueueChecks(const ClusterDraft& draft, Findings& findings)
      : draft_(draft), queues_(draft.cluster.queues), findings_(findings) {
    for (std::size_t i = 0; i < queues_.size(); ++i) by_name_.emplace(queues_[i].name, i);
  }

  void run() {
    if (!check_parents()) return;  // what follows walks the tree
    check_cycles();
    check_entitlements();
    check_sums();
  }

 private:
  const Value& place(std::size_t i) const { return *draft_.places.queues[i]; }

  // Where the quota of a queue in a pool is stated.
  const Value& quota_place(std::size_t i, const std::string& pool, const std::string& resource,
                           std::string_view field) const {
    const Value& stated = field_of(place(i), {"pools", pool, field, resource});
    if (stated.key() == resource) return stated;
    return field_of(place(i), {field, resource});
  }

  bool check_parents() {
    bool ok = true;
    std::vector<std::string> names;
    for (const QueueSpec& queue : queues_) names.push_back(queue.name);
    for (std::size_t i = 0; i < queues_.size(); ++i) {
      if (queues_[i].parent.empty() || by_name_.contains(queues_[i].parent)) continue;
      report_unknown(field_of(place(i), {"parent"}), findings_, "queue", queues_[i].parent, names);
      ok = false;
    }
    return ok;
  }

  void check_cycles() {
    enum class Mark : std::uint8_t { kNew, kOnPath, kDone };
    std::vector<Mark> marks(queues_.size(), Mark::kNew);
    for (std::size_t start = 0; start < queues_.size(); ++start) {
      std::vector<std::size_t> path;
      std::size_t at = start;
      while (marks[at] == Mark::kNew) {
        marks[at] = Mark::kOnPath;
        path.push_back(at);
        if (queues_[at].parent.empty()) break;
        at = by_name_.at(queues_[at].parent);
      }
      if (marks[at] == Mark::kOnPath && !queues_[path.back()].parent.empty())
        report_cycle(path, at);
      for (const std::size_t i : path) marks[i] = Mark::kDone;
    }
  }

  void report_cycle(const std::vector<std::size_t>& path, std::size_t first) {
    std::string cycle;
    const auto begin = std::find(path.begin(), path.end(), first);
    for (auto i = begin; i != path.end(); ++i) cycle += queues_[*i].name + " → ";
    findings_.error(field_of(place(first), {"parent"}), ErrorCode::kInvalidArgument,
                    "the queues form a cycle: " + cycle + queues_[first].name,
                    "give one of them another parent, or none");
  }

  void check_entitlements() {
    std::vector<std::string> pools = {"default"};
    for (const PoolSpec& pool : draft_.cluster.pools) pools.push_back(pool.name);
    std::set<std::string> known = {"gpu", "cpu", "memory"};
    for (const NodeSpec& node : draft_.cluster.nodes) {
      for (const auto& [resource, amount] : node.extended) known.insert(resource);
    }
    const std::vector<std::string> resources(known.begin(), known.end());
    for (std::size_t i = 0; i < queues_.size(); ++i) {
      for (const auto& [pool, entitlements] : queues_[i].pools) {
        if (std::find(pools.begin(), pools.end(), pool) == pools.end()) {
          report_unknown(field_of(place(i), {"pools", pool}), findings_, "pool", pool, pools);
          continue;
        }
        for (const auto& [resource, entitlement] : entitlements) {
          check_entitlement(i, pool, resource, entitlement, resources);
        }
      }
    }
  }

  void check_entitlement(std::size_t i, const std::string& pool, const std::string& resource,
                         const Entitlement& entitlement,
                         const std::vector<std::string>& resources) {
    if (std::find(resources.begin(), resources.end(), resource) == resources.end()) {
      findings_.warning(quota_place(i, pool, resource, "quota"),
                        "no node has any \"" + resource + "\", so this entitles to nothing",
                        "remove it, or add the resource to the nodes");
    }
    if (entitlement.limit == kUnlimited || entitlement.quota == kUnlimited ||
        entitlement.quota <= entitlement.limit) {
      return;
    }
    findings_.warning(quota_place(i, pool, resource, "limit"),
                      "queue \"" + queues_[i].name + "\" is guaranteed " +
                          amount_text(entitlement.quota, resource) + " but limited to " +
                          amount_text(entitlement.limit, resource),
                      "raise the limit or lower the quota");
  }

  // Per parent, pool and resource: what the children are guaranteed together.
  struct Sum {
    Int128 finite = 0;
    std::vector<std::size_t> unlimited;
    std::size_t first = 0;  // the child to point at
    std::size_t children = 0;
  };

  void check_sums() {
    std::map<std::string, std::map<std::pair<std::string, std::string>, Sum>> sums;
    for (std::size_t i = 0; i < queues_.size(); ++i) {
      for (const auto& [pool, entitlements] : queues_[i].pools) {
        for (const auto& [resource, entitlement] : entitlements) {
          // What is unlimited by default is no promise.
          if (entitlement.quota == kUnlimited &&
              quota_place(i, pool, resource, "quota").key() != resource) {
            continue;
          }
          Sum& sum = sums[queues_[i].parent][{pool, resource}];
          if (sum.children++ == 0) sum.first = i;
          if (entitlement.quota == kUnlimited) {
            sum.unlimited.push_back(i);
          } else {
            sum.finite += entitlement.quota;
          }
        }
      }
    }
    const Capacity capacity = capacity_of(draft_.cluster);
    for (const auto& [parent, by_resource] : sums) {
      for (const auto& [key, sum] : by_resource) {
        if (parent.empty()) {
          check_against_capacity(capacity, key.first, key.second, sum);
        } else {
          check_against_parent(by_name_.at(parent), key.first, key.second, sum);
        }
      }
    }
  }

  void check_against_capacity(const Capacity& capacity, const std::string& pool,
                              const std::string& resource, const Sum& sum) {
    if (draft_.cluster.nodes.empty()) return;  // a document of queues only
    std::int64_t have = 0;
    if (const auto of_pool = capacity.find(pool); of_pool != capacity.end()) {
      if (const auto found = of_pool->second.find(resource); found != of_pool->second.end()) {
        have = found->second;
      }
    }
    if (!sum.unlimited.empty()) {
      if (sum.finite == 0) return;  // a resource that is not rationed
      const std::size_t i = sum.unlimited.front();
      findings_.warning(quota_place(i, pool, resource, "quota"),
                        "queue \"" + queues_[i].name + "\" is guaranteed all of pool \"" + pool +
                            "\", others beside it " + total_text(sum, resource),
                        "who is served first decides; give it a quota to make guarantees hold");
      return;
    }
    if (sum.finite <= have) return;
    findings_.warning(quota_place(sum.first, pool, resource, "quota"),
                      "the queues are guaranteed " + total_text(sum, resource) + " of pool \"" +
                          pool + "\", which has " + amount_text(have, resource),
                      "lower quotas, or accept that not all guarantees can hold at once");
  }

  void check_against_parent(std::size_t parent, const std::string& pool,
                            const std::string& resource, const Sum& sum) {
    Entitlement granted = default_entitlement(resource);
    if (const auto of_pool = queues_[parent].pools.find(pool);
        of_pool != queues_[parent].pools.end()) {
      const auto found = of_pool->second.find(resource);
      if (found != of_pool->second.end()) granted = found->second;
    }
    if (granted.quota == kUnlimited) return;
    const std::string of_parent =
        "\"" + queues_[parent].name + "\" itself only " + amount_text(granted.quota, resource);
    if (!sum.unlimited.empty()) {
      const std::size_t i = sum.unlimited.front();
      findings_.warning(quota_place(i, pool, resource, "quota"),
                        "queue \"" + queues_[i].name + "\" is guaranteed unlimited " + resource +
                            ", its parent " + of_parent,
                        "a child gets at most what its parent gets; give it a quota");
      return;
    }
    if (sum.finite <= granted.quota) return;
    findings_.warning(quota_place(sum.first, pool, resource, "quota"),
                      "the children of \"" + queues_[parent].name + "\" are guaranteed " +
                          total_text(sum, resource) + " of pool \"" + pool + "\", " + of_parent,
                      "raise the parent's quota or lower the children's");
  }

  static std::string total_text(const Sum& sum, const std::string& resource) {
    if (sum.finite > kMaxTotal) return "more " + resource + " than can be counted";
    return amount_text(static_cast<std::int64_t>(sum.finite), resource);
  }

  const ClusterDraft& draft_;
  const std::vector<QueueSpec>& queues_;
  Findings& findings_;
  std::unordered_map<std::string, std::size_t> by_name_;
};

}  // namespace

void check_queues(const ClusterDraft& draft, Findings& findings) {
  QueueChecks(draft, findings).run();
}

}  // namespace fairlead
