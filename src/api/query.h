// The parameters of a request's query: each that is known is asked for by name, the rest is
// refused.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/target.h"

namespace fairlead::api {

class Query {
 public:
  explicit Query(const net::Target& target) : target_(target) {}

  std::optional<std::string> text(std::string_view name, std::size_t most = 253);
  std::vector<std::string> texts(std::string_view name);
  bool boolean(std::string_view name);
  std::int64_t integer(std::string_view name, std::int64_t least, std::int64_t most,
                       std::int64_t otherwise);
  // Words by commas, each one of `allowed`.
  std::vector<std::string> words(std::string_view name, const std::vector<std::string>& allowed);

  // `pageToken`, as an answer of this server gave it; empty if there is none.
  std::string page_token();

  // All that was wrong, unknown parameters included. Call it last.
  Result<void> done();

 private:
  const std::string* only(std::string_view name);
  void wrong(std::string_view name, std::string message, std::string cure = {});

  const net::Target& target_;
  std::vector<std::string> known_;
  std::optional<Error> error_;  // the first
};

}  // namespace fairlead::api
