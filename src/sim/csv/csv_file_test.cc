// Reading comma-separated values: what is accepted, and how exactly errors name their place.
#include "sim/csv/csv_file.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <unistd.h>

#include <gtest/gtest.h>

#include "sim/csv/text_file.h"

namespace fairlead::sim {
namespace {

CsvFile parsed(const std::string& text) {
  auto file = CsvFile::parse("jobs.csv", text);
  EXPECT_TRUE(file.has_value()) << (file ? "" : file.error().front().text());
  return std::move(*file);
}

std::string parse_error(const std::string& text) {
  const auto file = CsvFile::parse("jobs.csv", text);
  return file ? "no error" : file.error().front().text();
}

TEST(CsvFile, ReadsCellsByColumnNameAndKnowsTheirLines) {
  const CsvFile file = parsed("name,gpus\na,1\n\nb,2\n");
  ASSERT_EQ(file.rows(), 2u);
  EXPECT_EQ(*file.column("gpus"), 1u);
  EXPECT_EQ(file.cell(1, 0), "b");
  EXPECT_EQ(file.line(1), 4);  // the blank line counts
}

TEST(CsvFile, AcceptsByteOrderMarkCarriageReturnsAndAMissingLastLineEnd) {
  const CsvFile file = parsed("\xEF\xBB\xBFname,gpus\r\na,1\r\nb,2");
  ASSERT_EQ(file.rows(), 2u);
  EXPECT_EQ(*file.column("name"), 0u);
  EXPECT_EQ(*file.integer(1, 1, 0, 10), 2);
}

TEST(CsvFile, AcceptsQuotesWithCommasAndDoubledQuotes) {
  const CsvFile file = parsed("name,type\na,\"say \"\"hi\"\", twice\"\nb,\n");
  EXPECT_EQ(file.cell(0, 1), "say \"hi\", twice");
  EXPECT_EQ(file.cell(1, 1), "");
  EXPECT_EQ(csv_cell("say \"hi\", twice"), "\"say \"\"hi\"\", twice\"");
}

TEST(CsvFile, RefusesWhatIsNoTable) {
  EXPECT_EQ(parse_error(""),
            "jobs.csv: the file is empty; the first line names the columns, each further line is "
            "one row");
  EXPECT_EQ(parse_error("a,b\n"),
            "jobs.csv: there is a header but no row; add at least one line below the header");
  EXPECT_EQ(parse_error("a,b\n1,2\n3\n"),
            "jobs.csv:3: has 1 cells; the header has 2 columns (a, b); give each column one cell, "
            "an empty one where nothing is known");
  EXPECT_EQ(parse_error("a,b\n1,\"2\n"),
            "jobs.csv:2: a quote is not closed in '1,\"2'; close it on the same line; write a "
            "quote inside as two quotes");
  EXPECT_EQ(parse_error("a,a\n1,2\n"), "jobs.csv:1: column 'a' is there twice; remove one of them");
  EXPECT_EQ(parse_error("a,,c\n1,2,3\n"),
            "jobs.csv:1: column 2 has no name; the first line names the columns");
}

// A file with a slip in each line once took as many tries as it has lines.
TEST(CsvFile, TenBadLinesAreNamedAndTheRestCounted) {
  std::string text = "a,b\n";
  for (int i = 0; i < 15; ++i) text += "1,2\n1\n";
  const auto file = CsvFile::parse("jobs.csv", text);
  ASSERT_FALSE(file.has_value());
  ASSERT_EQ(file.error().size(), 11u);
  EXPECT_EQ(file.error()[0].where, "jobs.csv:3");
  EXPECT_EQ(file.error()[9].where, "jobs.csv:21");
  EXPECT_EQ(file.error()[10].text(), "jobs.csv: and 5 more");
}

TEST(CsvFile, BadCellsOfDifferentRowsAreNamedTogether) {
  const CsvFile file = parsed("n\n1\nx\n3\n-4\n");
  std::int64_t sum = 0;
  const auto read = read_rows(file, [&](std::size_t row) -> Result<void> {
    FAIRLEAD_ASSIGN(const std::int64_t n, file.integer(row, 0, 0, 9));
    sum += n;
    return {};
  });
  EXPECT_EQ(sum, 4);
  ASSERT_FALSE(read.has_value());
  ASSERT_EQ(read.error().size(), 2u);
  EXPECT_EQ(read.error()[0].where, "jobs.csv:3");
  EXPECT_EQ(read.error()[1].where, "jobs.csv:5");
}

// Names that are no UTF-8 once ended `-o json` with an exception; others steered the terminal.
TEST(CsvFile, RefusesWhatIsNoPlainText) {
  const std::string cure =
      "; save it as UTF-8, without control characters, with line ends LF or CRLF";
  EXPECT_EQ(parse_error("a,b\n1,\xff\n"), "jobs.csv:2: not UTF-8 text: '1,\\xff'" + cure);
  EXPECT_EQ(parse_error("a,b\n1,\x1b[31m\n"), "jobs.csv:2: not UTF-8 text: '1,\\x1b[31m'" + cure);
  EXPECT_EQ(parse_error("a,b\r1,2\r"), "jobs.csv:1: not UTF-8 text: 'a,b\\x0d1,2'" + cure);
  EXPECT_EQ(parse_error(std::string("a,b\n1,\0\n", 8)),
            "jobs.csv:2: not UTF-8 text: '1,\\x00'" + cure);
  EXPECT_EQ(parsed("a,b\n1,\tZürich\n").cell(0, 1), "Zürich");
}

TEST(CsvFile, BoundsTheColumns) {
  std::string header = "c0";
  for (int i = 1; i <= 1000; ++i) header += ",c" + std::to_string(i);
  EXPECT_EQ(parse_error(header + "\n1\n"),
            "jobs.csv:1: has 1001 columns, allowed are 1000; remove those that are not needed");
}

TEST(CsvFile, NamesTheColumnsThereAreWhenOneIsMissing) {
  EXPECT_EQ(parsed("a,b\n1,2\n").column("gpus").error().text(),
            "jobs.csv:1: column 'gpus' is missing; the header has: a, b; add the column 'gpus' to "
            "every line");
}

TEST(CsvFile, ReadsWholeNumbersExactlyAndNamesWhatIsAllowed) {
  const CsvFile file = parsed(
      "n\n12\n12.0\n-1\n1.5\nx\n99999999999999999999\n9223372036854775807\n"
      "1e3\n+7\n\"\"\n");
  EXPECT_EQ(*file.integer(0, 0, 0, 100), 12);
  EXPECT_EQ(*file.integer(1, 0, 0, 100), 12);
  EXPECT_EQ(file.integer(2, 0, 0, 100).error().text(),
            "jobs.csv:4: column n: '-1' is out of range; allowed is a whole number from 0 to 100");
  EXPECT_EQ(file.integer(2, 0, 0, 100).error().code, ErrorCode::kOutOfRange);
  EXPECT_EQ(file.integer(3, 0, 0, 100).error().text(),
            "jobs.csv:5: column n: '1.5' is not a whole number; allowed is a whole number from 0 "
            "to 100");
  EXPECT_EQ(file.integer(4, 0, 0, 100).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(file.integer(5, 0, 0, INT64_MAX).error().code, ErrorCode::kOutOfRange);
  EXPECT_EQ(*file.integer(6, 0, 0, INT64_MAX), INT64_MAX);
  EXPECT_EQ(file.integer(7, 0, 0, 100).error().text(),
            "jobs.csv:9: column n: '1e3' is not a number; allowed is a whole number from 0 to 100");
  EXPECT_EQ(*file.integer(8, 0, 0, 100), 7);
  EXPECT_EQ(file.integer(9, 0, 0, 100).error().text(),
            "jobs.csv:11: column n: is empty; allowed is a whole number from 0 to 100");
}

TEST(CsvFile, ScalesDecimalsAndRoundsBeyondTheLastPlace) {
  const CsvFile file = parsed("s\n1.5\n0.0004\n0.0005\n.25\n9300000000000000\n");
  EXPECT_EQ(*file.scaled(0, 0, 3, 0, 10), 1500);
  EXPECT_EQ(*file.scaled(1, 0, 3, 0, 10), 0);
  EXPECT_EQ(*file.scaled(2, 0, 3, 0, 10), 1);
  EXPECT_EQ(*file.scaled(3, 0, 3, 0, 10), 250);
  // × 1000 would pass 2^63.
  EXPECT_EQ(file.scaled(4, 0, 3, 0, INT64_MAX).error().code, ErrorCode::kOutOfRange);
}

TEST(CsvFile, ReadsMeasuredNumbers) {
  const CsvFile file = parsed("r\n3.4387678290723933\n1e-3\nnan\n-1\n");
  EXPECT_DOUBLE_EQ(*file.number(0, 0, 0, 10), 3.4387678290723933);
  EXPECT_DOUBLE_EQ(*file.number(1, 0, 0, 10), 0.001);
  EXPECT_FALSE(file.number(2, 0, 0, 10).has_value());
  EXPECT_EQ(file.number(3, 0, 0, 10).error().text(),
            "jobs.csv:5: column r: '-1' is out of range; allowed is a number from 0 to 10");
}

TEST(TextFile, SaysHowToUnpackGzipAndWhatIsMissing) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("fairlead_csv_" + std::to_string(::getpid()) + ".gz");
  std::ofstream(path, std::ios::binary) << "\x1f\x8b\x08";
  const auto packed = read_text_file(path.string());
  ASSERT_FALSE(packed.has_value());
  EXPECT_NE(packed.error().text().find("zcat " + path.string()), std::string::npos);
  std::filesystem::remove(path);
  EXPECT_EQ(read_text_file("no/such/file.csv").error().text(),
            "no/such/file.csv: cannot be opened: No such file or directory; check the path");
}

}  // namespace
}  // namespace fairlead::sim
