// Documents in files as what the server keeps: workloads, projects, departments, node pools, users.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/app.h"
#include "cli/client/connection.h"
#include "model/document.h"

namespace fairlead::cli {

enum class ApplyMode : std::uint8_t {
  kCreate,  // what there is already is an error
  kApply,   // what there is already is replaced, where it can be
};

// All files are read before the first document is sent; the first that fails ends it. `project` is
// that of workloads that state none. Returns the exit status.
int apply_files(const std::vector<std::string>& files, const ConnectionFlags& connection,
                const std::string& project, bool dry_run, ApplyMode mode, CliContext& context);

// A document as it is sent: without apiVersion and kind; `project` is added where it states none.
std::string body_of(const Value& document, const std::string& project);

}  // namespace fairlead::cli
