#include "api/query.h"

#include <gtest/gtest.h>

namespace fairlead::api {
namespace {

net::Target target(const std::string& query) {
  auto parsed = net::parse_target("/x?" + query);
  EXPECT_TRUE(parsed) << parsed.error().text();
  return parsed.value_or(net::Target{});
}

TEST(Query, GivesWhatIsAskedForByName) {
  const net::Target t = target("name=a%20b&follow=true&limit=7&word=x&word=y&phase=running,ended");
  Query query(t);
  EXPECT_EQ(query.text("name"), "a b");
  EXPECT_TRUE(query.boolean("follow"));
  EXPECT_EQ(query.integer("limit", 1, 10, 5), 7);
  EXPECT_EQ(query.texts("word"), (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(query.words("phase", {"running", "ended"}),
            (std::vector<std::string>{"running", "ended"}));
  EXPECT_TRUE(query.done());
}

TEST(Query, HasAValueForWhatIsLeftOut) {
  const net::Target t = target("");
  Query query(t);
  EXPECT_EQ(query.text("name"), std::nullopt);
  EXPECT_FALSE(query.boolean("follow"));
  EXPECT_EQ(query.integer("limit", 1, 10, 5), 5);
  EXPECT_TRUE(query.texts("word").empty());
  EXPECT_TRUE(query.words("phase", {"running"}).empty());
  EXPECT_TRUE(query.done());
}

TEST(Query, RefusesWhatNobodyAskedForAndNamesTheNearest) {
  const net::Target t = target("folow=true");
  Query query(t);
  query.boolean("follow");
  const auto done = query.done();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().field, "folow");
  EXPECT_EQ(done.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(done.error().cure, "did you mean \"follow\"?");
}

TEST(Query, RefusesWhatIsGivenTwice) {
  const net::Target t = target("name=a&name=b");
  Query query(t);
  query.text("name");
  EXPECT_FALSE(query.done());
}

TEST(Query, RefusesANumberThatIsNoneOrLiesOutside) {
  for (const char* value : {"", "x", "0", "11", "5x", "+5", "5.0", "-1", "99999999999999999999"}) {
    const net::Target t = target("limit=" + std::string(value));
    Query query(t);
    EXPECT_EQ(query.integer("limit", 1, 10, 5), 5) << value;
    const auto done = query.done();
    ASSERT_FALSE(done) << value;
    EXPECT_EQ(done.error().field, "limit");
  }
}

TEST(Query, RefusesWhatIsNeitherTrueNorFalse) {
  for (const char* value : {"", "1", "yes", "TRUE"}) {
    const net::Target t = target("follow=" + std::string(value));
    Query query(t);
    EXPECT_FALSE(query.boolean("follow")) << value;
    EXPECT_FALSE(query.done()) << value;
  }
}

TEST(Query, RefusesWordsThatAreNotAllowed) {
  for (const char* value : {"", "run", "running,", ",running", "running,x", "running%20"}) {
    const net::Target t = target("phase=" + std::string(value));
    Query query(t);
    query.words("phase", {"running", "ended"});
    EXPECT_FALSE(query.done()) << value;
  }
}

TEST(Query, RefusesATextThatIsTooLong) {
  const net::Target t = target("name=abcd");
  Query query(t);
  EXPECT_EQ(query.text("name", 3), std::nullopt);
  EXPECT_FALSE(query.done());
}

// The first of two mistakes is told.
TEST(Query, TellsTheFirstMistake) {
  const net::Target t = target("unknown=1&limit=x");
  Query query(t);
  query.integer("limit", 1, 10, 5);
  EXPECT_EQ(query.done().error().field, "limit");
}

}  // namespace
}  // namespace fairlead::api
