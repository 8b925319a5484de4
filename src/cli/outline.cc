#include "cli/outline.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <CLI/CLI.hpp>

namespace fairlead::cli {
namespace {

// What --help calls values that are files.
constexpr std::array<std::string_view, 3> kFiles = {"FILE", "FOLDER", "CSV"};

// What --help calls values that a server knows the names of, and their kind for __complete.
struct LiveName {
  std::string_view name;
  std::string_view kind;
};
constexpr std::array<LiveName, 10> kLive = {{{"WORKLOAD", "workloads"},
                                             {"PROJECT", "projects"},
                                             {"DEPARTMENT", "departments"},
                                             {"NODE", "nodes"},
                                             {"POOL,...", "node-pools"},
                                             {"POOL", "node-pools"},
                                             {"USER", "users"},
                                             {"CONTEXT", "contexts"},
                                             {"SETTING", "settings"},
                                             {"SETTING=VALUE", "settings"}}};

std::string live_kind(const std::string& name) {
  for (const LiveName& live : kLive) {
    if (live.name == name) return std::string(live.kind);
  }
  return {};
}

ValueOutline value_of(const CLI::Option& option) {
  ValueOutline value;
  if (option.get_items_expected_max() == 0) return value;
  value.name = option.get_type_name();
  value.file = std::find(kFiles.begin(), kFiles.end(), value.name) != kFiles.end();
  value.live = live_kind(value.name);
  if (value.name.find('|') == std::string::npos) return value;
  std::size_t begin = 0;
  while (begin <= value.name.size()) {
    const std::size_t end = std::min(value.name.find('|', begin), value.name.size());
    value.choices.push_back(value.name.substr(begin, end - begin));
    begin = end + 1;
  }
  return value;
}

void add_outline(const CLI::App& app, const std::string& above, std::vector<CommandOutline>& out) {
  CommandOutline command;
  command.path = above + app.get_name();
  command.what = app.get_description();
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;  // hidden
    if (option->get_positional()) {
      ValueOutline value = value_of(*option);
      value.name = option->get_name(true);
      value.file = value.name == "FILE" || value.name == "FOLDER";
      value.live = live_kind(value.name);
      command.arguments.push_back(std::move(value));
      continue;
    }
    OptionOutline one{{}, option->get_description(), value_of(*option)};
    for (const std::string& name : option->get_snames()) one.names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) one.names.push_back("--" + name);
    command.options.push_back(std::move(one));
  }
  const auto subcommands =
      app.get_subcommands([](const CLI::App* sub) { return !sub->get_group().empty(); });
  for (const CLI::App* sub : subcommands) command.subcommands.push_back(sub->get_name());
  const std::string path = command.path + " ";
  out.push_back(std::move(command));
  for (const CLI::App* sub : subcommands) add_outline(*sub, path, out);
}

}  // namespace

std::vector<CommandOutline> outline_of(const CLI::App& app) {
  std::vector<CommandOutline> out;
  add_outline(app, "", out);
  return out;
}

}  // namespace fairlead::cli
