// The header fields of one message, in the order they came; names compare without regard to case.
//
// Cost: a lookup looks at each field; messages have a dozen.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fairlead::net {

// ASCII only, as header names are.
bool same_ignoring_case(std::string_view a, std::string_view b);

class Headers {
 public:
  using Field = std::pair<std::string, std::string>;

  Headers() = default;
  Headers(std::initializer_list<Field> fields) : fields_(fields) {}

  void add(std::string name, std::string value);
  // Replaces all fields of that name.
  void set(std::string name, std::string value);
  void remove(std::string_view name);

  // The first field of that name.
  std::optional<std::string_view> find(std::string_view name) const;
  std::size_t count(std::string_view name) const;

  // True if every name is a token and no value holds a control character: nothing in them can end
  // the line and begin another field.
  bool well_formed() const;

  auto begin() const { return fields_.begin(); }
  auto end() const { return fields_.end(); }
  std::size_t size() const { return fields_.size(); }

 private:
  std::vector<Field> fields_;
};

}  // namespace fairlead::net
