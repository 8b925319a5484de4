// How tasks start, run and end.
#include <fstream>
#include <sys/wait.h>

#include "engine/local/engine_testing.h"
#include "node/cgroups.h"

namespace fairlead::engine {
namespace {

class Tasks : public EngineTest {
 protected:
  void SetUp() override { open(); }
};

TEST_F(Tasks, AnExitCodeIsReportedAfterTheStart) {
  start(shell("a", "exit 7"));
  const auto started = wait_for<Started>("a");
  ASSERT_TRUE(started);
  EXPECT_GT(started->pid, 0);
  const TaskResult result = result_of("a");
  EXPECT_EQ(result.exit_code, 7);
  EXPECT_FALSE(result.signal);
  EXPECT_FALSE(result.lost);
  EXPECT_GE(result.at, started->at);
  EXPECT_GT(result.max_memory.value, 0);
}

TEST_F(Tasks, DeathBySignalIsNoExitCode) {
  start(shell("a", "kill -SEGV $$"));
  const TaskResult result = result_of("a");
  EXPECT_EQ(result.signal, SIGSEGV);
  EXPECT_FALSE(result.exit_code);
  EXPECT_EQ(result.cause, "");
}

TEST_F(Tasks, AskedAgainItRunsOnce) {
  const std::string count = folder_ + "/count";
  const TaskLaunch launch = shell("a", "echo run >> " + count);
  start(launch);
  start(launch);
  (void)result_of("a");
  start(launch);
  close();
  open();
  // A server that forgot asks anew, and learns how it ended.
  start(launch);
  EXPECT_EQ(result_of("a").exit_code, 0);
  std::ifstream in(count);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "run\n");
}

TEST_F(Tasks, TheEnvironmentIsWhatWasAskedAndTheAttemptsMarks) {
  TaskLaunch launch = shell("a", "env | sort | grep -v '^_=\\|^PWD=\\|^OLDPWD='; pwd; umask");
  launch.environment["GREETING"] = "two words\nand a line";
  launch.working_dir = "/usr";
  start(launch);
  (void)result_of("a");
  EXPECT_EQ(output_of("a"),
            "FAIRLEAD_ATTEMPT=a\nFAIRLEAD_NOTICE_FILE=" + options_.runtime +
                "/a.json\nGREETING=two words\nPATH=/usr/local/bin:/usr/bin:/bin\nand a line\n"
                "/usr\n0022\n");
}

TEST_F(Tasks, LargeEnvironmentsPass) {
  TaskLaunch launch = shell("a", "env | wc -c");
  for (int i = 0; i < 16; ++i)
    launch.environment["V" + std::to_string(i)] = std::string(120'000, 'x');
  start(launch);
  EXPECT_EQ(result_of("a").exit_code, 0);
  EXPECT_GT(std::stoi(output_of("a")), 1'900'000);
  launch.attempt = "b";
  launch.environment["MORE"] = std::string(131'000, 'x');
  launch.environment["EVEN"] = std::string(131'000, 'x');
  EXPECT_EQ(engine_->start(launch).error().field, "environment");
}

TEST_F(Tasks, NothingOfTheServersIsOpenInATask) {
  start(shell("a",
              "ls /proc/self/fd | wc -l; grep -c . /proc/self/status >/dev/null; "
              "grep '^SigBlk\\|^SigIgn\\|^NoNewPrivs' /proc/self/status"));
  (void)result_of("a");
  // 0, 1, 2 and the folder that ls reads.
  EXPECT_EQ(output_of("a"),
            "4\nSigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\nNoNewPrivs:\t1\n");
}

TEST_F(Tasks, WhatCannotStartNamesTheFieldAndTheCure) {
  TaskLaunch launch = shell("program", "");
  launch.command = {"no-such-program"};
  start(launch);
  auto failed = wait_for<StartFailed>("program");
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->error.field, "command");
  EXPECT_EQ(failed->error.message, "the program \"no-such-program\" is not found");
  EXPECT_EQ(failed->error.cure, "give its path, or put its folder into PATH");
  EXPECT_FALSE(failed->may_retry);

  launch.attempt = "text";
  launch.command = {"/etc/passwd"};
  start(launch);
  failed = wait_for<StartFailed>("text");
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->error.cure, "make it executable for the task's user");

  launch = shell("folder", "true");
  launch.working_dir = "/no/such/folder";
  start(launch);
  failed = wait_for<StartFailed>("folder");
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->error.field, "working_dir");
  EXPECT_NE(failed->error.message.find("\"/no/such/folder\""), std::string::npos);

  EXPECT_EQ(engine_->start(shell("Not Good", "true")).error().field, "attempt");
  launch.command.clear();
  EXPECT_EQ(engine_->start(launch).error().field, "command");
}

TEST_F(Tasks, AScriptWithoutAnInterpreterSaysHowToBegin) {
  const std::string script = folder_ + "/script";
  std::ofstream(script) << "echo hello\n";
  ::chmod(script.c_str(), 0755);
  TaskLaunch launch = shell("a", "");
  launch.command = {script};
  start(launch);
  const auto failed = wait_for<StartFailed>("a");
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->error.cure, "begin a script with #! and its interpreter");
}

TEST_F(Tasks, RunAsAnotherUserLeavesNoPrivilege) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  TaskLaunch launch = shell("a", "id -u; id -g; id -G; grep ^CapEff /proc/self/status");
  launch.run_as = RunAs{65534, 65534, {65534, 12}};
  start(launch);
  EXPECT_EQ(result_of("a").exit_code, 0);
  EXPECT_EQ(output_of("a"), "65534\n65534\n65534 12\nCapEff:\t0000000000000000\n");
  EXPECT_EQ(output_of("a", Stream::kError), "");
}

TEST_F(Tasks, WithoutPrivilegeAnotherUserIsRefused) {
  if (::geteuid() == 0) GTEST_SKIP() << "needs not to be root";
  TaskLaunch launch = shell("a", "true");
  launch.run_as = RunAs{0, 0, {}};
  start(launch);
  const auto failed = wait_for<StartFailed>("a");
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->error.field, "run_as");
}

TEST_F(Tasks, WhateverTheyLeaveBehindDiesWithThem) {
  Signpost post = signpost("post");
  // Twice forked, in a session of its own, deaf to all that can be ignored.
  start(shell("a", "(setsid sh -c 'trap \"\" TERM HUP INT; echo $$ > " + post.path() +
                       "; while :; do sleep 1000; done' &) ; read x < " + folder_ + "/go"));
  Signpost go = signpost("go");
  const pid_t escaped = std::stoi("0" + post.line());
  ASSERT_GT(escaped, 0);
  std::ofstream(go.path()) << "now\n" << std::flush;
  EXPECT_EQ(result_of("a").exit_code, 0);
  EXPECT_TRUE(gone(escaped));
}

TEST_F(Tasks, OutputKeepsOrderAndStreams) {
  start(shell("a", "for i in 1 2 3; do echo out $i; echo err $i >&2; done; printf end"));
  (void)result_of("a");
  EXPECT_EQ(output_of("a", Stream::kOutput), "out 1\nout 2\nout 3\nend");
  EXPECT_EQ(output_of("a", Stream::kError), "err 1\nerr 2\nerr 3\n");
}

TEST_F(Tasks, MuchOutputIsRotatedAndOffsetsGoOn) {
  TaskLaunch launch = shell("a", "seq 1 200000");
  launch.output = {Bytes(64 << 10), 3};
  start(launch);
  const TaskResult result = result_of("a");
  EXPECT_EQ(result.output_bytes, 1'288'895);  // what `seq 1 200000 | wc -c` says
  auto reader = engine_->output("a");
  ASSERT_TRUE(reader);
  const auto page = reader->read(0, 1);
  ASSERT_TRUE(page);
  EXPECT_GT(page->skipped, 900'000) << "at most 3 files of 64 KiB and a chunk are kept";
  EXPECT_EQ(page->chunks.front().offset, page->skipped);
  EXPECT_TRUE(output_of("a").ends_with("199999\n200000\n"));
  const auto tail = reader->offset_of_tail(2);
  ASSERT_TRUE(tail);
  EXPECT_EQ(*tail, 1'288'895 - 14);
  std::int64_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(options_.state + "/attempts/a")) {
    files += entry.path().filename().string().starts_with("output.");
  }
  EXPECT_EQ(files, 3);
}

TEST_F(Tasks, WithATerminalTheyHaveOne) {
  TaskLaunch launch =
      shell("a", "tty >/dev/null && stty size; echo \"$(ps -o tty= -p $$ | wc -w)\"");
  launch.wants_terminal = true;
  launch.window = {33, 77};
  start(launch);
  EXPECT_EQ(result_of("a").exit_code, 0);
  EXPECT_EQ(output_of("a").substr(0, 7), "33 77\r\n");
}

TEST_F(Tasks, InputIsEmptyUnlessAskedFor) {
  start(shell("a", "cat; echo end"));
  EXPECT_EQ(result_of("a").exit_code, 0);
  EXPECT_EQ(output_of("a"), "end\n");
}

TEST_F(Tasks, ManyAtOnceAllEnd) {
  constexpr int kMany = 100;
  for (int i = 0; i < kMany; ++i) {
    start(shell("many-" + std::to_string(i), "exit " + std::to_string(i)));
  }
  for (int i = 0; i < kMany; ++i) {
    EXPECT_EQ(result_of("many-" + std::to_string(i)).exit_code, i);
  }
}

TEST_F(Tasks, RemovedTheyLeaveNothing) {
  start(shell("a", "echo hello"));
  EXPECT_TRUE(wait_for<Started>("a"));
  (void)result_of("a");
  EXPECT_TRUE(engine_->remove("a"));
  EXPECT_TRUE(engine_->remove("never-heard-of"));
  close();
  EXPECT_TRUE(std::filesystem::is_empty(options_.state + "/attempts"));
  open();
}

TEST_F(Tasks, ASecondServerOnTheSameStateIsRefused) {
  const auto second = LocalEngine::open(options_, [](Report) {});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kConflict);
}

TEST_F(Tasks, OverItsMemoryLimitATaskIsSaidToBeSo) {
  const auto groups = node::CgroupTree::detect();
  if (!groups.memory().possible) GTEST_SKIP() << groups.memory().why;
  TaskLaunch launch = shell("a", "x=$(head -c 100000000 /dev/zero | tr '\\0' x); echo ${#x}");
  launch.limits.memory = Bytes(32 << 20);
  start(launch);
  EXPECT_EQ(result_of("a").out_of_memory, true);
}

TEST_F(Tasks, ADiskThatIsFullCostsOutputNotTheTask) {
  const std::string disk = folder_ + "/disk";
  std::filesystem::create_directory(disk);
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::execlp("mount", "mount", "-t", "tmpfs", "-o", "size=1m", "none", disk.c_str(), nullptr);
    ::_exit(1);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  if (status != 0) GTEST_SKIP() << "no file system can be mounted here";
  close();
  options_.state = disk + "/state";
  open();
  Signpost ready = signpost("ready");
  Signpost go = signpost("go");
  start(shell("a", "head -c 3000000 /dev/zero; echo full > " + ready.path() + "; read x < " +
                       go.path() + "; echo after"));
  EXPECT_EQ(ready.line(), "full");
  // Room again: the oldest output goes.
  for (const auto& entry : std::filesystem::directory_iterator(disk + "/state/attempts/a")) {
    if (entry.path().filename().string().starts_with("output.")) {
      std::filesystem::resize_file(entry.path(), 0);
    }
  }
  std::ofstream(go.path()) << "now\n" << std::flush;
  const TaskResult result = result_of("a");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_GT(result.output_lost, 1'000'000);
  EXPECT_EQ(result.output_bytes + result.output_lost, 3'000'006);
  close();
  const pid_t unmount = ::fork();
  if (unmount == 0) {
    ::execlp("umount", "umount", "-l", disk.c_str(), nullptr);
    ::_exit(1);
  }
  ::waitpid(unmount, &status, 0);
}

}  // namespace
}  // namespace fairlead::engine
