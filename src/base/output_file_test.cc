#include "base/output_file.h"

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace fairlead {
namespace {

namespace fs = std::filesystem;

class OutputFileTest : public ::testing::Test {
 protected:
  OutputFileTest() {
    std::string pattern = (fs::temp_directory_path() / "fairlead-output-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~OutputFileTest() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  static std::string contents(const std::string& file) {
    std::stringstream out;
    out << std::ifstream(file).rdbuf();
    return out.str();
  }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), {}));
  }

  fs::path folder_;
};

TEST_F(OutputFileTest, AppearsWhole) {
  ASSERT_TRUE(write_file(path("out"), "hello").has_value());
  EXPECT_EQ(contents(path("out")), "hello");
  EXPECT_EQ(files(), 1U);
}

TEST_F(OutputFileTest, WithoutCommitTheOldOneStaysAndNothingIsLeft) {
  ASSERT_TRUE(write_file(path("out"), "old").has_value());
  {
    auto out = OutputFile::create(path("out"));
    ASSERT_TRUE(out.has_value());
    out->write("half of the n");
  }
  EXPECT_EQ(contents(path("out")), "old");
  EXPECT_EQ(files(), 1U);
}

// A process that was ended while it wrote once left "out.kvlHcI" behind.
TEST_F(OutputFileTest, AProcessThatIsKilledLeavesNothing) {
  if (const int probe = ::open(folder_.c_str(), O_TMPFILE | O_WRONLY, 0600); probe >= 0) {
    ::close(probe);
  } else {
    GTEST_SKIP() << "this file system knows no files without a name";
  }
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    auto out = OutputFile::create(path("out"));
    out->write(std::string(1 << 20, 'x'));
    ::kill(::getpid(), SIGKILL);
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_EQ(files(), 0U);
}

TEST_F(OutputFileTest, OfTwoThatWriteOneTheLastWins) {
  auto first = OutputFile::create(path("out"));
  auto second = OutputFile::create(path("out"));
  first->write("first");
  second->write("second");
  ASSERT_TRUE(first->commit().has_value());
  ASSERT_TRUE(second->commit().has_value());
  EXPECT_EQ(contents(path("out")), "second");
  EXPECT_EQ(files(), 1U);
}

TEST_F(OutputFileTest, AMissingFolderIsNamedWithItsCure) {
  const auto out = OutputFile::create(path("no/such/out"));
  ASSERT_FALSE(out.has_value());
  EXPECT_EQ(out.error().code, ErrorCode::kIo);
  EXPECT_NE(out.error().text().find("no/such"), std::string::npos);
  EXPECT_NE(out.error().cure.find("mkdir -p"), std::string::npos);
}

TEST_F(OutputFileTest, AFolderIsNoFile) {
  const auto out = OutputFile::create(folder_.string());
  ASSERT_FALSE(out.has_value());
  EXPECT_NE(out.error().text().find("is a folder"), std::string::npos);
}

TEST_F(OutputFileTest, ALinkStaysALink) {
  ASSERT_TRUE(write_file(path("real"), "old").has_value());
  fs::create_symlink(path("real"), path("link"));
  ASSERT_TRUE(write_file(path("link"), "new").has_value());
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(contents(path("real")), "new");
}

TEST_F(OutputFileTest, PermissionsOfTheOldFileAreKept) {
  ASSERT_TRUE(write_file(path("out"), "old").has_value());
  fs::permissions(path("out"), fs::perms::owner_read | fs::perms::owner_write);
  ASSERT_TRUE(write_file(path("out"), "new").has_value());
  EXPECT_EQ(fs::status(path("out")).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(OutputFileTest, AFullDeviceIsAnError) {
  if (!fs::exists("/dev/full")) GTEST_SKIP();
  const auto written = write_file("/dev/full", "data");
  ASSERT_FALSE(written.has_value());
  EXPECT_EQ(written.error().code, ErrorCode::kIo);
}

TEST_F(OutputFileTest, ADeviceIsWrittenTo) {
  EXPECT_TRUE(write_file("/dev/null", "data").has_value());
}

}  // namespace
}  // namespace fairlead
