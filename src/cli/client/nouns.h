// Verbs below nouns that stand for one collection of the API: list, delete.
#pragma once

#include <string>

#include "cli/app.h"

namespace fairlead::cli {

// list_command.cc; `resource` is a word of kResources.
void add_resource_list_verb(CLI::App& parent, const std::string& resource, CliContext& context);
// organization_command.cc; `word` is what the argument is called.
void add_item_delete_verb(CLI::App& parent, const std::string& collection, const char* word,
                          CliContext& context);
// login_command.cc
void add_project_set_verb(CLI::App& noun, CliContext& context);

}  // namespace fairlead::cli
