// How much free GPU a mix of requests cannot use: the fragmentation measure of FGD (Weng et al.,
// "Beware of Fragmentation", USENIX ATC'23, section 3).
//
// For a node with free CPU c, free milli g_1..g_k of one device class, R = Σ g, and a request m of
// CPU a, r milli on k_m devices, allowed classes S and popularity p_m: F(m) = R if r = 0, or the
// class is not in S, or c < a, or fewer than k_m devices have r free; otherwise Σ of the g_j < r.
// The node's measure is Σ p_m F(m); the cluster's is the sum over nodes.
//
// Cost: take() and give() O(devices); total() O(changed nodes × classes of the mix × devices).
// A report's number, so in floating point; no decision reads it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace fairlead::sim {

struct MixClass {
  std::int64_t cpu_milli = 0;
  std::int64_t gpu_milli = 0;  // of each device; 0: CPU only
  std::int32_t gpus = 0;
  std::vector<bool> classes;  // by class number; empty: any
  double weight = 0;          // normalised by the meter
};

struct DeviceShare {
  std::size_t device = 0;
  std::int64_t milli = 0;
};

class FragmentationMeter {
 public:
  explicit FragmentationMeter(std::vector<MixClass> mix);

  // `device_class` is a number that MixClass::classes uses. Returns the node's number.
  std::size_t add_node(std::int64_t cpu_milli, std::size_t devices, std::size_t device_class);

  void take(std::size_t node, std::int64_t cpu_milli, std::span<const DeviceShare> devices);
  void give(std::size_t node, std::int64_t cpu_milli, std::span<const DeviceShare> devices);

  // Milli-GPU of free capacity that the mix cannot use, over all nodes.
  double total();

 private:
  struct Node {
    std::int64_t cpu = 0;
    std::size_t device_class = 0;
    std::vector<std::int64_t> free;
    double measure = 0;
    bool stale = false;
  };
  void change(std::size_t node, std::int64_t sign, std::int64_t cpu_milli,
              std::span<const DeviceShare> devices);
  double measure(const Node& node) const;

  std::vector<MixClass> mix_;
  std::vector<Node> nodes_;
  std::vector<std::size_t> stale_;
};

}  // namespace fairlead::sim
