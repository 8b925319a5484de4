#include "net/wire/core.h"

#include <chrono>

namespace fairlead::net::wire {
namespace {

constexpr std::size_t kMostRefusedAtOnce = 64;

}  // namespace

Admission Core::admit(const std::shared_ptr<Connection>& connection, const Peer& peer,
                      const std::string& listener) {
  const std::lock_guard lock(mutex_);
  accepted.fetch_add(1, std::memory_order_relaxed);
  const Limits& limits = options.limits;
  std::size_t& of_listener = by_listener_[listener];
  if (stopping || of_listener >= limits.connections + kMostRefusedAtOnce) {
    refused.fetch_add(1, std::memory_order_relaxed);
    return Admission::kDropped;
  }
  bool full = of_listener >= limits.connections;
  if (!peer.unix_socket) {
    const std::size_t here = ++by_address_[peer.address];
    full |= limits.connections_per_address > 0 && here > limits.connections_per_address;
  }
  connections_.emplace(connection, listener);
  ++of_listener;
  if (full) refused.fetch_add(1, std::memory_order_relaxed);
  return full ? Admission::kRefused : Admission::kServed;
}

void Core::forget(const std::shared_ptr<Connection>& connection, const Peer& peer) {
  const std::lock_guard lock(mutex_);
  const auto known = connections_.find(connection);
  if (known == connections_.end()) return;
  --by_listener_[known->second];
  connections_.erase(known);
  const auto here = by_address_.find(peer.address);
  if (!peer.unix_socket && here != by_address_.end() && --here->second == 0) {
    by_address_.erase(here);
  }
  if (connections_.empty()) empty_.notify_all();
}

std::vector<std::shared_ptr<Connection>> Core::connections() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Connection>> out;
  out.reserve(connections_.size());
  for (const auto& [connection, listener] : connections_) out.push_back(connection);
  return out;
}

std::size_t Core::open() const {
  const std::lock_guard lock(mutex_);
  return connections_.size();
}

bool Core::wait_until_empty(Duration limit) {
  std::unique_lock lock(mutex_);
  return empty_.wait_for(lock, std::chrono::milliseconds(limit.ms),
                         [&] { return connections_.empty(); });
}

}  // namespace fairlead::net::wire
