// fairlead scenario run --record, fairlead replay and fairlead whatif as their users see them.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "run_with.h"

namespace fairlead::cli {
namespace {

namespace fs = std::filesystem;

class Recorded : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) /
              (std::string("fairlead-replay-") +
               ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    const Outcome outcome =
        run_with({"scenario", "run", "docs/sessions/two-teams.scn", "--record", log()});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string log() const { return (folder_ / "two-teams.log").string(); }
  std::string file(const std::string& name) const { return (folder_ / name).string(); }

  // The session of docs/replay.md, with the log where this test has it.
  std::string without_path(std::string text) const {
    for (std::size_t at; (at = text.find(log())) != std::string::npos;) {
      text.replace(at, log().size(), "two-teams.log");
    }
    return text;
  }

  fs::path folder_;
};

std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

TEST_F(Recorded, ReplaysAsRecorded) {
  const Outcome outcome = run_with({"replay", log()});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  EXPECT_NE(outcome.out.find("all as recorded, up to 4h30m, record "), std::string::npos)
      << outcome.out;
}

TEST_F(Recorded, StopsWhereAskedAndSaysWhy) {
  const Outcome outcome = run_with({"replay", log(), "--until", "30m", "--why", "night-run"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("night-run: 0 of 1 tasks run\n  no-room (6.1)"), std::string::npos)
      << outcome.out;
  EXPECT_EQ(run_with({"replay", log(), "--until", "@3"}).out.find("3 records"), log().size() + 2);
  const Outcome unknown = run_with({"replay", log(), "--why", "nigth-run", "--until", "30m"});
  EXPECT_EQ(unknown.status, 3);
  EXPECT_NE(unknown.err.find("did you mean \"night-run\"?"), std::string::npos) << unknown.err;
}

TEST_F(Recorded, ShowsWhatIsAskedFor) {
  const Outcome decisions = run_with({"replay", log(), "--show", "decisions"});
  EXPECT_NE(decisions.out.find("-> start train"), std::string::npos) << decisions.out;
  EXPECT_EQ(decisions.out.find("submitted:"), std::string::npos);
  const Outcome json = run_with({"replay", log(), "--show", "events", "-o", "json"});
  EXPECT_EQ(json.out.front(), '{');
  EXPECT_NE(json.out.find("\"asRecorded\": true"), std::string::npos);
  EXPECT_NE(json.out.find("submitted: train"), std::string::npos);
}

TEST_F(Recorded, ATornEndIsAWarning) {
  fs::resize_file(log(), fs::file_size(log()) - 3);
  const Outcome outcome = run_with({"replay", log()});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("warning: "), std::string::npos);
  EXPECT_NE(outcome.err.find("ends in the middle of a record"), std::string::npos) << outcome.err;
}

TEST_F(Recorded, DamageIsAnErrorWithItsPlace) {
  std::string bytes = text_of(log());
  bytes[100] = static_cast<char>(bytes[100] ^ 1);
  std::ofstream(log(), std::ios::binary) << bytes;
  for (const auto& arguments :
       {std::vector<std::string>{"replay", log()}, {"whatif", log(), "--reclaim", "off"}}) {
    const Outcome outcome = run_with(arguments);
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(outcome.out, "");
    EXPECT_NE(outcome.err.find(", byte "), std::string::npos) << outcome.err;
  }
}

TEST_F(Recorded, WhatIfSaysWhatChangesForWhom) {
  const Outcome outcome = run_with({"whatif", log(), "--add-nodes", "n1"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  EXPECT_NE(outcome.out.find("GPU time used: 72.2 % → 36.1 % of 36.0 → 72.0 GPU-hours"),
            std::string::npos)
      << outcome.out;
  EXPECT_NE(outcome.out.find("night-run   analysis  3.0 h           0 s"), std::string::npos)
      << outcome.out;
}

TEST_F(Recorded, WhatIfAsPageAndAsObject) {
  const std::string page = file("whatif.html");
  const Outcome outcome = run_with(
      {"whatif", log(), "--remove-nodes", "1", "--at", "30m", "-o", "json", "--html", page});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("\"notAsRecorded\": 0"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("\"never\": 2"), std::string::npos) << outcome.out;
  const std::string html = text_of(page);
  EXPECT_TRUE(html.starts_with("<!doctype html>")) << html.substr(0, 40);
  EXPECT_NE(html.find("Who loses most"), std::string::npos);
  EXPECT_EQ(html.find("http://"), html.find("http://www.w3.org")) << "nothing is fetched";
}

TEST_F(Recorded, WhatIfOfOneMoreWorkload) {
  const Outcome outcome =
      run_with({"whatif", log(), "--submit", "tests/documents/valid/whatif.yaml", "--at", "30m"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("extra would start after waiting 2.5 h"), std::string::npos)
      << outcome.out;
}

TEST_F(Recorded, WrongChangesAreRefusedBeforeAnythingIsWritten) {
  const std::string page = file("never.html");
  const auto refused = [&](std::vector<std::string> change, int status, const std::string& part) {
    std::vector<std::string> arguments{"whatif", log(), "--html", page};
    arguments.insert(arguments.end(), change.begin(), change.end());
    const Outcome outcome = run_with(arguments);
    EXPECT_EQ(outcome.status, status) << outcome.err;
    EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_FALSE(fs::exists(page));
  };
  refused({}, 2, "nothing is changed");
  refused({"--add-nodes", "0xn1"}, 2, "--add-nodes");
  refused({"--add-nodes", "2xn9"}, 3, "did you mean \"n1\"?");
  refused({"--remove-nodes", "n1,n1"}, 2, "each once");
  refused({"--set-quota", "trainig=4"}, 3, "did you mean \"training\"?");
  refused({"--set-quota", "training"}, 2, "write team-a=16");
  refused({"--at", "9h", "--add-nodes", "n1"}, 2, "--at");
  refused({"--at", "1h", "--placement", "fgd"}, 2, "hold from the beginning");
  refused({"--placement", "best"}, 2, "best");
  refused({"--submit", "tests/documents/valid/small.yaml"}, 2, "holds no workloads alone");
}

TEST_F(Recorded, AnOutputThatWouldReplaceTheLogIsRefused) {
  EXPECT_EQ(run_with({"replay", log(), "--output", log()}).status, 2);
  EXPECT_EQ(run_with({"whatif", log(), "--reclaim", "off", "--html", log()}).status, 2);
  EXPECT_EQ(run_with({"replay", log()}).status, 0) << "and it is whole";
}

TEST(Record, OneLogIsOfOneScenario) {
  const Outcome outcome = run_with(
      {"scenario", "run", "docs/sessions", "docs/sessions/two-teams.scn", "--record", "never.log"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.err.find("a log is of one scenario"), std::string::npos) << outcome.err;
  EXPECT_FALSE(fs::exists("never.log"));
}

TEST(Record, WhatIsNoLogIsNamed) {
  const Outcome outcome = run_with({"replay", "README.md"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.err.find("README.md: is no log of a scheduler"), std::string::npos);
  EXPECT_EQ(run_with({"replay", "no-such-file"}).status, 1);
  EXPECT_EQ(run_with({"replay", "docs"}).status, 1) << "a folder";
}

// The sessions of docs/replay.md: what stands there is what the program prints.
TEST_F(Recorded, TheSessionsOfTheGuideAreTrue) {
  std::istringstream guide(text_of("docs/replay.md"));
  std::string line;
  int sessions = 0;
  while (std::getline(guide, line)) {
    if (!line.starts_with("$ fairlead ")) continue;
    std::istringstream words(line.substr(11));
    std::vector<std::string> arguments;
    for (std::string word; words >> word;) {
      arguments.push_back(word == "two-teams.log" ? log() : word);
    }
    std::string expected;
    while (std::getline(guide, line) && line != "```") expected += line + "\n";
    const Outcome outcome = run_with(arguments);
    EXPECT_EQ(without_path(outcome.out + outcome.err), expected);
    ++sessions;
  }
  EXPECT_GE(sessions, 4);
}

}  // namespace
}  // namespace fairlead::cli
