// Answers, problems and pages; what is said where nobody answers.
#include "cli/client/api_client.h"

#include <gtest/gtest.h>

#include "cli/client/answer.h"
#include "cli/client/fake_server_testing.h"

namespace fairlead::cli {
namespace {

using testing::FakeServer;
using testing::Ran;
using testing::run_client;

ApiClient client_of(const FakeServer& server) {
  Connection connection;
  connection.socket = server.socket();
  connection.token = "t0ken";
  return ApiClient(connection);
}

TEST(ApiClient, SendsTokenAndEncodedNames) {
  FakeServer server;
  server.answer("GET /api/v1/nodes/a%2Fb", R"({"name": "a/b"})", 200, "\"7\"");
  auto api = client_of(server);
  const auto reply = api.get(api_path({"nodes", "a/b"}), {{"x", "1&2"}});
  ASSERT_TRUE(reply.has_value()) << reply.error().text();
  EXPECT_EQ(reply->etag, "\"7\"");
  EXPECT_EQ(text_at(reply->root(), "name"), "a/b");
  EXPECT_EQ(server.asked().back().token, "t0ken");
  EXPECT_EQ(server.asked().back().target, "/api/v1/nodes/a%2Fb?x=1&2");
}

TEST(ApiClient, ListsAllPages) {
  FakeServer server;
  server.answer("GET /api/v1/nodes", R"({"items": [{"name": "a"}], "nextPageToken": "two"})");
  server.answer("GET /api/v1/nodes", R"({"items": [{"name": "b"}]})");
  auto api = client_of(server);
  const auto listing = api.list(api_path({"nodes"}));
  ASSERT_TRUE(listing.has_value());
  ASSERT_EQ(listing->items.size(), 2U);
  EXPECT_EQ(text_at(*listing->items[1], "name"), "b");
  EXPECT_NE(server.asked().back().target.find("pageToken=two"), std::string::npos);
  EXPECT_EQ(
      listing->json(),
      "{\n  \"items\": [\n    {\n      \"name\": \"a\"\n    },\n    {\n      \"name\": \"b\"\n"
      "    }\n  ]\n}\n");
}

TEST(ApiClient, OnePageIsPrintedAsItCame) {
  FakeServer server;
  server.answer("GET /api/v1/nodes", R"({"items":[ ],"later":1.50})");
  auto api = client_of(server);
  EXPECT_EQ(api.list(api_path({"nodes"}))->json(), R"({"items":[ ],"later":1.50})");
}

TEST(ErrorOf, TakesCodeCureAndFieldOfAProblem) {
  const Error error =
      error_of(422,
               R"({"type": "urn:x", "title": "Impossible", "status": 422, "code": "impossible",
          "detail": "no node has 16 GPUs", "cure": "ask for 8",
          "errors": [{"field": "gpu", "detail": "at most 8", "cure": "ask for --gpu 8"}]})",
               "/api/v1/workloads");
  EXPECT_EQ(error.code, ErrorCode::kImpossible);
  EXPECT_EQ(error.text(), "gpu: at most 8; ask for --gpu 8");
  const Error several = error_of(400, R"({"code": "invalid-argument", "detail": "two are wrong",
      "errors": [{"field": "a", "detail": "x"}, {"detail": "y"}]})",
                                 "/p");
  EXPECT_EQ(several.text(), "two are wrong; a: x; y");
}

struct StatusCase {
  int status;
  const char* body;
  int exit_status;
};

TEST(ErrorOf, EveryStatusHasItsExitStatus) {
  constexpr StatusCase kCases[] = {
      {400, "", 2},
      {401, "", 4},
      {403, "", 4},
      {404, "", 3},
      {409, "", 5},
      {412, "", 5},
      {413, "", 2},
      {422, R"({"code": "impossible", "detail": "x"})", 6},
      {422, R"({"code": "of-a-later-version", "detail": "x"})", 2},
      {409, R"({"code": "already-exists", "detail": "x"})", 2},
      {412, R"({"code": "stale", "detail": "x"})", 5},
      {504, R"({"code": "timeout", "detail": "x"})", 124},
      {503, "<html>", 1},
      {500, "", 1},
  };
  for (const StatusCase& one : kCases) {
    const Error error = error_of(one.status, one.body, "/p");
    EXPECT_EQ(exit_code(error.code), one.exit_status) << one.status << " " << one.body;
    EXPECT_NE(error.message, "");
  }
}

TEST(ApiClient, NobodyAnsweringSaysWhereAndWhatToDo) {
  FakeServer server;
  const Ran ran = run_client(server, {"list", "--server", "unix:/nonexistent/x.sock"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(ran.err,
            "error: --server: no server answers at /nonexistent/x.sock; start one with "
            "`fairlead up`, or name another with --server\n");
}

TEST(ApiClient, WhoIsNotKnownIsToldHowToSignIn) {
  FakeServer server;
  server.answer("GET /api/v1/workloads",
                R"({"code": "unauthenticated", "detail": "unknown token"})", 401);
  const Ran ran = run_client(server, {"list"});
  EXPECT_EQ(ran.status, 4);
  EXPECT_EQ(ran.err, "error: unknown token; sign in: fairlead login\n");
}

TEST(ApiClient, ServerSentEventsAreReadWhole) {
  FakeServer server;
  server.answer_text("GET /api/v1/watch",
                     ": hello\n\nid: 1\nevent: added\ndata: {\ndata: }\n\ndata: x\n\n");
  auto api = client_of(server);
  std::vector<std::string> seen;
  const auto done = api.events(api_path({"watch"}), {}, [&](auto name, auto data) {
    seen.push_back(std::string(name) + "|" + std::string(data));
    return true;
  });
  ASSERT_TRUE(done.has_value()) << done.error().text();
  EXPECT_EQ(seen, (std::vector<std::string>{"added|{\n}", "message|x"}));
}

}  // namespace
}  // namespace fairlead::cli
