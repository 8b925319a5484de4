#include "engine/local/fields.h"

#include <charconv>

namespace fairlead::engine {

FieldWriter& FieldWriter::add(std::string_view name, std::string_view value) {
  text_ += name;
  text_ += ' ';
  text_ += std::to_string(value.size());
  text_ += '\n';
  text_ += value;
  text_ += '\n';
  return *this;
}

FieldWriter& FieldWriter::add(std::string_view name, std::int64_t value) {
  return add(name, std::string_view(std::to_string(value)));
}

Result<Fields> Fields::parse(std::string_view text) {
  Fields fields;
  const auto broken = [] { return fail(ErrorCode::kIo, "the record is cut off or damaged"); };
  while (!text.empty()) {
    const std::size_t blank = text.find(' ');
    const std::size_t end = text.find('\n');
    if (blank == std::string_view::npos || end == std::string_view::npos || blank > end) {
      return broken();
    }
    std::size_t length = 0;
    const auto [rest, error] = std::from_chars(text.data() + blank + 1, text.data() + end, length);
    if (error != std::errc() || rest != text.data() + end || length >= text.size() - end - 1) {
      return broken();
    }
    fields.list_.emplace_back(text.substr(0, blank), text.substr(end + 1, length));
    text.remove_prefix(end + 1 + length);
    if (text.front() != '\n') return broken();
    text.remove_prefix(1);
  }
  return fields;
}

std::optional<std::string_view> Fields::find(std::string_view name) const {
  for (const auto& [key, value] : list_) {
    if (key == name) return value;
  }
  return std::nullopt;
}

std::optional<std::int64_t> Fields::number(std::string_view name) const {
  const auto value = find(name);
  if (!value) return std::nullopt;
  std::int64_t out = 0;
  const auto [rest, error] = std::from_chars(value->data(), value->data() + value->size(), out);
  if (error != std::errc() || rest != value->data() + value->size()) return std::nullopt;
  return out;
}

std::vector<std::string> Fields::all(std::string_view name) const {
  std::vector<std::string> values;
  for (const auto& [key, value] : list_) {
    if (key == name) values.emplace_back(value);
  }
  return values;
}

}  // namespace fairlead::engine
