// Logs, exec and run: what tasks write comes through, and so does their exit status.
#include "cli/client/follow.h"

#include <gtest/gtest.h>

#include "cli/client/fake_server_testing.h"

namespace fairlead::cli {
namespace {

using testing::FakeServer;
using testing::Ran;
using testing::run_client;
using testing::workload_json;

std::string task_json(const std::string& id, int index, const std::string& phase, int attempt = 1) {
  return R"({"id": ")" + id + R"(", "role": "worker", "index": )" + std::to_string(index) +
         R"(, "phase": ")" + phase + R"(", "attempt": )" + std::to_string(attempt) + "}";
}

std::string items(const std::string& list) {
  return R"({"items": [)" + list + "]}";
}

TEST(Logs, OfOneTaskComeAsTheyAre) {
  FakeServer server;
  server.answer("GET /api/v1/workloads", items(workload_json("train", "running")));
  server.answer("GET /api/v1/workloads/w-train/tasks", items(task_json("t0", 0, "running")));
  server.answer_text("GET /api/v1/tasks/t0/log", "epoch 1\nepoch 2\n");
  const Ran ran = run_client(server, {"logs", "train", "--tail", "2", "--timestamps"});
  EXPECT_EQ(ran.out, "epoch 1\nepoch 2\n") << ran.err;
  EXPECT_EQ(server.asked().back().target, "/api/v1/tasks/t0/log?tail=2&timestamps=true");
}

TEST(Logs, OfSeveralTasksSayWhose) {
  FakeServer server;
  server.answer("GET /api/v1/workloads", items(workload_json("train", "running")));
  server.answer("GET /api/v1/workloads/w-train/tasks",
                items(task_json("t0", 0, "failed", 1) + "," + task_json("t0b", 0, "running", 2) +
                      "," + task_json("t1", 1, "running")));
  server.answer_text("GET /api/v1/tasks/t0b/log", "a\n");
  server.answer_text("GET /api/v1/tasks/t1/log", "b\n");
  EXPECT_EQ(run_client(server, {"logs", "train"}).out, "[worker-0] a\n[worker-1] b\n");
  EXPECT_EQ(run_client(server, {"logs", "train", "--task", "worker-1"}).out, "b\n");
  EXPECT_EQ(run_client(server, {"logs", "train", "-i", "0"}).out, "a\n");
  const Ran wrong = run_client(server, {"logs", "train", "--pod", "worker-7"});
  EXPECT_EQ(wrong.status, 3);
  EXPECT_NE(wrong.err.find("there is worker-0 or worker-1"), std::string::npos) << wrong.err;
}

TEST(Run, FollowsTheLogAndEndsAsTheTask) {
  FakeServer server;
  server.answer("GET /api/v1/workloads", items(""));
  server.answer("POST /api/v1/workloads", workload_json("train-1", "pending"), 201);
  server.answer("GET /api/v1/workloads/w-train-1", workload_json("train-1", "pending"));
  server.answer(
      "GET /api/v1/workloads/w-train-1",
      workload_json("train-1", "failed", R"("exitCode": 7, "reason": "worker-0 ended with 7")"));
  server.answer("GET /api/v1/workloads/w-train-1/explanation",
                R"({"workload": "w", "phase": "pending", "text": "", "place": 2, "waiting": 3})");
  server.answer("GET /api/v1/workloads/w-train-1/tasks", items(""));
  server.answer("GET /api/v1/workloads/w-train-1/tasks", items(task_json("t0", 0, "failed")));
  server.answer_text("GET /api/v1/tasks/t0/log", "0 hello\n");
  server.answer_text("GET /api/v1/watch", "event: modified\ndata: {}\n\n");
  const Ran ran = run_client(server, {"run", "-g", "1", "--", "python", "train.py"});
  EXPECT_EQ(ran.status, 7);
  EXPECT_EQ(ran.out, "hello\n");
  EXPECT_NE(
      ran.err.find("Ctrl-C leaves it running\n[pending] place 2 of 3\n[failed] exit code 7\n"),
      std::string::npos)
      << ran.err;
  EXPECT_NE(ran.err.find("worker-0 ended with 7\n"), std::string::npos) << ran.err;
}

// A person who looks on wants to see the failure, not its sixth repetition.
TEST(Run, DoesNotTryAgainUnlessTold) {
  FakeServer server;
  server.answer("GET /api/v1/workloads", items(""));
  server.answer("POST /api/v1/workloads", workload_json("t-1", "pending"), 201);
  run_client(server, {"run", "--detach", "--", "t"});
  EXPECT_EQ(server.last("POST /api/v1/workloads").body.find("backoffLimit"), std::string::npos);
  server.answer("GET /api/v1/workloads/w-t-1", workload_json("t-1", "succeeded"));
  server.answer("GET /api/v1/workloads/w-t-1/tasks", items(""));
  run_client(server, {"run", "--", "t"});
  EXPECT_NE(server.last("POST /api/v1/workloads").body.find("\"backoffLimit\": 0"),
            std::string::npos);
  run_client(server, {"run", "--backoff-limit", "2", "--", "t"});
  EXPECT_NE(server.last("POST /api/v1/workloads").body.find("\"backoffLimit\": 2"),
            std::string::npos);
}

TEST(Run, DetachedOnlySubmits) {
  FakeServer server;
  server.answer("GET /api/v1/workloads", items(""));
  server.answer("POST /api/v1/workloads", workload_json("train-1", "pending"), 201);
  const Ran ran = run_client(server, {"run", "--detach", "--", "python", "train.py"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_NE(ran.out.find("Run    train-1 submitted"), std::string::npos);
}

TEST(Logs, FollowedEndWithTheWorkload) {
  FakeServer server;
  server.answer("GET /api/v1/workloads", items(workload_json("train", "running")));
  server.answer("GET /api/v1/workloads/w-train", workload_json("train", "failed"));
  server.answer("GET /api/v1/workloads/w-train/tasks", items(task_json("t0", 0, "failed")));
  server.answer_text("GET /api/v1/tasks/t0/log", "0 x\n");
  const Ran ran = run_client(server, {"logs", "-f", "train"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(ran.out, "x\n");
  EXPECT_EQ(server.last("GET /api/v1/tasks/t0/log").target,
            "/api/v1/tasks/t0/log?follow=true&attempt=1&offsets=true");
}

TEST(Exec, TellsNotesToThePersonAndNotToTheProgram) {
  FakeServer server;
  server.answer("GET /api/v1/workloads", items(workload_json("train", "running")));
  server.answer("GET /api/v1/workloads/w-train/tasks", items(task_json("t0", 0, "running")));
  server.answer_stream("GET /api/v1/tasks/t0/exec",
                       [](const net::WebSocket& socket, const std::string&) {
                         (void)socket.try_send({"\1out\n", true});
                         (void)socket.try_send({"\5the task\x1b ended", true});
                         (void)socket.try_send({"\0040", true});
                         socket.close();
                       });
  const Ran ran = run_client(server, {"exec", "train", "--", "ls"});
  EXPECT_EQ(ran.out, "out\n");
  EXPECT_EQ(ran.err, "[fairlead: the task\\x1b ended]\n") << "harmless to the terminal";
}

TEST(Exec, CarriesOutputAndExitStatus) {
  FakeServer server;
  server.answer("GET /api/v1/workloads", items(workload_json("train", "running")));
  server.answer("GET /api/v1/workloads/w-train/tasks", items(task_json("t0", 0, "running")));
  server.answer_stream("GET /api/v1/tasks/t0/exec",
                       [](const net::WebSocket& socket, const std::string& bytes) {
                         if (bytes != std::string(1, '\0')) return;  // the end of the input
                         (void)socket.try_send({"\1out\n", true});
                         (void)socket.try_send({"\2err\n", true});
                         (void)socket.try_send({"\0043", true});
                         socket.close();
                       });
  const Ran ran = run_client(server, {"exec", "train", "--", "ls", "-l"});
  EXPECT_EQ(ran.status, 3) << ran.err;
  EXPECT_EQ(ran.out, "out\n");
  EXPECT_EQ(ran.err, "err\n");
  EXPECT_EQ(server.asked().back().target, "/api/v1/tasks/t0/exec?command=ls&command=-l");
  EXPECT_EQ(run_client(server, {"exec", "train", "ls"}).status, 3);
  EXPECT_EQ(server.asked().back().target, "/api/v1/tasks/t0/exec?command=ls");
}

TEST(Exec, WantsATaskThatRuns) {
  FakeServer server;
  server.answer("GET /api/v1/workloads", items(workload_json("train", "failed")));
  server.answer("GET /api/v1/workloads/w-train/tasks", items(task_json("t0", 0, "failed")));
  const Ran ran = run_client(server, {"exec", "train", "--", "ls"});
  EXPECT_EQ(ran.status, 5);
  EXPECT_EQ(
      ran.err,
      "error: worker-0 of \"train\" is failed, not running; see: fairlead describe job train\n");
  EXPECT_EQ(run_client(server, {"exec", "train"}).status, 2);
}

}  // namespace
}  // namespace fairlead::cli
