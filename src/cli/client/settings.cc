#include "cli/client/settings.h"

#include <algorithm>
#include <array>

#include "base/decimal.h"
#include "base/nearest.h"
#include "base/time.h"

namespace fairlead::cli {
namespace {

constexpr std::string_view kNone = "none";

constexpr std::array<Setting, 7> kSettings = {{
    {"retention", "How long ended workloads, their output and all events are kept",
     SettingType::kDuration, "30d"},
    {"logBytes", "Output kept per attempt of a task; the oldest goes first", SettingType::kBytes,
     "64Mi"},
    {"workspaceTimeLimit", "A running workspace is ended after this time",
     SettingType::kDurationOrNone, kNone},
    {"trainingTimeLimit", "A running training is ended after this time",
     SettingType::kDurationOrNone, kNone},
    {"maxGracePeriod", "What a submission may ask for at most between a notice and the end",
     SettingType::kDuration, "10m"},
    {"maxPriority", "What a submission of others than administrators may ask for at most",
     SettingType::kNumber, "125"},
    {"defaultProject", "Where a submission goes that names no project", SettingType::kProject,
     "main"},
}};

std::unexpected<Error> wrong(const Setting& setting, const std::string& value) {
  return fail(Error{ErrorCode::kInvalidArgument,
                    "\"" + value + "\" is not " + std::string(allowed(setting.type)),
                    {},
                    std::string(setting.name),
                    "fairlead settings set " + std::string(setting.name) + "=" +
                        std::string(setting.default_value) + " sets the default"});
}

Result<Tree> value_of(const Setting& setting, const std::string& value) {
  switch (setting.type) {
    case SettingType::kDurationOrNone:
      if (value == kNone) return Tree::null();
      [[fallthrough]];
    case SettingType::kDuration:
      if (!parse_duration(value)) return wrong(setting, value);
      return Tree::string(value);
    case SettingType::kBytes: {
      const auto bytes = parse_bytes(value);
      if (!bytes || *bytes < 0) return wrong(setting, value);
      return Tree::number(*bytes);
    }
    case SettingType::kNumber:
      if (value.empty() || value.size() > 9 ||
          value.find_first_not_of("0123456789") != std::string::npos) {
        return wrong(setting, value);
      }
      return Tree::number(std::stoll(value));
    case SettingType::kProject:
      break;
  }
  if (value.empty()) return wrong(setting, value);
  return Tree::string(value);
}

}  // namespace

std::span<const Setting> settings() {
  return kSettings;
}

std::string_view allowed(SettingType type) {
  switch (type) {
    case SettingType::kDuration:
      return "a duration, such as 12h or 30d";
    case SettingType::kDurationOrNone:
      return "a duration, such as 12h or 30d, or none";
    case SettingType::kBytes:
      return "a size of at least 64Ki, such as 64Mi or 1Gi";
    case SettingType::kNumber:
      return "a whole number from 0 to 999999999";
    case SettingType::kProject:
      return "the name of a project";
  }
  return {};
}

std::string_view unit(SettingType type) {
  switch (type) {
    case SettingType::kDuration:
    case SettingType::kDurationOrNone:
      return "duration";
    case SettingType::kBytes:
      return "bytes";
    case SettingType::kNumber:
      return "number";
    case SettingType::kProject:
      return "project";
  }
  return {};
}

Result<const Setting*> find_setting(std::string_view name) {
  std::vector<std::string> names;
  for (const Setting& setting : kSettings) {
    if (setting.name == name) return &setting;
    names.emplace_back(setting.name);
  }
  const std::string near = nearest_name(name, names);
  return fail(ErrorCode::kNotFound,
              "there is no setting \"" + std::string(name) + "\"; there is " + listing(names),
              near.empty() ? "see: fairlead settings" : "did you mean " + near + "?");
}

Result<Tree> settings_patch(const std::vector<std::string>& words) {
  Tree patch = Tree::map();
  std::vector<std::string_view> seen;
  for (const std::string& word : words) {
    const std::size_t at = word.find('=');
    const std::string name = word.substr(0, at);
    FAIRLEAD_ASSIGN(const Setting* const setting, find_setting(name));
    if (at == std::string::npos) {
      return fail(
          Error{ErrorCode::kInvalidArgument,
                "\"" + word + "\" states no value",
                {},
                name,
                "write " + name + "=VALUE, which is " + std::string(allowed(setting->type))});
    }
    if (std::find(seen.begin(), seen.end(), setting->name) != seen.end()) {
      return fail(
          Error{ErrorCode::kInvalidArgument, "it is stated twice", {}, name, "state it once"});
    }
    seen.push_back(setting->name);
    FAIRLEAD_ASSIGN(Tree value, value_of(*setting, word.substr(at + 1)));
    patch.add(name, std::move(value));
  }
  return patch;
}

}  // namespace fairlead::cli
