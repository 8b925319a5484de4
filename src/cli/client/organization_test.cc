// What administrators do to nodes.
#include <gtest/gtest.h>

#include "cli/client/fake_server_testing.h"

namespace fairlead::cli {
namespace {

using testing::FakeServer;
using testing::Ran;
using testing::run_client;
using testing::workload_json;

constexpr const char* kNode = R"({"name": "gpu01", "revision": 3, "schedulable": true})";

std::string items(const std::string& list) {
  return R"({"items": [)" + list + R"(], "revision": 9})";
}

TEST(Node, IsChangedByWhatIsStated) {
  FakeServer server;
  server.answer("GET /api/v1/nodes/gpu01", kNode, 200, "\"3\"");
  server.answer("PATCH /api/v1/nodes/gpu01", kNode);
  const Ran ran = run_client(
      server, {"node", "update", "gpu01", "--pool", "night", "-l", "rack=r7", "-l", "old-"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(server.last("PATCH /api/v1/nodes/gpu01").if_match, "\"3\"");
  EXPECT_EQ(server.last("PATCH /api/v1/nodes/gpu01").body,
            "{\n  \"pool\": \"night\",\n  \"labels\": {\n    \"rack\": \"r7\",\n"
            "    \"old\": null\n  }\n}\n");
  EXPECT_EQ(run_client(server, {"node", "update", "gpu01", "-l", "x"}).status, 2);
}

TEST(Node, IsDrainedWhenNothingRunsThere) {
  FakeServer server;
  server.answer("GET /api/v1/nodes/gpu01", kNode, 200, "\"3\"");
  server.answer("PATCH /api/v1/nodes/gpu01", kNode);
  server.answer("GET /api/v1/workloads",
                items(workload_json("here", "running", R"("nodes": ["gpu01"])") + "," +
                      workload_json("there", "running", R"("nodes": ["gpu02"])")));
  server.answer("GET /api/v1/workloads", items(""));
  server.answer("POST /api/v1/workloads/w-here/suspend", workload_json("here", "stopping"), 202);
  const Ran ran = run_client(server, {"node", "drain", "gpu01", "--suspend"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.out, "node gpu01 changed\nnode gpu01 is empty\n");
  EXPECT_EQ(ran.err, "suspended vision/here\n");
}

TEST(Node, StaysCordonedIfTheTimeIsOver) {
  FakeServer server;
  server.answer("GET /api/v1/nodes/gpu01", kNode, 200, "\"3\"");
  server.answer("PATCH /api/v1/nodes/gpu01", kNode);
  server.answer("GET /api/v1/workloads",
                items(workload_json("here", "running", R"("nodes": ["gpu01"])")));
  const Ran ran = run_client(server, {"node", "drain", "gpu01", "--timeout", "0s"});
  EXPECT_EQ(ran.status, 124);
  EXPECT_NE(ran.err.find("runs still vision/here; it stays cordoned: fairlead node uncordon gpu01"),
            std::string::npos)
      << ran.err;
}

}  // namespace
}  // namespace fairlead::cli
