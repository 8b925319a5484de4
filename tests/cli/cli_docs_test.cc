// docs/cli.md tells every command and every flag, and none that there is not.
#include <algorithm>
#include <filesystem>
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

// What messages and guides tell people to type: "fairlead nodepool create", not a command that was
// meant to come.
TEST(CliDocs, NoTextNamesACommandThatIsNotThere) {
  std::map<std::string, std::vector<std::string>> known;  // first words, with what may follow
  for (const CommandOutline& command : program_outline()) {
    const std::size_t blank = command.path.find(' ');
    if (blank == std::string::npos) continue;
    const std::string words = command.path.substr(blank + 1);
    if (words.find(' ') == std::string::npos) known[words] = command.subcommands;
  }
  const auto word_at = [](const std::string& text, std::size_t at) {
    std::size_t end = at;
    while (end < text.size() && (std::islower(static_cast<unsigned char>(text[end])) != 0 ||
                                 (text[end] == '-' && end > at))) {
      ++end;
    }
    return text.substr(at, end - at);
  };
  std::vector<std::filesystem::path> files;
  for (const char* folder : {"src", "docs"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      const std::string path = entry.path().string();
      // A digest begins with such words.
      if (path == "src/control/secrets.cc" || path.ends_with("_test.cc")) continue;
      if (path.ends_with(".cc") || path.ends_with(".md")) files.push_back(entry.path());
    }
  }
  for (const auto& file : files) {
    std::ifstream in(file);
    std::stringstream all;
    all << in.rdbuf();
    const std::string text = all.str();
    const std::string call = "fairlead ";
    for (std::size_t at = text.find(call); at != std::string::npos; at = text.find(call, at + 1)) {
      const char before = at == 0 ? '\n' : text[at - 1];
      // In the flow of a sentence it is the name of the program.
      const bool cure = at >= 2 && text[at - 2] == ':';
      if (std::string("\"`\n$").find(before) == std::string::npos && !cure) continue;
      const std::string first = word_at(text, at + call.size());
      if (first.empty()) continue;
      ASSERT_TRUE(known.contains(first)) << file << ": fairlead " << first;
      const std::vector<std::string>& below = known[first];
      const std::string second = word_at(text, at + call.size() + first.size() + 1);
      if (below.empty() || second.empty()) continue;
      EXPECT_TRUE(std::find(below.begin(), below.end(), second) != below.end())
          << file << ": fairlead " << first << " " << second;
    }
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
