// Strict JSON text (RFC 8259) into a DocumentBuilder, with the line of every value.
#include <cstddef>
#include <iterator>
#include <string>

#include <nlohmann/json.hpp>

#include "model/document_builder.h"

namespace fairlead {
namespace {

// How far the lexer has read. It reads one character past a number, and nothing past all else.
struct Place {
  const char* at = nullptr;
  const char* counted = nullptr;
  int line = 1;

  int line_at(const char* position) {
    for (; counted < position; ++counted) line += *counted == '\n';
    return line;
  }
};

class Reader {
 public:
  using iterator_category = std::forward_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  Reader() = default;
  Reader(const char* at, Place* place) : at_(at), place_(place) {}
  reference operator*() const { return *at_; }
  Reader& operator++() {
    ++at_;
    if (place_ != nullptr) place_->at = at_;
    return *this;
  }
  Reader operator++(int) {
    Reader old = *this;
    ++*this;
    return old;
  }
  friend bool operator==(const Reader& a, const Reader& b) { return a.at_ == b.at_; }

 private:
  const char* at_ = nullptr;
  Place* place_ = nullptr;
};

// nlohmann's SAX interface; false would stop it, but the builder throws first.
class Handler final : public nlohmann::json_sax<nlohmann::json> {
 public:
  Handler(DocumentBuilder& builder, Place& place) : builder_(builder), place_(place) {}

  bool null() override {
    builder_.null(line(), 0);
    return true;
  }
  bool boolean(bool value) override { return plain(value ? "true" : "false", line()); }
  bool number_integer(number_integer_t value) override {
    return plain(std::to_string(value), number_line());
  }
  bool number_unsigned(number_unsigned_t value) override {
    return plain(std::to_string(value), number_line());
  }
  bool number_float(number_float_t, const string_t& text) override {
    return plain(text, number_line());
  }
  bool string(string_t& value) override {
    builder_.scalar(value, true, line(), 0);
    return true;
  }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override {
    builder_.open(ValueKind::kMap, line(), 0);
    return true;
  }
  bool key(string_t& value) override {
    builder_.scalar(value, true, line(), 0);
    return true;
  }
  bool end_object() override {
    builder_.close();
    return true;
  }
  bool start_array(std::size_t) override {
    builder_.open(ValueKind::kList, line(), 0);
    return true;
  }
  bool end_array() override {
    builder_.close();
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception& e) override {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error …"
    const std::string what = e.what();
    const std::size_t column = what.find("column ");
    const std::size_t colon = what.find(": ", column == std::string::npos ? 0 : column);
    const std::string why = colon == std::string::npos ? what : what.substr(colon + 2);
    const std::string at =
        column == std::string::npos ? "" : " at " + what.substr(column, colon - column);
    throw DocumentRefused{DocumentProblem{place_.line_at(place_.at),
                                          ErrorCode::kInvalidArgument,
                                          "not valid JSON" + at + ": " + why,
                                          "check commas, quotes and brackets near this line",
                                          {}}};
  }

 private:
  bool plain(const std::string& text, int at_line) {
    builder_.scalar(text, false, at_line, 0);
    return true;
  }
  int line() { return place_.line_at(place_.at); }
  int number_line() {
    return place_.line_at(place_.at == place_.counted ? place_.at : place_.at - 1);
  }

  DocumentBuilder& builder_;
  Place& place_;
};

}  // namespace

std::vector<DocumentProblem> read_json(std::string_view text, DocumentBuilder& builder,
                                       std::vector<Value>& roots) {
  try {
    Place place{text.data(), text.data(), 1};
    Handler handler(builder, place);
    nlohmann::json::sax_parse(Reader(text.data(), &place),
                              Reader(text.data() + text.size(), nullptr), &handler);
    Value root = builder.take_root();
    if (!root.is_null()) roots.push_back(std::move(root));
  } catch (DocumentRefused& refused) {
    return {std::move(refused.problem)};
  } catch (const std::exception& e) {
    return {DocumentProblem{
        1, ErrorCode::kInvalidArgument, std::string("not valid JSON: ") + e.what(), {}, {}}};
  }
  builder.link_all(roots);
  return builder.take_problems();
}

}  // namespace fairlead
