#include "net/target.h"

#include <algorithm>

#include "base/printable.h"
#include "net/headers.h"

namespace fairlead::net {
namespace {

constexpr std::size_t kMostPairs = 256;

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::unexpected<Error> wrong(std::string message, std::string cure) {
  return fail(ErrorCode::kInvalidArgument, std::move(message), std::move(cure));
}

Result<std::string> decoded(std::string_view text, bool plus_is_space) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_is_space) {
      out += ' ';
    } else if (text[i] != '%') {
      out += text[i];
    } else {
      const int high = i + 1 < text.size() ? hex_digit(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
      if (high < 0 || low < 0) {
        return wrong("the target holds a \"%\" without two hexadecimal digits behind it",
                     "write a percent sign as %25");
      }
      out += static_cast<char>(high * 16 + low);
      i += 2;
    }
  }
  if (!is_printable(out)) {
    return wrong("the target holds bytes that are no UTF-8 or steer a terminal", "leave them out");
  }
  return out;
}

Result<void> read_path(std::string_view text, Target& target) {
  while (!text.empty()) {
    text.remove_prefix(1);  // the slash
    const std::string_view raw = text.substr(0, text.find('/'));
    text.remove_prefix(raw.size());
    if (raw.empty() && text.empty()) break;
    FAIRLEAD_ASSIGN(std::string segment, decoded(raw, false));
    if (segment.empty()) return wrong("the path holds an empty segment", "write one slash for two");
    if (segment == "." || segment == "..") {
      return wrong("the path holds \"" + segment + "\"", "write the path without it");
    }
    target.segments.push_back(std::move(segment));
  }
  return {};
}

Result<void> read_query(std::string_view text, Target& target) {
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(text.size(), pair.size() + 1));
    if (pair.empty()) continue;
    const std::size_t equals = pair.find('=');
    FAIRLEAD_ASSIGN(std::string name, decoded(pair.substr(0, equals), true));
    std::string value;
    if (equals != std::string_view::npos) {
      FAIRLEAD_ASSIGN(value, decoded(pair.substr(equals + 1), true));
    }
    target.query.emplace_back(std::move(name), std::move(value));
    if (target.query.size() > kMostPairs) {
      return wrong("the query holds more than " + std::to_string(kMostPairs) + " parameters",
                   "ask in several requests");
    }
  }
  return {};
}

// Without "http://host" in front, as proxies write it.
std::string_view without_authority(std::string_view text) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!same_ignoring_case(text.substr(0, scheme.size()), scheme)) continue;
    const std::size_t end = text.find_first_of("/?", scheme.size());
    return end == std::string_view::npos ? "/" : text.substr(end);
  }
  return text;
}

}  // namespace

const std::string* Target::value(std::string_view name) const {
  const auto found = std::ranges::find(query, name, &std::pair<std::string, std::string>::first);
  return found == query.end() ? nullptr : &found->second;
}

Result<Target> parse_target(std::string_view text) {
  text = without_authority(text);
  const std::size_t question = text.find('?');
  const std::string_view path = text.substr(0, question);
  if (!path.starts_with('/')) return wrong("the target has no path", "begin it with a slash");
  if (text.contains('#')) return wrong("the target holds a \"#\"", "write it as %23");
  Target target;
  target.path = printable(std::string(path));
  FAIRLEAD_TRY(read_path(path, target));
  if (question != std::string_view::npos)
    FAIRLEAD_TRY(read_query(text.substr(question + 1), target));
  return target;
}

std::string percent_encode(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.' || c == '_' || c == '~';
    if (plain) {
      out += c;
    } else {
      out += '%';
      out += kDigits[byte >> 4U];
      out += kDigits[byte & 15U];
    }
  }
  return out;
}

}  // namespace fairlead::net
