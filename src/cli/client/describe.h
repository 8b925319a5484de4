// One thing of the server with its parts: describe.
#pragma once

#include <string>

#include "cli/app.h"
#include "cli/client/connection.h"
#include "cli/output.h"

namespace fairlead::cli {

struct DescribeOptions {
  ConnectionFlags connection;
  std::string project;
  std::string name;
  OutputFormat format = OutputFormat::kTable;
};

int describe_workload(const DescribeOptions& options, CliContext& context);
// `collection` as in paths: nodes, projects, departments, node-pools, reservations, users.
int describe_item(const std::string& collection, const DescribeOptions& options,
                  CliContext& context);

// describe_command.cc: below a noun.
void add_item_describe_verb(CLI::App& parent, const std::string& collection, CliContext& context);

}  // namespace fairlead::cli
