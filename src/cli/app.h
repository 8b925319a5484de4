// The command line: one function per command adds it to the program (app.cc lists them).
//
// To add a command: write NAME_command.cc with `void add_NAME_command(CLI::App&, CliContext&)`,
// declare it in commands.h, add one line with its name to the list in app.cc, and the file to
// CMakeLists.txt and to tools/header_owners.txt. A command's callback does its work and sets
// context.exit_status; it writes data to context.out and everything else to context.err, and throws
// nothing.
#pragma once

#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace CLI {
class App;
}

namespace fairlead::cli {

struct CliContext {
  std::ostream& out;      // data, and nothing else
  std::ostream& err;      // errors, warnings, progress
  bool color = false;     // colour on err: a terminal, and NO_COLOR is not set
  bool terminal = false;  // err is a terminal: a progress bar makes sense
  int exit_status = 0;
  std::string program = "fairlead";  // how the person calls it; "runai" by a link of that name
  bool in_terminal = false;          // standard input is a terminal: a question can be answered
  bool out_terminal = false;         // out is one, and can be drawn on
  // What stood behind "--" of a command that runs another one (app.cc says which do).
  std::vector<std::string> after_dashes = {};
};

inline constexpr int kExitUsage = 2;

// The whole program; `arguments` without its name. Returns the exit status (docs/cli.md).
int run(const std::vector<std::string>& arguments, CliContext& context);

// "fairlead 0.1.0"
std::string version_text();

// Prints "error: …" lines to context.err; returns the exit status of the first.
int report(CliContext& context, const Error& error);
int report(CliContext& context, std::span<const Error> errors);
// The same for errors found in a document: whatever their code, the input was wrong (2), unless it
// could not be read (1).
int report_invalid(CliContext& context, std::span<const Error> errors);
void report_warnings(CliContext& context, std::span<const Error> warnings);

}  // namespace fairlead::cli
