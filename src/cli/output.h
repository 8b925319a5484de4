// What commands print: formats, tables, and files that appear whole or not at all.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "cli/app.h"

namespace CLI {
class Option;
}

namespace fairlead::cli {

enum class OutputFormat : std::uint8_t { kTable, kWide, kJson, kYaml, kName };

// Adds "-o, --output-format" with the formats that make sense for the command; the first of
// `formats` is the default and is put into `target`.
void add_format_option(CLI::App& command, OutputFormat& target,
                       const std::vector<OutputFormat>& formats);

// Adds "--output FILE": where the data goes instead of standard output.
void add_output_option(CLI::App& command, std::string& target);

// The option takes one of these words, and --help shows them.
void add_choice(CLI::Option& option, const std::vector<std::string>& words);
// The option takes a number from `lowest` to `highest`, and --help calls it `name`.
void add_range(CLI::Option& option, const char* name, std::int64_t lowest, std::int64_t highest);
void add_range(CLI::Option& option, const char* name, double lowest, double highest);
// The same for a duration, kept as it is written; `word` may stand instead, if it is not empty.
void add_duration_range(CLI::Option& option, Duration lowest, Duration highest,
                        std::string_view word = {});

// Writes data to `path` (whole or not at all; see base/output_file.h), or to context.out if it is
// empty or "-". On failure reports it and returns its exit status; 0 otherwise.
int write_output(CliContext& context, const std::string& path, std::string_view text);

// "\nExamples:\n  # what it does\n  command" for CLI::App::footer().
struct Example {
  std::string_view what;
  std::string_view command;
};
std::string examples(std::span<const Example> list);

// Columns set in line, two blanks between, no blanks at line ends. Headers in capitals.
class Table {
 public:
  enum class Align : std::uint8_t { kLeft, kRight };

  void column(std::string header, Align align = Align::kLeft);
  // Requires: as many cells as columns.
  void row(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }
  std::string text() const;

 private:
  struct Column {
    std::string header;
    Align align;
  };
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace fairlead::cli
