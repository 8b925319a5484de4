// Changes of what is kept for a person (config_file.h). Each says what it did.
#pragma once

#include <string>

#include "base/result.h"

namespace fairlead::cli {

Result<std::string> use_project(const std::string& name);
// Errors: kNotFound, naming those that there are.
Result<std::string> use_context(const std::string& name);
Result<std::string> delete_context(const std::string& name);
Result<std::string> view_config();

// In the context of this name, or in the current one; it is the current one then.
Result<void> keep_login(const std::string& context, const std::string& server,
                        const std::string& token);
// Of the current context. False if there was none.
Result<bool> forget_token();

}  // namespace fairlead::cli
