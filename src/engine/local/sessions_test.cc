// Who may give a supervisor orders, and that a session which cannot be opened holds up nobody.
#include <csignal>
#include <future>
#include <sys/socket.h>
#include <sys/wait.h>

#include "engine/local/engine_testing.h"
#include "engine/local/fields.h"
#include "engine/local/wire.h"
#include "node/cgroups.h"
#include "node/text_files.h"

namespace fairlead::engine {
namespace {

class Sessions : public EngineTest {
 protected:
  void SetUp() override { open(); }

  // The supervisor's process number.
  pid_t start_and_wait(const TaskLaunch& launch) {
    start(launch);
    const auto started = wait_for<Started>(launch.attempt);
    return started ? parent_of(started->pid) : 0;
  }
  std::future<Result<Descriptor>> open_later(const AttemptId& attempt) {
    return std::async(std::launch::async, [this, attempt] {
      return engine_->open_session(attempt, {SessionKind::kExec, {"true"}, false, {}});
    });
  }
};

// With umask 0 anybody could connect to a task and run a program as its user.
TEST_F(Sessions, TheSocketOfASupervisorIsForItsOwnAccountAlone) {
  const mode_t before = ::umask(0);
  ASSERT_EQ(::mkdir((folder_ + "/sockets").c_str(), 0755), 0);
  const auto listener = listen_for(folder_ + "/sockets", "a");
  ::umask(before);
  ASSERT_TRUE(listener) << listener.error().text();
  struct stat status{};
  ASSERT_EQ(::stat((folder_ + "/sockets/a.sock").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
}

TEST_F(Sessions, AStrangerIsTurnedAwayHoweverItCameIn) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  start_and_wait(shell("a", "sleep 1000"));
  ASSERT_EQ(::chmod(options_.runtime.c_str(), 0755), 0);
  ASSERT_EQ(::chmod((options_.runtime + "/a.sock").c_str(), 0666), 0);
  const pid_t stranger = ::fork();
  if (stranger == 0) {
    if (::setresuid(65534, 65534, 65534) != 0) ::_exit(3);
    const auto socket = connect_to(options_.runtime, "a");
    if (!socket) ::_exit(2);
    pollfd wanted{socket->get(), POLLIN, 0};
    (void)::poll(&wanted, 1, kPatienceMs);
    Message message;
    ::_exit(receive_message(socket->get(), message) == Received::kClosed ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(stranger, &status, 0), stranger);
  EXPECT_EQ(status, 0) << "it was heard";
  const auto own = engine_->open_session("a", {SessionKind::kExec, {"true"}, false, {}});
  EXPECT_TRUE(own) << own.error().text();
}

// Eight execs into a task whose supervisor did not answer once held up every other task for
// minutes: the engine's one thread waited for it.
TEST_F(Sessions, ThatWaitForASupervisorHoldUpNoOtherTask) {
  const pid_t supervisor = start_and_wait(shell("a", "sleep 1000"));
  ASSERT_GT(supervisor, 1);
  ASSERT_EQ(::kill(supervisor, SIGSTOP), 0);
  std::vector<std::future<Result<Descriptor>>> waiting;
  for (int i = 0; i < 8; ++i) waiting.push_back(open_later("a"));
  start(shell("b", "exit 7"));
  EXPECT_EQ(result_of("b").exit_code, 7);
  // With these eight on their way the next is refused at once.
  std::future<Result<Descriptor>> more;
  for (int i = 0; i < 1000 && !more.valid(); ++i) {
    auto next = open_later("a");
    if (next.wait_for(std::chrono::milliseconds(100)) != std::future_status::ready) {
      waiting.push_back(std::move(next));
    } else {
      more = std::move(next);
    }
  }
  ASSERT_TRUE(more.valid());
  const auto refused = more.get();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
  ASSERT_EQ(::kill(supervisor, SIGCONT), 0);
  int opened = 0;
  for (auto& one : waiting) opened += one.get().has_value() ? 1 : 0;
  EXPECT_EQ(opened, 8);
}

// A session that was given up on while its supervisor stood still, and was told to have failed.
TEST_F(Sessions, OfOneWhoHasLeftBeginNothing) {
  start_and_wait(shell("a", "sleep 1000"));
  const auto engine = connect_to(options_.runtime, "a");
  ASSERT_TRUE(engine) << engine.error().text();
  const std::string attach = FieldWriter().add("attach", 1).take();
  const std::string exec =
      FieldWriter().add("command", "touch").add("command", folder_ + "/ran").take();
  for (const std::string& what : {attach, exec}) {
    auto ends = stream_pair();
    ASSERT_TRUE(ends);
    ends->first.reset();
    const std::string order = FieldWriter().add("kind", "session").add("id", 1).take() + what;
    ASSERT_TRUE(send_message(engine->get(), order, ends->second.get()));
    std::string reply;
    while (reply.find("reply") == std::string::npos) {  // after what everyone is told first
      pollfd wanted{engine->get(), POLLIN, 0};
      ASSERT_EQ(::poll(&wanted, 1, kPatienceMs), 1);
      Message message;
      ASSERT_EQ(receive_message(engine->get(), message), Received::kMessage);
      reply = message.text;
    }
    EXPECT_NE(reply.find("who asked has left"), std::string::npos) << reply;
  }
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/ran"));
}

// Orders to a supervisor that does not read fill its socket; a stop order is told again until it is
// taken, by a thread that serves all the others meanwhile.
TEST_F(Sessions, AStopOrderReachesASupervisorWhoseSocketIsFull) {
  const pid_t supervisor = start_and_wait(shell("a", "sleep 1000"));
  ASSERT_GT(supervisor, 1);
  ASSERT_EQ(::kill(supervisor, SIGSTOP), 0);
  const std::string text(40'000, 'x');
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(engine_->stop("a", {"cancelled", text, SIGTERM, seconds(100 - i)}));
  }
  start(shell("b", "exit 7"));
  EXPECT_EQ(result_of("b").exit_code, 7);
  ASSERT_TRUE(engine_->stop("a", {"cancelled", "", SIGTERM, Duration{0}}));
  ASSERT_EQ(::kill(supervisor, SIGCONT), 0);
  EXPECT_EQ(result_of("a").cause, "cancelled");
}

// A program that gets no CPU time at all, as in a control group that has hardly any: its supervisor
// goes on to carry out orders.
TEST_F(Sessions, WhoseProgramGetsNoTimeDoNotHoldUpTheTask) {
  const auto groups = node::CgroupTree::detect();
  if (!groups.freezing().possible) GTEST_SKIP() << groups.freezing().why;
  start(shell("a", "sleep 1000"));
  const auto started = wait_for<Started>("a");
  ASSERT_TRUE(started);
  const auto own = node::read_text("/proc/" + std::to_string(started->pid) + "/cgroup");
  ASSERT_TRUE(own);
  const std::size_t name = own->find("/fairlead-") + 1;
  node::CgroupOptions options;
  options.name = own->substr(name, own->find('/', name) - name);
  ASSERT_TRUE(node::CgroupTree::detect(options).find("a").freeze());
  std::vector<std::future<Result<Descriptor>>> waiting;
  for (int i = 0; i < 4; ++i) waiting.push_back(open_later("a"));
  ASSERT_EQ(waiting.front().wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  ASSERT_TRUE(engine_->stop("a", {"cancelled", "", SIGTERM, Duration{0}}));
  EXPECT_EQ(result_of("a").signal, SIGKILL);
  for (auto& one : waiting) EXPECT_FALSE(one.get());
}

}  // namespace
}  // namespace fairlead::engine
