// `fairlead simulate` from options to output: fields, exit status, and nothing written on an error.
#include <filesystem>
#include <fstream>
#include <sstream>
#include <unistd.h>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/app.h"
#include "cli/simulate_options.h"

namespace fairlead::cli {
namespace {

using Json = nlohmann::json;

struct Ran {
  int status = 0;
  std::string out;
  std::string err;
};

Ran simulate(std::vector<std::string> arguments) {
  std::ostringstream out;
  std::ostringstream err;
  CliContext context{.out = out, .err = err};
  arguments.insert(arguments.begin(), "simulate");
  Ran run;
  run.status = cli::run(arguments, context);
  run.out = out.str();
  run.err = err.str();
  return run;
}

class SimulateCommand : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() /
              ("fairlead_simulate_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& name, const std::string& content) const {
    std::ofstream(folder_ / name) << content;
    return (folder_ / name).string();
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  std::filesystem::path folder_;
};

constexpr const char* kNodes =
    "sn,cpu_milli,memory_mib,gpu,model\nn1,64000,262144,4,T4\nn2,64000,262144,4,G2\n";
constexpr const char* kPods =
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\na,4000,1024,1,500,\nb,4000,1024,2,1000,"
    "\nc,4000,1024,1,1000,T4\n";

TEST_F(SimulateCommand, TwoOutputsDoNotGoToOneFile) {
  const auto run = simulate({"demo", "--html", path("x"), "--records", path("x")});
  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(run.err, "error: --records: goes where --html goes; name a file of its own\n");
  EXPECT_FALSE(std::filesystem::exists(path("x")));
  EXPECT_EQ(simulate({"demo", "--html", "-"}).status, 2);  // the summary goes there too
}

TEST_F(SimulateCommand, AnOutputDoesNotReplaceWhatIsRead) {
  const std::string trace = file("jobs.csv", "submit_s,duration_s\n0,10\n");
  const std::string cluster =
      file("c.yaml",
           "apiVersion: fairlead/v1\nkind: Cluster\nnodes:\n  - {name: n, cpu: 4, memory: 1Gi, "
           "gpus: 1 x T4}\nqueues:\n  - {name: default, quota: {gpu: 1}}\n");
  const auto run =
      simulate({"trace", trace, "--cluster", cluster, "--records", path("./jobs.csv")});
  EXPECT_EQ(run.status, 2);
  EXPECT_NE(run.err.find("which is read"), std::string::npos) << run.err;
  EXPECT_EQ(simulate({"trace", trace, "--cluster", cluster}).status, 0);
}

// The page was once written before the folder of the records turned out to be missing.
TEST_F(SimulateCommand, AnOutputThatCannotBeWrittenLeavesNoOther) {
  const auto run = simulate({"demo", "--html", path("x.html"), "--records", path("no/x.csv")});
  EXPECT_EQ(run.status, 1);
  EXPECT_FALSE(std::filesystem::exists(path("x.html")));
}

// A century of faults a millionfold once took all memory.
TEST_F(SimulateCommand, FaultsWithoutEndAreRefused) {
  const std::string trace = file("jobs.csv", "submit_s,duration_s,project\n0,3162240000,vision\n");
  ASSERT_EQ(simulate({"demo", "--write", folder_.string()}).status, 0);
  const auto run = simulate({"trace", trace, "--cluster", path("demo-cluster.yaml"), "--faults",
                             "--fault-scale", "1000000"});
  EXPECT_EQ(run.status, 2);
  EXPECT_NE(run.err.find("--fault-scale"), std::string::npos) << run.err;
}

TEST_F(SimulateCommand, OpenbPrintsEverySeedAndTheMean) {
  const Ran run = simulate({"openb", "--nodes", file("n.csv", kNodes), "--pods",
                            file("p.csv", kPods), "--seeds", "7,42-43", "-o", "json"});
  ASSERT_EQ(run.status, 0) << run.err;
  const Json json = Json::parse(run.out);
  ASSERT_EQ(json["seeds"].size(), 3u);
  EXPECT_EQ(json["seeds"][0]["seed"], 7);
  for (const char* field : {"unallocatedPercent", "fragmentationPercent"}) {
    EXPECT_EQ(json["mean"][field].size(), 131u) << field;
    EXPECT_EQ(json["seeds"][2][field].size(), 131u) << field;
  }
  EXPECT_TRUE(json["mean"]["decisionsPerSecond"].is_number());
}

TEST_F(SimulateCommand, OutputWithoutSpeedIsTheSameEveryTime) {
  const std::vector<std::string> arguments{"openb",
                                           "--nodes",
                                           file("n.csv", kNodes),
                                           "--pods",
                                           file("p.csv", kPods),
                                           "--policy",
                                           "random",
                                           "--seeds",
                                           "1-3",
                                           "--no-speed",
                                           "-o",
                                           "json"};
  EXPECT_EQ(simulate(arguments).out, simulate(arguments).out);
  EXPECT_EQ(simulate({"demo", "-o", "json"}).out, simulate({"demo", "-o", "json"}).out);
}

TEST_F(SimulateCommand, ABadLineIsNamedAndNothingIsWritten) {
  const std::string pods = file("p.csv", std::string(kPods) + "d,4000,1024,1,-5,\n");
  const Ran run = simulate({"openb", "--nodes", file("n.csv", kNodes), "--pods", pods, "--output",
                            path("out.json"), "--html", path("out.html")});
  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_NE(
      run.err.find("p.csv:5: column gpu_milli: '-5' is out of range; allowed is a whole number "
                   "from 1 to 1000"),
      std::string::npos)
      << run.err;
  EXPECT_FALSE(std::filesystem::exists(path("out.json")));
  EXPECT_FALSE(std::filesystem::exists(path("out.html")));
}

TEST_F(SimulateCommand, EveryBadLineOfATraceIsNamed) {
  const std::string pods = file("p.csv", std::string(kPods) + "d,4000,1024,1,-5,\ne,x,1024,1,5,\n");
  const Ran run = simulate({"openb", "--nodes", file("n.csv", kNodes), "--pods", pods});
  EXPECT_EQ(run.status, 2);
  EXPECT_NE(run.err.find("p.csv:5: column gpu_milli"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("p.csv:6: column cpu_milli"), std::string::npos) << run.err;
}

TEST_F(SimulateCommand, UnknownNamesAreUsageErrors) {
  EXPECT_EQ(simulate({"demo", "--policy", "magic"}).status, 2);
  EXPECT_EQ(simulate({"demo", "--placement", "magic"}).status, 2);
  EXPECT_EQ(simulate({"openb", "--nodes", file("n.csv", kNodes), "--pods", file("p.csv", kPods),
                      "--seeds", "9-1"})
                .status,
            2);
  EXPECT_EQ(simulate({"muri"}).status, 2);
  EXPECT_EQ(simulate({"trace", path("none.csv"), "--cluster", path("none.yaml")}).status, 1);
}

// --checkpoint-every 0 once meant that nothing was ever lost.
TEST_F(SimulateCommand, NumbersHaveBoundsAndTheErrorNamesThem) {
  const auto error = [&](std::vector<std::string> arguments) {
    const Ran run = simulate(std::move(arguments));
    EXPECT_EQ(run.status, 2);
    EXPECT_EQ(run.out, "");
    return run.err.substr(0, run.err.find('\n'));
  };
  EXPECT_EQ(error({"demo", "--checkpoint-every", "0"}),
            "error: --checkpoint-every: \"0\" is not a duration from 1s to 366d");
  EXPECT_EQ(error({"demo", "--restart-cost", "31d"}),
            "error: --restart-cost: \"31d\" is not a duration from 0s to 30d");
  EXPECT_EQ(error({"demo", "--faults", "--fault-scale", "1e7"}),
            "error: --fault-scale: \"1e7\" is not a number from 0 to 1000000");
  EXPECT_EQ(
      error({"demo", "--refused-starts", "0.04"}),
      "error: --refused-starts: 0.04 is below the smallest step; allowed are 0, and 0.1 to 90 "
      "in steps of 0.1");
  EXPECT_EQ(error({"generate", "--duration-median", "500ms"}),
            "error: --duration-median: \"500ms\" is not a duration from 1s to 3660d");
  EXPECT_EQ(error({"generate", "--duration-max", "1m"}),
            "error: --duration-max: 1m is below the median, 30m; allowed is the median or more");
  const std::string trace = file("t.csv", "job_id\n0\n");
  EXPECT_EQ(error({"muri", "--trace", trace, "--restart-cost", "often"}).substr(0, 24),
            "error: --restart-cost: \"");
  EXPECT_EQ(error({"gavel", "--jobs", trace, "--throughputs", trace, "--jobs-per-hour", "1",
                   "--restart-cost", "7m"}),
            "error: --restart-cost: \"7m\" is not a duration from 0s to 6m");
}

TEST_F(SimulateCommand, FairnessIsShownBesideFifoAndLas) {
  const Ran run = simulate({"demo", "--fairness", "-o", "json", "--html", path("page.html")});
  ASSERT_EQ(run.status, 0) << run.err;
  const Json json = Json::parse(run.out);
  ASSERT_EQ(json["fairnessByPolicy"].size(), 3u);
  EXPECT_EQ(json["fairnessByPolicy"][0]["policy"], "default");
  EXPECT_EQ(json["fairnessByPolicy"][0]["worst"], json["finishTimeFairness"]["worst"]);
  EXPECT_EQ(json["fairnessByPolicy"][1]["policy"], "fifo");
  EXPECT_EQ(json["fairnessByPolicy"][2]["policy"], "las");
  ASSERT_EQ(json["quotaSafety"].size(), 3u);
  EXPECT_EQ(json["quotaSafety"][0]["waitedLongerThanDrain"], 0);
  std::ostringstream page;
  page << std::ifstream(path("page.html")).rdbuf();
  EXPECT_NE(page.str().find("What quotas promise"), std::string::npos);
}

TEST_F(SimulateCommand, EveryReplayHasAPageOfItsOwn) {
  const auto page = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--html", path("page.html")});
    const Ran run = simulate(std::move(arguments));
    EXPECT_EQ(run.status, 0) << run.err;
    std::ostringstream text;
    text << std::ifstream(path("page.html")).rdbuf();
    return text.str();
  };
  const std::string churn = page({"openb", "--nodes", file("n.csv", kNodes), "--pods",
                                  file("p.csv", kPods), "--seeds", "1-2", "--churn"});
  EXPECT_NE(churn.find("Unallocated GPU capacity over time"), std::string::npos);
  EXPECT_EQ(churn.find("http"), std::string::npos);  // nothing is fetched
  const std::string jobs = file(
      "j.csv", "job_id,arrival_unit,job_type,scale_factor,total_steps\n0,0,a,1,9000\n1,1,a,1,90\n");
  const std::string rates =
      file("r.csv", "worker_type,job_type,scale_factor,steps_per_s\nv100,a,1,2\nk80,a,1,1\n");
  const std::string gavel = page({"gavel", "--jobs", jobs, "--throughputs", rates, "--cluster",
                                  "v100:1,k80:1", "--jobs-per-hour", "2"});
  EXPECT_NE(gavel.find("GPUs at work over time, by type"), std::string::npos);
  EXPECT_EQ(gavel.find("nan"), std::string::npos);
}

TEST_F(SimulateCommand, WhatIsGivenTwiceIsAnError) {
  const Ran run = simulate({"demo", "--seed", "1", "--seed", "2"});
  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(run.err.substr(0, run.err.find('\n')), "error: --seed is given 2 times; give it once");
  EXPECT_EQ(simulate({"generate", "--jobs", "3", "--sizes", "1:2,1:3"}).status, 2);
  const Ran projects = simulate({"generate", "--jobs", "3", "--projects", "a:1,b:2,a:2"});
  EXPECT_EQ(projects.err,
            "error: --projects: 'a' has two weights; state one of them, or their sum\n");
}

TEST_F(SimulateCommand, MuriPrintsCompletionTimes) {
  const std::string trace = file("t.csv",
                                 "job_id,num_gpu,submit_time,iterations,model_name,iteration_time\n"
                                 "0,8,0,1000,bert,1000\n1,8,0,1000,bert,1000\n");
  const Ran run =
      simulate({"muri", "--trace", trace, "--nodes", "1", "--policy", "fifo", "-o", "json"});
  ASSERT_EQ(run.status, 0) << run.err;
  const Json json = Json::parse(run.out);
  // 1,015 s each, one after the other.
  EXPECT_DOUBLE_EQ(json["avgJctSeconds"], 1522.5);
  EXPECT_DOUBLE_EQ(json["p99JctSeconds"], 2030);
  EXPECT_DOUBLE_EQ(json["makespanSeconds"], 2030);
  EXPECT_EQ(json["preemptions"], 0);
  EXPECT_EQ(simulate({"muri", "--trace", trace, "--nodes", "1", "--gpus-per-node", "4"}).status, 6);
}

TEST_F(SimulateCommand, TheDemoWritesFilesThatReplayToTheSame) {
  ASSERT_EQ(simulate({"demo", "--write", folder_.string()}).status, 0);
  const Ran again =
      simulate({"trace", path("demo.csv"), "--cluster", path("demo-cluster.yaml"), "--seed", "7",
                "--html", path("page.html"), "--records", path("jobs.csv")});
  ASSERT_EQ(again.status, 0) << again.err;
  EXPECT_EQ(again.out, simulate({"demo"}).out);
  std::ostringstream page;
  page << std::ifstream(path("page.html")).rdbuf();
  EXPECT_NE(page.str().find("<svg"), std::string::npos);
}

TEST_F(SimulateCommand, GeneratedTracesReplay) {
  const Ran made = simulate({"generate", "--jobs", "50", "--arrivals", "bursty", "--projects",
                             "vision:1,other:1", "--sizes", "0.5:1,1:1,4:1"});
  ASSERT_EQ(made.status, 0) << made.err;
  ASSERT_EQ(simulate({"demo", "--write", folder_.string()}).status, 0);
  const Ran run =
      simulate({"trace", file("made.csv", made.out), "--cluster", path("demo-cluster.yaml"),
                "--faults", "--fault-scale", "1000", "--refused-starts", "20", "-o", "json"});
  ASSERT_EQ(run.status, 0) << run.err;
  const Json json = Json::parse(run.out);
  EXPECT_EQ(json["finished"], 50);
  EXPECT_GT(json["refusedStarts"], 0);
}

TEST(Seeds, AreListsAndRanges) {
  EXPECT_EQ(*parse_seeds("42-44"), (std::vector<std::uint64_t>{42, 43, 44}));
  EXPECT_EQ(*parse_seeds("9,1-2"), (std::vector<std::uint64_t>{9, 1, 2}));
  for (const char* bad : {"", "a", "1-", "3-1", "1,1", "-5", "1-100000000", "1,,2"}) {
    EXPECT_FALSE(parse_seeds(bad).has_value()) << bad;
  }
}

}  // namespace
}  // namespace fairlead::cli
