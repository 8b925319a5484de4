// Every flag of a submission, in every dialect, as the document that it makes.
#include <filesystem>
#include <sstream>

#include <gtest/gtest.h>

#include "cli/app.h"
#include "cli/client/answer.h"
#include "cli/client/foreign_flags.h"
#include "cli/client/submit.h"
#include "cli/client/workload_document.h"
#include "cli/outline.h"
#include "model/document.h"

namespace fairlead::cli {
namespace {

struct Ran {
  int status = 0;
  std::string out;
  std::string err;
};

// The words with --dry-run=client; nobody is asked.
Ran dry(std::vector<std::string> words) {
  ::setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
  ::unsetenv("FAIRLEAD_SERVER");
  std::ostringstream out;
  std::ostringstream err;
  CliContext context{.out = out, .err = err};
  const auto dashes = std::find(words.begin(), words.end(), "--");
  words.insert(dashes, {"--dry-run=client", "-o", "json"});
  const int status = run(words, context);
  return {status, out.str(), err.str()};
}

struct Case {
  std::vector<std::string> words;  // of the command line
  std::string path;                // in the document
  std::string value;               // JSON on one line
};

std::string one_line(const Value* value) {
  if (value == nullptr) return "missing";
  std::string out;
  bool space = false;
  for (const char c : to_json(tree_of(*value))) {
    if (c == '\n') {
      space = true;
    } else if (!(space && c == ' ')) {
      out += c;
      space = false;
    }
  }
  return out;
}

std::vector<std::string> submit(std::vector<std::string> flags,
                                std::vector<std::string> command = {"submit", "x"}) {
  command.insert(command.end(), flags.begin(), flags.end());
  command.insert(command.end(), {"--", "python", "t.py"});
  return command;
}

TEST(SubmitFlags, EachMakesItsFieldOfTheDocument) {
  ::setenv("FAIRLEAD_TEST_SECRET", "s3cret", 1);
  const std::vector<Case> cases = {
      {submit({}), "name", "\"x\""},
      {submit({"--name", "y"}, {"submit"}), "name", "\"y\""},
      {submit({"--name-prefix", "y"}, {"submit"}), "name", "\"y-1\""},
      {submit({"--job-name-prefix", "y"}, {"submit"}), "name", "\"y-1\""},
      {submit({"-p", "vision"}), "project", "\"vision\""},
      {submit({"--project", "vision"}), "project", "\"vision\""},
      {submit({"-l", "a=b", "--label", "c=d=e"}), "labels", R"({"a": "b","c": "d=e"})"},
      {submit({}), "type", "\"training\""},
      {submit({"--interactive"}), "type", "\"workspace\""},
      {submit({}, {"workspace", "submit", "x"}), "type", "\"workspace\""},
      {submit({}, {"training", "submit", "x"}), "type", "\"training\""},
      {submit({}, {"training", "standard", "submit", "x"}), "type", "\"training\""},
      {submit({}, {"training", "pytorch", "submit", "x"}), "type", "\"distributed\""},
      {submit({}, {"pytorch", "submit", "x"}), "type", "\"distributed\""},
      {submit({}, {"mpi", "submit", "x"}), "type", "\"distributed\""},
      {submit({"--preemptible"}), "preemptibility", "\"preemptible\""},
      {submit({"--preemptible", "--interactive"}), "priority", "\"build-preemptible\""},
      {submit({"--preemptibility", "semi-preemptible"}), "preemptibility", "\"semi-preemptible\""},
      {submit({"--priority", "60"}), "priority", "60"},
      {submit({"--priority", "build"}), "priority", "\"build\""},
      {submit({"--completions", "20", "--parallelism", "4"}), "completions", "20"},
      {submit({"--runs", "20", "--parallelism", "4"}), "parallelism", "4"},
      {submit({"--backoff-limit", "0"}), "backoffLimit", "0"},
      {submit({"--max-runtime", "90m"}), "maxRuntime", "\"1h30m\""},
      {submit({"--expected-runtime", "3600"}), "expectedRuntime", "\"1h\""},
      {submit({"--grace-period", "5m"}), "gracePeriod", "\"5m\""},
      {submit({"--termination-grace-period", "5m"}), "gracePeriod", "\"5m\""},
      {submit({"--auto-deletion-time-after-completion", "0s"}), "autoDeleteAfter", "\"0s\""},
      {submit({"--ttl-after-finish", "2h"}), "autoDeleteAfter", "\"2h\""},
      {submit({"--auto-delete-after", "2h"}), "autoDeleteAfter", "\"2h\""},
      {submit({"-g", "2"}), "gpu", "2"},
      {submit({"--gpu", "0.5"}), "gpu", "0.5"},
      {submit({"--gpus", "1.0"}), "gpu", "1"},
      {submit({"--gpu-devices-request", "1"}), "gpu", "1"},
      {submit({"-g", "0.5", "--gpu-portion-limit", "1"}), "gpu", R"({"portion": 0.5,"limit": 1})"},
      {submit({"-g", "2", "--gpu-portion-request", "0.75"}), "gpu",
       R"({"portion": 0.75,"count": 2})"},
      {submit({"--gpu-request-type", "portion", "--gpu-portion-request", "0.5"}), "gpu",
       R"({"portion": 0.5})"},
      {submit({"--gpu-memory", "4Gi"}), "gpu", R"({"memory": "4Gi"})"},
      {submit({"--gpu-memory", "1G"}), "gpu", R"({"memory": "954Mi"})"},
      {submit({"--gpu-memory-request", "500M", "--gpu-memory-limit", "1Gi"}), "gpu",
       R"({"memory": "477Mi","limit": "1Gi"})"},
      {submit({"--mig-profile", "1g.10gb"}), "gpu", R"({"mig": "1g.10gb"})"},
      {submit({"--cpu", "500m"}), "cpu", "0.5"},
      {submit({"--cpu-core-request", "4"}), "cpu", "4"},
      {submit({"--cpu-limit", "8"}), "run.cpuLimit", "8"},
      {submit({"--cpu-core-limit", "8"}), "run.cpuLimit", "8"},
      {submit({"--memory", "48Gi"}), "memory", "\"48Gi\""},
      {submit({"--mem", "1G"}), "memory", "\"1G\""},
      {submit({"--cpu-memory-request", "1G"}), "memory", "\"1G\""},
      {submit({"--memory-limit", "64Gi"}), "run.memoryLimit", "\"64Gi\""},
      {submit({"--cpu-memory-limit", "64Gi"}), "run.memoryLimit", "\"64Gi\""},
      {submit({"--pids", "500"}), "run.pids", "500"},
      {submit({"--extended-resource", "fpga=2"}), "resources", R"({"fpga": 2})"},
      {submit({"--node-pools", "a,b"}), "pools", R"(["a","b"])"},
      {submit({"--node-pools", "a", "b"}), "pools", R"(["a","b"])"},
      {submit({"--node-pools", "a b", "--node-pools", "c"}), "pools", R"(["a","b","c"])"},
      {submit({"--node-type", "dgx"}), "nodeTypes", R"(["dgx"])"},
      {submit({"--gpu-type", "H100-80GB"}), "deviceClasses", R"(["H100-80GB"])"},
      {submit({"-e", "A=1", "--environment", "B=x=y", "--env", "A=2"}), "run.env",
       R"({"A": "2","B": "x=y"})"},
      {submit({"-e", "FAIRLEAD_TEST_SECRET"}), "run.env", R"({"FAIRLEAD_TEST_SECRET": "s3cret"})"},
      {submit({"--working-dir", "/data"}), "run.workingDir", "\"/data\""},
      {submit({"--workdir", "/data"}), "run.workingDir", "\"/data\""},
      {submit({"--run-as-uid", "1000", "--run-as-gid", "100"}), "run.uid", "1000"},
      {submit({"--run-as-gid", "100"}), "run.gid", "100"},
      {submit({"-t"}), "run.tty", "true"},
      {submit({"--tty"}), "run.tty", "true"},
      {submit({"--stdin"}), "run.stdin", "true"},
      {submit({"--attach"}), "run.tty", "true"},
      {submit({"--attach"}), "run.stdin", "true"},
      {submit({}), "run.command", R"(["python","t.py"])"},
      {submit({"-c"}), "run.command", R"(["python","t.py"])"},
      {submit({"--workers", "3", "-g", "1"}, {"submit-dist", "pytorch", "x"}), "roles",
       R"([{"name": "master","gpu": 1},{"name": "worker","count": 3,"gpu": 1}])"},
      {submit({"--no-master", "--workers", "3"}, {"submit-dist", "tf", "x"}), "roles",
       R"([{"name": "worker","count": 3}])"},
      {submit({"--master-gpu", "0", "-g", "1"}, {"submit-dist", "xgboost", "x"}), "roles",
       R"([{"name": "master","gpu": 0},{"name": "worker","count": 1,"gpu": 1}])"},
      {submit({"--min-replicas", "2", "--max-replicas", "5", "--no-master"},
              {"submit-dist", "pytorch", "x"}),
       "roles", R"([{"name": "worker","count": 5,"min": 2}])"},
      {submit({"--master-extended-resource", "fpga=1"}, {"submit-dist", "pytorch", "x"}), "roles",
       R"([{"name": "master","resources": {"fpga": 1}},{"name": "worker","count": 1}])"},
      {submit({"--master-args", "--lead 'a b'"}, {"submit-dist", "pytorch", "x"}),
       "run.roles.master.command", R"(["python","--lead","a b"])"},
      {submit({"--master-command", "./lead.sh -v"}, {"submit-dist", "pytorch", "x"}),
       "run.roles.master.command", R"(["./lead.sh","-v"])"},
      {submit({"--master-environment", "A=1"}, {"submit-dist", "pytorch", "x"}),
       "run.roles.master.env", R"({"A": "1"})"},
      {submit({"-e", "A=1", "--master-environment", "A=-"}, {"submit-dist", "pytorch", "x"}),
       "run.roles", R"({"worker": {"env": {"A": "1"}}})"},
      {submit({"--workers", "4", "-g", "1", "--cpu", "2", "--memory", "1Gi"},
              {"submit-dist", "mpi", "x"}),
       "gpu", "4"},
      {submit({"--workers", "4", "--cpu", "2"}, {"submit-dist", "mpi", "x"}), "cpu", "8"},
      {submit({"--workers", "4", "--memory", "1Gi"}, {"submit-dist", "mpi", "x"}), "memory",
       "\"4Gi\""},
      {submit({"--workers", "4", "-g", "0.5"}, {"submit-dist", "mpi", "x"}), "gpu",
       R"({"portion": 0.5,"count": 4})"},
      {submit({}, {"submit-dist", "mpi", "x"}), "role", "\"launcher\""},
  };
  for (const Case& one : cases) {
    const Ran ran = dry(one.words);
    std::string shown;
    for (const std::string& word : one.words) shown += word + " ";
    ASSERT_EQ(ran.status, 0) << shown << ran.err;
    const auto document = Document::parse(ran.out, "out.json");
    ASSERT_TRUE(document.has_value()) << ran.out;
    EXPECT_EQ(one_line(value_at(document->roots().front(), one.path)), one.value) << shown;
  }
}

TEST(SubmitFlags, TheFolderIsTheCurrentOne) {
  const std::string here = std::filesystem::current_path().string();
  const auto folder = [](const std::vector<std::string>& flags) {
    const auto document = Document::parse(dry(submit(flags)).out, "out.json");
    return text_at(document->roots().front(), "run.workingDir");
  };
  EXPECT_EQ(folder({}), here);
  EXPECT_EQ(folder({"--working-dir", "sub"}), here + "/sub");
}

TEST(SubmitFlags, SlipsAreToldByTheirFlag) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {submit({"-g", "1.5"}), "--gpu: 1.5 is neither a number of whole GPUs nor a part of one"},
      {submit({"-g", "many"}), "--gpu: "},
      {submit({"-g", "2", "--gpu-portion-request", "1.5"}), "--gpu-portion-request: 1.5"},
      {submit({"--gpu-memory", "4Gi", "--mig-profile", "1g.10gb"}), "--mig-profile: "},
      {submit({"--gpu-request-type", "memory"}), "add --gpu-memory"},
      {submit({"--memory", "lots"}), "--memory: "},
      {submit({"--cpu", "x"}), "--cpu: "},
      {submit({"--max-runtime", "soon"}), "--max-runtime: "},
      {submit({"-l", "team"}), "--label: \"team\" is no NAME=VALUE"},
      {submit({"-e", "FAIRLEAD_TEST_NOT_SET"}),
       "--environment: \"FAIRLEAD_TEST_NOT_SET\" is not set here"},
      {submit({"--parallelism", "4"}), "--parallelism: it says how many of the --completions"},
      {submit({}, {"submit"}), "a workload has a name"},
      {submit({"--name", "y"}), "--name: the name is stated twice"},
      {{"submit", "x", "--"}, "there is no command"},
      {submit({"-i", "ubuntu"}), "--image: an image asks for a container"},
      {{"submit", "x", "-i", "ubuntu", "--"}, "run a command as a process: fairlead submit NAME"},
      {submit({"--min-replicas", "3", "--workers", "2"}, {"submit-dist", "pytorch", "x"}),
       "--min-replicas: at least 3 workers, but at most 2"},
  };
  for (const auto& [words, message] : cases) {
    const Ran ran = dry(words);
    EXPECT_EQ(ran.status, 2) << message;
    EXPECT_NE(ran.err.find(message), std::string::npos) << ran.err;
    EXPECT_EQ(ran.out, "");
  }
}

TEST(ForeignFlags, AreAcceptedByTheParserAndJudged) {
  for (const ForeignFlag& flag : foreign_flags()) {
    std::vector<std::string> flags{std::string(flag.name())};
    if (flag.takes_value) flags.emplace_back("value");
    const Ran ran = dry(submit(flags));
    const std::string name = std::string(flag.name()) + ": ";
    switch (flag.stance) {
      case Stance::kRefused:
        EXPECT_EQ(ran.status, 2) << name;
        EXPECT_NE(ran.err.find("error: " + name + "cannot be used yet: "), std::string::npos)
            << ran.err;
        break;
      case Stance::kRemarked:
        EXPECT_EQ(ran.status, 0) << name << ran.err;
        EXPECT_NE(ran.err.find("warning: " + name + "changes nothing: "), std::string::npos)
            << ran.err;
        break;
      case Stance::kAlreadySo:
        EXPECT_EQ(ran.status, 0) << name << ran.err;
        EXPECT_EQ(ran.err, "") << name;
        break;
    }
  }
}

TEST(NameOfCommand, IsThatOfTheScript) {
  EXPECT_EQ(name_of_command({"python", "src/Train_Net.py", "--lr"}), "train-net");
  EXPECT_EQ(name_of_command({"/usr/bin/nvidia-smi"}), "nvidia-smi");
  EXPECT_EQ(name_of_command({"..."}), "run");
  EXPECT_EQ(name_of_command({}), "run");
}

TEST(SplitWords, KnowsQuotes) {
  EXPECT_EQ(*split_words("a  'b c' \"d'e\" f\\ g ''"),
            (std::vector<std::string>{"a", "b c", "d'e", "f g", ""}));
  EXPECT_FALSE(split_words("a 'b").has_value());
}

}  // namespace
}  // namespace fairlead::cli
