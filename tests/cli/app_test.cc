// The command line as a whole: usage errors, help, exit statuses, output to files.
#include "cli/app.h"

#include <algorithm>
#include <sstream>

#include <gtest/gtest.h>

#include "cli/outline.h"
#include "run_with.h"

namespace fairlead::cli {
namespace {

TEST(Usage, AnUnknownCommandNamesTheNearest) {
  const Outcome outcome = run_with({"valdate", "x.yaml"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err,
            "error: unknown command \"valdate\" for \"fairlead\"; did you mean \"validate\"?\n"
            "Run \"fairlead --help\" for usage.\n");
}

TEST(Usage, AnUnknownOptionNamesTheNearest) {
  const Outcome outcome = run_with({"validate", "--output-fromat", "json", "x.yaml"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.err.find("did you mean \"--output-format\"?"), std::string::npos)
      << outcome.err;
}

TEST(Usage, WhatIsMissingOrUnknownIsAUsageError) {
  EXPECT_EQ(run_with({}).status, 2);
  EXPECT_EQ(run_with({"validate"}).status, 2);
  EXPECT_EQ(run_with({"validate", "-o", "xml", "x.yaml"}).status, 2);
  EXPECT_EQ(run_with({"schema", "clutser"}).status, 2);
}

TEST(Usage, HelpAndVersionGoToStandardOutput) {
  const Outcome help = run_with({"validate", "--help"});
  EXPECT_EQ(help.status, 0);
  EXPECT_EQ(help.err, "");
  EXPECT_NE(help.out.find("Examples:"), std::string::npos);
  EXPECT_EQ(run_with({"--version"}).out, version_text() + "\n");
}

// Only what the first word needs is set up; every command must be among it.
TEST(Usage, EveryCommandIsFoundByItsName) {
  const std::vector<CommandOutline> outline = program_outline();
  for (const std::string& name : outline.front().subcommands) {
    const Outcome help = run_with({name, "--help"});
    EXPECT_EQ(help.status, 0) << name << " " << help.err;
    EXPECT_NE(help.out.find("Usage: fairlead " + name), std::string::npos) << help.out;
  }
}

TEST(Validate, DataGoesToOutAndFindingsToErr) {
  const Outcome good = run_with({"validate", "tests/documents/valid/small.yaml"});
  EXPECT_EQ(good.status, 0);
  EXPECT_EQ(good.out,
            "tests/documents/valid/small.yaml: valid, 4 nodes, 32 GPUs, 2 queues, 1 workload\n");
  EXPECT_EQ(good.err, "");
  const Outcome bad = run_with({"validate", "tests/documents/invalid/numa.yaml"});
  EXPECT_EQ(bad.status, 2);
  EXPECT_EQ(bad.out, "");
}

TEST(Validate, AnUnreadableFileIsAnIoErrorUnlessAnotherIsWrong) {
  EXPECT_EQ(run_with({"validate", "no-such-file"}).status, 1);
  EXPECT_EQ(run_with({"validate", "no-such-file", "tests/documents/invalid/numa.yaml"}).status, 2);
}

TEST(Validate, JsonHoldsEveryFinding) {
  const Outcome outcome = run_with({"validate", "-o", "json", "tests/documents/invalid/numa.yaml"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.err, "");
  EXPECT_NE(outcome.out.find("\"valid\": false"), std::string::npos);
  EXPECT_NE(outcome.out.find("\"line\": 4"), std::string::npos);
  EXPECT_NE(outcome.out.find("\"field\": \"nodes[0].numa\""), std::string::npos);
}

TEST(Validate, KnowsEveryKindOfDocument) {
  const Outcome outcome =
      run_with({"validate", "tests/documents/valid/case.scn", "tests/documents/valid/share.yaml",
                "tests/scenarios/documents/unchecked_names.yaml", "traces/demo-cluster.yaml"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out,
            "tests/documents/valid/case.scn: valid, scenario, 1 expectation\n"
            "tests/documents/valid/share.yaml: valid, share, 4 resources, 2 queues\n"
            "tests/scenarios/documents/unchecked_names.yaml: valid, scenario, 3 expectations\n"
            "traces/demo-cluster.yaml: valid, 8 nodes, 48 GPUs, 3 queues, 0 workloads\n");
}

TEST(Documents, OfAnotherKindAreNamedAndTheirCommandToo) {
  const Outcome simulated = run_with(
      {"simulate", "trace", "traces/demo.csv", "--cluster", "tests/documents/valid/share.yaml"});
  EXPECT_EQ(simulated.status, 2);
  EXPECT_NE(simulated.err.find("a Share stands where a Cluster or a Workload is needed"),
            std::string::npos)
      << simulated.err;
  const Outcome played = run_with({"scenario", "run", "tests/documents/valid/small.yaml"});
  EXPECT_EQ(played.status, 2);
  EXPECT_NE(played.err.find("the document is a Cluster, no scenario"), std::string::npos)
      << played.err;
  const Outcome divided = run_with({"share", "tests/documents/valid/small.yaml"});
  EXPECT_EQ(divided.status, 2);
  EXPECT_EQ(std::count(divided.err.begin(), divided.err.end(), '\n'), 1) << divided.err;
}

// A folder that was misspelt or emptied once passed with nothing played.
TEST(Scenario, AFolderWithoutScenariosIsNoPass) {
  const Outcome played = run_with({"scenario", "run", "docs/adr"});
  EXPECT_EQ(played.status, 1);
  EXPECT_NE(played.err.find("docs/adr: there is no scenario file in this folder"),
            std::string::npos)
      << played.err;
}

// What a name or an argument holds must not steer the terminal that shows the message.
TEST(Messages, DoNotSteerATerminal) {
  const Outcome run = run_with({"validate", "no\x1b[31m\xff.yaml"});
  EXPECT_EQ(run.status, 1);
  EXPECT_NE(run.err.find("no\\x1b[31m\\xff.yaml"), std::string::npos) << run.err;
}

TEST(Options, OutsideTheirRangeNameIt) {
  for (const char* seed : {"-1", "x", "9223372036854775808", "1.5"}) {
    const Outcome outcome = run_with({"simulate", "demo", "--seed", seed});
    EXPECT_EQ(outcome.status, 2);
    EXPECT_NE(outcome.err.find("is not a whole number from 0 to 9223372036854775807"),
              std::string::npos)
        << outcome.err;
  }
  const Outcome percent = run_with({"simulate", "generate", "--failing-percent", "101"});
  EXPECT_NE(percent.err.find("\"101\" is not a number from 0 to 100"), std::string::npos)
      << percent.err;
  const Outcome policy = run_with({"simulate", "demo", "--policy", "tirisias"});
  EXPECT_EQ(policy.status, 2);
  EXPECT_NE(policy.err.find("did you mean \"tiresias\"?"), std::string::npos) << policy.err;
}

TEST(Options, ThatMeanNothingWithoutAnotherAreRefused) {
  EXPECT_EQ(run_with({"simulate", "demo", "--fault-scale", "3"}).err,
            "error: --fault-scale requires --faults\n"
            "Run \"fairlead simulate demo --help\" for usage.\n");
  EXPECT_EQ(run_with({"simulate", "openb", "--nodes", "n", "--pods", "p", "--load", "50"}).status,
            2);
  EXPECT_EQ(run_with({"simulate", "generate", "--burst-mean", "4"}).status, 2);
}

TEST(Completion, HoldsEveryCommandAndFlag) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const Outcome outcome = run_with({"completion", shell});
    EXPECT_EQ(outcome.status, 0);
    for (const CommandOutline& command : program_outline()) {
      EXPECT_NE(outcome.out.find(command.path), std::string::npos) << shell << " " << command.path;
      for (const OptionOutline& option : command.options) {
        const std::string name = option.names.back();
        EXPECT_NE(outcome.out.find(shell == std::string("fish") ? "-l " + name.substr(2) : name),
                  std::string::npos)
            << shell << " " << name;
      }
    }
  }
  EXPECT_EQ(run_with({"completion", "tcsh"}).status, 2);
}

TEST(Output, AMissingFolderIsAnErrorAndNothingIsPrinted) {
  const Outcome outcome = run_with({"schema", "cluster", "--output", "no/such/folder/x.json"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_NE(outcome.err.find("mkdir -p"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace fairlead::cli
