#include "store/state_dir.h"

#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace fairlead::store {
namespace {

class StateDirectory : public testing::Test {
 protected:
  StateDirectory() {
    char name[] = "/tmp/fairlead-state-XXXXXX";
    folder_ = mkdtemp(name);
  }
  ~StateDirectory() override { std::filesystem::remove_all(folder_); }
  std::string folder_;
};

TEST_F(StateDirectory, IsMadeForItsOwnerAlone) {
  const auto dir = StateDir::open(folder_ + "/a/b/state");
  ASSERT_TRUE(dir) << dir.error().text();
  struct stat info{};
  ASSERT_EQ(stat(dir->path().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
}

TEST_F(StateDirectory, HasOneServerAtATime) {
  {
    const auto first = StateDir::open(folder_ + "/state");
    ASSERT_TRUE(first);
    const auto second = StateDir::open(folder_ + "/state");
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, ErrorCode::kConflict);
    EXPECT_NE(second.error().message.find("process " + std::to_string(getpid())),
              std::string::npos);
  }
  EXPECT_TRUE(StateDir::open(folder_ + "/state")) << "the lock ends with its holder";
}

TEST_F(StateDirectory, IsRefusedIfOthersMayWriteToIt) {
  std::filesystem::create_directory(folder_ + "/state");
  ASSERT_EQ(chmod((folder_ + "/state").c_str(), 0777), 0);
  const auto dir = StateDir::open(folder_ + "/state");
  ASSERT_FALSE(dir);
  EXPECT_EQ(dir.error().code, ErrorCode::kForbidden);
}

TEST_F(StateDirectory, IsAskedForWhereNoneIsKnown) {
  const auto dir = StateDir::open("");
  ASSERT_FALSE(dir);
  EXPECT_EQ(dir.error().cure, "name it with --state DIR");
}

// An installation that made it with mode 0755 let everyone read everyone's variables in the store.
TEST_F(StateDirectory, IsClosedToOthersWithAllThatLiesInIt) {
  const std::string state = folder_ + "/state";
  std::filesystem::create_directories(state + "/engine/attempts");
  for (const char* file : {"/store.db", "/store.db-wal", "/server.log", "/engine/engine.lock"}) {
    std::ofstream(state + file) << "x";
    ASSERT_EQ(chmod((state + file).c_str(), 0644), 0);
  }
  ASSERT_EQ(chmod(state.c_str(), 0755), 0);
  const auto dir = StateDir::open(state);
  ASSERT_TRUE(dir) << dir.error().text();
  struct stat info{};
  for (const auto& entry : std::filesystem::recursive_directory_iterator(state)) {
    ASSERT_EQ(stat(entry.path().c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0077, 0U) << entry.path();
  }
  ASSERT_EQ(stat(state.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700U);
  ASSERT_EQ(dir->notes().size(), 2U);
  EXPECT_NE(dir->notes()[0].find("had mode 0755"), std::string::npos) << dir->notes()[0];
}

TEST_F(StateDirectory, IsRefusedWhereOthersCouldPutAnotherInItsPlace) {
  std::filesystem::create_directories(folder_ + "/open/state");
  ASSERT_EQ(chmod((folder_ + "/open").c_str(), 0777), 0);
  ASSERT_EQ(chmod((folder_ + "/open/state").c_str(), 0700), 0);
  const auto dir = StateDir::open(folder_ + "/open/state");
  ASSERT_FALSE(dir);
  EXPECT_EQ(dir.error().code, ErrorCode::kForbidden);
  // Behind a link of our own it is the same place.
  std::filesystem::create_directory_symlink(folder_ + "/open/state", folder_ + "/link");
  EXPECT_FALSE(StateDir::open(folder_ + "/link"));
  // A link to a link that lies where anyone may put another.
  std::filesystem::create_directory(folder_ + "/safe");
  std::filesystem::create_directory_symlink("../safe", folder_ + "/open/second");
  std::filesystem::create_directory_symlink("open/second", folder_ + "/first");
  const auto over = StateDir::open(folder_ + "/first");
  ASSERT_FALSE(over);
  EXPECT_NE(over.error().message.find("/open can be written to by all"), std::string::npos)
      << over.error().message;
  ASSERT_EQ(chmod((folder_ + "/open").c_str(), 01777), 0);
  EXPECT_TRUE(StateDir::open(folder_ + "/link")) << "sticky: entries are their owners'";
}

TEST_F(StateDirectory, IsRefusedBehindALinkOfSomeoneElse) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  std::filesystem::create_directory(folder_ + "/state");
  std::filesystem::create_directory_symlink(folder_ + "/state", folder_ + "/link");
  ASSERT_EQ(lchown((folder_ + "/link").c_str(), 65534, 65534), 0);
  const auto dir = StateDir::open(folder_ + "/link");
  ASSERT_FALSE(dir);
  EXPECT_EQ(dir.error().code, ErrorCode::kForbidden);
}

}  // namespace
}  // namespace fairlead::store
