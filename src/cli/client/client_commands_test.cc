// Commands against a server that answers from a table: what they ask, what they print, how they
// end.
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "cli/client/fake_server_testing.h"
#include "cli/client/forward.h"
#include "cli/client/tables.h"
#include "cli/client/top.h"

namespace fairlead::cli {
namespace {

using testing::FakeServer;
using testing::Ran;
using testing::run_client;
using testing::workload_json;

std::string items(const std::string& list) {
  return R"({"items": [)" + list + R"(], "revision": 9})";
}

constexpr const char* kNode = R"({"name": "gpu01", "revision": 3, "pool": "default", "ready": true,
    "schedulable": true, "cpuMilli": 96000, "memoryBytes": 1099511627776, "freeCpuMilli": 88000,
    "freeMemoryBytes": 549755813888, "devices": [
    {"id": "GPU-0", "class": "T4", "memoryMib": 16384, "freeMilli": 0, "freeMib": 0,
     "health": "healthy", "holders": ["train worker-0"]},
    {"id": "GPU-1", "class": "T4", "memoryMib": 16384, "freeMilli": 500, "freeMib": 8192,
     "health": "healthy", "holders": []}]})";

TEST(List, OfWorkloadsHasTheColumnsPeopleKnow) {
  FakeServer server;
  server.answer("GET /api/v1/workloads",
                items(workload_json("train", "running", R"("nodes": ["gpu01"])") + "," +
                      workload_json("wait", "pending")));
  const Ran ran = run_client(server, {"list"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.out.substr(0, ran.out.find("AGE")), "NAME   STATUS   ");
  EXPECT_NE(
      ran.out.find("NODE   TYPE      PROJECT  USER  GPUS ALLOCATED (REQUESTED)  TASKS RUNNING "
                   "(PENDING)\n"),
      std::string::npos)
      << ran.out;
  EXPECT_NE(ran.out.find("0 (2)"), std::string::npos) << ran.out;
}

TEST(List, OfWorkloadsHasTheColumnsOfTheNameItIsCalledBy) {
  FakeServer server;
  server.answer("GET /api/v1/workloads", items(workload_json("train", "pending")));
  const std::string classic = run_client(server, {"list"}, "runai").out;
  EXPECT_NE(classic.find("NODE  IMAGE  TYPE      PROJECT  USER  GPUs Allocated (Requested)  PODs "
                         "Running (Pending)  SERVICE URL(S)\n"),
            std::string::npos)
      << classic;
  EXPECT_NE(run_client(server, {"list", "-o", "wide"}).out.find("IMAGE  SERVICE URLS  COMMAND\n"),
            std::string::npos);
}

TEST(List, AsksForPhaseAndProject) {
  FakeServer server;
  server.answer("GET /api/v1/workloads", items(""));
  EXPECT_EQ(run_client(server, {"list", "-p", "vision", "--phase", "pending"}).err,
            "There are none.\n");
  EXPECT_EQ(server.asked().back().target,
            "/api/v1/workloads?project=vision&phase=pending&limit=1000");
  run_client(server, {"config", "project", "speech"});
  run_client(server, {"list"});
  EXPECT_EQ(server.asked().back().target, "/api/v1/workloads?project=speech&limit=1000");
  run_client(server, {"list", "-A"});
  EXPECT_EQ(server.asked().back().target, "/api/v1/workloads?limit=1000");
}

TEST(List, NounsChooseByType) {
  FakeServer server;
  server.answer("GET /api/v1/workloads", items(workload_json("train", "running")));
  EXPECT_EQ(run_client(server, {"training", "list", "-o", "name"}).out, "train\n");
  EXPECT_EQ(run_client(server, {"workspace", "list", "-o", "name"}).out, "");
  EXPECT_EQ(run_client(server, {"workload", "list", "-o", "name"}).out, "train\n");
}

TEST(List, JsonIsTheServersOwn) {
  FakeServer server;
  const std::string text = R"({"items":[{"name":"a","new-field":1.0}]})";
  server.answer("GET /api/v1/nodes", text);
  EXPECT_EQ(run_client(server, {"list", "nodes", "-o", "json"}).out, text + "\n");
  EXPECT_EQ(run_client(server, {"node", "list", "-o", "yaml"}).out,
            "---\nname: a\nnew-field: 1.0\n");
}

TEST(List, OfNodesAddsUpTheirDevices) {
  FakeServer server;
  server.answer("GET /api/v1/nodes", items(kNode));
  EXPECT_EQ(run_client(server, {"list", "nodes"}).out,
            "NAME   STATUS  POOL     GPU TYPE  GPUS ALLOCATED/TOTAL  CPUS ALLOCATED/TOTAL  MEMORY "
            "FREE  MEMORY\n"
            "gpu01  ready   default  T4                       1.5/2                  8/96      512 "
            "GiB   1 TiB\n");
  EXPECT_EQ(run_client(server, {"list", "nodes", "gpu02"}).status, 3);
  EXPECT_NE(run_client(server, {"top", "nodes"}).out.find("75 %"), std::string::npos);
}

TEST(List, OfProjectsMarksTheDefaultOne) {
  FakeServer server;
  server.answer("GET /api/v1/projects",
                items(R"({"name": "vision", "kind": "project", "document": {"parent": "research"},
                "status": {"workloads": {"running": 2, "pending": 1}, "pools": [{"pool": "default",
                "allocated": {"gpu": 1500}, "requested": {"gpu": 4000}, "fairShare": {"gpu": 2000},
                "quota": {"gpu": -1}, "limit": {"gpu": -1}}]}})"));
  run_client(server, {"config", "project", "vision"});
  EXPECT_EQ(run_client(server, {"list", "projects"}).out,
            "NAME              DEPARTMENT  POOL     QUOTA GPUS  ALLOCATED  REQUESTED  FAIR SHARE  "
            "LIMIT  RUNNING  PENDING\n"
            "vision (default)  research    default   unlimited        1.5          4           2  "
            "    -        2        1\n");
}

TEST(Describe, HasTasksAndEvents) {
  FakeServer server;
  server.answer("GET /api/v1/workloads", items(workload_json("train", "running")));
  server.answer("GET /api/v1/workloads/w-train/tasks",
                items(R"({"id": "t1", "role": "worker", "index": 0, "phase": "running",
                "attempt": 2, "node": "gpu01", "devices": [{"id": "GPU-0", "milli": 500}]})"));
  server.answer("GET /api/v1/workloads/w-train/events",
                items(R"({"kind": "workload", "id": "w", "name": "train", "reason": "Submitted",
                "message": "by mira", "actor": "mira"})"));
  const Ran ran = run_client(server, {"describe", "job", "train"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_NE(ran.out.find("Requested:       2 GPUs, 8 CPUs, 48 GiB\n"), std::string::npos)
      << ran.out;
  EXPECT_NE(ran.out.find("worker-0  running  -    gpu01  GPU-0:0.5  -           2\n"),
            std::string::npos)
      << ran.out;
  EXPECT_NE(ran.out.find("Submitted"), std::string::npos);
  EXPECT_EQ(run_client(server, {"training", "describe", "train"}).out, ran.out);
}

TEST(Lookup, AWrongNameGetsTheNearest) {
  FakeServer server;
  server.answer("GET /api/v1/workloads", items(""));
  server.answer("GET /api/v1/workloads", items(workload_json("train", "running")));
  const Ran ran = run_client(server, {"why", "trian"});
  EXPECT_EQ(ran.status, 3);
  EXPECT_EQ(ran.err, "error: there is no workload \"trian\"; did you mean \"train\"?\n");
}

TEST(Lookup, ANameInTwoProjectsMustSayWhich) {
  FakeServer server;
  std::string other = workload_json("train", "running");
  other.replace(other.find("\"vision\""), 8, "\"speech\"");
  server.answer("GET /api/v1/workloads", items(workload_json("train", "running") + "," + other));
  const Ran ran = run_client(server, {"logs", "train"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_EQ(ran.err, "error: \"train\" is in projects speech or vision; say which with -p\n");
}

TEST(Life, EachNameIsItsOwn) {
  FakeServer server;
  server.answer("GET /api/v1/workloads", items(workload_json("a", "running")));
  server.answer("GET /api/v1/workloads", items(""));
  server.answer("GET /api/v1/workloads", items(""));
  server.answer("DELETE /api/v1/workloads/w-a", workload_json("a", "deleting"), 202);
  const Ran ran = run_client(server, {"delete", "a", "b", "--grace-period", "0s"});
  EXPECT_EQ(ran.status, 3);
  EXPECT_EQ(ran.out, "a is deleted\n");
  EXPECT_EQ(server.asked().back().target, "/api/v1/workloads/w-a?gracePeriod=0s");
}

TEST(Life, AllAsksFirst) {
  FakeServer server;
  server.answer("GET /api/v1/workloads",
                items(workload_json("a", "suspended") + "," + workload_json("b", "running")));
  server.answer("POST /api/v1/workloads/w-a/resume", workload_json("a", "pending"), 202);
  const Ran asked = run_client(server, {"resume", "--all"});
  EXPECT_EQ(asked.status, 2);
  EXPECT_NE(asked.err.find("This would resume 1 workload."), std::string::npos) << asked.err;
  EXPECT_EQ(run_client(server, {"resume", "--all", "--yes"}).out, "a waits again\n");
  EXPECT_EQ(run_client(server, {"resume"}).status, 2);
}

TEST(Life, WhatIsFrozenGoesOn) {
  FakeServer server;
  server.answer("GET /api/v1/workloads", items(workload_json("a", "running")));
  server.answer("POST /api/v1/workloads/w-a/suspend", workload_json("a", "frozen"), 202);
  const Ran frozen = run_client(server, {"suspend", "a", "--freeze"});
  EXPECT_EQ(frozen.out, "a is frozen\n") << frozen.err;
  EXPECT_EQ(server.last("POST /api/v1/workloads/w-a/suspend").body, R"({"freeze": true})");
  server.answer("GET /api/v1/workloads", items(workload_json("a", "frozen")));
  server.answer("POST /api/v1/workloads/w-a/resume", workload_json("a", "running"), 202);
  EXPECT_EQ(run_client(server, {"resume", "a"}).out, "a goes on\n");
}

TEST(Submit, SendsTheDocumentAndTellsThePlan) {
  FakeServer server;
  server.answer("POST /api/v1/workloads",
                workload_json("train", "starting", R"("nodes": ["gpu01"])"), 201);
  const Ran ran = run_client(server, {"submit", "train", "-g", "2", "--", "python", "train.py"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.out,
            "Plan   2 GPUs, 8 CPUs, 48 GiB · training, preemptible · project vision\n"
            "Start  now, on gpu01\n"
            "Run    train submitted\n"
            "Next   fairlead logs -f train │ fairlead delete train\n");
  const std::string here = std::filesystem::current_path().string();
  EXPECT_EQ(server.last("POST /api/v1/workloads").body,
            "{\n  \"name\": \"train\",\n  \"type\": \"training\",\n  \"gpu\": 2,\n  \"run\": {\n"
            "    \"command\": [\n      \"python\",\n      \"train.py\"\n    ],\n"
            "    \"workingDir\": \"" +
                here + "\"\n  }\n}\n");
}

TEST(Submit, APrefixGetsTheNextNumberUntilOneIsFree) {
  FakeServer server;
  server.answer("GET /api/v1/workloads",
                items(workload_json("t-4", "running") + "," + workload_json("t-x", "running")));
  server.answer("GET /api/v1/workloads", items(workload_json("t-5", "running")));
  server.answer("POST /api/v1/workloads",
                R"({"code": "already-exists", "detail": "there is a workload t-5"})", 409);
  server.answer("POST /api/v1/workloads", workload_json("t-6", "pending"), 201);
  const Ran ran =
      run_client(server, {"submit", "--name-prefix", "t", "-o", "name", "--", "python", "x.py"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.out, "t-6\n");
  EXPECT_NE(server.last("POST /api/v1/workloads").body.find("\"name\": \"t-6\""),
            std::string::npos);
}

TEST(Submit, WhatCanNeverRunEndsWithSix) {
  FakeServer server;
  server.answer("POST /api/v1/workloads",
                R"({"code": "impossible", "detail": "no node has 16 GPUs", "cure": "ask for 8"})",
                422);
  const Ran ran = run_client(server, {"submit", "x", "-g", "16", "--", "true"});
  EXPECT_EQ(ran.status, 6);
  EXPECT_EQ(ran.err, "error: no node has 16 GPUs; ask for 8\n");
}

TEST(Submit, DryRunStoresNothing) {
  FakeServer server;
  server.answer("POST /api/v1/workloads", workload_json("x", "pending"), 200);
  EXPECT_EQ(run_client(server, {"submit", "x", "--dry-run", "--", "true"}).out,
            "x would be submitted\n");
  EXPECT_EQ(server.asked().back().target, "/api/v1/workloads?dryRun=true");
}

class Files : public ::testing::Test {
 protected:
  std::string write(const std::string& text) const {
    std::ofstream(server_.folder() + "/x.yaml") << text;
    return server_.folder() + "/x.yaml";
  }
  FakeServer server_;
};

TEST_F(Files, AreSentDocumentByDocument) {
  server_.answer("POST /api/v1/projects", "{}", 201);
  server_.answer("POST /api/v1/workloads", workload_json("a", "pending"), 201);
  const std::string file = write(
      "kind: Project\nname: vision\nquota: {gpu: 8}\n---\napiVersion: fairlead/v1\n"
      "kind: Workload\nname: a\ngpu: 0.5\nrun: {command: [python, \"1\"]}\n");
  const Ran ran = run_client(server_, {"submit", "-f", file, "-p", "vision"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.out, "project vision created\nworkload a created\n");
  EXPECT_EQ(server_.last("POST /api/v1/workloads").body,
            "{\n  \"name\": \"a\",\n  \"gpu\": 0.5,\n  \"run\": {\n    \"command\": [\n"
            "      \"python\",\n      \"1\"\n    ]\n  },\n  \"project\": \"vision\"\n}\n");
}

TEST_F(Files, OfWhatIsThereReplaceItWithApply) {
  server_.answer("POST /api/v1/projects", R"({"code": "already-exists", "detail": "there"})", 409);
  server_.answer("GET /api/v1/projects/vision", "{}", 200, "\"12\"");
  server_.answer("PUT /api/v1/projects/vision", "{}", 200);
  const std::string file = write("kind: Project\nname: vision\n");
  EXPECT_EQ(run_client(server_, {"apply", "-f", file}).out, "project vision replaced\n");
  EXPECT_EQ(server_.asked().back().if_match, "\"12\"");
  EXPECT_EQ(run_client(server_, {"workload", "submit", "-f", file}).status, 2);
}

TEST_F(Files, WithASlipSendNothing) {
  const std::string file = write("kind: Projekt\nname: vision\n");
  const Ran ran = run_client(server_, {"apply", "-f", file});
  EXPECT_EQ(ran.status, 2);
  EXPECT_NE(ran.err.find("x.yaml:1: kind: a server keeps no \"Projekt\""), std::string::npos)
      << ran.err;
  EXPECT_TRUE(server_.asked().empty());
}

TEST(Organization, UpdateKeepsWhatIsNotStated) {
  FakeServer server;
  server.answer("GET /api/v1/projects/vision",
                R"({"name": "vision", "document": {"name": "vision", "quota": {"gpu": 8, "cpu": 64},
                "rank": 100}})",
                200, "\"3\"");
  server.answer("PUT /api/v1/projects/vision", "{}");
  const Ran ran = run_client(server, {"project", "update", "vision", "--gpu-quota", "16"});
  EXPECT_EQ(ran.out, "project vision changed\n") << ran.err;
  EXPECT_EQ(server.asked().back().if_match, "\"3\"");
  EXPECT_EQ(server.asked().back().body,
            "{\n  \"name\": \"vision\",\n  \"rank\": 100,\n  \"quota\": {\n    \"cpu\": 64,\n"
            "    \"gpu\": 16\n  }\n}\n");
}

TEST(Organization, CreateSendsWhatIsStated) {
  FakeServer server;
  server.answer("POST /api/v1/projects", "{}", 201);
  run_client(server, {"project", "create", "vision", "--department", "research", "--gpu-quota",
                      "unlimited", "--member", "mira", "--member", "tom"});
  EXPECT_EQ(
      server.asked().back().body,
      "{\n  \"name\": \"vision\",\n  \"parent\": \"research\",\n  \"members\": [\n"
      "    \"mira\",\n    \"tom\"\n  ],\n  \"quota\": {\n    \"gpu\": \"unlimited\"\n  }\n}\n");
}

TEST(Organization, CordonChangesOneField) {
  FakeServer server;
  server.answer("GET /api/v1/nodes/gpu01", kNode, 200, "\"3\"");
  server.answer("PATCH /api/v1/nodes/gpu01", kNode);
  EXPECT_EQ(run_client(server, {"node", "cordon", "gpu01"}).out, "node gpu01 changed\n");
  EXPECT_EQ(server.asked().back().body, "{\n  \"schedulable\": false\n}\n");
}

TEST(Access, ATokensSecretIsAllThatIsData) {
  FakeServer server;
  server.answer("POST /api/v1/tokens",
                R"({"id": "k1", "name": "ci", "user": "mira", "secret": "fl_abc",
                "createdAt": "2026-01-31T08:00:00Z", "expiresAt": "2026-05-01T08:00:00Z"})",
                201);
  const Ran ran = run_client(server, {"token", "create", "ci", "--expires-in", "90d"});
  EXPECT_EQ(ran.out, "fl_abc\n");
  EXPECT_EQ(ran.err, "Token k1 of mira, good until 2026-05-01T08:00:00Z; it is shown this once:\n");
}

TEST(Access, LoginKeepsATokenThatIsGood) {
  FakeServer server;
  server.answer("GET /api/v1/whoami", R"({"user": "mira", "role": "user", "via": "token"})");
  std::ofstream(server.folder() + "/token") << "fl_abc\n";
  const Ran ran = run_client(server, {"login", "--token-file", server.folder() + "/token"});
  EXPECT_EQ(ran.out, "Signed in to " + server.socket() + " as mira (user)\n") << ran.err;
  run_client(server, {"whoami"});
  EXPECT_EQ(server.asked().back().token, "fl_abc");
  EXPECT_EQ(run_client(server, {"logout"}).out, "Signed out\n");
  run_client(server, {"whoami"});
  EXPECT_EQ(server.asked().back().token, "");
  EXPECT_EQ(run_client(server, {"login"}).status, 2);
}

TEST(Access, AUserIsChangedByItsOwnFields) {
  FakeServer server;
  server.answer("GET /api/v1/users/mira",
                R"({"name": "mira", "revision": 4, "role": "user", "localUser": "mira",
                "createdAt": "2026-01-31T08:00:00Z"})",
                200, "\"4\"");
  server.answer("PUT /api/v1/users/mira", "{}");
  EXPECT_EQ(run_client(server, {"user", "update", "mira", "--role", "admin"}).status, 0);
  EXPECT_EQ(server.asked().back().body,
            "{\n  \"role\": \"admin\",\n  \"name\": \"mira\",\n  \"localUser\": \"mira\"\n}\n");
}

TEST(Queue, HasPlacesAndReasons) {
  FakeServer server;
  server.answer("GET /api/v1/queue",
                R"({"waiting": 1, "items": [{"place": 1, "id": "w", "name": "train",
                "project": "vision", "user": "mira", "priority": 50, "reason": "no room",
                "requested": {"gpuMilli": 8000}, "start": {"text": "not known when"}}]})");
  EXPECT_EQ(run_client(server, {"queue"}).out,
            "PLACE  NAME   PROJECT  USER  PRIORITY  GPUS  WAITING  START           REASON\n"
            "    1  train  vision   mira        50     8  -        not known when  no room\n");
}

TEST(Doctor, EndsWithOneIfSomethingIsMissing) {
  FakeServer server;
  server.answer("GET /api/v1/doctor",
                R"({"items": [{"name": "GPUs", "state": "missing", "detail": "no driver",
                "cure": "install one"}, {"name": "cgroups", "state": "ok", "detail": "v2"}]})");
  const Ran ran = run_client(server, {"doctor"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_EQ(ran.out, "MISSING  GPUs: no driver\n         → install one\nok       cgroups: v2\n");
}

TEST(Version, SaysBoth) {
  FakeServer server;
  server.answer("GET /api/v1/version",
                R"({"version": "9.9.9", "apiVersion": "v1", "engine": "local", "simulated": true,
                "features": []})");
  EXPECT_EQ(run_client(server, {"version"}).out,
            "client  " + version_text() +
                "\nserver  fairlead 9.9.9, API v1, engine local, simulated GPUs\n");
}

TEST(Complete, IsQuietWithoutAServer) {
  FakeServer server;
  server.answer("GET /api/v1/workloads",
                items(workload_json("b", "running") + "," + workload_json("a", "running") + "," +
                      workload_json("gone", "deleted")));
  EXPECT_EQ(run_client(server, {"__complete", "workloads"}).out, "a\nb\n");
  const Ran refused = run_client(server, {"__complete", "nodes"});
  EXPECT_EQ(refused.status, 0);
  EXPECT_EQ(refused.out + refused.err, "");
}

TEST(Alias, SpeaksAsItIsCalled) {
  FakeServer server;
  server.answer("GET /api/v1/workloads", items(""));
  server.answer("POST /api/v1/workloads", workload_json("x", "pending"), 201);
  EXPECT_EQ(run_client(server, {"why", "x"}, "runai").err,
            "error: there is no workload \"x\"; see: runai list\n");
  EXPECT_NE(run_client(server, {"submit", "--help"}, "runai").out.find("  runai submit train"),
            std::string::npos);
  EXPECT_NE(run_client(server, {"submit", "x", "--", "true"}, "runai").out.find("runai why x"),
            std::string::npos);
  EXPECT_NE(
      run_client(server, {"completion", "bash"}, "runai").out.find("complete -F _runai runai"),
      std::string::npos);
}

TEST(ForwardedPort, IsReadInThreeForms) {
  EXPECT_EQ(parse_forwarded_port("8080:80")->local, 8080);
  EXPECT_EQ(parse_forwarded_port("8080:80")->remote, 80);
  EXPECT_EQ(parse_forwarded_port("80")->local, 80);
  EXPECT_EQ(parse_forwarded_port(":80")->local, 0);
  for (const char* wrong : {"", ":", "80:", "a:b", "70000", "1:0"}) {
    EXPECT_FALSE(parse_forwarded_port(wrong).has_value()) << wrong;
  }
}

TEST(TopScreen, FitsTheTerminal) {
  const auto document = Document::parse(items(kNode), "nodes.json");
  Items nodes;
  for (int i = 0; i < 40; ++i)
    nodes.push_back(&document->roots().front().find("items")->items()[0]);
  const std::string screen = top_screen(nodes, {}, {}, 20, 40, Instant{0});
  std::size_t lines = 0;
  for (std::size_t at = 0; at < screen.size(); ++lines) {
    const std::size_t end = screen.find('\n', at);
    EXPECT_LE(end - at, 42U) << screen.substr(at, end - at);  // "…" has three bytes
    at = end + 1;
  }
  EXPECT_LE(lines, 20U);
  EXPECT_NE(screen.find("… 38 more"), std::string::npos) << screen;
}

}  // namespace
}  // namespace fairlead::cli
