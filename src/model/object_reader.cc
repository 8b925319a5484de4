#include "model/object_reader.h"

#include <algorithm>
#include <utility>

#include "base/decimal.h"
#include "base/nearest.h"
#include "base/printable.h"

namespace fairlead {
namespace {

std::nullopt_t refuse(const Value& value, Findings& findings, std::string message,
                      std::string cure = {}, ErrorCode code = ErrorCode::kInvalidArgument) {
  findings.error(value, code, std::move(message), std::move(cure));
  return std::nullopt;
}

// The text of a scalar, or nullptr after reporting what stands there instead.
const std::string* scalar(const Value& value, const char* wanted, Findings& findings) {
  if (value.is_scalar()) return &value.text();
  refuse(value, findings, value.brief() + " stands where " + wanted + " is needed");
  return nullptr;
}

template <class T, class Convert>
auto converted(const Value& value, const char* wanted, Findings& findings, Convert convert)
    -> std::optional<T> {
  const std::string* text = scalar(value, wanted, findings);
  if (text == nullptr) return std::nullopt;
  auto result = convert(*text);
  if (result) return *result;
  Error error = std::move(result).error();
  // Long input is not repeated in full.
  if (text->size() > 100) error.message = value.brief() + " is not " + wanted;
  findings.error(value, std::move(error));
  return std::nullopt;
}

std::optional<std::int64_t> not_negative(const Value& value, std::optional<std::int64_t> amount,
                                         Findings& findings) {
  if (!amount || *amount >= 0) return amount;
  return refuse(value, findings, value.brief() + " is negative", "state an amount of 0 or more",
                ErrorCode::kOutOfRange);
}

}  // namespace

std::optional<std::string> as_string(const Value& value, Findings& findings) {
  const std::string* text = scalar(value, "a text", findings);
  if (text == nullptr) return std::nullopt;
  return *text;
}

std::optional<std::string> as_name(const Value& value, Findings& findings) {
  const std::string* text = scalar(value, "a name", findings);
  if (text == nullptr) return std::nullopt;
  if (text->empty()) return refuse(value, findings, "a name cannot be empty");
  if (text->size() > kMaxNameLength) {
    return refuse(value, findings,
                  "the name has " + std::to_string(text->size()) + " bytes, allowed are " +
                      std::to_string(kMaxNameLength),
                  "shorten it", ErrorCode::kOutOfRange);
  }
  if (!is_printable(*text) || text->find_first_of(" \"'") != std::string::npos) {
    return refuse(value, findings,
                  value.brief() +
                      " is not a name: blanks, quotes and control characters are not "
                      "allowed",
                  "use letters, digits, '-', '.', '_' and '/'");
  }
  return *text;
}

std::optional<bool> as_boolean(const Value& value, Findings& findings) {
  const std::string* text = scalar(value, "true or false", findings);
  if (text == nullptr) return std::nullopt;
  if (!value.quoted() && *text == "true") return true;
  if (!value.quoted() && *text == "false") return false;
  return refuse(value, findings, value.brief() + " is neither true nor false",
                "write true or false");
}

std::optional<std::int64_t> as_integer(const Value& value, std::int64_t min, std::int64_t max,
                                       Findings& findings) {
  return as_decimal(value, 0, min, max, findings);
}

std::optional<std::int64_t> as_decimal(const Value& value, int places, std::int64_t min,
                                       std::int64_t max, Findings& findings) {
  const std::string* text = scalar(value, "a number", findings);
  if (text == nullptr) return std::nullopt;
  const std::string allowed = (places == 0 ? "allowed are whole numbers from "
                                           : "allowed are numbers of at most " +
                                                 std::to_string(places) + " decimals from ") +
                              decimal_text(min, places) + " to " + decimal_text(max, places);
  Result<std::int64_t> number = parse_decimal(*text, places);
  if (!number) {
    Error error = std::move(number).error();
    if (text->size() > 100) error.message = value.brief() + " is not a number that fits";
    error.message += "; " + allowed;
    findings.error(value, std::move(error));
    return std::nullopt;
  }
  if (*number < min || *number > max) {
    return refuse(value, findings, value.brief() + " is out of range; " + allowed, {},
                  ErrorCode::kOutOfRange);
  }
  return *number;
}

std::optional<Duration> as_duration(const Value& value, Findings& findings) {
  return converted<Duration>(value, "a duration", findings,
                             [](const std::string& text) { return parse_duration(text); });
}

std::optional<Instant> as_instant(const Value& value, Findings& findings) {
  return converted<Instant>(value, "a time", findings,
                            [](const std::string& text) -> Result<Instant> {
                              if (const Result<Duration> since_start = parse_duration(text)) {
                                return Instant{since_start->ms};
                              }
                              return parse_rfc3339(text);
                            });
}

std::optional<std::int64_t> as_milli_cpu(const Value& value, Findings& findings) {
  return not_negative(
      value,
      converted<std::int64_t>(value, "a number of CPUs", findings,
                              [](const std::string& text) { return parse_cpu(text); }),
      findings);
}

std::optional<std::int64_t> as_bytes(const Value& value, Findings& findings) {
  return not_negative(
      value,
      converted<std::int64_t>(value, "an amount of memory", findings,
                              [](const std::string& text) { return parse_bytes(text); }),
      findings);
}

std::optional<std::int64_t> as_mib(const Value& value, Findings& findings) {
  return not_negative(
      value,
      converted<std::int64_t>(value, "an amount of GPU memory", findings,
                              [](const std::string& text) { return parse_mib(text); }),
      findings);
}

std::optional<std::size_t> as_word(const Value& value, std::span<const std::string_view> words,
                                   Findings& findings) {
  const std::string* text = scalar(value, "a word", findings);
  if (text == nullptr) return std::nullopt;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == *text) return i;
  }
  const std::vector<std::string> names(words.begin(), words.end());
  const std::string near = nearest_name(*text, names);
  return refuse(value, findings, value.brief() + " is not known; allowed are " + listing(names),
                near.empty() ? "" : "did you mean \"" + near + "\"?");
}

ObjectReader::ObjectReader(const Value& value, Findings& findings)
    : value_(value), findings_(findings), ok_(value.is_map()) {
  if (!ok_) refuse(value, findings, value.brief() + " stands where a map of fields is needed");
}

ObjectReader::~ObjectReader() {
  finish();
}

void ObjectReader::know(std::string_view field) {
  if (std::find(known_.begin(), known_.end(), field) == known_.end()) known_.push_back(field);
}

void ObjectReader::allow(std::initializer_list<std::string_view> fields) {
  for (const std::string_view field : fields) know(field);
}

const Value* ObjectReader::get(std::string_view field, Presence presence) {
  know(field);
  const Value* found = ok_ ? value_.find(field) : nullptr;
  if (found != nullptr && found->is_null()) found = nullptr;
  if (found == nullptr && presence == kRequired && ok_) {
    refuse(value_, findings_, "the field \"" + std::string(field) + "\" is missing",
           "add \"" + std::string(field) + ": …\"", ErrorCode::kInvalidArgument);
  }
  return found;
}

void ObjectReader::finish() {
  if (finished_ || !ok_) return;
  finished_ = true;
  for (const Value& member : value_.items()) {
    if (std::find(known_.begin(), known_.end(), member.key()) != known_.end()) continue;
    const std::vector<std::string> names(known_.begin(), known_.end());
    const std::string near = nearest_name(member.key(), names);
    refuse(member, findings_, "there is no field of this name; allowed are " + listing(names, 60),
           near.empty() ? "remove it" : "did you mean \"" + near + "\"?");
  }
}

std::optional<std::string> ObjectReader::string(std::string_view field, Presence presence) {
  const Value* found = get(field, presence);
  return found == nullptr ? std::nullopt : as_string(*found, findings_);
}

std::optional<std::string> ObjectReader::name(std::string_view field, Presence presence) {
  const Value* found = get(field, presence);
  return found == nullptr ? std::nullopt : as_name(*found, findings_);
}

std::optional<bool> ObjectReader::boolean(std::string_view field, Presence presence) {
  const Value* found = get(field, presence);
  return found == nullptr ? std::nullopt : as_boolean(*found, findings_);
}

std::optional<std::int64_t> ObjectReader::integer(std::string_view field, std::int64_t min,
                                                  std::int64_t max, Presence presence) {
  const Value* found = get(field, presence);
  return found == nullptr ? std::nullopt : as_integer(*found, min, max, findings_);
}

std::optional<std::int32_t> ObjectReader::int32(std::string_view field, std::int32_t min,
                                                std::int32_t max, Presence presence) {
  const std::optional<std::int64_t> number = integer(field, min, max, presence);
  if (!number) return std::nullopt;
  return static_cast<std::int32_t>(*number);
}

std::optional<std::int64_t> ObjectReader::decimal(std::string_view field, int places,
                                                  std::int64_t min, std::int64_t max,
                                                  Presence presence) {
  const Value* found = get(field, presence);
  return found == nullptr ? std::nullopt : as_decimal(*found, places, min, max, findings_);
}

std::optional<Duration> ObjectReader::duration(std::string_view field, Presence presence) {
  const Value* found = get(field, presence);
  return found == nullptr ? std::nullopt : as_duration(*found, findings_);
}

std::optional<Instant> ObjectReader::instant(std::string_view field, Presence presence) {
  const Value* found = get(field, presence);
  return found == nullptr ? std::nullopt : as_instant(*found, findings_);
}

std::optional<std::int64_t> ObjectReader::milli_cpu(std::string_view field, Presence presence) {
  const Value* found = get(field, presence);
  return found == nullptr ? std::nullopt : as_milli_cpu(*found, findings_);
}

std::optional<std::int64_t> ObjectReader::bytes(std::string_view field, Presence presence) {
  const Value* found = get(field, presence);
  return found == nullptr ? std::nullopt : as_bytes(*found, findings_);
}

std::optional<std::int64_t> ObjectReader::mib(std::string_view field, Presence presence) {
  const Value* found = get(field, presence);
  return found == nullptr ? std::nullopt : as_mib(*found, findings_);
}

std::vector<std::string> ObjectReader::names(std::string_view field, Presence presence) {
  std::vector<std::string> out;
  const Value* found = get(field, presence);
  if (found == nullptr) return out;
  if (!found->is_list()) {
    if (auto one = as_name(*found, findings_)) out.push_back(std::move(*one));
    return out;
  }
  for (const Value& item : found->items()) {
    if (auto one = as_name(item, findings_)) out.push_back(std::move(*one));
  }
  return out;
}

std::map<std::string, std::string> ObjectReader::string_map(std::string_view field,
                                                            Presence presence) {
  std::map<std::string, std::string> out;
  entries(
      field,
      [&](const Value& entry) {
        if (auto text = as_string(entry, findings_)) out.emplace(entry.key(), std::move(*text));
      },
      presence);
  return out;
}

void ObjectReader::each(std::string_view field, const std::function<void(const Value&)>& read,
                        Presence presence) {
  const Value* found = get(field, presence);
  if (found == nullptr) return;
  if (!found->is_list()) {
    refuse(*found, findings_, found->brief() + " stands where a list is needed",
           "begin each item with \"- \"");
    return;
  }
  for (const Value& item : found->items()) read(item);
}

void ObjectReader::entries(std::string_view field, const std::function<void(const Value&)>& read,
                           Presence presence) {
  const Value* found = get(field, presence);
  if (found == nullptr) return;
  if (!found->is_map()) {
    refuse(*found, findings_, found->brief() + " stands where a map is needed",
           "write it as \"name: value\" lines");
    return;
  }
  for (const Value& entry : found->items()) read(entry);
}

std::span<const Value> ObjectReader::open_entries() {
  finished_ = true;
  return value_.items();
}

}  // namespace fairlead
