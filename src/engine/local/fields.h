// Records and messages: named values of any bytes, "name length", newline, bytes, newline.
//
// The same name may come several times. Reading copies nothing but the list of places.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace fairlead::engine {

class FieldWriter {
 public:
  FieldWriter& add(std::string_view name, std::string_view value);
  FieldWriter& add(std::string_view name, std::int64_t value);
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

// Views into the text it was made from, which must outlive it.
class Fields {
 public:
  // Error: kIo, if the text is cut off or no record.
  static Result<Fields> parse(std::string_view text);

  std::optional<std::string_view> find(std::string_view name) const;
  std::string text(std::string_view name) const { return std::string(find(name).value_or("")); }
  std::optional<std::int64_t> number(std::string_view name) const;
  std::vector<std::string> all(std::string_view name) const;

  const std::vector<std::pair<std::string_view, std::string_view>>& list() const { return list_; }

 private:
  std::vector<std::pair<std::string_view, std::string_view>> list_;
};

}  // namespace fairlead::engine
