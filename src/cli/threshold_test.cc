#include "cli/threshold.h"

#include <gtest/gtest.h>

namespace capstan::cli {
namespace {

/// 90 of 100 requests met, 2 timed out, first tokens within 2 s.
experiment::RunResult result() {
  experiment::RunResult r;
  r.requests = {.arrived = 100, .completed = 98, .met = 90, .timed_out = 2};
  r.ttft.p99_us = 2'000'000;
  return r;
}

TEST(Threshold, IsMissedOnlyOnItsWrongSide) {
  const struct {
    const char* text;
    bool missed;
  } rows[] = {{"met<90%", false},     {"met<90.1%", true},       {"unmet>1", true},   {"unmet>2", false},
              {"ttft_p99>2s", false}, {"ttft_p99>1999ms", true}, {"broken>0", false}, {"score<1", true}};
  for (const auto& row : rows) {
    const Result<Threshold> threshold = parse_threshold(row.text);
    ASSERT_TRUE(threshold) << row.text;
    EXPECT_EQ(threshold->missed(result()), row.missed) << row.text;
  }
}

TEST(Threshold, SaysExactlyWhatItFound) {
  experiment::RunResult near = result();
  near.requests = {.arrived = 10'000, .completed = 9'896, .met = 9'896, .timed_out = 104};
  const struct {
    const char* text;
    const experiment::RunResult& of;
    const char* found;
  } rows[] = {{"met<95%", result(), "90%"},    {"met<99%", near, "98.96%"}, {"unmet>1", result(), "2"},
              {"ttft_p99>1s", result(), "2s"}, {"score<1", result(), "0"},  {"usd>1", result(), "0 USD"},
              {"disruptions>0", result(), "0"}};
  for (const auto& row : rows) EXPECT_EQ(parse_threshold(row.text)->found(row.of), row.found) << row.text;
  near.ttft.p99_us = 1'050'000;
  EXPECT_EQ(parse_threshold("ttft_p99>1s")->found(near), "1.05s");
}

TEST(Threshold, SaysWhatItExpects) {
  EXPECT_EQ(parse_threshold("met=1").error().text(),
            "--fail-on met=1: expected a figure, < or >, and a bound, such as met<99% or ttft_p99>2s");
  EXPECT_EQ(parse_threshold("mets<1").error().text(),
            "--fail-on mets<1: found \"mets\", expected one of met, unmet, score, usd, ttft_p99, tpot_p99, e2e_p99, "
            "disruptions or broken");
  EXPECT_EQ(parse_threshold("ttft_p99>2").error().kind, ErrorKind::usage);
}

}  // namespace
}  // namespace capstan::cli
