// What the command line keeps for a person: servers, tokens, and the project that is meant.
//
// $XDG_CONFIG_HOME/fairlead/config.yaml (~/.config/fairlead/config.yaml), readable by its owner
// alone; it appears whole or not at all.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace fairlead::cli {

struct ClientContext {
  std::string name;
  std::string server;   // empty: the local socket
  std::string token;    // empty: none
  std::string project;  // empty: the server's default
};

struct ClientConfig {
  std::string current;  // the context that is used; empty: none
  std::vector<ClientContext> contexts;

  const ClientContext* find(const std::string& name) const;
  // The current context, or one that says nothing.
  ClientContext in_use() const;
  // The current one to be changed; the first is called "default".
  ClientContext& make_in_use();
};

// Where it lies; "" if neither XDG_CONFIG_HOME nor HOME is set.
std::string config_path();

// No file is an empty configuration. Errors: kIo; kInvalidArgument with file and line.
Result<ClientConfig> read_config(const std::string& path);

// Makes its folder if need be. Errors: kIo.
Result<void> write_config(const std::string& path, const ClientConfig& config);

// As a document; tokens only if they are asked for.
std::string config_text(const ClientConfig& config, bool with_tokens);

}  // namespace fairlead::cli
