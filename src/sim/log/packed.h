// A value of a log record: a whole number, a text, a list or a map, and nothing else; written as
// CBOR (RFC 8949) with the shortest numbers and the keys of maps in order, so that equal values
// have equal bytes. Truth values are 0 and 1.
//
// Cost: linear in the bytes. A value made of foreign bytes is bounded in depth and in parts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"

namespace fairlead::sim {

class Packed {
 public:
  using List = std::vector<Packed>;
  using Map = std::vector<std::pair<std::string, Packed>>;

  Packed() = default;
  explicit Packed(std::int64_t number) : value_(number) {}
  explicit Packed(std::string text) : value_(std::move(text)) {}
  explicit Packed(List list) : value_(std::move(list)) {}
  explicit Packed(Map map) : value_(std::move(map)) {}

  // nullptr if it is something else.
  const std::int64_t* number() const { return std::get_if<std::int64_t>(&value_); }
  const std::string* text() const { return std::get_if<std::string>(&value_); }
  const List* list() const { return std::get_if<List>(&value_); }
  const Map* map() const { return std::get_if<Map>(&value_); }
  List* list() { return std::get_if<List>(&value_); }
  Map* map() { return std::get_if<Map>(&value_); }

 private:
  std::variant<std::int64_t, std::string, List, Map> value_;
};

// A list of numbers.
Packed packed_numbers(std::initializer_list<std::int64_t> numbers);

std::string to_cbor(const Packed& value);

// Error: kInvalidArgument for bytes that are no such value, or hold more parts or levels than any
// record has.
Result<Packed> from_cbor(std::string_view bytes);

// --- reading -------------------------------------------------------------------------------------

// Error: kInvalidArgument, "a number stands where …" without the place: the caller knows it.
Result<std::int64_t> number_of(const Packed& value, std::int64_t lowest, std::int64_t highest);
Result<std::string> text_of(const Packed& value);
Result<const Packed::List*> list_of(const Packed& value);
Result<const Packed::Map*> map_of(const Packed& value);

}  // namespace fairlead::sim
