#include "experiment/report/threshold.h"

#include <gtest/gtest.h>

namespace capstan::experiment {
namespace {

/// Returns a result with 90 of 100 requests met, 2 timed out and a TTFT of 2 s at the 99th percentile.
RunResult result() {
  RunResult r;
  r.requests = {.arrived = 100, .completed = 98, .met = 90, .timed_out = 2};
  r.ttft.p99_us = 2'000'000;
  return r;
}

TEST(Threshold, IsMissedOnlyOnItsWrongSide) {
  const struct {
    const char* text;
    bool missed;
  } rows[] = {{"met<90", false},      {"met<90.1", true},        {"met<80", false},   {"met>80", true},
              {"met<90 %", false},    {"met<90.1 %", true},      {"met<100", true},   {"met<0", false},
              {"met<90%", false},     {"met<90.1%", true},       {"unmet>1", true},   {"unmet>2", false},
              {"ttft_p99>2s", false}, {"ttft_p99>1999ms", true}, {"broken>0", false}, {"score<1", true}};
  for (const auto& row : rows) {
    const Result<Threshold> threshold = parse_threshold(row.text);
    ASSERT_TRUE(threshold) << row.text;
    EXPECT_EQ(threshold->missed(result()), row.missed) << row.text;
  }
}

TEST(Threshold, ShowsTheExactFigure) {
  RunResult near = result();
  near.requests = {.arrived = 10'000, .completed = 9'896, .met = 9'896, .timed_out = 104};
  const struct {
    const char* text;
    const RunResult& result;
    const char* found;
  } rows[] = {{"met<95%", result(), "90%"},    {"met<99%", near, "98.96%"}, {"unmet>1", result(), "2"},
              {"ttft_p99>1s", result(), "2s"}, {"score<1", result(), "0"},  {"usd>1", result(), "0 USD"},
              {"disruptions>0", result(), "0"}};
  for (const auto& row : rows) EXPECT_EQ(parse_threshold(row.text)->figure_text(row.result), row.found) << row.text;
  near.ttft.p99_us = 1'050'000;
  EXPECT_EQ(parse_threshold("ttft_p99>1s")->figure_text(near), "1.05s");
}

TEST(Threshold, AFigureThatWasNotMeasuredIsNotAccepted) {
  RunResult empty;
  for (const char* text : {"met<80", "met>80", "score<1", "ttft_p99>2s", "tpot_p99>1s", "e2e_p99>1s"}) {
    EXPECT_TRUE(parse_threshold(text)->missed(empty)) << text;
    EXPECT_EQ(parse_threshold(text)->figure_text(empty), "no value, because no request arrived") << text;
  }
  empty.requests = {.arrived = 5, .timed_out = 5};
  EXPECT_EQ(parse_threshold("ttft_p99>2s")->figure_text(empty), "no value, because no request was completed");
  EXPECT_EQ(parse_threshold("met<80")->figure_text(empty), "0%");
  EXPECT_FALSE(parse_threshold("usd>1")->missed(empty));
}

TEST(Threshold, ABareNumberIsPercentWhereTheTablePrintsPercent) {
  for (const char* text : {"met<80", "met<80%", "met<80 %", "met<80.0"}) {
    EXPECT_EQ(parse_threshold(text)->bound, 800'000) << text;
  }
  EXPECT_EQ(parse_threshold("met<0.9%")->bound, 9'000) << "as the table would print it";
}

TEST(Threshold, ABoundThatTheFigureCannotHaveIsRefused) {
  const struct {
    const char* text;
    const char* error;
  } rows[] = {
      {"met<8000%", "found \"8000%\", expected a percentage from 0 to 100, such as 99 or 99%, with % if it is below 1"},
      {"met<100.1", "found \"100.1\", expected a percentage from 0 to 100, such as 99 or 99%, with % if it is below 1"},
      {"met<0.99", "found \"0.99\", expected a percentage from 0 to 100, such as 99 or 99%, with % if it is below 1"},
      {"met<-1", "found \"-1\", expected a percentage from 0 to 100, such as 99 or 99%, with % if it is below 1"},
      {"met<", "found \"\", expected a percentage from 0 to 100, such as 99 or 99%, with % if it is below 1"},
      {"met<80%%", "found \"80%%\", expected a percentage from 0 to 100, such as 99 or 99%, with % if it is below 1"},
      {"score<101", "found \"101\", expected a score from 0 to 100"},
      {"score<-1", "found \"-1\", expected a score from 0 to 100"},
      {"usd>-5", "found \"-5\", expected an amount of USD, 0 or more, such as 12.50"},
      {"unmet>-1", "found \"-1\", expected a whole number, 0 or more"},
      {"broken>1.5", "found \"1.5\", expected a whole number, 0 or more"},
      {"disruptions>99999999999999999999", "found \"99999999999999999999\", expected a whole number, 0 or more"},
      {"ttft_p99>2", "found \"2\", expected a time such as 2s or 1500ms"},
      {"e2e_p99>-2s", "found \"-2s\", expected a time such as 2s or 1500ms"},
  };
  for (const auto& row : rows) {
    const Result<Threshold> threshold = parse_threshold(row.text);
    ASSERT_FALSE(threshold) << row.text;
    EXPECT_EQ(threshold.error().text(), "--fail-on " + std::string(row.text) + ": " + row.error);
    EXPECT_EQ(threshold.error().kind, ErrorKind::usage);
  }
  for (const char* text : {"met<0", "met<100", "score<0", "score<100", "usd>0", "unmet>0", "tpot_p99>0"}) {
    EXPECT_TRUE(parse_threshold(text)) << text;
  }
}

TEST(Threshold, AnErrorNamesWhatIsExpected) {
  EXPECT_EQ(parse_threshold("met=1").error().text(),
            "--fail-on met=1: expected a figure, < or >, and a bound, such as met<99% or ttft_p99>2s");
  EXPECT_EQ(parse_threshold("mets<1").error().text(),
            "--fail-on mets<1: found \"mets\", expected one of met, unmet, score, usd, ttft_p99, tpot_p99, e2e_p99, "
            "disruptions or broken");
}

}  // namespace
}  // namespace capstan::experiment
