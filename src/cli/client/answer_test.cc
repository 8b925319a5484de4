// Amounts and times in words, and what is missing in an answer.
#include "cli/client/answer.h"

#include <gtest/gtest.h>

namespace fairlead::cli {
namespace {

Document read(const std::string& json) {
  auto document = Document::parse(json, "answer.json");
  EXPECT_TRUE(document.has_value());
  return std::move(*document);
}

TEST(Answer, WhatIsMissingOrNullIsNotKnown) {
  const Document document = read(R"({"a": {"b": 5, "c": null}, "d": "x"})");
  const Value& root = document.roots().front();
  EXPECT_EQ(number_at(root, "a.b"), 5);
  EXPECT_EQ(number_at(root, "a.c"), std::nullopt);
  EXPECT_EQ(number_at(root, "d"), std::nullopt);
  EXPECT_EQ(text_at(root, "a.e", "-"), "-");
  EXPECT_TRUE(list_at(root, "d").empty());
}

TEST(Answer, TextFromAServerDoesNotSteerATerminal) {
  const Document document = read(R"({"name": "a\u001b[31m"})");
  EXPECT_EQ(text_at(document.roots().front(), "name"), "a\\x1b[31m");
}

TEST(Answer, IsPrintedAgainAsItCame) {
  const std::string json = R"({"n": 12345678901234, "t": "7", "l": [true, null], "m": {}})";
  const Document document = read(json);
  EXPECT_EQ(to_json(tree_of(document.roots().front())),
            "{\n  \"n\": 12345678901234,\n  \"t\": \"7\",\n  \"l\": [\n    true,\n    null\n  ],\n"
            "  \"m\": {}\n}\n");
}

TEST(Answer, TextWithoutQuotesInADocumentStaysText) {
  const auto document =
      Document::parse("a: [python, 1, 0.5, 010, 1., -2, 1e3, yes, true]", "x.yaml");
  EXPECT_EQ(to_yaml(tree_of(document->roots().front())),
            "a: [python, 1, 0.5, \"010\", \"1.\", -2, 1e3, \"yes\", true]\n");
}

TEST(Words, AmountsAreShortAndNeverTooMuch) {
  EXPECT_EQ(milli_text(500), "0.5");
  EXPECT_EQ(milli_text(std::nullopt), "-");
  EXPECT_EQ(size_text(51539607552), "48 GiB");
  EXPECT_EQ(size_text((std::int64_t{3} << 40) / 2), "1.5 TiB");
  EXPECT_EQ(size_text(1023), "1023 B");
  EXPECT_EQ(size_text((std::int64_t{1} << 30) - 1), "1023.9 MiB");
  const Document document = read(R"({"gpuMilli": 1000, "cpuMilli": 1500, "memoryBytes": 1024})");
  EXPECT_EQ(amounts_text(&document.roots().front()), "1 GPU, 1.5 CPUs, 1 KiB");
  EXPECT_EQ(amounts_text(nullptr), "no resources");
}

TEST(Words, TimesAreOneUnit) {
  EXPECT_EQ(age_text(seconds(119)), "119s");
  EXPECT_EQ(age_text(minutes(119)), "119m");
  EXPECT_EQ(age_text(hours(47)), "47h");
  EXPECT_EQ(age_text(hours(49)), "2d");
  EXPECT_EQ(age_text(seconds(-3)), "0s");
}

TEST(Words, RangesAreRoundedOutwards) {
  EXPECT_EQ(range_text(seconds(0), seconds(12)), "0 to 12 s");
  EXPECT_EQ(range_text(seconds(370), seconds(610)), "6 to 11 min");
  EXPECT_EQ(range_text(minutes(90), minutes(170)), "1.5 to 2.9 h");
  EXPECT_EQ(range_text(hours(48), hours(48)), "about 2 d");
  EXPECT_EQ(range_text(seconds(-5), seconds(-1)), "about 0 s");
}

}  // namespace
}  // namespace fairlead::cli
