#include "base/printable.h"

namespace fairlead {
namespace {

bool is_steering(std::string_view character) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(character[i]); };
  if (character.size() == 1) return at(0) < 0x20 || at(0) == 0x7f;
  if (character.size() == 2) return at(0) == 0xC2 && at(1) < 0xA0;
  if (character.size() != 3 || at(0) != 0xE2) return false;
  // U+200E, U+200F, U+2028 to U+202E; U+2066 to U+2069.
  if (at(1) == 0x80) return at(2) == 0x8E || at(2) == 0x8F || (at(2) >= 0xA8 && at(2) <= 0xAE);
  return at(1) == 0x81 && at(2) >= 0xA6 && at(2) <= 0xA9;
}

}  // namespace

std::size_t utf8_length(std::string_view text) {
  const auto at = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const auto tail = [&](std::size_t i) { return (at(i) & 0xC0U) == 0x80U; };
  const unsigned c = at(0);
  if (c < 0x80) return 1;
  if (c >= 0xC2 && c < 0xE0 && tail(1)) return 2;
  if (c >= 0xE0 && c < 0xF0 && tail(1) && tail(2) && !(c == 0xE0 && at(1) < 0xA0) &&
      !(c == 0xED && at(1) >= 0xA0)) {
    return 3;
  }
  if (c >= 0xF0 && c < 0xF5 && tail(1) && tail(2) && tail(3) && !(c == 0xF0 && at(1) < 0x90) &&
      !(c == 0xF4 && at(1) >= 0x90)) {
    return 4;
  }
  return 0;
}

bool is_printable(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0 || is_steering(text.substr(0, length))) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string printable(std::string text) {
  if (is_printable(text)) return text;
  constexpr const char* kHex = "0123456789abcdef";
  std::string out;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t length = utf8_length(rest);
    const std::string_view character = rest.substr(0, length == 0 ? 1 : length);
    rest.remove_prefix(character.size());
    if (length > 0 && !is_steering(character)) {
      out += character;
      continue;
    }
    for (const char c : character) {
      out += "\\x";
      out += kHex[static_cast<unsigned char>(c) >> 4];
      out += kHex[static_cast<unsigned char>(c) & 15];
    }
  }
  return out;
}

}  // namespace fairlead
