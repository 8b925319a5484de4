// Walks over the words of one statement and says precisely what is wrong with them.
//
// Every error is kInvalidArgument or kOutOfRange with "FILE:LINE:COLUMN", the word in question,
// what is allowed there, and a cure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "sim/scenario/lexer.h"

namespace fairlead::sim {

// "key=value" taken apart.
struct Setting {
  Word word;
  std::string key;
  std::string value;
};

class Cursor {
 public:
  // Requires: `statement` outlives the cursor.
  Cursor(const Statement& statement, std::string_view file)
      : words_(statement.words), file_(file) {}

  bool done() const { return next_ >= words_.size(); }
  // Requires: !done().
  const Word& peek() const { return words_[next_]; }
  const Word& take() { return words_[next_++]; }
  // The word after the next one, if there is one.
  const Word* peek_second() const {
    return next_ + 1 < words_.size() ? &words_[next_ + 1] : nullptr;
  }

  // Is the next word this keyword? accept() also takes it.
  bool at_keyword(std::string_view keyword) const;
  bool accept(std::string_view keyword);
  bool at_setting() const;  // key=value
  bool at_number() const;   // digits only

  Setting take_setting();  // Requires: at_setting()

  // The next word, which must be there: `what` names it in the error ("the name of a node").
  Result<Word> expect_word(std::string_view what);
  Result<void> expect_keyword(std::string_view keyword, std::string_view after);
  Result<std::int64_t> expect_number(std::string_view what);
  Result<void> expect_end(std::string_view allowed);

  std::unexpected<Error> fail(const Word& word, std::string message, std::string cure = {}) const;
  // At the end of the statement.
  std::unexpected<Error> fail_here(std::string message, std::string cure = {}) const;
  // `word` is none of `known`: with "did you mean".
  std::unexpected<Error> unknown(const Word& word, std::string_view what,
                                 std::span<const std::string> known, std::string cure = {}) const;

  // The same for the key of a setting.
  std::unexpected<Error> unknown_setting(const Setting& setting, std::string_view of,
                                         std::span<const std::string> known) const;

  // Gives an error that a parser of values returned the place of `word`.
  template <class T>
  Result<T> placed(const Word& word, Result<T> result) const {
    if (!result && result.error().where.empty()) {
      Error error = std::move(result).error();
      error.where = place(word);
      return std::unexpected(std::move(error));
    }
    return result;
  }

  std::string place(const Word& word) const;
  std::int32_t line() const { return words_.front().line; }

 private:
  const std::vector<Word>& words_;
  std::string file_;
  std::size_t next_ = 0;
};

// Digits only, within [low, high].
Result<std::int64_t> parse_count(std::string_view text, std::int64_t low, std::int64_t high);

// Host memory of a scenario: as parse_bytes, but a number without a unit is an error unless 0.
Result<std::int64_t> parse_memory(std::string_view text);
std::string memory_text(std::int64_t bytes);

// "a,b" is [a, b]; "n1..n4" is [n1, n2, n3, n4]. Error: a range that runs backwards or has more
// than 10,000 names.
Result<std::vector<std::string>> expand_names(std::string_view text);

std::vector<std::string> split_list(std::string_view text, char by = ',');

// Does `name` match `pattern`, in which "*" stands for any text?
bool matches(std::string_view pattern, std::string_view name);

}  // namespace fairlead::sim
