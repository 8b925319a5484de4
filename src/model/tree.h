// A document to be printed: maps, lists and scalars in order, as YAML or as JSON.
//
// Numbers are kept as text, so that decimals of integers ("0.3") print exactly. For output only;
// what is read is a Value (document.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead {

class Tree {
 public:
  static Tree map() { return Tree(Kind::kMap, {}); }
  static Tree list() { return Tree(Kind::kList, {}); }
  static Tree string(std::string text) { return Tree(Kind::kString, std::move(text)); }
  // A number as decimal_text() or std::to_string() writes it.
  static Tree number(std::string text) { return Tree(Kind::kLiteral, std::move(text)); }
  static Tree number(std::int64_t value) { return number(std::to_string(value)); }
  static Tree boolean(bool value) { return Tree(Kind::kLiteral, value ? "true" : "false"); }
  // What is JSON already, kept as it is. For JSON output only.
  static Tree json(std::string text) { return Tree(Kind::kLiteral, std::move(text)); }
  static Tree null() { return Tree(Kind::kLiteral, "null"); }
  static Tree strings(const std::vector<std::string>& items);

  // To a map; returns what was added. Requires: no second value of this key.
  Tree& add(std::string key, Tree value);
  // To a list.
  Tree& push(Tree value);

  bool empty() const { return items_.empty(); }

 private:
  enum class Kind : std::uint8_t { kMap, kList, kString, kLiteral };
  Tree(Kind kind, std::string text) : kind_(kind), text_(std::move(text)) {}

  friend std::string to_yaml(const Tree& tree);
  friend std::string to_json(const Tree& tree);
  friend std::string to_json_line(const Tree& tree);
  friend class TreePrinter;

  Kind kind_;
  std::string text_;
  std::string key_;
  std::vector<Tree> items_;
};

// Block style, short collections of scalars on one line. Ends with a newline.
std::string to_yaml(const Tree& tree);
// Two blanks per level. Ends with a newline.
std::string to_json(const Tree& tree);
// Without blanks and newlines.
std::string to_json_line(const Tree& tree);

}  // namespace fairlead
