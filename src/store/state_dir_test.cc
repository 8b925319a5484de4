#include "store/state_dir.h"

#include <filesystem>
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

}  // namespace
}  // namespace fairlead::store
