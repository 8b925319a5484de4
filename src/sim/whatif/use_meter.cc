#include "sim/whatif/use_meter.h"

#include <algorithm>
#include <variant>

namespace fairlead::sim {

UseMeter::UseMeter(Instant start, Instant end, std::size_t buckets)
    : start_(start), end_(end), now_(start), buckets_(buckets) {}

void UseMeter::advance(Instant now) {
  const std::int64_t span = (end_ - start_).ms;
  while (now_ < now) {
    // To the end of the bucket, or to `now`.
    const auto number = static_cast<std::int64_t>(buckets_.size());
    const std::int64_t at = (now_ - start_).ms;
    std::int64_t bucket = 0;
    Instant until = now;
    if (span > 0) {
      bucket = std::min(number - 1, static_cast<std::int64_t>(static_cast<double>(at) /
                                                              static_cast<double>(span) *
                                                              static_cast<double>(number)));
      const auto edge =
          static_cast<std::int64_t>(static_cast<double>(span) * static_cast<double>(bucket + 1) /
                                    static_cast<double>(number));
      if (bucket + 1 < number) until = std::min(now, start_ + Duration{std::max(at + 1, edge)});
    }
    const Duration passed = until - now_;
    Sums& sums = buckets_[static_cast<std::size_t>(bucket)];
    sums.used += static_cast<double>(used_) * static_cast<double>(passed.ms);
    sums.capacity += static_cast<double>(capacity_) * static_cast<double>(passed.ms);
    now_ = until;
  }
}

double UseMeter::used_gpu_ms() const {
  double sum = 0;
  for (const Sums& sums : buckets_) sum += sums.used;
  return sum / kMilli;
}

double UseMeter::capacity_gpu_ms() const {
  double sum = 0;
  for (const Sums& sums : buckets_) sum += sums.capacity;
  return sum / kMilli;
}

void UseMeter::count_node(const std::string& name) {
  std::int64_t& offered = offered_[name];
  capacity_ -= offered;
  offered = 0;
  const auto node = nodes_.find(name);
  if (node == nodes_.end() || !node->second.ready) return;
  offered = kMilli * std::count_if(node->second.devices.begin(), node->second.devices.end(),
                                   [](const DeviceSpec& device) {
                                     return device.health == DeviceHealth::kHealthy;
                                   });
  capacity_ += offered;
}

void UseMeter::note(const sched::Event& event) {
  if (const auto* node = std::get_if<sched::NodeUpserted>(&event)) {
    nodes_[node->node.name] = node->node;
    count_node(node->node.name);
  } else if (const auto* removed = std::get_if<sched::NodeRemoved>(&event)) {
    nodes_.erase(removed->node);
    count_node(removed->node);
  } else if (const auto* condition = std::get_if<sched::NodeConditionChanged>(&event)) {
    nodes_[condition->node].ready = condition->ready;
    count_node(condition->node);
  } else if (const auto* health = std::get_if<sched::DeviceHealthChanged>(&event)) {
    for (DeviceSpec& device : nodes_[health->node].devices) {
      if (device.id == health->device) device.health = health->health;
    }
    count_node(health->node);
  }
}

std::vector<std::pair<double, double>> UseMeter::means() const {
  std::vector<std::pair<double, double>> out;
  const double length =
      static_cast<double>((end_ - start_).ms) / static_cast<double>(buckets_.size());
  for (const Sums& sums : buckets_) {
    const double scale = length > 0 ? 1.0 / (length * kMilli) : 0;
    out.emplace_back(sums.used * scale, sums.capacity * scale);
  }
  return out;
}

}  // namespace fairlead::sim
