// docs/cli.md tells every command and every flag, and none that there is not.
#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "cli/client/foreign_flags.h"
#include "cli/outline.h"

namespace fairlead::cli {
namespace {

// "--flag" words of a text.
std::set<std::string> flags_in(const std::string& text) {
  std::set<std::string> flags;
  for (std::size_t at = text.find("--"); at != std::string::npos; at = text.find("--", at + 2)) {
    std::size_t end = at + 2;
    while (end < text.size() &&
           (std::islower(static_cast<unsigned char>(text[end])) != 0 || text[end] == '-')) {
      ++end;
    }
    if (end > at + 2) flags.insert(text.substr(at, end - at));
    at = end - 2;
  }
  return flags;
}

// A section of docs/cli.md: its heading names one command or several, parted by commas; the first
// column of its tables names their flags.
struct Section {
  std::vector<std::string> commands;
  std::set<std::string> flags;
};

std::vector<Section> sections() {
  std::vector<Section> out;
  std::ifstream file("docs/cli.md");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("## ")) {
      out.emplace_back();
      std::istringstream names(line.substr(3));
      for (std::string name; std::getline(names >> std::ws, name, ',');) {
        out.back().commands.push_back(name);
      }
    } else if (line.starts_with("| `-") && !out.empty()) {
      out.back().flags.merge(flags_in(line.substr(0, line.find('|', 1))));
    }
  }
  return out;
}

// The flags that each command has, by its words after "fairlead"; those that only group are left
// out, and --help, which all have.
std::map<std::string, std::set<std::string>> existing() {
  std::map<std::string, std::set<std::string>> out;
  for (const CommandOutline& command : program_outline()) {
    if (!command.subcommands.empty()) continue;
    std::set<std::string>& flags = out[command.path.substr(command.path.find(' ') + 1)];
    for (const OptionOutline& option : command.options) {
      for (const std::string& name : option.names) {
        if (name.starts_with("--") && name != "--help") flags.insert(name);
      }
    }
  }
  return out;
}

// Flags that many commands share are told once, in a section whose heading says so.
bool is_common(const Section& section) {
  return section.commands.front().starts_with("Flags of ");
}

TEST(CliDocs, TellEveryFlagOfEveryCommand) {
  const std::vector<Section> told = sections();
  std::set<std::string> common;
  for (const Section& section : told) {
    if (is_common(section)) common = section.flags;
  }
  const auto commands = existing();
  ASSERT_GE(commands.size(), 10U);
  for (const auto& [command, flags] : commands) {
    const auto section = std::find_if(told.begin(), told.end(), [&, name = command](const auto& s) {
      return std::count(s.commands.begin(), s.commands.end(), name) > 0;
    });
    ASSERT_NE(section, told.end()) << "docs/cli.md has no section \"## " << command << "\"";
    for (const std::string& flag : flags) {
      EXPECT_TRUE(section->flags.contains(flag) || common.contains(flag)) << command << " " << flag;
    }
  }
}

TEST(CliDocs, TellNoFlagThatIsNotThere) {
  auto commands = existing();
  for (const Section& section : sections()) {
    for (const std::string& flag : section.flags) {
      const bool found =
          is_common(section)
              ? std::any_of(commands.begin(), commands.end(),
                            [&](const auto& entry) { return entry.second.contains(flag); })
              : std::any_of(section.commands.begin(), section.commands.end(),
                            [&](const auto& name) { return commands[name].contains(flag); });
      EXPECT_TRUE(found) << section.commands.front() << " " << flag;
    }
  }
}

TEST(CliDocs, NameEveryForeignFlag) {
  std::ifstream file("docs/cli.md");
  std::stringstream text;
  text << file.rdbuf();
  for (const ForeignFlag& flag : foreign_flags()) {
    EXPECT_NE(text.str().find(std::string(flag.name()) + "`"), std::string::npos) << flag.name();
  }
}

TEST(CliDocs, TheTableAtTheTopNamesEveryCommand) {
  std::ifstream file("docs/cli.md");
  std::stringstream text;
  text << file.rdbuf();
  const std::string top = text.str().substr(0, text.str().find("\n## "));
  for (const auto& [command, flags] : existing()) {
    const std::string last = command.substr(command.rfind(' ') + 1);
    EXPECT_NE(top.find(last), std::string::npos) << command;
  }
}

TEST(Help, EveryFlagSaysWhatItDoes) {
  for (const CommandOutline& command : program_outline()) {
    for (const OptionOutline& option : command.options) {
      EXPECT_GE(option.what.size(), 8U) << command.path << " " << option.names.back();
    }
  }
}

}  // namespace
}  // namespace fairlead::cli
