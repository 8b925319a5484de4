// Amounts per accounted resource: index 0 GPU (milli, in exchange units of rule 2.7), 1 CPU
// (milli), 2 host memory (bytes), 3… named extended resources in the order in which they were first
// seen.
//
// What lies beyond the stored size is zero, so vectors of different age mix. Cost: O(resources).
#pragma once

#include <cstddef>
#include <cstdint>

#include <boost/container/small_vector.hpp>

namespace fairlead::sched {

inline constexpr std::size_t kGpuResource = 0;
inline constexpr std::size_t kCpuResource = 1;
inline constexpr std::size_t kMemoryResource = 2;
inline constexpr std::size_t kFirstExtended = 3;

class ResourceVector {
 public:
  ResourceVector() : amounts_(kFirstExtended, 0) {}

  std::size_t size() const { return amounts_.size(); }
  std::int64_t operator[](std::size_t resource) const {
    return resource < amounts_.size() ? amounts_[resource] : 0;
  }
  std::int64_t& at(std::size_t resource) {
    if (resource >= amounts_.size()) amounts_.resize(resource + 1, 0);
    return amounts_[resource];
  }
  void add(const ResourceVector& other, std::int64_t times = 1) {
    for (std::size_t r = 0; r < other.size(); ++r) {
      if (other.amounts_[r] != 0) at(r) += other.amounts_[r] * times;
    }
  }
  bool any() const {
    for (const std::int64_t a : amounts_) {
      if (a != 0) return true;
    }
    return false;
  }
  friend bool operator==(const ResourceVector& a, const ResourceVector& b) {
    const std::size_t n = a.size() > b.size() ? a.size() : b.size();
    for (std::size_t r = 0; r < n; ++r) {
      if (a[r] != b[r]) return false;
    }
    return true;
  }

 private:
  boost::container::small_vector<std::int64_t, kFirstExtended> amounts_;
};

}  // namespace fairlead::sched
