// Lists of what the server keeps, once or whenever something changes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/app.h"
#include "cli/client/api_client.h"
#include "cli/output.h"

namespace fairlead::cli {

// What can be listed and described, by the words people use.
struct Resource {
  std::string_view name;        // "jobs"
  std::string_view singular;    // "job"
  std::string_view collection;  // in paths: "workloads"
  std::string_view kind;        // of watch; empty: cannot be watched
};
inline constexpr Resource kResources[] = {
    {"jobs", "job", "workloads", "workload"},
    {"nodes", "node", "nodes", "node"},
    {"projects", "project", "projects", "project"},
    {"departments", "department", "departments", "department"},
    {"nodepools", "nodepool", "node-pools", "node-pool"},
    {"reservations", "reservation", "reservations", "reservation"},
    {"devices", "device", "devices", ""},
    {"users", "user", "users", ""},
    {"tokens", "token", "tokens", ""},
    {"events", "event", "events", "event"}};
// By either word. Requires: it is one.
const Resource& resource_of(std::string_view word);

struct ListOptions {
  ConnectionFlags connection;
  std::string project;
  bool all_projects = false;
  std::string phase;
  std::vector<std::string> types;  // of workloads; empty: all
  std::string name;                // only this one
  bool watch = false;
  OutputFormat format = OutputFormat::kTable;
};

int list(const Resource& resource, const ListOptions& options, CliContext& context);

// The project that is meant: stated, else of the context; "" with -A.
std::string meant_project(const ListOptions& options, const Connection& connection);

}  // namespace fairlead::cli
