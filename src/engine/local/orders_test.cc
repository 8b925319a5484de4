// Stop orders, suspending, and sessions.
#include <fstream>

#include "engine/local/engine_testing.h"

namespace fairlead::engine {
namespace {

class Orders : public EngineTest {
 protected:
  void SetUp() override { open(); }

  void start_and_wait(const TaskLaunch& launch) {
    start(launch);
    ASSERT_TRUE(wait_for<Started>(launch.attempt));
  }
};

TEST_F(Orders, TheNoticeComesBeforeTheEndAndSaysWhy) {
  Signpost ready = signpost("ready");
  start(shell("a", "trap 'cat $FAIRLEAD_NOTICE_FILE; exit 3' TERM; echo > " + ready.path() +
                       "; while :; do sleep 0.05; done"));
  (void)ready.line();
  ASSERT_TRUE(engine_->stop("a", {"preempted", "for \"train-b\"", SIGTERM, seconds(600)}));
  const TaskResult result = result_of("a");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.cause, "preempted");
  const std::string notice = output_of("a", Stream::kOutput);
  EXPECT_EQ(notice.substr(0, 65),
            "{\"cause\": \"preempted\", \"text\": \"for \\\"train-b\\\"\", \"deadline\": \"20");
}

TEST_F(Orders, WhoIgnoresTheSignalIsKilledAfterTheGrace) {
  Signpost ready = signpost("ready");
  start(shell("a", "trap '' TERM; echo > " + ready.path() + "; while :; do sleep 0.05; done"));
  (void)ready.line();
  ASSERT_TRUE(engine_->stop("a", {"cancelled", "", SIGTERM, milliseconds(200)}));
  const TaskResult result = result_of("a");
  EXPECT_EQ(result.signal, SIGKILL);
  EXPECT_EQ(result.cause, "cancelled");
}

TEST_F(Orders, ASecondOrderMakesTheEndComeSooner) {
  Signpost ready = signpost("ready");
  start(shell("a", "trap '' TERM; echo > " + ready.path() + "; while :; do sleep 0.05; done"));
  (void)ready.line();
  ASSERT_TRUE(engine_->stop("a", {"preempted", "", SIGTERM, hours(10)}));
  ASSERT_TRUE(engine_->stop("a", {"cancelled", "", SIGTERM, Duration{0}}));
  const TaskResult result = result_of("a");
  EXPECT_EQ(result.signal, SIGKILL);
  EXPECT_EQ(result.cause, "preempted") << "the first says why";
}

TEST_F(Orders, TheFirstSaysWhyThoughTheSupervisorHearsBothAsOne) {
  start(shell("a", "trap '' TERM; sleep 1000"));
  ASSERT_TRUE(engine_->stop("a", {"preempted", "for b", SIGTERM, hours(10)}));
  ASSERT_TRUE(engine_->stop("a", {"cancelled", "", SIGTERM, Duration{0}}));
  ASSERT_TRUE(engine_->stop("a", {"time limit", "", SIGTERM, hours(20)}));
  EXPECT_EQ(result_of("a").cause, "preempted");
}

TEST_F(Orders, TheGraceIsForAllOfTheTask) {
  Signpost ready = signpost("ready");
  // The shell dies at the signal, its child saves something first.
  start(shell("a", "sh -c 'trap \"sleep 0.3; echo saved\" TERM; echo > " + ready.path() +
                       "; while :; do sleep 0.05; done; :' & trap 'exit 5' TERM; wait"));
  (void)ready.line();
  ASSERT_TRUE(engine_->stop("a", {"preempted", "", SIGTERM, seconds(2)}));
  EXPECT_EQ(result_of("a").exit_code, 5);
  EXPECT_EQ(output_of("a", Stream::kOutput), "saved\n");
}

TEST_F(Orders, AnOrderRightAfterTheStartIsCarriedOut) {
  start(shell("a", "sleep 1000"));
  ASSERT_TRUE(engine_->stop("a", {"cancelled", "", SIGTERM, Duration{0}}));
  EXPECT_EQ(result_of("a").signal, SIGKILL);
  EXPECT_TRUE(engine_->stop("a", {}));
  EXPECT_EQ(engine_->stop("b", {}).error().code, ErrorCode::kNotFound);
}

TEST_F(Orders, AnOrderIsCarriedOutWhileTheServerIsDead) {
  Signpost ready = signpost("ready");
  start(shell("a", "trap '' TERM; echo > " + ready.path() + "; while :; do sleep 0.05; done"));
  (void)ready.line();
  ASSERT_TRUE(engine_->stop("a", {"cancelled", "", SIGTERM, milliseconds(300)}));
  const auto started = wait_for<Started>("a");
  ASSERT_TRUE(started);
  close();
  EXPECT_TRUE(gone(static_cast<pid_t>(started->pid)));
  open();
  const auto adopted = engine_->adopt({"a"});
  ASSERT_TRUE(adopted) << adopted.error().text();
  const auto* running = std::get_if<Running>(&adopted->front());
  const TaskResult result =
      running != nullptr ? result_of("a") : std::get<Ended>(adopted->front()).result;
  EXPECT_EQ(result.signal, SIGKILL);
  EXPECT_EQ(result.cause, "cancelled");
}

class Suspending : public Orders, public testing::WithParamInterface<bool> {
 protected:
  void SetUp() override {
    options_.use_control_groups = GetParam();
    open();
  }
  // Of what stands still none does.
  bool session_opens(const AttemptId& attempt) {
    const auto session = engine_->open_session(attempt, {SessionKind::kExec, {"true"}, false, {}});
    if (session) return true;
    EXPECT_EQ(session.error().cure, "resume it first") << session.error().text();
    return false;
  }
};

TEST_P(Suspending, ItStandsStillUntilResumed) {
  Signpost ticks = signpost("ticks");
  start_and_wait(
      shell("a", "sh -c 'while :; do echo tick > " + ticks.path() + "; sleep 0.01; done' & wait"));
  EXPECT_EQ(ticks.line(), "tick");
  ASSERT_TRUE(engine_->suspend("a"));
  // Every process of it is stopped (T), or in the kernel's freezer (D or S, but gets no time).
  EXPECT_FALSE(session_opens("a"));
  ASSERT_TRUE(engine_->resume("a"));
  for (int i = 0; i < 20; ++i) EXPECT_EQ(ticks.line(), "tick");
  ASSERT_TRUE(engine_->suspend("a"));
  ASSERT_TRUE(engine_->stop("a", {"cancelled", "", SIGTERM, seconds(600)}));
  EXPECT_EQ(result_of("a").signal, SIGTERM) << "a stop order wakes it";
}

// An engine that begins says what shall stand still and what shall go on; the supervisors keep it
// meanwhile.
TEST_P(Suspending, ItStandsStillOverARestart) {
  Signpost ticks = signpost("ticks");
  start_and_wait(shell("a", "while :; do echo tick > " + ticks.path() + "; sleep 0.01; done"));
  EXPECT_EQ(ticks.line(), "tick");
  ASSERT_TRUE(engine_->suspend("a"));
  EXPECT_FALSE(session_opens("a")) << "orders are carried out in their order";
  close();
  open();
  ASSERT_TRUE(engine_->adopt({"a"}));
  EXPECT_FALSE(session_opens("a"));
  ASSERT_TRUE(engine_->suspend("a")) << "again, and it changes nothing";
  EXPECT_FALSE(session_opens("a"));
  ASSERT_TRUE(engine_->resume("a"));
  EXPECT_TRUE(session_opens("a"));
  ASSERT_TRUE(engine_->suspend("a"));
  ASSERT_TRUE(engine_->stop("a", {"cancelled", "", SIGTERM, Duration{0}}));
  EXPECT_EQ(result_of("a").signal, SIGKILL);
  EXPECT_TRUE(engine_->suspend("a")) << "nothing happens to what has ended";
  EXPECT_EQ(engine_->suspend("b").error().code, ErrorCode::kNotFound);
}

TEST_P(Suspending, NothingIsLeftOfItWhenItsSupervisorIsKilled) {
  start(shell("a", "sleep 1000 & wait"));
  const auto started = wait_for<Started>("a");
  ASSERT_TRUE(started);
  const auto main = node::find_process(static_cast<pid_t>(started->pid));
  ASSERT_TRUE(main);
  ASSERT_TRUE(engine_->suspend("a"));
  EXPECT_FALSE(session_opens("a"));
  ::kill(main->parent, SIGKILL);
  EXPECT_TRUE(result_of("a").lost);
  EXPECT_TRUE(gone(main->ref.pid));
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutGroups, Suspending, testing::Bool(),
                         [](const auto& one) { return one.param ? "groups" : "none"; });

TEST_F(Orders, ExecRunsInTheTasksPlaceAndGivesItsExit) {
  TaskLaunch launch = shell("a", "sleep 1000");
  launch.environment["COLOUR"] = "green";
  launch.working_dir = "/usr";
  start_and_wait(launch);
  const auto session =
      engine_->open_session("a", {SessionKind::kExec,
                                  {"sh", "-c", "pwd; echo $COLOUR; cat; echo bad >&2; exit 9"},
                                  false,
                                  {}});
  ASSERT_TRUE(session) << session.error().text();
  say(*session, "typed\n");
  say(*session, "");
  const Heard heard = hear(*session);
  EXPECT_EQ(heard.output, "/usr\ngreen\ntyped\n");
  EXPECT_EQ(heard.error, "bad\n");
  ASSERT_TRUE(heard.exit);
  EXPECT_EQ(heard.exit->kind, SessionExit::Kind::kExitCode);
  EXPECT_EQ(heard.exit->number, 9);
  EXPECT_EQ(reports(), 0U) << "the task runs on";
}

TEST_F(Orders, ExecWithATerminalFollowsItsSize) {
  start_and_wait(shell("a", "sleep 1000"));
  const auto session = engine_->open_session(
      "a", {SessionKind::kExec, {"sh", "-c", "stty size; read x; stty size"}, true, {20, 60}});
  ASSERT_TRUE(session) << session.error().text();
  EXPECT_EQ(hear(*session, "20 60").output.substr(0, 5), "20 60");
  const std::string resize = resize_frame({50, 132});
  ASSERT_EQ(::write(session->get(), resize.data(), resize.size()),
            static_cast<ssize_t>(resize.size()));
  say(*session, "\n");
  const Heard rest = hear(*session);
  EXPECT_NE(rest.output.find("50 132"), std::string::npos) << rest.output;
}

TEST_F(Orders, MuchOutputOfExecArrivesWhole) {
  start_and_wait(shell("a", "sleep 1000"));
  const auto session =
      engine_->open_session("a", {SessionKind::kExec, {"seq", "1", "200000"}, false, {}});
  ASSERT_TRUE(session);
  const Heard heard = hear(*session);
  EXPECT_EQ(heard.output.size(), 1'288'895U);
  EXPECT_TRUE(heard.exit);
}

TEST_F(Orders, ExecOfWhatIsNotThereSaysSo) {
  start_and_wait(shell("a", "sleep 1000"));
  const auto session = engine_->open_session("a", {SessionKind::kExec, {"no-such"}, false, {}});
  ASSERT_FALSE(session);
  EXPECT_EQ(session.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(session.error().field, "command");
}

TEST_F(Orders, WhoLeavesAnExecTakesItAlong) {
  Signpost post = signpost("post");
  start_and_wait(shell("a", "sleep 1000"));
  auto session = engine_->open_session(
      "a",
      {SessionKind::kExec, {"sh", "-c", "echo $$ > " + post.path() + "; sleep 1000"}, false, {}});
  ASSERT_TRUE(session);
  const pid_t pid = std::stoi("0" + post.line());
  session->reset();
  EXPECT_TRUE(gone(pid));
}

TEST_F(Orders, AttachGivesInputAndOutputOfTheTaskAndItsExit) {
  TaskLaunch launch = shell("a", "while read line; do echo got $line; done; exit 4");
  launch.wants_input = true;
  start_and_wait(launch);
  {
    const auto first = engine_->open_session("a", {SessionKind::kAttach, {}, false, {}});
    ASSERT_TRUE(first) << first.error().text();
    say(*first, "one\n");
    EXPECT_EQ(hear(*first, "got one\n").output, "got one\n");
  }
  const auto second = engine_->open_session("a", {SessionKind::kAttach, {}, false, {}});
  ASSERT_TRUE(second) << "who left did not end the task";
  say(*second, "two\n");
  say(*second, "");
  const Heard heard = hear(*second);
  EXPECT_EQ(heard.output, "got two\n");
  ASSERT_TRUE(heard.exit);
  EXPECT_EQ(heard.exit->number, 4);
  EXPECT_EQ(output_of("a"), "got one\ngot two\n");
  (void)result_of("a");
  EXPECT_EQ(engine_->open_session("a", {}).error().field, "command");
  EXPECT_EQ(engine_->open_session("a", {SessionKind::kAttach, {}, false, {}}).error().code,
            ErrorCode::kConflict);
}

}  // namespace
}  // namespace fairlead::engine
