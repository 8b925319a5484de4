// Typed reading of one map of a document.
//
// Each call names a field that may be there; what is there but was never named is refused when the
// reader ends, with the nearest known field. Every function returns the value, or nullopt if the
// field is absent or was refused; a refusal is in the Findings already, with line, path, value,
// what is allowed and the cure, so a reader only has to go on:
//
//   ObjectReader in(value, findings);
//   role.name  = in.name("name").value_or("worker");
//   role.count = in.int32("count", 1, kMaxTasks).value_or(1);
//   if (const Value* gpu = in.get("gpu")) role.request.gpu = read_gpu(*gpu, findings);
//   in.each("tolerations", [&](const Value& item) { ... });
//
// A field that is null counts as absent. Cost: linear in fields × members, which are few.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/quantity.h"
#include "base/time.h"
#include "model/document.h"
#include "model/findings.h"

namespace fairlead {

enum class Presence : std::uint8_t { kOptional, kRequired };
inline constexpr Presence kOptional = Presence::kOptional;
inline constexpr Presence kRequired = Presence::kRequired;

inline constexpr std::size_t kMaxNameLength = 253;

// One word of a closed set and what it means.
template <class T>
struct Choice {
  std::string_view word;
  T value;
};

// --- single values: what ObjectReader's functions do with the value of a field -------------------

std::optional<std::string> as_string(const Value& value, Findings& findings);
// A name: 1 to 253 bytes, no blanks, no control characters, no quotes.
std::optional<std::string> as_name(const Value& value, Findings& findings);
std::optional<bool> as_boolean(const Value& value, Findings& findings);
std::optional<std::int64_t> as_integer(const Value& value, std::int64_t min, std::int64_t max,
                                       Findings& findings);
// The value × 10^places; `min` and `max` are in the same unit.
std::optional<std::int64_t> as_decimal(const Value& value, int places, std::int64_t min,
                                       std::int64_t max, Findings& findings);
std::optional<Duration> as_duration(const Value& value, Findings& findings);
// RFC 3339, or a duration since the epoch (which in a simulation is the start of the trace).
std::optional<Instant> as_instant(const Value& value, Findings& findings);
std::optional<std::int64_t> as_milli_cpu(const Value& value, Findings& findings);
std::optional<std::int64_t> as_bytes(const Value& value, Findings& findings);
std::optional<std::int64_t> as_mib(const Value& value, Findings& findings);
// The position of the word in `words`.
std::optional<std::size_t> as_word(const Value& value, std::span<const std::string_view> words,
                                   Findings& findings);

template <class T>
std::optional<T> as_choice(const Value& value, std::span<const Choice<T>> choices,
                           Findings& findings) {
  std::vector<std::string_view> words;
  for (const Choice<T>& choice : choices) words.push_back(choice.word);
  const std::optional<std::size_t> at = as_word(value, words, findings);
  if (!at) return std::nullopt;
  return choices[*at].value;
}

// The word of a value; it must be one of the choices.
template <class T>
std::string word_of(std::span<const Choice<T>> choices, T value) {
  for (const Choice<T>& choice : choices) {
    if (choice.value == value) return std::string(choice.word);
  }
  return {};
}

// --- one map
// ---------------------------------------------------------------------------------------

class ObjectReader {
 public:
  // What is not a map is reported, and read as an empty one.
  ObjectReader(const Value& value, Findings& findings);
  ObjectReader(const ObjectReader&) = delete;
  ObjectReader& operator=(const ObjectReader&) = delete;
  ~ObjectReader();

  // False if the value is not a map.
  bool ok() const { return ok_; }
  const Value& value() const { return value_; }
  Findings& findings() const { return findings_; }

  // The raw value of a field; nullptr if absent. kRequired reports it as missing.
  const Value* get(std::string_view field, Presence presence = kOptional);
  bool has(std::string_view field) { return get(field) != nullptr; }

  std::optional<std::string> string(std::string_view field, Presence presence = kOptional);
  std::optional<std::string> name(std::string_view field, Presence presence = kOptional);
  std::optional<bool> boolean(std::string_view field, Presence presence = kOptional);
  std::optional<std::int64_t> integer(std::string_view field, std::int64_t min = 0,
                                      std::int64_t max = kMaxAmount, Presence presence = kOptional);
  std::optional<std::int32_t> int32(std::string_view field, std::int32_t min = 0,
                                    std::int32_t max = std::numeric_limits<std::int32_t>::max(),
                                    Presence presence = kOptional);
  std::optional<std::int64_t> decimal(std::string_view field, int places, std::int64_t min,
                                      std::int64_t max, Presence presence = kOptional);
  std::optional<Duration> duration(std::string_view field, Presence presence = kOptional);
  std::optional<Instant> instant(std::string_view field, Presence presence = kOptional);
  std::optional<std::int64_t> milli_cpu(std::string_view field, Presence presence = kOptional);
  std::optional<std::int64_t> bytes(std::string_view field, Presence presence = kOptional);
  std::optional<std::int64_t> mib(std::string_view field, Presence presence = kOptional);

  template <class T>
  std::optional<T> choice(std::string_view field, std::span<const Choice<T>> choices,
                          Presence presence = kOptional) {
    const Value* found = get(field, presence);
    if (found == nullptr) return std::nullopt;
    return as_choice<T>(*found, choices, findings_);
  }

  // A list of names; a single name stands for a list of one.
  std::vector<std::string> names(std::string_view field, Presence presence = kOptional);
  // A map of names to texts.
  std::map<std::string, std::string> string_map(std::string_view field,
                                                Presence presence = kOptional);

  // Calls `read` for each item of a list, or for each entry of a map (its key is item.key()).
  void each(std::string_view field, const std::function<void(const Value&)>& read,
            Presence presence = kOptional);
  void entries(std::string_view field, const std::function<void(const Value&)>& read,
               Presence presence = kOptional);

  // Every entry of this map, for maps whose keys are names and not fields: none is unknown then.
  std::span<const Value> open_entries();

  // Names fields that are read elsewhere, so that they are not refused.
  void allow(std::initializer_list<std::string_view> fields);

  // Refuses unknown fields now instead of at the end of the reader's life.
  void finish();

 private:
  void know(std::string_view field);

  const Value& value_;
  Findings& findings_;
  bool ok_ = false;
  bool finished_ = false;
  std::vector<std::string_view> known_;  // as passed: fields are literals
};

}  // namespace fairlead
