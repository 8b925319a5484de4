// Creating, changing and deleting one thing of the server by the fields that a person states.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/app.h"
#include "cli/client/connection.h"
#include "model/document.h"
#include "model/tree.h"

namespace fairlead::cli {

// Fields of a document: "rank", or with a dot one key of a map: "quota.gpu" leaves "quota.cpu".
using Fields = std::vector<std::pair<std::string, Tree>>;

// The document with these fields instead of its own.
Tree with_fields(const Value& document, const Fields& fields);
// A document of these alone.
Tree of_fields(const std::string& name, const Fields& fields);

// `collection` as in paths. Each says what it did and returns the exit status.
int create_item(const std::string& collection, const std::string& name, const Fields& fields,
                const ConnectionFlags& connection, CliContext& context);
// Reads it, changes it, and writes it if nobody else has meanwhile.
int update_item(const std::string& collection, const std::string& name, const Fields& fields,
                const ConnectionFlags& connection, CliContext& context);
int delete_item(const std::string& collection, const std::string& name,
                const ConnectionFlags& connection, CliContext& context);

}  // namespace fairlead::cli
