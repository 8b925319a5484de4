// Any text: the document reader neither crashes nor accepts what it cannot print and read again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>

#include "model/cluster_printer.h"
#include "model/cluster_reader.h"

namespace {

// Small, so that a short input does not make a cluster of a million devices.
constexpr fairlead::DocumentLimits kDocument{std::size_t{1} << 20, 50'000, 64};
constexpr fairlead::ClusterLimits kCluster{200, 2'000, 1'000'000};

void expect_same(const fairlead::ClusterSpec& cluster, const std::string& text, const char* file) {
  const auto document = fairlead::Document::parse(text, file);
  if (!document) {
    std::cerr << "printed text cannot be read: " << document.error().front().text() << "\n" << text;
    std::abort();
  }
  const auto again = fairlead::parse_cluster(*document, kCluster);
  if (again && again->cluster == cluster) return;
  if (!again) std::cerr << again.error().front().text() << "\n";
  std::cerr << "printed text reads as something else\n" << text;
  std::abort();
}

void check(std::string_view text, const char* file) {
  const auto document = fairlead::Document::parse(text, file, kDocument);
  if (!document) return;
  for (const fairlead::Value& root : document->roots()) {
    // Paths of the innermost first and last values.
    const fairlead::Value* at = &root;
    while (!at->items().empty()) at = &at->items().back();
    (void)at->path();
    (void)at->brief();
  }
  const auto read = fairlead::parse_cluster(*document, kCluster);
  if (!read || !read->has_cluster) return;
  const fairlead::Tree tree = fairlead::cluster_tree(read->cluster);
  expect_same(read->cluster, fairlead::to_yaml(tree), "printed.yaml");
  expect_same(read->cluster, fairlead::to_json(tree), "printed.json");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check(text, "input.yaml");
  check(text, "input.json");
  return 0;
}
