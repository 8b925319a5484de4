// What all connections of one server share: its options, its threads' queue, and who is connected.
//
// Lives as long as any connection or handle to one does, so that a writer kept by a handler may
// outlast the server.
#pragma once

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "net/server.h"

namespace fairlead::net::wire {

class Connection;

enum class Admission { kServed, kRefused, kDropped };

class Core {
 public:
  explicit Core(ServerOptions o)
      : options(std::move(o)), context(static_cast<int>(options.threads)) {}

  const ServerOptions options;
  boost::asio::io_context context;
  std::atomic<bool> stopping = false;
  std::atomic<std::uint64_t> accepted = 0;
  std::atomic<std::uint64_t> refused = 0;
  std::atomic<std::uint64_t> requests = 0;

  // Counts a connection in. Above the bounds it is refused with a word, or dropped without one if
  // many are being refused already.
  Admission admit(const std::shared_ptr<Connection>& connection, const Peer& peer,
                  const std::string& listener);
  void forget(const std::shared_ptr<Connection>& connection, const Peer& peer);
  std::vector<std::shared_ptr<Connection>> connections() const;
  std::size_t open() const;
  // Until no connection is left; false if the time was up first.
  bool wait_until_empty(Duration limit);

 private:
  mutable std::mutex mutex_;
  std::condition_variable empty_;
  std::unordered_map<std::shared_ptr<Connection>, std::string> connections_;  // listeners' names
  std::map<std::string, std::size_t> by_listener_;
  std::map<std::string, std::size_t, std::less<>> by_address_;
};

}  // namespace fairlead::net::wire
