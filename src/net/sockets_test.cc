#include "net/sockets.h"

#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "net/server_testing.h"

namespace fairlead::net {
namespace {

using testing::TemporaryFolder;

TEST(UnixSocket, HasItsModeAndGoesWithItsOwner) {
  const TemporaryFolder folder;
  const std::string path = folder.path("s");
  {
    const auto socket = UnixSocket::listen(path, 0660);
    ASSERT_TRUE(socket) << socket.error().text();
    struct stat status{};
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0660U);
    EXPECT_TRUE(connect_unix(path));
  }
  EXPECT_NE(::access(path.c_str(), F_OK), 0);
}

TEST(UnixSocket, ALiveServerIsNotReplaced) {
  const TemporaryFolder folder;
  const auto first = UnixSocket::listen(folder.path("s"), 0600);
  ASSERT_TRUE(first);
  const auto second = UnixSocket::listen(folder.path("s"), 0600);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kConflict);
  EXPECT_TRUE(second.error().text().contains("already listening"));
  EXPECT_TRUE(connect_unix(folder.path("s"))) << "the first is still there";
}

TEST(UnixSocket, OneThatLivesWithoutALockIsNotReplacedEither) {
  const TemporaryFolder folder;
  const auto first = UnixSocket::listen(folder.path("s"), 0600);
  ASSERT_TRUE(first);
  ASSERT_EQ(::unlink(folder.path("s.lock").c_str()), 0);
  EXPECT_FALSE(UnixSocket::listen(folder.path("s"), 0600));
}

TEST(UnixSocket, OneOfADeadServerIsReplaced) {
  const TemporaryFolder folder;
  {
    auto dying = UnixSocket::listen(folder.path("s"), 0600);
    ASSERT_TRUE(dying);
    // As after SIGKILL: the path stays, nobody listens.
    ASSERT_EQ(::link(folder.path("s").c_str(), folder.path("kept").c_str()), 0);
  }
  ASSERT_EQ(::rename(folder.path("kept").c_str(), folder.path("s").c_str()), 0);
  ASSERT_FALSE(connect_unix(folder.path("s")));
  EXPECT_TRUE(UnixSocket::listen(folder.path("s"), 0600));
}

TEST(UnixSocket, AFileOfThatNameIsLeftAlone) {
  const TemporaryFolder folder;
  std::ofstream(folder.path("s")) << "mine";
  const auto socket = UnixSocket::listen(folder.path("s"), 0600);
  ASSERT_FALSE(socket);
  EXPECT_EQ(socket.error().code, ErrorCode::kConflict);
}

TEST(UnixSocket, APathThatIsTooLongIsRefusedWithTheLimit) {
  const auto socket = UnixSocket::listen("/tmp/" + std::string(200, 'x'), 0600);
  ASSERT_FALSE(socket);
  EXPECT_TRUE(socket.error().text().contains("107"));
}

TEST(TcpSocket, APortInUseIsAConflictAndANameIsNoAddress) {
  const auto first = listen_tcp("127.0.0.1", 0);
  ASSERT_TRUE(first);
  const auto second = listen_tcp("127.0.0.1", bound_port(first->get()));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kConflict);
  EXPECT_EQ(listen_tcp("localhost", 0).error().code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace fairlead::net
