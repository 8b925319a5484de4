// api/openapi.yaml and the table of routes say the same.
#include <algorithm>
#include <cctype>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "api/api.h"

namespace fairlead::api {
namespace {

const std::set<std::string> kPages{"GET /", "GET /login"};  // for people with a browser
const std::set<std::string> kMethods{"get", "put", "post", "delete", "patch", "head", "options"};

class Description : public ::testing::Test {
 protected:
  void SetUp() override {
    auto parsed = Document::parse(description_text(), "openapi.yaml");
    ASSERT_TRUE(parsed) << parsed.error().front().text();
    document_ = std::move(*parsed);
    paths_ = document_->roots()[0].find("paths");
    ASSERT_NE(paths_, nullptr);
  }

  template <class Visit>
  void each_operation(const Visit& visit) const {
    for (const Value& path : paths_->items()) {
      for (const Value& operation : path.items()) {
        if (kMethods.contains(operation.key())) visit(path, operation);
      }
    }
  }

  std::optional<Document> document_;
  const Value* paths_ = nullptr;
};

TEST_F(Description, HasEachRouteAndNoOther) {
  std::set<std::string> described;
  each_operation([&](const Value& path, const Value& operation) {
    std::string method = operation.key();
    std::ranges::transform(method, method.begin(), [](unsigned char c) { return std::toupper(c); });
    described.insert(method + " " + path.key());
  });
  std::set<std::string> served;
  for (const net::Route& route : Api::routes()) served.insert(route.method + " " + route.pattern);
  for (const std::string& page : kPages) EXPECT_EQ(served.erase(page), 1U) << page;
  EXPECT_EQ(described, served);
}

TEST_F(Description, NamesEachOperationOnce) {
  std::set<std::string> names;
  each_operation([&](const Value& path, const Value& operation) {
    const Value* name = operation.find("operationId");
    ASSERT_NE(name, nullptr) << path.key() << ", line " << operation.line();
    EXPECT_TRUE(names.insert(name->text()).second) << name->text();
  });
}

// "/a/{id}/b" states "id" as a parameter in its path, for all its operations.
TEST_F(Description, StatesTheParametersThatStandInAPath) {
  for (const Value& path : paths_->items()) {
    const auto in_path = std::ranges::count(path.key(), '{');
    const Value* stated = path.find("parameters");
    EXPECT_EQ(stated == nullptr ? 0 : std::ssize(stated->items()), in_path) << path.key();
  }
}

}  // namespace
}  // namespace fairlead::api
