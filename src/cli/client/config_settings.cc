#include "cli/client/config_settings.h"

#include <algorithm>

#include "base/nearest.h"
#include "cli/client/config_file.h"

namespace fairlead::cli {
namespace {

std::unexpected<Error> no_context(const ClientConfig& config, const std::string& name) {
  std::vector<std::string> names;
  for (const ClientContext& context : config.contexts) names.push_back(context.name);
  return fail(ErrorCode::kNotFound,
              "there is no context \"" + name + "\"" +
                  (names.empty() ? "" : "; there is " + listing(names)),
              "login makes one");
}

}  // namespace

Result<std::string> use_project(const std::string& name) {
  FAIRLEAD_ASSIGN(ClientConfig config, read_config(config_path()));
  config.make_in_use().project = name;
  FAIRLEAD_TRY(write_config(config_path(), config));
  return "The project is " + name + "\n";
}

Result<std::string> use_context(const std::string& name) {
  FAIRLEAD_ASSIGN(ClientConfig config, read_config(config_path()));
  if (config.find(name) == nullptr) return no_context(config, name);
  config.current = name;
  FAIRLEAD_TRY(write_config(config_path(), config));
  return "The context is " + name + "\n";
}

Result<std::string> delete_context(const std::string& name) {
  FAIRLEAD_ASSIGN(ClientConfig config, read_config(config_path()));
  if (config.find(name) == nullptr) return no_context(config, name);
  std::erase_if(config.contexts, [&](const ClientContext& one) { return one.name == name; });
  if (config.current == name) config.current.clear();
  FAIRLEAD_TRY(write_config(config_path(), config));
  return "Context " + name + " is forgotten\n";
}

Result<std::string> view_config() {
  FAIRLEAD_ASSIGN(const ClientConfig config, read_config(config_path()));
  return "# " + config_path() + "\n" + config_text(config, false);
}

Result<void> keep_login(const std::string& context, const std::string& server,
                        const std::string& token) {
  FAIRLEAD_ASSIGN(ClientConfig config, read_config(config_path()));
  if (!context.empty()) config.current = context;
  ClientContext& kept = config.make_in_use();
  kept.server = server;
  kept.token = token;
  return write_config(config_path(), config);
}

Result<bool> forget_token() {
  FAIRLEAD_ASSIGN(ClientConfig config, read_config(config_path()));
  if (config.in_use().token.empty()) return false;
  config.make_in_use().token.clear();
  FAIRLEAD_TRY(write_config(config_path(), config));
  return true;
}

}  // namespace fairlead::cli
