// What is said after a submission and by why, as people read it.
#include "cli/client/voice.h"

#include <gtest/gtest.h>

#include "cli/client/fake_server_testing.h"

namespace fairlead::cli {
namespace {

using testing::workload_json;

Document read(const std::string& json) {
  auto document = Document::parse(json, "answer.json");
  EXPECT_TRUE(document.has_value()) << json;
  return std::move(*document);
}

Instant at(const char* text) {
  return *parse_rfc3339(text);
}

constexpr const char* kPlan =
    R"("plan": {"workload": "train", "phase": "pending", "text": "no room", "place": 3,
    "waiting": 9, "start": {"text": "soon", "earliest": "2026-01-31T08:06:10Z",
    "latest": "2026-01-31T08:10:10Z"}})";

TEST(SubmissionText, OfWhatWaitsHasPlaceAndRange) {
  std::string json = workload_json("train", "pending", R"("pool": "default")");
  json.pop_back();
  const Document document = read(json + ", " + kPlan + "}");
  EXPECT_EQ(
      submission_text(document.roots().front(), at("2026-01-31T08:00:00Z"), "fairlead"),
      "Plan   2 GPUs, 8 CPUs, 48 GiB in pool default · training, preemptible · project vision\n"
      "Start  place 3 of 9, in 6 to 11 min\n"
      "Run    train submitted\n"
      "Next   fairlead why train │ fairlead logs -f train │ fairlead delete train\n");
}

TEST(SubmissionText, OfWhatStartsAtOnceSaysWhere) {
  const Document document = read(workload_json("train", "starting", R"("nodes": ["gpu01"])"));
  EXPECT_EQ(submission_text(document.roots().front(), at("2026-01-31T08:00:00Z"), "runai"),
            "Plan   2 GPUs, 8 CPUs, 48 GiB · training, preemptible · project vision\n"
            "Start  now, on gpu01\n"
            "Run    train submitted\n"
            "Next   runai logs -f train │ runai delete train\n");
}

TEST(WhyText, GivesEachReasonAndWhatWouldHelp) {
  const Document workload = read(workload_json("train", "pending"));
  const Document explanation = read(
      R"({"workload": "w", "phase": "pending", "text": "…", "place": 1, "waiting": 2, "reasons": [
      {"code": "quota", "rule": "5.2", "text": "vision would be at 16 of 8 GPUs",
       "cheapest": {"kind": "quota", "text": "raise the quota of vision by 8 GPUs"}},
      {"code": "room", "rule": "6.1", "text": "wants 8 GPUs on one node, the largest hole is 5"}],
      "cheapest": {"kind": "x", "text": "wait for teal to end"},
      "start": {"text": "not known when"}})");
  EXPECT_EQ(
      why_text(workload.roots().front(), explanation.roots().front(), at("2026-01-31T08:00:00Z")),
      "train (2 GPUs, 8 CPUs, 48 GiB) waits, 2 reasons, all must clear:\n"
      "  1 QUOTA  vision would be at 16 of 8 GPUs (rule 5.2)\n"
      "           → raise the quota of vision by 8 GPUs\n"
      "  2 ROOM   wants 8 GPUs on one node, the largest hole is 5 (rule 6.1)\n"
      "Help   wait for teal to end\n"
      "Start  place 1 of 2, not known when\n");
}

TEST(WhyText, OfWhatDoesNotWaitIsItsState) {
  const Document running = read(workload_json(
      "train", "running", R"("nodes": ["gpu01"], "startedAt": "2026-01-31T07:55:00Z")"));
  EXPECT_EQ(why_text(running.roots().front(), Value(), at("2026-01-31T08:00:00Z")),
            "train is running on gpu01 since 5m\n");
  const Document failed = read(workload_json(
      "train", "failed",
      R"("exitCode": 3, "endedAt": "2026-01-31T06:00:00Z", "reason": "worker-0 ended with 3")"));
  EXPECT_EQ(why_text(failed.roots().front(), Value(), at("2026-01-31T08:00:00Z")),
            "train is failed, exit code 3, 2h ago\n  worker-0 ended with 3\n");
}

}  // namespace
}  // namespace fairlead::cli
