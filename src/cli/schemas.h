// The published JSON Schemas (schemas/ at the root), held in the program. Generated at build time.
#pragma once

#include <span>
#include <string_view>

namespace fairlead::cli {

struct Schema {
  std::string_view name;  // "cluster" of cluster.schema.json
  std::string_view text;
};

// By name.
std::span<const Schema> schemas();

}  // namespace fairlead::cli
