#include "api/listeners.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "node/text_files.h"

namespace fairlead::api {
namespace {

constexpr std::string_view kListening = "0A";

// Addresses are words of the machine's byte order (x86, little-endian), in hexadecimal.
std::optional<std::string> reached_at(std::string_view address) {
  if (address == "0100007F" || address == "00000000") return "127.0.0.1";
  if (address == "0000000000000000FFFF00000100007F") return "127.0.0.1";
  if (address == "00000000000000000000000001000000") return "::1";
  if (address == "00000000000000000000000000000000") return "::1";
  return std::nullopt;
}

template <class Number>
std::optional<Number> number_in(std::string_view text, int base) {
  Number value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || rest != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<LocalListener> listener_in(std::string_view line, std::uint16_t port) {
  // sl, local address, remote address, state, queues, timer, retransmits, uid, timeout, inode
  constexpr std::size_t kLocal = 1;
  constexpr std::size_t kState = 3;
  constexpr std::size_t kUid = 7;
  constexpr std::size_t kInode = 9;
  const std::vector<std::string> words = node::split(line, ' ');
  if (words.size() <= kInode || words[kState] != kListening) return std::nullopt;
  const std::string_view local = words[kLocal];
  const std::size_t colon = local.find(':');
  if (colon == local.npos) return std::nullopt;
  const auto address = reached_at(local.substr(0, colon));
  const auto uid = number_in<std::uint32_t>(words[kUid], 10);
  const auto inode = number_in<std::uint64_t>(words[kInode], 10);
  if (number_in<std::uint16_t>(local.substr(colon + 1), 16) != port) return std::nullopt;
  if (!address || !uid || !inode) return std::nullopt;
  return LocalListener{*address, *uid, *inode};
}

}  // namespace

std::vector<LocalListener> listeners_in(std::string_view table, std::uint16_t port) {
  std::vector<LocalListener> out;
  for (const std::string& line : node::split(table, '\n')) {
    if (auto listener = listener_in(line, port)) out.push_back(std::move(*listener));
  }
  return out;
}

Result<LocalListener> find_listener(std::uint16_t port, std::uint32_t uid) {
  bool any = false;
  for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    const auto text = node::read_text(table);
    if (!text) continue;  // a kernel without IPv6
    const auto listeners = listeners_in(*text, port);
    const auto own = std::ranges::find(listeners, uid, &LocalListener::uid);
    if (own != listeners.end()) return *own;
    any = any || !listeners.empty();
  }
  if (any) {
    return fail(Error{ErrorCode::kForbidden,
                      "what listens on port " + std::to_string(port) +
                          " belongs to another account than the task's",
                      {},
                      "port",
                      "name a port on which the task itself listens"});
  }
  return fail(Error{ErrorCode::kNotFound,
                    "nothing listens on port " + std::to_string(port) + " of 127.0.0.1",
                    {},
                    "port",
                    "the task may not be that far yet: fairlead logs NAME"});
}

}  // namespace fairlead::api
