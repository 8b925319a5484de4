#include "model/document.h"

#include <gtest/gtest.h>

#include "model/findings.h"
#include "model/object_reader.h"

namespace fairlead {
namespace {

Document must_parse(std::string_view text, const std::string& file = "t.yaml",
                    DocumentLimits limits = {}) {
  auto document = Document::parse(text, file, limits);
  EXPECT_TRUE(document.has_value()) << (document ? "" : document.error().front().text());
  return document ? std::move(*document) : Document();
}

std::vector<std::string> errors_of(std::string_view text, const std::string& file = "t.yaml",
                                   DocumentLimits limits = {}) {
  std::vector<std::string> out;
  const auto document = Document::parse(text, file, limits);
  if (document) return out;
  for (const Error& error : document.error()) out.push_back(error.text());
  return out;
}

TEST(Document, EveryValueKnowsItsLineAndPath) {
  const Document document = must_parse("a:\n  b:\n    - x\n    - {c: y}\n\"k k\": z\n");
  const Value& root = document.roots()[0];
  const Value& c = *root.find("a")->find("b")->items()[1].find("c");
  EXPECT_EQ(c.text(), "y");
  EXPECT_EQ(c.line(), 4);
  EXPECT_EQ(c.path(), "a.b[1].c");
  EXPECT_EQ(root.find("k k")->path(), "[\"k k\"]");
  EXPECT_EQ(root.find("a")->line(), 1);
  EXPECT_EQ(root.find("nothing"), nullptr);
}

TEST(Document, JsonHasLinesToo) {
  const Document document =
      must_parse("{\n\"a\": [\n1,\n2.50\n],\n\"b\": null, \"c\":\ntrue}", "t.json");
  const Value& root = document.roots()[0];
  EXPECT_EQ(root.find("a")->items()[1].text(), "2.50");
  EXPECT_EQ(root.find("a")->items()[0].line(), 3);
  EXPECT_EQ(root.find("a")->items()[1].line(), 4);
  EXPECT_EQ(root.find("b")->line(), 6);
  EXPECT_TRUE(root.find("b")->is_null());
  EXPECT_EQ(root.find("c")->text(), "true");
}

TEST(Document, NumbersAreKeptAsWritten) {
  const Document document = must_parse("[0.300, 99999999999999999999999999, 1e3, \"7\"]");
  const auto items = document.roots()[0].items();
  EXPECT_EQ(items[0].text(), "0.300");
  EXPECT_EQ(items[1].text(), "99999999999999999999999999");
  EXPECT_EQ(items[2].text(), "1e3");
  EXPECT_FALSE(items[2].quoted());
  EXPECT_TRUE(items[3].quoted());
}

TEST(Document, PartsAreReadInOrderAndEmptyOnesLeftOut) {
  const Document document = must_parse("a: 1\n---\n---\nb: 2\n");
  ASSERT_EQ(document.roots().size(), 2U);
  EXPECT_EQ(document.roots()[1].find("b")->line(), 4);
}

TEST(Document, AliasesAreExpandedWithPathsOfTheirOwn) {
  const Document document = must_parse("a: &x {n: 1}\nb: *x\n");
  EXPECT_EQ(document.roots()[0].find("b")->find("n")->path(), "b.n");
}

TEST(Document, MergeKeysFillInWhatIsNotStated) {
  const Document document = must_parse("base: &b {cpu: 4, memory: 8}\nx:\n  <<: *b\n  cpu: 2\n");
  const Value& x = *document.roots()[0].find("x");
  EXPECT_EQ(x.find("cpu")->text(), "2");
  EXPECT_EQ(x.find("memory")->text(), "8");
  EXPECT_EQ(x.find("<<"), nullptr);
}

TEST(Document, AllDuplicateKeysAreReportedAtOnce) {
  const auto errors = errors_of("a: 1\na: 2\nb: {c: 1, c: 2}\n");
  ASSERT_EQ(errors.size(), 2U);
  EXPECT_EQ(errors[0],
            "t.yaml:3: b.c: the key \"c\" is stated twice, first on line 3; remove one of them");
  EXPECT_EQ(errors[1],
            "t.yaml:2: a: the key \"a\" is stated twice, first on line 1; remove one of them");
  EXPECT_EQ(errors_of("{\"a\": 1,\n\"a\": 2}", "t.json").size(), 1U);
}

TEST(Document, WhatIsNotSupportedIsRefused) {
  EXPECT_EQ(errors_of("? [a]\n: 1\n").size(), 1U);            // a list as key
  EXPECT_EQ(errors_of("a: !mine 1\n").size(), 1U);            // a tag
  EXPECT_EQ(errors_of(std::string("a: \0b", 5)).size(), 1U);  // NUL
  EXPECT_EQ(errors_of("a: \xc0\xaf").size(), 1U);             // overlong UTF-8
  EXPECT_EQ(errors_of("a: *nowhere\n").size(), 1U);
  EXPECT_EQ(errors_of("<<: 3\n").size(), 1U);  // merging a scalar
  EXPECT_EQ(errors_of("{\"a\": 1} trailing", "t.json").size(), 1U);
  EXPECT_EQ(errors_of("{\"a\": 1,}", "t.json").size(), 1U);
}

TEST(Document, LimitsHold) {
  EXPECT_EQ(errors_of("abcdef", "t.yaml", {.bytes = 5}).size(), 1U);
  EXPECT_EQ(errors_of("[[[1]]]", "t.yaml", {.depth = 2}).size(), 1U);
  EXPECT_TRUE(errors_of("[[[1]]]", "t.yaml", {.depth = 3}).empty());
  EXPECT_EQ(errors_of("[1, 2, 3]", "t.yaml", {.values = 3}).size(), 1U);
  // Aliases count for what they stand for, also in depth.
  EXPECT_EQ(errors_of("[&a [1, 2], *a, *a]", "t.yaml", {.values = 10}).size(), 1U);
  EXPECT_EQ(errors_of("[&a [[1]], [*a]]", "t.yaml", {.depth = 3}).size(), 1U);
  EXPECT_EQ(errors_of(std::string(100'000, '['), "t.json").size(), 1U);
  EXPECT_EQ(errors_of(std::string(10'000, '['), "t.yaml").size(), 1U);
}

TEST(Document, AByteOrderMarkIsSkipped) {
  EXPECT_EQ(must_parse("\xEF\xBB\xBF"
                       "a: 1")
                .roots()[0]
                .find("a")
                ->text(),
            "1");
}

TEST(Document, FlowStyleWithBareKeysIsYaml) {
  EXPECT_EQ(must_parse("{a: 1, b: [x]}").roots()[0].find("a")->text(), "1");
}

// --- typed reading -------------------------------------------------------------------------------

TEST(ObjectReader, ReadsTypedFields) {
  const Document document = must_parse(
      "n: 5\nd: 0.3\nt: 2h30m\nc: 500m\nb: 48Gi\nm: 4Gi\nl: [a, b]\ns: one\nyes: true\nnil: ~\n");
  Findings findings("t.yaml");
  {
    ObjectReader in(document.roots()[0], findings);
    EXPECT_EQ(in.int32("n", 0, 10), 5);
    EXPECT_EQ(in.decimal("d", 3, 0, 1000), 300);
    EXPECT_EQ(in.duration("t"), minutes(150));
    EXPECT_EQ(in.milli_cpu("c"), 500);
    EXPECT_EQ(in.bytes("b"), std::int64_t{48} << 30);
    EXPECT_EQ(in.mib("m"), 4096);
    EXPECT_EQ(in.names("l"), (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(in.names("s"), (std::vector<std::string>{"one"}));
    EXPECT_EQ(in.boolean("yes"), true);
    EXPECT_EQ(in.string("nil"), std::nullopt);  // null counts as absent
    EXPECT_EQ(in.string("absent"), std::nullopt);
  }
  EXPECT_TRUE(findings.ok());
}

TEST(ObjectReader, CollectsEverythingByLine) {
  const Document document = must_parse("cuont: 3\nn: 11\nflag: \"true\"\n");
  Findings findings("t.yaml");
  {
    ObjectReader in(document.roots()[0], findings);
    EXPECT_EQ(in.int32("n", 0, 10), std::nullopt);
    EXPECT_EQ(in.boolean("flag"), std::nullopt);
    in.allow({"count"});
    (void)in.name("name", kRequired);
  }
  std::vector<std::string> texts;
  for (const Error& error : findings.take_errors()) texts.push_back(error.text());
  EXPECT_EQ(
      texts,
      (std::vector<std::string>{
          "t.yaml:1: the field \"name\" is missing; add \"name: …\"",
          "t.yaml:1: cuont: there is no field of this name; allowed are n, flag, count or name; "
          "did you mean \"count\"?",
          "t.yaml:2: n: \"11\" is out of range; allowed are whole numbers from 0 to 10",
          "t.yaml:3: flag: \"true\" is neither true nor false; write true or false"}));
  EXPECT_TRUE(findings.ok());  // taken
}

TEST(ObjectReader, AnythingButAMapIsReportedOnce) {
  const Document document = must_parse("[1]");
  Findings findings("t.yaml");
  {
    ObjectReader in(document.roots()[0], findings);
    EXPECT_FALSE(in.ok());
    (void)in.name("name", kRequired);
  }
  EXPECT_EQ(findings.error_count(), 1U);
}

// yaml-cpp 0.7 reads empty documents out of these for ever; the fuzzer of scenarios found it.
TEST(Document, ACommaOrBracketThatOpensNothingIsRefusedAndNotReadForEver) {
  for (const char* text : {"   ,", ",", "]", "}", "a: 1\n]"}) {
    const auto document = Document::parse(text, "t.yaml");
    ASSERT_FALSE(document) << text;
    EXPECT_NE(document.error().front().text().find("not valid YAML"), std::string::npos) << text;
  }
}

TEST(Findings, TheFirstHundredAreKeptAndTheRestCounted) {
  std::string text;
  for (int i = 0; i < 150; ++i) text += "- x\n";
  const Document document = must_parse(text);
  Findings findings("t.yaml");
  for (const Value& item : document.roots()[0].items()) (void)as_integer(item, 0, 1, findings);
  EXPECT_EQ(findings.error_count(), 150U);
  const auto errors = findings.take_errors();
  ASSERT_EQ(errors.size(), 101U);
  EXPECT_EQ(errors.back().message, "there are 50 more findings");
}

TEST(Findings, LongAndUnprintableValuesAreShownSafely) {
  const Document document = must_parse("[\"" + std::string(5000, 'x') + "\", \"a\\x1b[31m\"]");
  Findings findings("t.yaml");
  for (const Value& item : document.roots()[0].items()) (void)as_integer(item, 0, 1, findings);
  for (const Error& error : findings.take_errors()) {
    EXPECT_LT(error.message.size(), 300U);
    EXPECT_EQ(error.message.find('\x1b'), std::string::npos);
  }
}

}  // namespace
}  // namespace fairlead
