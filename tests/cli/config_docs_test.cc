// docs/config.md tells every flag of `up`, every environment variable that is read, every setting
// and every field of the client's file, and none that there is not.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "cli/client/config_file.h"
#include "cli/client/settings.h"
#include "cli/outline.h"
#include "control/documents.h"
#include "model/tree.h"

namespace fairlead::cli {
namespace {

using Rows = std::map<std::string, std::vector<std::string>>;  // by the word of the first column

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" `");
  return begin == std::string::npos ? ""
                                    : text.substr(begin, text.find_last_not_of(" `") - begin + 1);
}

// The table below the heading "## HEADING".
Rows table(const std::string& heading) {
  Rows rows;
  bool inside = false;
  std::istringstream text(text_of("docs/config.md"));
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with("## ")) inside = line == "## " + heading;
    if (!inside || !line.starts_with("| `")) continue;
    std::vector<std::string> cells;
    std::istringstream parts(line.substr(1));
    for (std::string cell; std::getline(parts, cell, '|');) cells.push_back(trimmed(cell));
    rows[cells.front()] = cells;
  }
  return rows;
}

std::set<std::string> names(const Rows& rows) {
  std::set<std::string> out;
  for (const auto& [name, cells] : rows) out.insert(name);
  return out;
}

// The words in quotes behind `call`, and how often it is called with something else.
std::size_t arguments(const std::string& text, const std::string& call,
                      std::set<std::string>& out) {
  std::size_t others = 0;
  for (std::size_t at = text.find(call); at != std::string::npos; at = text.find(call, at + 1)) {
    const std::size_t begin = at + call.size();
    if (text[begin] == '"') {
      out.insert(text.substr(begin + 1, text.find('"', begin + 1) - begin - 1));
    } else {
      ++others;
    }
  }
  return others;
}

TEST(ConfigDocs, TellEveryFlagOfUp) {
  std::set<std::string> flags;
  for (const CommandOutline& command : program_outline()) {
    if (command.path != "fairlead up") continue;
    for (const OptionOutline& option : command.options) {
      if (option.names.back() != "--help") flags.insert(option.names.back());
    }
  }
  EXPECT_EQ(names(table("Flags of `fairlead up`")), flags);
}

TEST(ConfigDocs, TellEveryVariableThatIsRead) {
  // These two hand on a name: what they are called with counts.
  const std::set<std::string> named = {"src/cli/client/connection.cc", "src/store/state_dir.cc"};
  // Reads what `-e NAME` of a submission names.
  const std::string any = "src/cli/client/workload_document.cc";
  std::set<std::string> read;
  for (const auto& entry : std::filesystem::recursive_directory_iterator("src")) {
    const std::string path = entry.path().string();
    if (!path.ends_with(".cc") || path.ends_with("_test.cc") || path.ends_with("_testing.cc")) {
      continue;
    }
    const std::string text = text_of(path);
    const std::size_t others = arguments(text, "getenv(", read);
    if (named.contains(path)) arguments(text, "variable(", read);
    EXPECT_EQ(others, named.contains(path) || path == any ? 1U : 0U)
        << path << " reads a variable whose name it makes";
  }
  EXPECT_EQ(names(table("Environment variables")), read);
}

TEST(ConfigDocs, TellEverySettingWithItsUnitAndDefault) {
  const Rows rows = table("Settings of the server");
  std::set<std::string> known;
  for (const Setting& setting : settings()) {
    known.insert(std::string(setting.name));
    const auto row = rows.find(std::string(setting.name));
    ASSERT_NE(row, rows.end()) << setting.name;
    EXPECT_EQ(row->second[1], unit(setting.type)) << setting.name;
    EXPECT_EQ(row->second[2], setting.default_value) << setting.name;
  }
  EXPECT_EQ(names(rows), known);
}

// The three places that know the settings: the server, the description of its API, the client.
TEST(Settings, AreTheSameToServerAndClient) {
  std::vector<std::string> defaults;
  for (const Setting& setting : settings()) {
    defaults.push_back(std::string(setting.name) + "=" + std::string(setting.default_value));
  }
  const auto patch = settings_patch(defaults);
  ASSERT_TRUE(patch) << patch.error().text();
  const auto document = Document::parse(to_json(*patch), "defaults");
  ASSERT_TRUE(document);
  control::Settings other;
  other.retention = seconds(1);
  other.log_bytes = 65'536;
  other.workspace_time_limit = seconds(2);
  other.training_time_limit = seconds(3);
  other.default_project = "other";
  Findings findings("defaults");
  const control::Settings read = control::read_settings(document->roots()[0], other, findings);
  EXPECT_TRUE(findings.ok());
  EXPECT_EQ(to_json(control::settings_tree(read)),
            to_json(control::settings_tree(control::Settings{})));

  const std::string api = text_of("api/openapi.yaml");
  const std::size_t begin = api.find("    SettingsPatch:");
  std::set<std::string> described;
  std::istringstream lines(api.substr(begin));
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line) && line.starts_with("      ")) {
    if (line.starts_with("        ")) described.insert(trimmed(line.substr(0, line.find(':'))));
  }
  std::set<std::string> known;
  for (const Setting& setting : settings()) known.insert(std::string(setting.name));
  EXPECT_EQ(described, known);
}

TEST(ConfigDocs, TellEveryFieldOfTheClientsFile) {
  ClientConfig config;
  config.current = "c";
  config.contexts.push_back({"n", "s", "t", "p"});
  const auto document = Document::parse(config_text(config, true), "config");
  ASSERT_TRUE(document);
  std::set<std::string> fields;
  for (const Value& field : document->roots()[0].items()) {
    if (!field.is_list()) fields.insert(field.key());
    if (field.is_list()) {
      for (const Value& part : field.items()[0].items()) fields.insert("contexts[]." + part.key());
    }
  }
  EXPECT_EQ(names(table("The client's file")), fields);
}

}  // namespace
}  // namespace fairlead::cli
