// Server-sent events (WHATWG HTML, section 9.2) over a body stream.
//
// Invariant: a client never misses an event without knowing. An event that does not fit the queue
// of a slow client ends the stream with the overflow event in its place; the client connects again
// and resumes by Last-Event-ID. Thread-safety: as BodyStream; events from several threads keep
// whole.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "net/writer.h"

namespace fairlead::net {

struct SseEvent {
  std::string id;    // empty: the client keeps the last one
  std::string type;  // empty: "message"
  std::string data;  // may hold newlines
};

// The bytes of one event. Line ends in `id` and `type` are left out, so that they stay one field.
std::string sse_text(const SseEvent& event);

struct SseOptions {
  std::size_t queue_bytes = std::size_t{256} << 10U;
  Duration heartbeat = seconds(15);  // a comment when nothing else was written; 0: none
  SseEvent overflow{.id = {}, .type = "reset", .data = "{}"};
  std::function<void()> on_overflow;
  std::function<void()> on_closed;
};

class EventStream {
 public:
  // Answers with 200 and begins the stream.
  EventStream(const ResponseWriter& writer, SseOptions options);

  // False if the stream is over, with this event or before.
  bool event(const SseEvent& event) const;
  bool comment(std::string_view text) const;
  void finish() const { body_.finish(); }
  bool closed() const { return body_.closed(); }

 private:
  bool write(std::string text) const;

  std::string overflow_;
  std::function<void()> on_overflow_;
  BodyStream body_;
};

}  // namespace fairlead::net
