// How a struct is packed: by a table of its fields, the same for both directions.
//
//   template <> struct Fields<Taint> {
//     static constexpr auto list = std::tuple{Field{"key", &Taint::key}, …};
//   };
//
// A field that has the value of a fresh struct is left out, and one that is missing keeps it; a
// field that is not in the table is refused, since a later version wrote it. A struct with a field
// that its table lacks does not compile, nor does an enumeration without its last value.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/quantity.h"
#include "base/time.h"
#include "sim/log/packed.h"

namespace fairlead::sim {

template <class Owner, class Member>
struct Field {
  const char* name;
  Member Owner::* member;
};

template <class T>
struct Fields;

// The last value of an enumeration whose values count from 0.
template <class Enum>
inline constexpr Enum kLastValue = Enum::no_last_value_is_stated;

// Codec<T>::pack(value) and Codec<T>::unpack(packed, target).
template <class T>
struct Codec;

template <class T>
Packed pack(const T& value) {
  return Codec<T>::pack(value);
}
template <class T>
Result<void> unpack(const Packed& packed, T& target) {
  return Codec<T>::unpack(packed, target);
}

template <class T>
  requires std::integral<T>
struct Codec<T> {
  static Packed pack(T value) { return Packed(static_cast<std::int64_t>(value)); }
  static Result<void> unpack(const Packed& packed, T& target) {
    // What is unsigned and has 64 bits keeps its bits.
    constexpr bool kWide = sizeof(T) == 8;
    constexpr std::int64_t kLow = kWide ? std::numeric_limits<std::int64_t>::min()
                                        : std::int64_t{std::numeric_limits<T>::min()};
    constexpr std::int64_t kHigh = kWide ? std::numeric_limits<std::int64_t>::max()
                                         : static_cast<std::int64_t>(std::numeric_limits<T>::max());
    FAIRLEAD_ASSIGN(const std::int64_t number, number_of(packed, kLow, kHigh));
    target = static_cast<T>(number);
    return {};
  }
};

template <class T>
  requires std::is_enum_v<T>
struct Codec<T> {
  static Packed pack(T value) { return Packed(static_cast<std::int64_t>(value)); }
  static Result<void> unpack(const Packed& packed, T& target) {
    FAIRLEAD_ASSIGN(const std::int64_t number,
                    number_of(packed, 0, static_cast<std::int64_t>(kLastValue<T>)));
    target = static_cast<T>(number);
    return {};
  }
};

template <>
struct Codec<std::string> {
  static Packed pack(const std::string& value) { return Packed(value); }
  static Result<void> unpack(const Packed& packed, std::string& target) {
    FAIRLEAD_ASSIGN(target, text_of(packed));
    return {};
  }
};

template <class Tag>
struct Codec<Quantity<Tag>> {
  static Packed pack(Quantity<Tag> value) { return Packed(value.value); }
  static Result<void> unpack(const Packed& packed, Quantity<Tag>& target) {
    return sim::unpack(packed, target.value);
  }
};

template <class T>
  requires(std::same_as<T, Duration> || std::same_as<T, Instant>)
struct Codec<T> {
  static Packed pack(T value) { return Packed(value.ms); }
  static Result<void> unpack(const Packed& packed, T& target) {
    return sim::unpack(packed, target.ms);
  }
};

// As a field it is left out while it is empty.
template <class T>
struct Codec<std::optional<T>> {
  static Packed pack(const std::optional<T>& value) { return sim::pack(*value); }
  static Result<void> unpack(const Packed& packed, std::optional<T>& target) {
    return sim::unpack(packed, target.emplace());
  }
};

template <class T>
struct Codec<std::vector<T>> {
  static Packed pack(const std::vector<T>& items) {
    Packed::List list;
    list.reserve(items.size());
    for (const T& item : items) list.push_back(sim::pack(item));
    return Packed(std::move(list));
  }
  static Result<void> unpack(const Packed& packed, std::vector<T>& target) {
    FAIRLEAD_ASSIGN(const Packed::List* list, list_of(packed));
    target.clear();
    for (const Packed& item : *list) FAIRLEAD_TRY(sim::unpack(item, target.emplace_back()));
    return {};
  }
};

template <class T>
struct Codec<std::map<std::string, T>> {
  static Packed pack(const std::map<std::string, T>& items) {
    Packed::Map map;
    for (const auto& [key, item] : items) map.emplace_back(key, sim::pack(item));
    return Packed(std::move(map));
  }
  static Result<void> unpack(const Packed& packed, std::map<std::string, T>& target) {
    FAIRLEAD_ASSIGN(const Packed::Map* map, map_of(packed));
    target.clear();
    for (const auto& [key, item] : *map) FAIRLEAD_TRY(sim::unpack(item, target[key]));
    return {};
  }
};

template <class T>
concept Described = requires { Fields<T>::list; };

// Stands for a value of any type where it is only asked what would compile.
struct AnyValue {
  template <class T>
  operator T&() const;  // NOLINT(google-explicit-constructor)
};

// How many fields an aggregate has: as many values as it can be made of.
template <class T, class... Values>
consteval std::size_t field_count() {
  if constexpr (requires { T{Values{}..., AnyValue{}}; }) {
    return field_count<T, Values..., AnyValue>();
  } else {
    return sizeof...(Values);
  }
}

// Whether a field may be left out. Lists of what cannot be compared are, when they are empty.
template <class T>
bool as_usual(const T& value, const T& usual) {
  return value == usual;
}
template <class T>
  requires(!std::equality_comparable<T>)
bool as_usual(const std::vector<T>& value, const std::vector<T>& usual) {
  return value.empty() && usual.empty();
}
template <class T>
  requires(!std::equality_comparable<T>)
bool as_usual(const T&, const T&) {
  return false;
}

template <Described T>
struct Codec<T> {
  static constexpr std::size_t kCount = std::tuple_size_v<decltype(Fields<T>::list)>;
  static_assert(kCount == field_count<T>(),
                "every field of the struct stands in its table: add the new one to it");

  static Packed pack(const T& value) {
    [[maybe_unused]] static const T usual{};
    Packed::Map map;
    std::apply(
        [&](const auto&... field) {
          ((as_usual(value.*field.member, usual.*field.member)
                ? void()
                : void(map.emplace_back(field.name, sim::pack(value.*field.member)))),
           ...);
        },
        Fields<T>::list);
    return Packed(std::move(map));
  }

  static Result<void> unpack(const Packed& packed, T& target) {
    FAIRLEAD_ASSIGN(const Packed::Map* map, map_of(packed));
    target = T{};
    for (const auto& [key, item] : *map) {
      Result<void> read = fail(ErrorCode::kInvalidArgument, "is no field that this version knows");
      std::apply(
          [&, &name = key, &value = item](const auto&... field) {
            (void)((name == field.name &&
                    (read = sim::unpack(value, target.*field.member), true)) ||
                   ...);
          },
          Fields<T>::list);
      if (read) continue;
      Error error = std::move(read).error();
      error.field = error.field.empty() ? key : key + "." + error.field;
      return fail(std::move(error));
    }
    return {};
  }
};

}  // namespace fairlead::sim
