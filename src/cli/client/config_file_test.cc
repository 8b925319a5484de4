// What is kept for a person, and how flags, environment and file find the server together.
#include "cli/client/config_file.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "cli/client/config_settings.h"
#include "cli/client/connection.h"

namespace fairlead::cli {
namespace {

class ConfigFile : public testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        std::filesystem::temp_directory_path() / ("fairlead_config_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
    for (const char* name : {"FAIRLEAD_SERVER", "FAIRLEAD_TOKEN", "XDG_STATE_HOME"}) {
      ::unsetenv(name);
    }
    ::setenv("XDG_CONFIG_HOME", folder_.c_str(), 1);
    ::setenv("FAIRLEAD_STATE", "/state", 1);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }

  std::filesystem::path folder_;
};

TEST_F(ConfigFile, IsItsOwnersAloneEvenIfAnOlderOneWasNot) {
  ASSERT_TRUE(keep_login("", "http://127.0.0.1:7380", "t0ken").has_value());
  struct stat status{};
  ASSERT_EQ(::stat(config_path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
  ::chmod(config_path().c_str(), 0644);
  ASSERT_TRUE(use_project("vision").has_value());
  ASSERT_EQ(::stat(config_path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
  const auto config = read_config(config_path());
  ASSERT_TRUE(config.has_value());
  EXPECT_EQ(config->in_use().token, "t0ken");
  EXPECT_EQ(config->in_use().project, "vision");
}

TEST_F(ConfigFile, IsShownWithoutTokens) {
  ASSERT_TRUE(keep_login("gpu", "https://gpu.example.org", "t0ken").has_value());
  const auto text = view_config();
  ASSERT_TRUE(text.has_value());
  EXPECT_EQ(text->find("t0ken"), std::string::npos);
  EXPECT_NE(text->find("https://gpu.example.org"), std::string::npos);
}

TEST_F(ConfigFile, AMisspeltFieldIsToldWithItsLine) {
  std::filesystem::create_directories(folder_ / "fairlead");
  const std::string path = write("fairlead/config.yaml", "current: a\nkontexts: []\n");
  const auto config = read_config(path);
  ASSERT_FALSE(config.has_value());
  EXPECT_EQ(config.error().where, path + ":2");
}

TEST_F(ConfigFile, ContextsAreChosenAndForgotten) {
  ASSERT_TRUE(keep_login("a", "http://127.0.0.1:1", "one").has_value());
  ASSERT_TRUE(keep_login("b", "http://127.0.0.1:2", "two").has_value());
  ASSERT_TRUE(use_context("a").has_value());
  EXPECT_EQ(find_connection({})->url, "http://127.0.0.1:1");
  EXPECT_EQ(find_connection({{}, {}, "b"})->token, "two");
  EXPECT_EQ(use_context("c").error().code, ErrorCode::kNotFound);
  ASSERT_TRUE(delete_context("a").has_value());
  EXPECT_EQ(find_connection({})->socket, "/state/fairlead.sock");
  EXPECT_TRUE(*forget_token() == false);
}

TEST_F(ConfigFile, FlagComesBeforeEnvironmentBeforeFileBeforeSocket) {
  EXPECT_EQ(find_connection({})->socket, "/state/fairlead.sock");
  EXPECT_EQ(find_connection({})->said_by, "");
  ASSERT_TRUE(keep_login("", "http://127.0.0.1:1", "one").has_value());
  EXPECT_EQ(find_connection({})->url, "http://127.0.0.1:1");
  ::setenv("FAIRLEAD_SERVER", "unix:/run/x.sock", 1);
  EXPECT_EQ(find_connection({})->socket, "/run/x.sock");
  EXPECT_EQ(find_connection({"127.0.0.1:9", {}, {}})->url, "http://127.0.0.1:9");
  ::setenv("FAIRLEAD_TOKEN", "of-environment", 1);
  EXPECT_EQ(find_connection({})->token, "of-environment");
  const std::string file = write("token", "of-file\n");
  EXPECT_EQ(find_connection({{}, file, {}})->token, "of-file");
}

// A token that was kept for one server once went to every other that was named.
TEST_F(ConfigFile, ATokenGoesToItsOwnServerOnly) {
  ASSERT_TRUE(keep_login("", "http://127.0.0.1:1", "one").has_value());
  EXPECT_EQ(find_connection({})->token, "one");
  EXPECT_EQ(find_connection({"http://127.0.0.1:2", {}, {}})->token, "");
  EXPECT_EQ(find_connection({"http://127.0.0.1:1", {}, {}})->token, "one");
}

TEST_F(ConfigFile, AddressesAreReadOrRefused) {
  const auto url = [](const std::string& text) {
    Connection out;
    return read_server(text, out) ? out.place() : "refused";
  };
  EXPECT_EQ(url("gpu.example.org:7380"), "http://gpu.example.org:7380");
  EXPECT_EQ(url("https://gpu.example.org/"), "https://gpu.example.org");
  EXPECT_EQ(url("http://[::1]:7380"), "http://[::1]:7380");
  EXPECT_EQ(url("unix:/run/x.sock"), "/run/x.sock");
  EXPECT_EQ(url("ftp://x"), "refused");
  EXPECT_EQ(url("http://x/path"), "refused");
  EXPECT_EQ(url("http://user@x"), "refused");
  EXPECT_EQ(url("http://"), "refused");
}

TEST_F(ConfigFile, ATokenInTheClearIsNoticed) {
  const auto exposed = [](const std::string& server, const std::string& token) {
    Connection out;
    EXPECT_TRUE(read_server(server, out).has_value());
    out.token = token;
    return out.exposed();
  };
  EXPECT_TRUE(exposed("http://gpu.example.org", "t"));
  EXPECT_TRUE(exposed("http://1270.example.org", "t"));
  EXPECT_FALSE(exposed("http://gpu.example.org", ""));
  EXPECT_FALSE(exposed("https://gpu.example.org", "t"));
  EXPECT_FALSE(exposed("http://127.0.0.1:7380", "t"));
  EXPECT_FALSE(exposed("http://[::1]:7380", "t"));
  EXPECT_FALSE(exposed("unix:/run/x.sock", "t"));
}

TEST_F(ConfigFile, ATokenFileHoldsOneToken) {
  EXPECT_EQ(find_connection({{}, write("none", "\n"), {}}).error().field, "--token-file");
  EXPECT_EQ(find_connection({{}, write("two", "a b\n"), {}}).error().field, "--token-file");
  EXPECT_EQ(find_connection({{}, "/nonexistent", {}}).error().code, ErrorCode::kIo);
}

}  // namespace
}  // namespace fairlead::cli
