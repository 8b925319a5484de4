#include "model/tree.h"

#include <algorithm>
#include <array>

namespace fairlead {
namespace {

constexpr std::size_t kOneLine = 80;

std::string json_string(std::string_view text) {
  constexpr const char* kHex = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (byte < 0x20 || byte == 0x7f) {
          out += "\\u00";
          out += kHex[byte >> 4];
          out += kHex[byte & 15];
        } else {
          out += c;
        }
    }
  }
  return out + "\"";
}

// Words that YAML 1.1 or 1.2 readers take for something else than text.
bool is_reserved(std::string_view text) {
  constexpr std::array<std::string_view, 9> kWords{"null", "true", "false", "yes", "no",
                                                   "on",   "off",  "y",     "n"};
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return std::find(kWords.begin(), kWords.end(), lower) != kWords.end();
}

// Text that means itself without quotes, in block and in flow style.
bool is_plain(std::string_view text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  if (text.empty() || !(letter(text[0]) || text[0] == '/' || text[0] == '_')) return false;
  const bool safe = std::all_of(text.begin(), text.end(), [&](char c) {
    return letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.' || c == '/' ||
           c == '+';
  });
  return safe && !is_reserved(text);
}

}  // namespace

Tree Tree::strings(const std::vector<std::string>& items) {
  Tree out = list();
  for (const std::string& item : items) out.push(string(item));
  return out;
}

Tree& Tree::add(std::string key, Tree value) {
  value.key_ = std::move(key);
  items_.push_back(std::move(value));
  return items_.back();
}

Tree& Tree::push(Tree value) {
  items_.push_back(std::move(value));
  return items_.back();
}

class TreePrinter {
 public:
  // --- YAML ---

  static std::string scalar(const Tree& tree) {
    if (tree.kind_ == Tree::Kind::kLiteral || is_plain(tree.text_)) return tree.text_;
    return json_string(tree.text_);
  }

  static std::string key(const Tree& tree) {
    return is_plain(tree.key_) ? tree.key_ : json_string(tree.key_);
  }

  static bool is_scalar(const Tree& tree) {
    return tree.kind_ == Tree::Kind::kString || tree.kind_ == Tree::Kind::kLiteral;
  }

  // The collection on one line, or "" if it holds collections or is too long.
  static std::string one_line(const Tree& tree, std::size_t room) {
    const bool map = tree.kind_ == Tree::Kind::kMap;
    std::string out(1, map ? '{' : '[');
    for (const Tree& item : tree.items_) {
      if (!is_scalar(item)) return {};
      if (out.size() > 1) out += ", ";
      if (map) out += key(item) + ": ";
      out += scalar(item);
      if (out.size() > room) return {};
    }
    return out + (map ? '}' : ']');
  }

  // Appends what follows a key or a dash on the same line, and the lines below it.
  static void value(const Tree& tree, std::size_t indent, std::string& out) {
    if (is_scalar(tree)) {
      out += " " + scalar(tree) + "\n";
      return;
    }
    const std::size_t room = indent < kOneLine / 2 ? kOneLine - indent : kOneLine / 2;
    if (const std::string line = one_line(tree, room); !line.empty()) {
      out += " " + line + "\n";
      return;
    }
    out += "\n";
    block(tree, indent, out, false);
  }

  // `joined`: the first line stands behind a dash already.
  static void block(const Tree& tree, std::size_t indent, std::string& out, bool joined) {
    for (const Tree& item : tree.items_) {
      if (!joined) out.append(indent, ' ');
      joined = false;
      if (tree.kind_ == Tree::Kind::kMap) {
        out += key(item) + ":";
        value(item, indent + 2, out);
        continue;
      }
      out += "-";
      const bool nested = !is_scalar(item) && one_line(item, kOneLine - 10).empty();
      if (!nested) {
        value(item, 0, out);
      } else {
        out += " ";
        block(item, indent + 2, out, true);
      }
    }
  }

  // --- JSON ---

  static void json_line(const Tree& tree, std::string& out) {
    if (tree.kind_ == Tree::Kind::kLiteral) {
      out += tree.text_;
      return;
    }
    if (tree.kind_ == Tree::Kind::kString) {
      out += json_string(tree.text_);
      return;
    }
    const bool map = tree.kind_ == Tree::Kind::kMap;
    out += map ? '{' : '[';
    bool first = true;
    for (const Tree& item : tree.items_) {
      if (!first) out += ',';
      first = false;
      if (map) out += json_string(item.key_) + ':';
      json_line(item, out);
    }
    out += map ? '}' : ']';
  }

  static void json(const Tree& tree, std::size_t indent, std::string& out) {
    if (tree.kind_ == Tree::Kind::kLiteral) {
      out += tree.text_;
      return;
    }
    if (tree.kind_ == Tree::Kind::kString) {
      out += json_string(tree.text_);
      return;
    }
    const bool map = tree.kind_ == Tree::Kind::kMap;
    if (tree.items_.empty()) {
      out += map ? "{}" : "[]";
      return;
    }
    out += map ? "{\n" : "[\n";
    for (std::size_t i = 0; i < tree.items_.size(); ++i) {
      out.append(indent + 2, ' ');
      if (map) out += json_string(tree.items_[i].key_) + ": ";
      json(tree.items_[i], indent + 2, out);
      out += i + 1 < tree.items_.size() ? ",\n" : "\n";
    }
    out.append(indent, ' ');
    out += map ? "}" : "]";
  }
};

std::string to_yaml(const Tree& tree) {
  std::string out;
  if (TreePrinter::is_scalar(tree)) return TreePrinter::scalar(tree) + "\n";
  if (tree.empty()) return tree.kind_ == Tree::Kind::kMap ? "{}\n" : "[]\n";
  TreePrinter::block(tree, 0, out, false);
  return out;
}

std::string to_json_line(const Tree& tree) {
  std::string out;
  TreePrinter::json_line(tree, out);
  return out;
}

std::string to_json(const Tree& tree) {
  std::string out;
  TreePrinter::json(tree, 0, out);
  return out + "\n";
}

}  // namespace fairlead
