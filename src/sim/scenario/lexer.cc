#include "sim/scenario/lexer.h"

#include <fmt/format.h>

#include "base/printable.h"

namespace fairlead::sim {
namespace {

bool blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

std::unexpected<Error> error_at(std::string_view file, std::int32_t line, std::size_t column,
                                std::string message, std::string cure) {
  return std::unexpected(Error{ErrorCode::kInvalidArgument,
                               std::move(message),
                               fmt::format("{}:{}:{}", file, line, column),
                               {},
                               std::move(cure)});
}

Result<void> check_text(std::string_view line, std::string_view file, std::int32_t number,
                        std::size_t at) {
  const std::size_t length = utf8_length(line.substr(at));  // 0: inside a character
  if (length == 0 || is_printable(line.substr(at, length))) return {};
  std::string bytes;
  for (const char c : line.substr(at, length)) {
    bytes += fmt::format("{}0x{:02x}", bytes.empty() ? "" : " ", static_cast<unsigned char>(c));
  }
  return error_at(file, number, at + 1, fmt::format("a control character ({})", bytes),
                  "a scenario is plain text");
}

// Reads the words of one line into `words`.
Result<void> lex_line(std::string_view line, std::string_view file, std::int32_t number,
                      std::vector<Word>& words) {
  std::size_t at = 0;
  while (true) {
    while (at < line.size() && blank(line[at])) ++at;
    if (at >= line.size() || line[at] == '#') return {};
    Word word;
    word.line = number;
    word.column = static_cast<std::int32_t>(at) + 1;
    bool plain = false;  // some of it stands outside quotes
    bool quoted = false;
    while (at < line.size() && !blank(line[at])) {
      const char c = line[at];
      if (c == '"') {
        quoted = true;
        const std::size_t open = at++;
        while (at < line.size() && line[at] != '"') {
          if (line[at] == '\\' && at + 1 < line.size()) ++at;
          FAIRLEAD_TRY(check_text(line, file, number, at));
          word.text += line[at++];
        }
        if (at >= line.size()) {
          return error_at(file, number, open + 1, "this quote is never closed",
                          "end the text with \" on the same line");
        }
        ++at;
        continue;
      }
      FAIRLEAD_TRY(check_text(line, file, number, at));
      ++at;
      const bool last = at >= line.size() || blank(line[at]);
      if ((c == ',' || c == ':') && last) break;  // punctuation
      plain = true;
      word.text += c;
    }
    if (!quoted && !plain) continue;  // a comma of its own
    word.quoted = quoted && !plain;
    words.push_back(std::move(word));
  }
}

}  // namespace

Result<Lexed> lex_scenario(std::string_view text, std::string_view file) {
  Lexed lexed;
  std::int32_t number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    const bool indented = !line.empty() && blank(line.front());
    std::vector<Word> words;
    FAIRLEAD_TRY(lex_line(line, file, number, words));
    if (words.empty()) {
      const std::size_t hash = line.find_first_not_of(" \t\r");
      if (lexed.statements.empty() && hash != std::string_view::npos) {
        std::string_view comment = line.substr(hash + 1);
        if (!comment.empty() && comment.front() == ' ') comment.remove_prefix(1);
        while (!comment.empty() && blank(comment.back())) comment.remove_suffix(1);
        lexed.opening.emplace_back(comment);
      }
      continue;
    }
    if (!indented) {
      lexed.statements.push_back({std::move(words)});
    } else if (lexed.statements.empty()) {
      return error_at(file, number, 1, "the first statement is indented",
                      "an indented line goes on with the one above it; begin in the first column");
    } else {
      std::vector<Word>& all = lexed.statements.back().words;
      all.insert(all.end(), std::make_move_iterator(words.begin()),
                 std::make_move_iterator(words.end()));
    }
  }
  return lexed;
}

std::string quoted_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

std::string word_text(std::string_view text) {
  bool plain = !text.empty() && text.back() != ',' && text.back() != ':';
  for (const char c : text) plain = plain && c > ' ' && c != '"' && c != '#' && c != 0x7f;
  return plain ? std::string(text) : quoted_text(text);
}

std::string list_text(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : ",") + item;
  return word_text(text);
}

}  // namespace fairlead::sim
