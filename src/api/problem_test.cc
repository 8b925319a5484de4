#include "api/problem.h"

#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "model/document.h"

namespace fairlead::api {
namespace {

std::string text_at(const net::Response& response, std::string_view field) {
  const auto document = Document::parse(response.body, "problem.json");
  EXPECT_TRUE(document) << response.body;
  const Value* value = document ? document->roots()[0].find(field) : nullptr;
  return value == nullptr ? "" : value->text();
}

TEST(Problem, SaysWhatAndHowToMendIt) {
  const auto response =
      problem({ErrorCode::kNotFound, "there is no \"x\"", "job.yaml:3", "name", "try y"}, "req-1");
  EXPECT_EQ(response.status, 404);
  EXPECT_EQ(response.headers.find("Content-Type"), "application/problem+json");
  EXPECT_EQ(text_at(response, "type"), "urn:fairlead:problem:not-found");
  EXPECT_EQ(text_at(response, "title"), "Not found");
  EXPECT_EQ(text_at(response, "status"), "404");
  EXPECT_EQ(text_at(response, "code"), "not-found");
  EXPECT_EQ(text_at(response, "detail"), "name: there is no \"x\"");
  EXPECT_EQ(text_at(response, "cure"), "try y");
  EXPECT_EQ(text_at(response, "requestId"), "req-1");
}

TEST(Problem, ListsEachOfSeveral) {
  const std::vector<Error> errors{{ErrorCode::kInvalidArgument, "one", {}, "a", {}},
                                  {ErrorCode::kOutOfRange, "two", {}, "b", "less"}};
  const auto response = problem(errors, "r");
  EXPECT_EQ(text_at(response, "detail"), "a: one (and 1 more)");
  const auto document = Document::parse(response.body, "problem.json");
  ASSERT_TRUE(document);
  const Value* list = document->roots()[0].find("errors");
  ASSERT_NE(list, nullptr);
  ASSERT_EQ(list->items().size(), 2U);
  EXPECT_EQ(list->items()[1].find("field")->text(), "b");
  EXPECT_EQ(list->items()[1].find("detail")->text(), "two");
  EXPECT_EQ(list->items()[1].find("cure")->text(), "less");
}

// A client that reads the status alone must not be misled: each code has one that says "no".
TEST(Problem, EachCodeIsAClientsOrAServersError) {
  for (const ErrorCode code :
       {ErrorCode::kInvalidArgument, ErrorCode::kOutOfRange, ErrorCode::kNotFound,
        ErrorCode::kAlreadyExists, ErrorCode::kImpossible, ErrorCode::kConflict, ErrorCode::kIo,
        ErrorCode::kFailed, ErrorCode::kUnauthenticated, ErrorCode::kForbidden, ErrorCode::kStale,
        ErrorCode::kUnguarded, ErrorCode::kUnavailable, ErrorCode::kTooLarge,
        ErrorCode::kTimeout}) {
    const auto response = problem({code, "no", {}, {}, {}}, "r");
    EXPECT_GE(response.status, 400);
    EXPECT_LT(response.status, 600);
    EXPECT_EQ(text_at(response, "code"), error_code_name(code));
  }
}

TEST(Problem, SaysWhenToComeAgainAndHowToSignIn) {
  const auto busy = problem({ErrorCode::kUnavailable, "not now", {}, {}, {}}, "r");
  EXPECT_EQ(busy.status, 503);
  EXPECT_EQ(busy.headers.find("Retry-After"), "1");
  EXPECT_EQ(text_at(busy, "retryAfterMs"), "1000");
  const auto stranger = problem({ErrorCode::kUnauthenticated, "who?", {}, {}, {}}, "r");
  EXPECT_EQ(stranger.status, 401);
  EXPECT_EQ(stranger.headers.find("WWW-Authenticate"), "Bearer realm=\"fairlead\"");
}

}  // namespace
}  // namespace fairlead::api
