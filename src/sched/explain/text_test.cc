#include "sched/explain/text.h"

#include <set>

#include <gtest/gtest.h>

#include "sched/testing.h"

namespace fairlead::sched::testing {
namespace {

TEST(AmountText, IsInTheUnitOfThePerson) {
  EXPECT_EQ(amount_text("gpu", 2'500), "2.5");
  EXPECT_EQ(amount_text("cpu", 250), "0.25");
  EXPECT_EQ(amount_text("memory", 48 * kGiB), "48Gi");
  EXPECT_EQ(amount_text("rdma", 3), "3");
}

TEST(QuantityText, IsPluralAboveOneAndForNone) {
  EXPECT_EQ(quantity_text("gpu", 8'000), "8 GPUs");
  EXPECT_EQ(quantity_text("gpu", 1'000), "1 GPU");
  EXPECT_EQ(quantity_text("gpu", 500), "0.5 GPU");
  EXPECT_EQ(quantity_text("gpu", 1'001), "1.001 GPUs");
  EXPECT_EQ(quantity_text("gpu", 0), "0 GPUs");
  EXPECT_EQ(quantity_text("cpu", 16'000), "16 CPUs");
  EXPECT_EQ(quantity_text("memory", 48 * kGiB), "48Gi of memory");
  EXPECT_EQ(quantity_text("licence/matlab", 2), "2 licence/matlab");
}

TEST(RequestText, NamesEverythingATaskAsks) {
  EXPECT_EQ(request_text({}), "nothing");
  EXPECT_EQ(request_text(gpus(1)), "1 GPU");
  TaskRequest r = gpus(2, 8'000);
  r.memory = Bytes(48 * kGiB);
  r.extended["rdma"] = 1;
  EXPECT_EQ(request_text(r), "2 GPUs, 8 CPUs, 48Gi of memory, 1 rdma");
  EXPECT_EQ(request_text(portion(500)), "0.5 of a GPU");
  EXPECT_EQ(request_text(portion(250, 2, 500)), "0.25 of 2 GPUs, 0.5 CPU");
  EXPECT_EQ(request_text(device_memory(2'000)), "2000 MiB of a GPU");
  EXPECT_EQ(request_text(mig("3g.40gb", 2)), "2 × MIG 3g.40gb");
}

TEST(GateText, SaysWhatIsAskedHeldAndAllowed) {
  Reason reason;
  reason.subject = "team-a";
  reason.resource = "gpu";
  reason.asked = 4'000;
  EXPECT_EQ(over_limit_text(reason, 8'000, 6'000),
            "asks 4 GPUs, but team-a holds 6 of its limit of 8 GPUs");
  EXPECT_EQ(over_quota_text(reason, 8'000, 6'000),
            "is non-preemptible and asks 4 GPUs, but team-a holds 6 non-preemptible of its quota "
            "of 8 GPUs");
}

TEST(Counted, OneAndMany) {
  EXPECT_EQ(counted(1, "task"), "1 task");
  EXPECT_EQ(counted(0, "task"), "0 tasks");
  EXPECT_EQ(counted(12, "node"), "12 nodes");
}

TEST(ExplanationText, IsOneSentenceALine) {
  Explanation e;
  EXPECT_EQ(e.text(), "");
  e.reasons.resize(2);
  e.reasons[0].text = "first";
  e.reasons[1].text = "second";
  EXPECT_EQ(e.text(), "first\nsecond");
}

TEST(Codes, AllHaveDifferentNames) {
  std::set<std::string_view> names;
  for (int c = 0; c <= static_cast<int>(ReasonCode::kWaiting); ++c)
    names.insert(reason_code_name(static_cast<ReasonCode>(c)));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(ReasonCode::kWaiting) + 1);
  names.clear();
  for (int k = 0; k <= static_cast<int>(ChangeKind::kEndBy); ++k)
    names.insert(change_kind_name(static_cast<ChangeKind>(k)));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(ChangeKind::kEndBy) + 1);
}

}  // namespace
}  // namespace fairlead::sched::testing
