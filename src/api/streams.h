// Output of tasks and terminals in them, over HTTP.
//
// Output is read by one thread of its own for all who ask (log_pump.h). Each session (exec, attach,
// forward) has a thread (relay.h), also while it is being opened, which may take seconds; there are
// at most kMostSessions, of which kMostOpening are being opened.
// Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/guests.h"
#include "base/time.h"
#include "engine/engine.h"
#include "net/writer.h"

namespace fairlead::api {

struct LogRequest {
  engine::AttemptId attempt;
  bool follow = false;
  std::int64_t tail = -1;  // lines; -1: all
  std::optional<Instant> since;
  std::optional<std::int64_t> offset;  // of the output, in bytes; instead of tail and since
  bool timestamps = false;
  bool offsets = false;  // before each line that of its first byte
  std::optional<std::int64_t> limit_bytes;
  // Whether the attempt is over, so that following can end.
  std::function<bool()> over;
  std::shared_ptr<Leash> leash;  // may be null
};

class Streams {
 public:
  static constexpr std::size_t kMostSessions = 256;
  static constexpr std::size_t kMostOpening = 32;
  // Called at most once, from any thread, in place of an answer.
  using Refuse = std::function<void(const Error&)>;

  explicit Streams(engine::Engine& engine);
  ~Streams();  // ends them all
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;

  // Error before the answer begins: kNotFound. Then the answer is a text that goes on.
  Result<void> log(LogRequest request, const net::ResponseWriter& writer);
  // Requires of this and forward(): the request asks for a WebSocket, and its origin may; else
  // something is begun for nobody. Returns at once; then the writer becomes a WebSocket, or
  // `refuse` says why not: the engine's errors; kUnavailable above kMostSessions or kMostOpening.
  void session(const engine::AttemptId& attempt, const engine::SessionRequest& request,
               net::ResponseWriter writer, Refuse refuse, std::shared_ptr<Leash> leash = {});
  // To that port of this machine's loopback, if what listens there belongs to `uid`. Errors:
  // kNotFound, kForbidden, kUnavailable, kIo.
  void forward(std::uint32_t uid, std::uint16_t port, net::ResponseWriter writer, Refuse refuse,
               std::shared_ptr<Leash> leash = {});

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace fairlead::api
