#include "sim/log/packed.h"

#include <cstddef>
#include <limits>

#include <nlohmann/json.hpp>

namespace fairlead::sim {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostLevels = 32;
constexpr std::size_t kMostParts = std::size_t{16} << 20;

Json json_of(const Packed& value) {
  if (const auto* number = value.number()) return *number;
  if (const auto* text = value.text()) return *text;
  if (const auto* list = value.list()) {
    Json out = Json::array();
    for (const Packed& item : *list) out.push_back(json_of(item));
    return out;
  }
  Json out = Json::object();
  for (const auto& [key, item] : *value.map()) out[key] = json_of(item);
  return out;
}

// nlohmann's SAX interface; false stops it.
class Builder final : public nlohmann::json_sax<Json> {
 public:
  bool null() override { return refuse("an empty value"); }
  bool boolean(bool) override { return refuse("a truth value"); }
  bool number_float(number_float_t, const string_t&) override { return refuse("a fraction"); }
  bool binary(binary_t&) override { return refuse("a byte string"); }
  bool number_integer(number_integer_t value) override { return add(Packed(std::int64_t{value})); }
  bool number_unsigned(number_unsigned_t value) override {
    if (value > static_cast<number_unsigned_t>(std::numeric_limits<std::int64_t>::max())) {
      return refuse("a number above 2^63 - 1");
    }
    return add(Packed(static_cast<std::int64_t>(value)));
  }
  bool string(string_t& value) override { return add(Packed(std::move(value))); }
  bool start_object(std::size_t) override { return open(Packed(Packed::Map{})); }
  bool start_array(std::size_t) override { return open(Packed(Packed::List{})); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& value) override {
    stack_.back().map()->emplace_back(std::move(value), Packed());
    return true;
  }
  bool parse_error(std::size_t at, const std::string&, const Json::exception&) override {
    return refuse("no CBOR at byte " + std::to_string(at));
  }

  Packed root;
  std::string problem;

 private:
  bool refuse(std::string what) {
    if (problem.empty()) problem = std::move(what);
    return false;
  }
  bool add(Packed value) {
    if (++parts_ > kMostParts) return refuse("too many values");
    if (stack_.empty()) {
      root = std::move(value);
    } else if (Packed::List* list = stack_.back().list()) {
      list->push_back(std::move(value));
    } else {
      stack_.back().map()->back().second = std::move(value);
    }
    return true;
  }
  bool open(Packed value) {
    if (stack_.size() >= kMostLevels) return refuse("too many levels");
    stack_.push_back(std::move(value));
    return true;
  }
  bool close() {
    Packed done = std::move(stack_.back());
    stack_.pop_back();
    return add(std::move(done));
  }

  std::vector<Packed> stack_;
  std::size_t parts_ = 0;
};

std::unexpected<Error> misplaced(const Packed& value, const std::string& wanted) {
  const char* is = value.number() != nullptr ? "a number"
                   : value.text() != nullptr ? "a text"
                   : value.list() != nullptr ? "a list"
                                             : "a map";
  return fail(ErrorCode::kInvalidArgument,
              std::string(is) + " stands where " + wanted + " belongs");
}

}  // namespace

Packed packed_numbers(std::initializer_list<std::int64_t> numbers) {
  Packed::List list;
  list.reserve(numbers.size());
  for (const std::int64_t number : numbers) list.emplace_back(number);
  return Packed(std::move(list));
}

std::string to_cbor(const Packed& value) {
  std::string out;
  Json::to_cbor(json_of(value), out);
  return out;
}

Result<Packed> from_cbor(std::string_view bytes) {
  Builder builder;
  const bool read =
      Json::sax_parse(bytes.begin(), bytes.end(), &builder, Json::input_format_t::cbor);
  if (!read) return fail(ErrorCode::kInvalidArgument, "holds " + builder.problem);
  return std::move(builder.root);
}

Result<std::int64_t> number_of(const Packed& value, std::int64_t lowest, std::int64_t highest) {
  const std::int64_t* number = value.number();
  if (number == nullptr) return misplaced(value, "a number");
  if (*number >= lowest && *number <= highest) return *number;
  return fail(ErrorCode::kInvalidArgument, std::to_string(*number) + " is not from " +
                                               std::to_string(lowest) + " to " +
                                               std::to_string(highest));
}

Result<std::string> text_of(const Packed& value) {
  const std::string* text = value.text();
  if (text == nullptr) return misplaced(value, "a text");
  return *text;
}

Result<const Packed::List*> list_of(const Packed& value) {
  const Packed::List* list = value.list();
  if (list == nullptr) return misplaced(value, "a list");
  return list;
}

Result<const Packed::Map*> map_of(const Packed& value) {
  const Packed::Map* map = value.map();
  if (map == nullptr) return misplaced(value, "a map");
  return map;
}

}  // namespace fairlead::sim
