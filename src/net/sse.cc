#include "net/sse.h"

#include <utility>

namespace fairlead::net {
namespace {

void add_field(std::string& out, std::string_view name, std::string_view value) {
  out += name;
  out += ": ";
  for (const char c : value) {
    if (c != '\n' && c != '\r' && c != '\0') out += c;
  }
  out += '\n';
}

// Each line of `text` behind "NAME: "; a line ends with "\n", "\r\n" or "\r".
void add_lines(std::string& out, std::string_view name, std::string_view text) {
  while (true) {
    const std::size_t end = text.find_first_of("\r\n");
    add_field(out, name, text.substr(0, end));
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + (text.substr(end, 2) == "\r\n" ? 2 : 1));
  }
}

StreamOptions stream_options(SseOptions& options) {
  StreamOptions out;
  out.queue_bytes = options.queue_bytes;
  out.heartbeat = options.heartbeat;
  out.heartbeat_bytes = ":\n\n";
  out.on_closed = std::move(options.on_closed);
  return out;
}

}  // namespace

std::string sse_text(const SseEvent& event) {
  std::string out;
  out.reserve(event.data.size() + event.id.size() + event.type.size() + 32);
  if (!event.id.empty()) add_field(out, "id", event.id);
  if (!event.type.empty()) add_field(out, "event", event.type);
  add_lines(out, "data", event.data);
  out += '\n';
  return out;
}

EventStream::EventStream(const ResponseWriter& writer, SseOptions options)
    : overflow_(sse_text(options.overflow)),
      on_overflow_(std::move(options.on_overflow)),
      body_(writer.stream(200,
                          {{"Content-Type", "text/event-stream"},
                           {"Cache-Control", "no-store"},
                           {"X-Accel-Buffering", "no"}},
                          stream_options(options))) {}

bool EventStream::event(const SseEvent& event) const {
  return write(sse_text(event));
}

bool EventStream::comment(std::string_view text) const {
  std::string out;
  add_lines(out, "", text);
  return write(out + "\n");
}

bool EventStream::write(std::string text) const {
  const Push push = body_.try_write(std::move(text));
  if (push != Push::kFull) return push == Push::kQueued;
  if (body_.finish(overflow_) && on_overflow_) on_overflow_();
  return false;
}

}  // namespace fairlead::net
