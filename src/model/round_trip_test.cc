// What is printed reads back to an equal value, in YAML and in JSON.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "model/cluster_generator_testing.h"
#include "model/cluster_printer.h"
#include "model/cluster_reader.h"

namespace fairlead {
namespace {

void expect_reads_back(const ClusterSpec& cluster, const std::string& text, const char* file) {
  const auto read = parse_cluster(text, file);
  if (!read) {
    std::string all;
    for (const Error& error : read.error()) all += error.text() + "\n";
    RC_FAIL(all + text);
  }
  if (read->cluster == cluster) return;
  RC_FAIL("printed, read and printed again it differs:\n" + to_yaml(cluster_tree(cluster)) +
          "---\n" + to_yaml(cluster_tree(read->cluster)));
}

RC_GTEST_PROP(RoundTrip, YamlReadsBackEqual, ()) {
  const ClusterSpec cluster =
      random_cluster(*rc::gen::arbitrary<std::uint64_t>(), *rc::gen::inRange(1, 8));
  expect_reads_back(cluster, to_yaml(cluster_tree(cluster)), "cluster.yaml");
}

RC_GTEST_PROP(RoundTrip, JsonReadsBackEqual, ()) {
  const ClusterSpec cluster =
      random_cluster(*rc::gen::arbitrary<std::uint64_t>(), *rc::gen::inRange(1, 8));
  expect_reads_back(cluster, to_json(cluster_tree(cluster)), "cluster.json");
}

}  // namespace
}  // namespace fairlead
