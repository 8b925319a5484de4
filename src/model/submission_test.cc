#include "model/submission.h"

#include <gtest/gtest.h>

namespace fairlead {
namespace {

struct Read {
  Submission submission;
  std::vector<Error> errors;
};

Read read(const std::string& text) {
  const auto document = Document::parse(text, "job.yaml");
  EXPECT_TRUE(document);
  Findings findings("job.yaml");
  Read out;
  out.submission = read_submission(document->roots()[0], findings);
  out.errors = findings.take_errors();
  return out;
}

TEST(Submission, IsAWorkloadWithWhatItsTasksDo) {
  const Read r = read(R"(
name: train
project: vision
roles: [{name: master, gpu: 1}, {name: worker, count: 2, gpu: 0.5}]
labels: {team: a}
autoDeleteAfter: 1d
run:
  command: [python, train.py, "--lr", "3e-4"]
  workingDir: /home/mira
  env: {A: "1"}
  pids: 100
  cpuLimit: 2.5
  memoryLimit: 4Gi
  uid: 1000
  roles: {master: {command: [python, master.py], env: {B: "2"}}}
)");
  ASSERT_TRUE(r.errors.empty()) << r.errors.front().text();
  EXPECT_EQ(r.submission.run.command_of("worker")[1], "train.py");
  EXPECT_EQ(r.submission.run.command_of("master")[1], "master.py");
  EXPECT_EQ(r.submission.run.cpu_limit, 2500);
  const Read again = read(to_json(submission_tree(r.submission)));
  ASSERT_TRUE(again.errors.empty());
  EXPECT_EQ(again.submission, r.submission);
}

TEST(Submission, SaysWhatIsWrongWithIt) {
  const Read r = read(R"(
name: train
project: vision
run:
  command: []
  workingDir: here
  env: {"A-B": x}
  memoryLimit: 1
  roles: {mastr: {}}
  shell: true
)");
  std::string all;
  for (const Error& error : r.errors) all += error.text() + "\n";
  for (const char* part : {"run.command: the command is empty", "\"here\" is not an absolute path",
                           "\"A-B\" cannot be the name of a variable", "a limit below 4Mi",
                           "no role \"mastr\"", "run.shell: there is no field of this name"}) {
    EXPECT_NE(all.find(part), std::string::npos) << part << " is not in\n" << all;
  }
  EXPECT_EQ(r.errors.size(), 6u) << all;
}

}  // namespace
}  // namespace fairlead
