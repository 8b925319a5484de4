// `fairlead share` from file to output, and the schema against what the reader takes.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <unistd.h>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/app.h"
#include "cli/share_document.h"
#include "cli/share_report.h"
#include "model/document.h"

namespace fairlead::cli {
namespace {

using Json = nlohmann::json;

struct Outcome {
  int status = 0;
  std::string out;
  std::string err;
};

// The whole program on a file of this content.
Outcome share(const std::string& content, std::vector<std::string> options = {}) {
  static int number = 0;
  const auto path =
      std::filesystem::temp_directory_path() /
      ("fairlead_share_" + std::to_string(::getpid()) + "_" + std::to_string(number++) + ".yaml");
  std::ofstream(path) << content;
  std::ostringstream out;
  std::ostringstream err;
  CliContext context{.out = out, .err = err};
  options.insert(options.begin(), {"share", path.string()});
  Outcome run;
  run.status = cli::run(options, context);
  run.out = out.str();
  run.err = err.str();
  for (std::size_t at; (at = run.err.find(path.string())) != std::string::npos;) {
    run.err.replace(at, path.string().size(), "FILE");
  }
  std::filesystem::remove(path);
  return run;
}

Json shares(const std::string& content, std::vector<std::string> options = {}) {
  options.insert(options.end(), {"-o", "json"});
  const Outcome run = share(content, options);
  EXPECT_EQ(run.status, 0) << run.err;
  return run.status == 0 ? Json::parse(run.out) : Json();
}

// "name: share" of one resource, in the order of the file.
std::string list(const Json& result, const std::string& resource = "gpu") {
  std::string out;
  for (const Json& queue : result["queues"]) {
    out += (out.empty() ? "" : ", ") + queue["name"].get<std::string>() + ": " +
           queue["fairShare"][resource].dump();
  }
  return out;
}

TEST(ShareCommand, TableAndPhases) {
  const Outcome run = share(
      "totals: 10\n"
      "queues:\n"
      "- {name: vision,   requested: 6}\n"
      "- {name: language, requested: 6}\n"
      "- {name: robotics, requested: 6}\n",
      {"--explain"});
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.err, "");
  // The same text stands in docs/share.md.
  EXPECT_EQ(run.out, R"(QUEUE     PARENT  GPU
vision    -         4
language  -         3
robotics  -         3

QUEUE     RESOURCE  REQUESTED  REQUESTABLE  PHASE 1  PHASE 2  PHASE 3  FAIR SHARE
vision    gpu               6            6        0        3        1           4
language  gpu               6            6        0        3        0           3
robotics  gpu               6            6        0        3        0           3

RESOURCE  CHILDREN OF  RANK  ROUND  AMOUNT  QUEUE     MISSING     SHARE         F  GIVEN
gpu       (total)       100      1      10  vision          6  0.333333  3.333333      3
gpu       (total)       100      1      10  language        6  0.333333  3.333333      3
gpu       (total)       100      1      10  robotics        6  0.333333  3.333333      3
)");
  std::ifstream page("docs/share.md");
  const std::string text((std::istreambuf_iterator<char>(page)), {});
  EXPECT_NE(text.find(run.out), std::string::npos) << "docs/share.md shows another output";
}

TEST(ShareCommand, EveryFieldOfTheResult) {
  const Json result = shares(
      R"({"totals": {"gpu": 10, "cpu": 8, "memory": "1Gi", "rdma": 3}, "k": 0.25, "queues": [
          {"name": "dep", "quota": -1},
          {"name": "a", "parent": "dep", "rank": 7, "quota": {"gpu": 6},
           "requested": {"gpu": 7.5, "cpu": "1500m", "memory": "512Mi", "rdma": 1}},
          {"name": "b", "parent": "dep", "quota": {"gpu": 5}, "requested": {"gpu": 0.125}}]})",
      {"--explain"});
  EXPECT_EQ(result["kind"], "ShareResult");
  EXPECT_EQ(result["k"], 0.25);
  EXPECT_EQ(result["totals"], Json::parse(R"({"gpu":10,"cpu":8,"memory":1073741824,"rdma":3})"));
  // Unlimited quotas take what is requested; the rest nobody wants.
  EXPECT_EQ(result["undivided"],
            Json::parse(R"({"gpu":2.375,"cpu":6.5,"memory":536870912,"rdma":2})"));
  const Json& a = result["queues"][1];
  EXPECT_EQ(a["name"], "a");
  EXPECT_EQ(a["parent"], "dep");
  EXPECT_EQ(a["rank"], 7);
  EXPECT_EQ(a["fairShare"], Json::parse(R"({"gpu":7.5,"cpu":1.5,"memory":536870912,"rdma":1})"));
  EXPECT_EQ(a["fairShareExact"],
            Json::parse(R"({"gpu":7500,"cpu":1500,"memory":536870912,"rdma":1})"));
  EXPECT_EQ(
      a["explain"]["gpu"],
      Json::parse(R"({"requested":7.5,"requestable":7.5,"phase1":6,"phase2":1.5,"phase3":0})"));
  EXPECT_TRUE(result["queues"][0]["parent"].is_null());
  EXPECT_TRUE(result["queues"][0]["fairShareExact"]["gpu"].is_number_integer());
  // 6 + 5 promised of the 10 that an unlimited parent stands for; the defaults of CPUs are no
  // promise.
  EXPECT_EQ(result["overcommitted"],
            Json::parse(R"([{"resource":"gpu","parent":"dep","quotas":11,"amount":10}])"));
  const Json& round = result["rounds"][0];
  EXPECT_EQ(round["resource"], "gpu");
  EXPECT_EQ(round["parent"], "dep");
  EXPECT_EQ(round["rank"], 7);
  EXPECT_EQ(round["round"], 1);
  EXPECT_EQ(round["amount"], 1.5);  // 7.625 − 6 − 0.125
  EXPECT_EQ(round["historyIgnored"], false);
  EXPECT_EQ(round["queues"],
            Json::parse(R"([{"name":"a","missing":1.5,"share":1.0,"f":1.5,"given":1.5}])"));
  const Json& level = result["levels"][0];
  EXPECT_EQ(level["resource"], "gpu");
  EXPECT_TRUE(level["parent"].is_null());
  EXPECT_EQ(level["amount"], 10);
  EXPECT_EQ(level["afterPhase1"], 2.375);
  EXPECT_EQ(level["afterPhase2"], 2.375);
  EXPECT_EQ(level["undivided"], 2.375);
  EXPECT_EQ(level["overcommitted"], false);
  // Without --explain none of the parts is there.
  const Json brief = shares("{totals: 1, queues: [{name: a}]}");
  EXPECT_FALSE(brief.contains("rounds"));
  EXPECT_FALSE(brief.contains("levels"));
  EXPECT_FALSE(brief["queues"][0].contains("explain"));
}

TEST(ShareCommand, ChildrenMayStandBeforeTheirParents) {
  EXPECT_EQ(list(shares("totals: 10\n"
                        "queues:\n"
                        "- {name: leaf, parent: mid, requested: 4}\n"
                        "- {name: mid, parent: top}\n"
                        "- {name: other, requested: 9}\n"
                        "- {name: top, quota: 3}\n")),
            "leaf: 4, mid: 4, other: 6, top: 4");
}

TEST(ShareCommand, AgeDecidesTheLastUnit) {
  // 10 over three: one has 4.
  const auto aged = [](const char* a, const char* b, const char* c) {
    return list(shares(std::string("totals: 10\nqueues:\n") +
                       "- {name: a, requested: 9, created: " + a +
                       "}\n- {name: b, requested: 9, created: " + b +
                       "}\n- {name: c, requested: 9, created: " + c + "}\n"));
  };
  EXPECT_EQ(aged("3", "2", "1"), "a: 3, b: 3, c: 4");
  EXPECT_EQ(aged("5", "-2", "5"), "a: 3, b: 4, c: 3");
  EXPECT_EQ(aged("5", "5", "5"), "a: 4, b: 3, c: 3");  // one age: by name
  EXPECT_EQ(aged("2026-01-02T00:00:00Z", "2026-01-01T23:00:00-02:00", "2026-01-01T23:59:59Z"),
            "a: 3, b: 3, c: 4");
  // Without ages the first in the file is the oldest, whatever its name.
  EXPECT_EQ(list(shares("totals: 10\n"
                        "queues: [{name: z, requested: 9}, {name: y, requested: 9}, {name: x, "
                        "requested: 9}]")),
            "z: 4, y: 3, x: 3");
}

TEST(ShareCommand, UsageIsReadAsProgramsPrintIt) {
  // k = 1, equal weights: 1/2 + (1/2 − u): u = 0.5 and 0.00001 make 0.5 and 0.99999 of 1.49999.
  const Json result = shares(
      R"({"totals": 12, "k": 1, "queues": [
          {"name": "a", "requested": 50, "usage": 0.50000000000000001},
          {"name": "b", "requested": 50, "usage": 1e-05}]})",
      {"--explain"});
  EXPECT_EQ(list(result), "a: 4, b: 8");
  EXPECT_EQ(result["rounds"][0]["queues"][0]["share"], 0.333335556);
}

TEST(ShareCommand, AParentsUsageIsTheSumOfItsChildrens) {
  // team: 0.3 + 0.2 = 0.5, other: 0; k = 1: shares 1/2 and 1 of 12 GPUs: 4 and 8. In the team 0.7
  // and 0.8 of 4: 1.867 and 2.133, so 1 and 2, and the last to who lost more.
  EXPECT_EQ(list(shares("totals: 12\n"
                        "k: 1\n"
                        "queues:\n"
                        "- {name: team}\n"
                        "- {name: a, parent: team, requested: 20, usage: 0.3}\n"
                        "- {name: b, parent: team, requested: 20, usage: 0.2}\n"
                        "- {name: other, requested: 20}\n")),
            "team: 4, a: 2, b: 2, other: 8");
}

// --- reports about a peer's division -----------------------------------------------------------

TEST(SharePeerReports, UnlimitedQuotaIsNotIgnoredInTheSumOfQuotas) {
  // A sum that skips −1 calls this sound: 4 of 10.
  const Outcome run = share(
      "totals: 10\nqueues: [{name: a, quota: -1, requested: 10}, {name: b, quota: "
      "4, requested: 4}]");
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.err,
            "warning: FILE: quotas of gpu add up to 14, which is more than the total of 10; quotas "
            "are promises and are not scaled down; lower them, or add what is missing\n");
  EXPECT_EQ(run.out, "QUEUE  PARENT  GPU\na      -        10\nb      -         4\n");
}

TEST(SharePeerReports, QuotasOfChildrenAboveTheirParentsAreNotSilent) {
  const Outcome run = share(
      "totals: 10\nqueues: [{name: p, quota: 4}, {name: a, parent: p, quota: 3}, "
      "{name: b, parent: p, quota: 2}]");
  EXPECT_NE(
      run.err.find("quotas of gpu of the children of \"p\" add up to 5, which is more than the "
                   "quota of 4 of \"p\""),
      std::string::npos)
      << run.err;
}

TEST(SharePeerReports, DepartmentsWithUnlimitedQuotaDivideWhatThereIs) {
  // Two departments without a bound, projects with quotas: each department has what its projects
  // can use, never −1 and never the total twice.
  EXPECT_EQ(list(shares("totals: 16\n"
                        "queues:\n"
                        "- {name: d1, quota: -1}\n"
                        "- {name: d2, quota: -1}\n"
                        "- {name: p1, parent: d1, quota: 4, requested: 6}\n"
                        "- {name: p2, parent: d1, quota: 2, requested: 1}\n"
                        "- {name: p3, parent: d2, quota: 0, requested: 7}\n")),
            "d1: 7, d2: 7, p1: 6, p2: 1, p3: 7");
}

TEST(SharePeerReports, TheLastPhaseDoesNotPassDemandOrLimit) {
  // 7 over three, 2.333 each. A peer's last phase gives whole units: 3 to the first, whose limit is
  // 2.5 and which requests 2.4.
  EXPECT_EQ(list(shares("totals: 7\n"
                        "queues:\n"
                        "- {name: a, requested: 2.4, limit: 2.5}\n"
                        "- {name: b, requested: 9}\n"
                        "- {name: c, requested: 9}\n")),
            "a: 2.4, b: 2.6, c: 2");
}

TEST(SharePeerReports, ALoneQueueOfARankHasNoMoreThanItRequests) {
  // A peer gives a rank with one queue all that is left.
  EXPECT_EQ(
      list(shares("totals: 10\n"
                  "queues: [{name: high, rank: 200, requested: 2}, {name: low, requested: 5}]")),
      "high: 2, low: 5");
  EXPECT_EQ(
      list(shares("totals: 10\n"
                  "queues: [{name: high, rank: 200, overQuotaWeight: 0, requested: 2}, {name: "
                  "low, requested: 5}]")),
      "high: 0, low: 5");
}

TEST(SharePeerReports, WeightZeroHasItsQuotaAndNoMore) {
  EXPECT_EQ(list(shares("totals: 10\n"
                        "queues: [{name: a, quota: 1, overQuotaWeight: 0, requested: 9}, {name: b, "
                        "requested: 4}]")),
            "a: 1, b: 4");
}

// --- errors ------------------------------------------------------------------------------------

std::string error_of(const std::string& content) {
  const Outcome run = share(content);
  EXPECT_EQ(run.status, 2) << run.err;
  EXPECT_EQ(run.out, "");
  return run.err;
}

TEST(ShareErrors, SayLineFieldValueAllowedAndCure) {
  EXPECT_EQ(
      error_of("totals: {gpu: 10}\nqueues:\n- name: a\n  quota: {gpus: 3}\n"),
      "error: FILE:4: queues[0].quota.gpus: the resource \"gpus\" is not in totals; there are "
      "gpu; did you mean \"gpu\"?\n");
  EXPECT_EQ(
      error_of("totals: 10\nqueues:\n- name: a\n  limit: -2\n"),
      "error: FILE:4: queues[0].limit: \"-2\" is negative; allowed are 0 and more, and -1 for "
      "unlimited; write -1 if no bound is meant\n");
  EXPECT_EQ(error_of("totals: 10\nqueues:\n- {name: a, requested: -3}\n"),
            "error: FILE:3: queues[0].requested: \"-3\" is out of range; allowed are numbers of at "
            "most 3 decimals from 0 to 1099511627.776\n");
}

TEST(ShareErrors, PrintACycle) {
  EXPECT_EQ(error_of("totals: 1\nqueues:\n- {name: a, parent: c}\n- {name: b, parent: a}\n- {name: "
                     "c, parent: b}\n- {name: d, parent: c}\n"),
            "error: FILE:3: queues[0].parent: the queues form a cycle, each being the child of the "
            "next: a → c → b → a; leave the parent of one of them out, or name another\n");
  EXPECT_NE(error_of("totals: 1\nqueues: [{name: a, parent: a}]").find("a → a"), std::string::npos);
}

TEST(ShareErrors, AreFoundInEveryField) {
  struct Case {
    const char* content;
    const char* part;
  };
  const Case cases[] = {
      {"", "the file has 0 documents"},
      {"totals: 1\nqueues: []\n---\ntotals: 1\nqueues: []\n", "the file has 2 documents"},
      {"[1, 2]", "a list stands where a map of fields is needed"},
      {"queues: []", "the field \"totals\" is missing"},
      {"totals: 1", "the field \"queues\" is missing"},
      {"totals: {}\nqueues: []", "0 resources are stated"},
      {"kind: Cluster\ntotals: 1\nqueues: []",
       "a document of kind Share is needed, not \"Cluster\""},
      {"totals: 0.0001\nqueues: []", "more than 3 decimals"},
      {"totals: {rdma: 1.5}\nqueues: []", "totals.rdma: "},
      {"totals: {memory: 3Xi}\nqueues: []", "totals.memory: "},
      {"totals: 99999999999999999999\nqueues: []", "too large"},
      {"totals: 1\nk: -0.5\nqueues: []", "k: "},
      {"totals: 1\nqueues: [{name: a}, {name: a}]", "a second queue is named \"a\""},
      {"totals: 1\nqueues: [{requested: 1}]", "the field \"name\" is missing"},
      {"totals: 1\nqueues: [{name: a, parent: bb}]", "there is no queue \"bb\""},
      {"totals: 1\nqueues: [{name: a, rank: high}]", "queues[0].rank: "},
      {"totals: 1\nqueues: [{name: a, created: soon}]", "\"soon\" is not an age"},
      {"totals: 1\nqueues: [{name: a, created: 1}, {name: b}]", "\"b\" has no \"created\""},
      {"totals: 1\nqueues: [{name: a, overQuotaWeight: -1}]", "queues[0].overQuotaWeight: "},
      {"totals: 1\nqueues: [{name: a, overQuotaWeight: 0.0005}]", "more than 3 decimals"},
      {"totals: 1\nqueues: [{name: a, usage: -0.1}]", "is not a usage"},
      {"totals: 1\nqueues: [{name: a, usage: 1e40}]", "is not a usage"},
      {"totals: 1\nqueues: [{name: a, usage: 1001}]", "is not a usage"},
      {"totals: {cpu: 1}\nqueues: [{name: a, quota: 1}]", "the resource \"gpu\" is not in totals"},
      {"totals: 1\nqueues: [{name: a, weight: 1}]", "there is no field of this name"},
      {"totals: 1\nqueues: [{name: a, quota: [1]}]", "queues[0].quota: "},
      {"totals: 1\nqueues: 3", "queues: "},
  };
  for (const Case& c : cases) {
    EXPECT_NE(error_of(c.content).find(c.part), std::string::npos)
        << c.content << "\n--- has no \"" << c.part << "\" in\n"
        << error_of(c.content);
  }
}

TEST(ShareErrors, AFileThatIsNotThere) {
  std::ostringstream out;
  std::ostringstream err;
  CliContext context{.out = out, .err = err};
  EXPECT_EQ(cli::run({"share", "/nowhere/queues.yaml"}, context), 1);
  EXPECT_EQ(out.str(), "");
  EXPECT_NE(err.str().find("/nowhere/queues.yaml"), std::string::npos);
}

// --- the schema ---------------------------------------------------------------------------------

Json schema() {
  std::ifstream file("schemas/share.schema.json");
  EXPECT_TRUE(file) << "tests run from the root of the project";
  return Json::parse(file);
}

std::string names_of(const Json& properties) {
  std::vector<std::string> names;
  for (const auto& [name, value] : properties.items()) names.push_back(name);
  std::sort(names.begin(), names.end());
  std::string out;
  for (const std::string& name : names) out += name + " ";
  return out;
}

// The fields the reader knows, from its own words about one that it does not.
std::string known_fields(const std::string& error) {
  const std::string begin = "allowed are ";
  std::string text = error.substr(error.find(begin) + begin.size());
  text = text.substr(0, text.find_first_of(";\n"));
  std::vector<std::string> names;
  std::string name;
  for (const char c : text + " ") {
    if (c != ' ' && c != ',') {
      name += c;
    } else if (!name.empty()) {
      if (name != "or") names.push_back(name);
      name.clear();
    }
  }
  std::sort(names.begin(), names.end());
  std::string out;
  for (const std::string& n : names) out += n + " ";
  return out;
}

TEST(ShareSchema, HasTheFieldsThatTheReaderHas) {
  EXPECT_EQ(names_of(schema()["properties"]),
            known_fields(error_of("{totals: 1, queues: [], zzzzzzzz: 1}")));
  EXPECT_EQ(names_of(schema()["$defs"]["queue"]["properties"]),
            known_fields(error_of("{totals: 1, queues: [{name: a, zzzzzzzz: 1}]}")));
}

TEST(ShareSchema, ItsExamplesAreRead) {
  const Json whole = schema();
  ASSERT_GE(whole["examples"].size(), 2U);
  for (const Json& example : whole["examples"]) {
    EXPECT_FALSE(shares(example.dump()).is_null());
  }
}

TEST(ShareSchema, EveryReferenceIsDefined) {
  const Json whole = schema();
  const std::function<void(const Json&)> visit = [&](const Json& node) {
    if (node.is_object() && node.contains("$ref")) {
      const std::string target = node["$ref"].get<std::string>().substr(1);
      EXPECT_TRUE(whole.contains(Json::json_pointer(target))) << target;
    }
    if (node.is_structured()) {
      for (const Json& child : node) visit(child);
    }
  };
  visit(whole);
}

}  // namespace
}  // namespace fairlead::cli
