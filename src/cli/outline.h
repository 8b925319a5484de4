// Every command of the program with its options, as data: for shell completion, and for the test
// that holds docs/cli.md against it.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace fairlead::cli {

// What may stand where an option or an argument wants a value.
struct ValueOutline {
  std::string name;                  // as --help shows it: FILE, table|json, …; empty: a flag
  std::vector<std::string> choices;  // the words, if it is one of a few
  bool file = false;                 // the name of a file or folder
  std::string live;                  // a kind of `__complete`: its names are asked of the server
};

struct OptionOutline {
  std::vector<std::string> names;  // "-o", "--output-format"
  std::string what;
  ValueOutline value;
};

struct CommandOutline {
  std::string path;  // "fairlead simulate demo"
  std::string what;
  std::vector<std::string> subcommands;  // their last words, in the order of --help
  std::vector<OptionOutline> options;
  std::vector<ValueOutline> arguments;
};

// The command and all below it, each before its subcommands.
std::vector<CommandOutline> outline_of(const CLI::App& app);

// Of the whole program.
std::vector<CommandOutline> program_outline();

}  // namespace fairlead::cli
