// Words of the scenario language, each with its place.
//
// A statement is a line; a line that begins with a blank goes on with the statement above it. "#"
// begins a comment. Words are parted by blanks; a comma (or colon) at the end of a word is
// punctuation and means nothing; a comma inside a word makes a list. "…" quotes: a quoted word is
// never a keyword, and \" and \\ stand for the character itself.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fairlead::sim {

struct Word {
  std::string text;
  std::int32_t line = 0;
  std::int32_t column = 0;
  bool quoted = false;  // wholly: "…"
};

struct Statement {
  std::vector<Word> words;  // at least one
};

struct Lexed {
  std::vector<Statement> statements;
  std::vector<std::string> opening;  // comment lines before the first statement, "#" stripped
};

// Error: kInvalidArgument with "FILE:LINE:COLUMN": a quote that is not closed, a character that is
// not text, a first line that is indented.
Result<Lexed> lex_scenario(std::string_view text, std::string_view file);

// `text` as one word that reads back as itself: quoted where it has to be.
std::string word_text(std::string_view text);
// Several as one word: "n1,n2".
std::string list_text(const std::vector<std::string>& items);
// As a quoted string, always.
std::string quoted_text(std::string_view text);

}  // namespace fairlead::sim
