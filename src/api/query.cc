#include "api/query.h"

#include <algorithm>
#include <charconv>

#include "base/nearest.h"

namespace fairlead::api {

void Query::wrong(std::string_view name, std::string message, std::string cure) {
  if (error_) return;
  error_ = Error{
      ErrorCode::kInvalidArgument, std::move(message), {}, std::string(name), std::move(cure)};
}

const std::string* Query::only(std::string_view name) {
  known_.emplace_back(name);
  const std::string* found = nullptr;
  for (const auto& [key, value] : target_.query) {
    if (key != name) continue;
    if (found != nullptr) wrong(name, "the parameter is given twice", "give it once");
    found = &value;
  }
  return found;
}

std::optional<std::string> Query::text(std::string_view name, std::size_t most) {
  const std::string* value = only(name);
  if (value == nullptr) return std::nullopt;
  if (value->size() > most) {
    wrong(name, "the value has " + std::to_string(value->size()) + " bytes; allowed are " +
                    std::to_string(most));
    return std::nullopt;
  }
  return *value;
}

std::vector<std::string> Query::texts(std::string_view name) {
  known_.emplace_back(name);
  std::vector<std::string> values;
  for (const auto& [key, value] : target_.query) {
    if (key == name) values.push_back(value);
  }
  return values;
}

bool Query::boolean(std::string_view name) {
  const std::string* value = only(name);
  if (value == nullptr || *value == "false") return false;
  if (*value != "true") wrong(name, "\"" + *value + "\" is neither true nor false");
  return *value == "true";
}

std::int64_t Query::integer(std::string_view name, std::int64_t least, std::int64_t most,
                            std::int64_t otherwise) {
  const std::string* value = only(name);
  if (value == nullptr) return otherwise;
  std::int64_t number = 0;
  const char* end = value->data() + value->size();
  const auto [at, status] = std::from_chars(value->data(), end, number);
  if (status != std::errc() || at != end || number < least || number > most) {
    wrong(name, "\"" + *value + "\" is no whole number from " + std::to_string(least) + " to " +
                    std::to_string(most));
    return otherwise;
  }
  return number;
}

std::vector<std::string> Query::words(std::string_view name,
                                      const std::vector<std::string>& allowed) {
  std::vector<std::string> out;
  const std::string* value = only(name);
  if (value == nullptr) return out;
  std::size_t begin = 0;
  while (begin <= value->size()) {
    const std::size_t comma = std::min(value->find(',', begin), value->size());
    std::string word = value->substr(begin, comma - begin);
    begin = comma + 1;
    if (std::find(allowed.begin(), allowed.end(), word) == allowed.end()) {
      wrong(name, "\"" + word + "\" is none of " + listing(allowed));
      return out;
    }
    out.push_back(std::move(word));
  }
  return out;
}

std::string Query::page_token() {
  const std::string token = text("pageToken", 400).value_or("");
  const bool plain =
      token.find_first_not_of(
          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") == std::string::npos;
  if (!plain) wrong("pageToken", "it is no token of this server", "send nextPageToken as it was");
  return token;
}

Result<void> Query::done() {
  for (const auto& [key, value] : target_.query) {
    if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
    const std::string near = nearest_name(key, known_);
    wrong(key, "there is no parameter of this name",
          near.empty() ? "" : "did you mean \"" + near + "\"?");
  }
  if (error_) return fail(*error_);
  return {};
}

}  // namespace fairlead::api
