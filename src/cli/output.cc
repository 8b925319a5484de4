#include "cli/output.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <ostream>

#include <CLI/CLI.hpp>

#include "base/check.h"
#include "base/nearest.h"
#include "base/output_file.h"

namespace fairlead::cli {
namespace {

std::string_view format_name(OutputFormat format) {
  switch (format) {
    case OutputFormat::kTable:
      return "table";
    case OutputFormat::kWide:
      return "wide";
    case OutputFormat::kJson:
      return "json";
    case OutputFormat::kYaml:
      return "yaml";
    case OutputFormat::kName:
      return "name";
  }
  check_failed("format", __FILE__, __LINE__, "the set of formats is closed");
}

// Columns that a terminal needs: one per character, not per byte.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

// "10000000", or a decimal as short as it can be.
std::string number_text(std::int64_t value) {
  return std::to_string(value);
}
std::string number_text(double value) {
  char text[512];
  const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::fixed);
  return {text, end.ptr};
}

template <class Number>
void add_number_range(CLI::Option& option, const char* name, Number lowest, Number highest,
                      const char* kind) {
  option.type_name(name);
  option.check(CLI::Validator(
      [=](const std::string& text) -> std::string {
        Number value{};
        const char* end = text.data() + text.size();
        const auto read = std::from_chars(text.data(), end, value);
        if (read.ec == std::errc{} && read.ptr == end && value >= lowest && value <= highest) {
          return {};
        }
        return "\"" + text + "\" is not " + kind + " from " + number_text(lowest) + " to " +
               number_text(highest);
      },
      ""));
}

}  // namespace

void add_choice(CLI::Option& option, const std::vector<std::string>& words) {
  std::string names;
  for (const std::string& word : words) names += (names.empty() ? "" : "|") + word;
  option.type_name(names);
  option.check(CLI::Validator(
      [words](const std::string& text) -> std::string {
        if (std::find(words.begin(), words.end(), text) != words.end()) return {};
        const std::string near = nearest_name(text, words);
        return "\"" + text + "\" is not known; there is " + listing(words) +
               (near.empty() ? "" : "; did you mean \"" + near + "\"?");
      },
      ""));
}

void add_range(CLI::Option& option, const char* name, std::int64_t lowest, std::int64_t highest) {
  add_number_range(option, name, lowest, highest, "a whole number");
}

void add_range(CLI::Option& option, const char* name, double lowest, double highest) {
  add_number_range(option, name, lowest, highest, "a number");
}

void add_duration_range(CLI::Option& option, Duration lowest, Duration highest,
                        std::string_view word) {
  option.type_name("DURATION");
  option.check(CLI::Validator(
      [=](const std::string& text) -> std::string {
        if (!word.empty() && text == word) return {};
        const Result<Duration> value = parse_duration(text);
        if (!value) return value.error().message + "; " + value.error().cure;
        if (*value >= lowest && *value <= highest) return {};
        return "\"" + text + "\" is not a duration from " + to_text(lowest) + " to " +
               to_text(highest);
      },
      ""));
}

void add_format_option(CLI::App& command, OutputFormat& target,
                       const std::vector<OutputFormat>& formats) {
  FAIRLEAD_CHECK(!formats.empty(), "a command has at least one format");
  target = formats.front();
  std::string names;
  std::map<std::string, OutputFormat> words;
  for (const OutputFormat format : formats) {
    if (!names.empty()) names += "|";
    names += format_name(format);
    words.emplace(format_name(format), format);
  }
  command
      .add_option_function<std::string>(
          "-o,--output-format",
          [&target, words, names](const std::string& word) {
            const auto found = words.find(word);
            if (found == words.end()) {
              throw CLI::ValidationError("--output-format",
                                         "\"" + word + "\" is not known; allowed are " + names);
            }
            target = found->second;
          },
          "How to print the result (default " + std::string(format_name(target)) + ")")
      ->type_name(names);
}

void add_output_option(CLI::App& command, std::string& target) {
  command
      .add_option("--output", target, "Write the result to this file instead of standard output")
      ->type_name("FILE");
}

int write_output(CliContext& context, const std::string& path, std::string_view text) {
  if (path.empty() || path == "-") {
    context.out << text;
    return 0;
  }
  const Result<void> written = write_file(path, text);
  return written ? 0 : report(context, written.error());
}

std::string examples(std::span<const Example> list) {
  std::string out = "\nExamples:";
  for (const Example& example : list) {
    out += "\n  # ";
    out += example.what;
    out += "\n  ";
    out += example.command;
    out += "\n";
  }
  if (!list.empty()) out.pop_back();
  return out;
}

void Table::column(std::string header, Align align) {
  columns_.push_back({std::move(header), align});
}

void Table::row(std::vector<std::string> cells) {
  FAIRLEAD_CHECK(cells.size() == columns_.size(), "a row has one cell per column");
  rows_.push_back(std::move(cells));
}

std::string Table::text() const {
  std::vector<std::size_t> widths;
  for (const Column& column : columns_) widths.push_back(width_of(column.header));
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  std::string out;
  const auto add_line = [&](const auto& cell) {
    std::string line;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const std::string& text = cell(i);
      const std::string gap(widths[i] - width_of(text), ' ');
      if (i > 0) line += "  ";
      line += columns_[i].align == Align::kRight ? gap + text : text + gap;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  };
  add_line([&](std::size_t i) -> const std::string& { return columns_[i].header; });
  for (const auto& row : rows_) {
    add_line([&](std::size_t i) -> const std::string& { return row[i]; });
  }
  return out;
}

}  // namespace fairlead::cli
