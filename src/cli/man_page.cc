#include "cli/man_page.h"

#include <algorithm>

namespace fairlead::cli {
namespace {

// Text that troff takes as it is: no command at a line's begin, hyphens that can be copied.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) {
      out += std::string("\\&") + c;
    } else {
      out += c;
    }
  }
  return out;
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  return text;
}

std::string dashed(std::string path) {
  std::replace(path.begin(), path.end(), ' ', '-');
  return path;
}

std::string head(const CommandOutline& command, const std::string& version) {
  const std::string name = dashed(command.path);
  return ".TH " + upper(escaped(name)) + " 1 \"\" \"" + escaped(version) + "\"\n.SH NAME\n" +
         escaped(name) + " \\- " + escaped(command.what) + "\n";
}

// "fairlead submit [OPTIONS] [NAME]"
std::string synopsis(const CommandOutline& command) {
  std::string out = ".B " + escaped(command.path) + "\n";
  if (!command.options.empty()) out += "[OPTIONS]\n";
  if (!command.subcommands.empty()) out += "COMMAND\n";
  for (const ValueOutline& argument : command.arguments) out += escaped(argument.name) + "\n";
  return out;
}

std::string options(const CommandOutline& command) {
  std::string out;
  for (const OptionOutline& option : command.options) {
    std::string names;
    for (const std::string& name : option.names) names += (names.empty() ? "" : ", ") + name;
    out += ".TP\n\\fB" + escaped(names) + "\\fR";
    if (!option.value.name.empty()) out += " \\fI" + escaped(option.value.name) + "\\fR";
    out += "\n" + escaped(option.what) + "\n";
  }
  return out;
}

bool below(const CommandOutline& command, const std::string& path) {
  return command.path == path || command.path.starts_with(path + " ");
}

ManPage page_of(std::span<const CommandOutline> commands, const CommandOutline& top,
                const std::string& version) {
  std::string text = head(top, version);
  for (const CommandOutline& command : commands) {
    if (!below(command, top.path)) continue;
    const bool itself = &command == &top;
    text += itself ? ".SH SYNOPSIS\n" : ".SH " + upper(escaped(command.path)) + "\n";
    text += synopsis(command);
    if (!itself) text += ".P\n" + escaped(command.what) + "\n";
    if (itself && !command.options.empty()) text += ".SH OPTIONS\n";
    text += options(command);
  }
  return {dashed(top.path) + ".1", text};
}

}  // namespace

std::vector<ManPage> man_pages(std::span<const CommandOutline> commands,
                               const std::string& version) {
  std::vector<ManPage> pages;
  const CommandOutline& program = commands.front();
  std::string text = head(program, version) + ".SH SYNOPSIS\n" + synopsis(program);
  text += ".SH COMMANDS\n";
  for (const CommandOutline& command : commands.subspan(1)) {
    if (command.path.find(' ') != command.path.rfind(' ')) continue;
    text += ".TP\n.BR " + escaped(dashed(command.path)) + " (1)\n" + escaped(command.what) + "\n";
    pages.push_back(page_of(commands, command, version));
  }
  text += ".SH OPTIONS\n" + options(program);
  pages.insert(pages.begin(), {program.path + ".1", text});
  return pages;
}

}  // namespace fairlead::cli
