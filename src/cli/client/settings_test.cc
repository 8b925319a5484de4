// fairlead settings: what the table says, what is sent, and what is refused before anybody is
// asked.
#include "cli/client/settings.h"

#include <gtest/gtest.h>

#include "cli/client/fake_server_testing.h"

namespace fairlead::cli {
namespace {

using testing::FakeServer;
using testing::Ran;
using testing::run_client;

constexpr const char* kSettings = R"({"revision": 4, "document": {"retention": "30d",
    "logBytes": 67108864, "defaultProject": "main", "young": "yes"}})";

TEST(Settings, AreListedWithMeaningAndDefault) {
  FakeServer server;
  server.answer("GET /api/v1/settings", kSettings);
  const Ran ran = run_client(server, {"settings"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.out.substr(0, ran.out.find("MEANING")),
            "NAME                VALUE  DEFAULT  UNIT      ");
  EXPECT_NE(ran.out.find("logBytes            64Mi   64Mi     bytes     Output kept"),
            std::string::npos)
      << ran.out;
  EXPECT_NE(ran.out.find("trainingTimeLimit   none   none     duration"), std::string::npos);
  EXPECT_NE(ran.out.find("young               yes"), std::string::npos) << "a younger server's";
  EXPECT_EQ(run_client(server, {"settings", "list"}).out, ran.out);
  EXPECT_EQ(run_client(server, {"settings", "get", "retention"}).out, "30d\n");
}

TEST(Settings, AreSetAgainstWhatWasRead) {
  FakeServer server;
  server.answer("GET /api/v1/settings", kSettings, 200, "\"4\"");
  server.answer("PATCH /api/v1/settings", R"({"revision": 5, "document": {"retention": "9d",
      "logBytes": 134217728, "defaultProject": "main"}})");
  const Ran ran = run_client(
      server, {"settings", "set", "retention=9d", "logBytes=128Mi", "trainingTimeLimit=none"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.out,
            "retention  30d → 9d\nlogBytes  64Mi → 128Mi\ntrainingTimeLimit  none → none\n");
  EXPECT_EQ(server.last("PATCH /api/v1/settings").if_match, "\"4\"");
  EXPECT_EQ(server.last("PATCH /api/v1/settings").body,
            "{\n  \"retention\": \"9d\",\n  \"logBytes\": 134217728,\n"
            "  \"trainingTimeLimit\": null\n}\n");
}

TEST(Settings, ThatAreWrongNameWhatIsAllowed) {
  FakeServer server;
  const auto refused = [&](const std::string& word, int status, const std::string& part) {
    const Ran ran = run_client(server, {"settings", "set", word});
    EXPECT_EQ(ran.status, status) << word;
    EXPECT_NE(ran.err.find(part), std::string::npos) << ran.err;
  };
  refused("retension=9d", 3, "did you mean retention?");
  refused("retention", 2, "write retention=VALUE, which is a duration");
  refused("retention=soon", 2, "\"soon\" is not a duration, such as 12h or 30d");
  refused("logBytes=much", 2, "\"much\" is not a size of at least 64Ki");
  refused("defaultProject=", 2, "is not the name of a project");
  EXPECT_EQ(run_client(server, {"settings", "get", "x"}).status, 3);
  EXPECT_TRUE(server.asked().empty()) << "nobody is asked for what cannot be";
}

}  // namespace
}  // namespace fairlead::cli
