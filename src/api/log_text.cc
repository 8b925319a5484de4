#include "api/log_text.h"

#include <algorithm>
#include <utility>

namespace fairlead::api {

std::string LogText::text_of(const engine::OutputPage& page) {
  for (const engine::OutputChunk& chunk : page.chunks) {
    add_gap(chunk.offset);
    if (chunk.stream == engine::Stream::kNote) {
      std::string_view words = chunk.bytes;
      if (words.ends_with('\n')) words.remove_suffix(1);
      add_remark(words);
    } else {
      add_output(chunk);
      expected_ = chunk.offset + static_cast<std::int64_t>(chunk.bytes.size());
    }
  }
  add_gap(page.next);
  return taken();
}

std::string LogText::remark(std::string_view words) {
  add_remark(words);
  return taken();
}

void LogText::add_gap(std::int64_t next) {
  const std::int64_t missing = next - expected_;
  if (missing <= 0) return;
  add_remark(std::to_string(missing) + " bytes of earlier output were removed");
  expected_ = next;
}

void LogText::add_remark(std::string_view words) {
  if (!at_line_begin_) text_ += '\n';
  text_ += offsets_ ? "- [fairlead: " : "[fairlead: ";
  text_ += words;
  text_ += "]\n";
  at_line_begin_ = true;
}

void LogText::add_output(const engine::OutputChunk& chunk) {
  if (chunk.bytes.empty()) return;
  if (timestamps_ || offsets_) {
    const std::string stamp = timestamps_ ? to_rfc3339(chunk.at) + " " : "";
    std::string_view rest = chunk.bytes;
    while (!rest.empty()) {
      if (at_line_begin_ && offsets_) {
        const auto done = static_cast<std::int64_t>(chunk.bytes.size() - rest.size());
        text_ += std::to_string(chunk.offset + done) + " ";
      }
      if (at_line_begin_) text_ += stamp;
      const std::size_t end = rest.find('\n');
      const std::string_view line = rest.substr(0, end == rest.npos ? end : end + 1);
      text_ += line;
      at_line_begin_ = end != rest.npos;
      rest.remove_prefix(line.size());
    }
  } else {
    text_ += chunk.bytes;
    at_line_begin_ = chunk.bytes.ends_with('\n');
  }
}

std::string LogText::taken() {
  std::string text = std::exchange(text_, {});
  if (left_) {
    text.resize(static_cast<std::size_t>(std::min(*left_, static_cast<std::int64_t>(text.size()))));
    *left_ -= static_cast<std::int64_t>(text.size());
  }
  return text;
}

}  // namespace fairlead::api
