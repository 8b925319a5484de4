// The settings of a server (GET and PATCH /settings): what each means, and how one is written.
//
// A server may have others than these (it may be younger): they are shown with what it says.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/tree.h"

namespace fairlead::cli {

enum class SettingType : std::uint8_t { kDuration, kDurationOrNone, kBytes, kNumber, kProject };

struct Setting {
  std::string_view name;  // as in the API
  std::string_view what;
  SettingType type;
  std::string_view default_value;  // as `set` takes it
};

// In the order of the API.
std::span<const Setting> settings();

// "a duration, such as 12h or 30d"
std::string_view allowed(SettingType type);
// What a value counts: "duration", "bytes", "project".
std::string_view unit(SettingType type);

// A change of settings of words NAME=VALUE, as PATCH takes it. Errors: kInvalidArgument, naming the
// setting, the value and what is allowed; kNotFound with the nearest name.
Result<Tree> settings_patch(const std::vector<std::string>& words);

// Error: kNotFound with the nearest name, and all there are.
Result<const Setting*> find_setting(std::string_view name);

}  // namespace fairlead::cli
