// Deaths of the server, the launcher and supervisors.
#include <csignal>
#include <fstream>
#include <future>

#include "engine/local/attempt_folder.h"
#include "engine/local/engine_testing.h"
#include "engine/local/runtime_folder.h"
#include "engine/local/wire.h"

namespace fairlead::engine {
namespace {

class Recovery : public EngineTest {
 protected:
  void SetUp() override { open(); }

  std::int64_t start_and_wait(const TaskLaunch& launch) {
    start(launch);
    const auto started = wait_for<Started>(launch.attempt);
    return started ? started->pid : 0;
  }
  template <class Kind>
  Kind adopt_as(const AttemptId& attempt) {
    const auto adopted = engine_->adopt({attempt});
    EXPECT_TRUE(adopted) << adopted.error().text();
    if (!adopted) return {};
    const Kind* kind = std::get_if<Kind>(&adopted->front());
    EXPECT_NE(kind, nullptr) << "adopted as something else: " << adopted->front().index();
    return kind != nullptr ? *kind : Kind{};
  }
};

TEST_F(Recovery, WhatRunsOutlivesTheServerAndIsAdopted) {
  Signpost go = signpost("go");
  const std::int64_t pid = start_and_wait(shell("a", "read x < " + go.path() + "; exit 6"));
  const pid_t launcher = engine_->launcher_pid();
  close();
  EXPECT_TRUE(gone(launcher)) << "the launcher ends with its server";
  open();
  EXPECT_EQ(adopt_as<Running>("a").pid, pid);
  // An adopted task takes orders and sessions like any other.
  const auto session = engine_->open_session("a", {SessionKind::kExec, {"echo", "hi"}, false, {}});
  ASSERT_TRUE(session) << session.error().text();
  EXPECT_EQ(hear(*session).output, "hi\n");
  std::ofstream(go.path()) << "now\n" << std::flush;
  EXPECT_EQ(result_of("a").exit_code, 6);
  EXPECT_EQ(reports(), 0U);
}

TEST_F(Recovery, WhatEndedMeanwhileHasItsExitCode) {
  Signpost go = signpost("go");
  const std::int64_t pid = start_and_wait(shell("a", "read x < " + go.path() + "; exit 6"));
  const pid_t supervisor = parent_of(pid);
  close();
  std::ofstream(go.path()) << "now\n" << std::flush;
  EXPECT_TRUE(gone(supervisor));
  open();
  EXPECT_EQ(adopt_as<Ended>("a").result.exit_code, 6);
  EXPECT_EQ(adopt_as<Ended>("a").result.exit_code, 6) << "asked again, the same";
}

TEST_F(Recovery, WhatNeverBeganNeverCan) {
  (void)adopt_as<NeverBegan>("a");
  start(shell("a", "true"));
  close();
  open();
  start(shell("a", "true"));
  EXPECT_TRUE(wait_for<StartFailed>("a"));
}

TEST_F(Recovery, AFolderWithoutABeginningNeverBegan) {
  // The server was killed after it made the folder and before it told the launcher.
  ASSERT_TRUE(AttemptFolder::create(options_.state, "a"));
  (void)adopt_as<NeverBegan>("a");
}

class SupervisorKilled : public Recovery, public testing::WithParamInterface<bool> {
 protected:
  void SetUp() override {
    options_.use_control_groups = GetParam();
    open();
  }

  // A task with one escaped grandchild; both numbers.
  std::pair<pid_t, pid_t> start_family() {
    Signpost post = signpost("post");
    const std::int64_t pid = start_and_wait(
        shell("a", "(setsid sh -c 'trap \"\" TERM HUP; echo $$ > " + post.path() +
                       "; while :; do sleep 1000; done' &); while :; do sleep 1000; done"));
    return {static_cast<pid_t>(pid), std::stoi("0" + post.line())};
  }
};

TEST_P(SupervisorKilled, TheTaskIsLostAndNothingIsLeftRunning) {
  const auto [main, escaped] = start_family();
  ASSERT_GT(escaped, 0);
  const pid_t supervisor = parent_of(main);
  ASSERT_EQ(::kill(supervisor, SIGKILL), 0);
  const TaskResult result = result_of("a");
  EXPECT_TRUE(result.lost);
  EXPECT_FALSE(result.exit_code || result.signal);
  EXPECT_TRUE(gone(main));
  EXPECT_TRUE(gone(escaped));
}

TEST_P(SupervisorKilled, WhileTheServerWasDeadToo) {
  const auto [main, escaped] = start_family();
  ASSERT_GT(escaped, 0);
  const pid_t supervisor = parent_of(main);
  close();
  ASSERT_EQ(::kill(supervisor, SIGKILL), 0);
  EXPECT_TRUE(gone(supervisor));
  open();
  EXPECT_TRUE(adopt_as<Ended>("a").result.lost);
  EXPECT_TRUE(gone(main));
  EXPECT_TRUE(gone(escaped));
}

// It happened that what was left of a lost attempt was found by its id alone, and that the attempt
// of the same id of another server on the machine was killed with it.
// As when a state directory is deleted while something runs.
TEST_F(Recovery, ASupervisorWhoseFolderIsGoneEndsWithItsTask) {
  Signpost go = signpost("go");
  const std::int64_t pid = start_and_wait(shell("a", "read x < " + go.path()));
  const pid_t supervisor = parent_of(pid);
  close();
  std::filesystem::remove_all(AttemptFolder::path_of(options_.state, "a"));
  std::ofstream(go.path()) << "now\n" << std::flush;
  EXPECT_TRUE(gone(supervisor));
}

TEST_F(Recovery, AnotherServersAttemptOfTheSameIdIsLeftAlone) {
  const std::int64_t ours = start_and_wait(shell("a", "sleep 1000"));
  LocalEngineOptions other = options_;
  other.state = folder_ + "/other";
  other.runtime = folder_ + "/other-runtime";
  std::promise<std::int64_t> began;
  std::promise<TaskResult> over;
  auto second = LocalEngine::open(other, [&](Report report) {
    if (const auto* started = std::get_if<Started>(&report)) began.set_value(started->pid);
    if (const auto* ended = std::get_if<Ended>(&report)) over.set_value(ended->result);
  });
  ASSERT_TRUE(second) << second.error().text();
  ASSERT_TRUE((*second)->start(shell("a", "sleep 1000")));
  auto theirs = began.get_future();
  ASSERT_EQ(theirs.wait_for(std::chrono::milliseconds(kPatienceMs)), std::future_status::ready);
  ASSERT_EQ(::kill(parent_of(theirs.get()), SIGKILL), 0);
  auto lost = over.get_future();
  ASSERT_EQ(lost.wait_for(std::chrono::milliseconds(kPatienceMs)), std::future_status::ready);
  EXPECT_TRUE(lost.get().lost);
  EXPECT_NE(parent_of(ours), 0) << "ours runs on";
  EXPECT_EQ(reports(), 0U);
}

// Sockets and notices of what was killed once stayed in /run for ever.
TEST_F(Recovery, WhatNobodyAnswersForIsSweptAway) {
  start(shell("a", "sleep 1000"));
  const auto a = wait_for<Started>("a");
  start(shell("b", "sleep 1000"));
  ASSERT_TRUE(wait_for<Started>("b"));
  ASSERT_TRUE(a);
  const std::string socket = options_.runtime + "/a.sock";
  ASSERT_EQ(::kill(parent_of(a->pid), SIGKILL), 0);
  EXPECT_TRUE(result_of("a").lost);
  EXPECT_FALSE(std::filesystem::exists(socket)) << "the server saw it";
  close();
  ASSERT_TRUE(listen_for(options_.runtime, "a")) << "left by a supervisor that is dead";
  std::ofstream(options_.runtime + "/a.json") << "{}";
  std::ofstream(options_.runtime + "/kept.txt") << "of someone else";
  open();
  EXPECT_FALSE(std::filesystem::exists(socket));
  EXPECT_FALSE(std::filesystem::exists(options_.runtime + "/a.json"));
  EXPECT_TRUE(std::filesystem::exists(options_.runtime + "/b.sock"));
  EXPECT_TRUE(std::filesystem::exists(options_.runtime + "/kept.txt"));
}

TEST_F(Recovery, FoldersOfEnginesThatAreGoneAreSweptAwayAndOthersStay) {
  const std::string run = folder_ + "/run";
  std::filesystem::create_directories(run + "/f-2");
  std::filesystem::create_directories(run + "/g-2");
  ASSERT_TRUE(listen_for(run + "/f-2", "gone"));
  const auto lives = RuntimeFolder::open(run + "/f-3");
  ASSERT_TRUE(lives);
  const auto other = RuntimeFolder::open(run + "/f-4");
  ASSERT_TRUE(other);
  std::filesystem::create_directories(run + "/f-5");
  const auto answers = listen_for(run + "/f-5", "runs");  // its server is gone, it goes on
  RuntimeFolder::open(run + "/f-1")->sweep_neighbours();
  EXPECT_FALSE(std::filesystem::exists(run + "/f-2"));
  EXPECT_TRUE(std::filesystem::exists(run + "/f-3"));
  EXPECT_TRUE(std::filesystem::exists(run + "/f-5/runs.sock"));
  EXPECT_TRUE(std::filesystem::exists(run + "/g-2"));
  EXPECT_FALSE(RuntimeFolder::open(run + "/f-4")) << "one engine at a time";
}

// A server is killed when a supervisor has just been made, and another server, which starts then,
// finds its folder empty and sweeps it away: the task could not start.
TEST_F(Recovery, ASupervisorWhoseFolderIsSweptAwayMakesItAgain) {
  std::filesystem::remove_all(options_.runtime);
  start(shell("a", "exit 3"));
  EXPECT_EQ(result_of("a").exit_code, 3);
  struct stat status{};
  ASSERT_EQ(::stat(options_.runtime.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0711U);
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutGroups, SupervisorKilled, testing::Bool(),
                         [](const auto& one) { return one.param ? "groups" : "none"; });

TEST_F(Recovery, ALauncherThatDiesIsReplacedAndTasksGoOn) {
  Signpost go = signpost("go");
  const std::int64_t pid = start_and_wait(shell("a", "read x < " + go.path() + "; exit 6"));
  const pid_t first = engine_->launcher_pid();
  ASSERT_EQ(::kill(first, SIGKILL), 0);
  const auto warning = wait_for<EngineWarning>("");
  ASSERT_TRUE(warning);
  EXPECT_TRUE(warning->text.starts_with("the launcher of tasks died; running tasks go on"));
  EXPECT_TRUE(node::find_process(static_cast<pid_t>(pid)));
  start(shell("b", "exit 2"));
  EXPECT_EQ(result_of("b").exit_code, 2);
  EXPECT_NE(engine_->launcher_pid(), first);
  std::ofstream(go.path()) << "now\n" << std::flush;
  EXPECT_EQ(result_of("a").exit_code, 6);
}

TEST_F(Recovery, ALauncherThatIsNotThereFailsTheOpening) {
  close();
  options_.launcher = "/no/such/program";
  const auto opened = LocalEngine::open(options_, [](Report) {});
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().message.find("/no/such/program"), std::string::npos);
  options_.launcher = "/proc/self/exe";
  open();
}

TEST_F(Recovery, ASupervisorIsSmall) {
  const std::int64_t pid = start_and_wait(shell("a", "sleep 1000"));
  std::ifstream smaps("/proc/" + std::to_string(parent_of(pid)) + "/smaps_rollup");
  std::int64_t pss = 0;
  for (std::string line; std::getline(smaps, line);) {
    if (line.starts_with("Pss:")) pss = std::stoll(line.substr(4));
  }
  RecordProperty("pss_kib", static_cast<int>(pss));
  std::ifstream comm("/proc/" + std::to_string(parent_of(pid)) + "/comm");
  std::string name;
  std::getline(comm, name);
  EXPECT_EQ(name, "fairlead-task");
}

}  // namespace
}  // namespace fairlead::engine
