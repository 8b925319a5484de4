// The command line as a whole: usage errors, help, exit statuses, output to files.
#include "cli/app.h"

#include <sstream>

#include <gtest/gtest.h>

namespace fairlead::cli {
namespace {

struct Outcome {
  int status;
  std::string out;
  std::string err;
};

Outcome run_with(const std::vector<std::string>& arguments) {
  std::ostringstream out;
  std::ostringstream err;
  CliContext context{out, err};
  const int status = run(arguments, context);
  return {status, out.str(), err.str()};
}

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

TEST(Output, AMissingFolderIsAnErrorAndNothingIsPrinted) {
  const Outcome outcome = run_with({"schema", "cluster", "--output", "no/such/folder/x.json"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_NE(outcome.err.find("mkdir -p"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace fairlead::cli
