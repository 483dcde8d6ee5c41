#include "cli/progress.h"

#include <gtest/gtest.h>

#include <vector>

namespace capstan::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const experiment::Progress kQuarter{
    .at = {std::chrono::minutes(20)}, .part = 0.25, .arrived = 1234567, .simulated = std::chrono::minutes(40)};

TEST(Progress, ShowsSimulatedTimeSpeedAndTimeLeft) {
  EXPECT_EQ(progress_words(kQuarter, seconds(2)),
            "00:20:00 simulated · 1,234,567 requests · 1,200 x real time · 6 s left");
}

TEST(Progress, ShowsNeitherSpeedNorTimeLeftAtTheStart) {
  EXPECT_EQ(progress_words({}, Duration{}), "00:00:00 simulated · 0 requests");
}

TEST(Progress, NamesTheStageAfterThePolicies) {
  experiment::Progress bound;
  bound.stage = "computing the lower bound";
  EXPECT_EQ(progress_words(bound, seconds(75)), "computing the lower bound · 75 s");
  experiment::Progress foresight = kQuarter;
  foresight.stage = "foresight, run 3";
  EXPECT_EQ(progress_words(foresight, seconds(75)),
            "foresight, run 3 · 00:20:00 simulated · 1,234,567 requests · 75 s");
}

/// Returns the texts that are written if a text is offered at each of these moments.
std::vector<std::string> written(bool is_terminal, std::initializer_list<milliseconds> moments) {
  std::vector<std::string> all;
  {
    ProgressLine line({[&](const std::string& bytes) { all.push_back(bytes); }, is_terminal});
    for (const milliseconds moment : moments) line.show("at " + std::to_string(moment.count()), moment);
  }
  return all;
}

TEST(ProgressLine, AppearsAfterASecond) {
  using Strings = std::vector<std::string>;
  const struct {
    const char* name;
    bool is_terminal;
    std::initializer_list<milliseconds> moments;
    Strings written;
  } rows[] = {
      {"a run of less than a second is silent", true, {milliseconds(0), milliseconds(999)}, {}},
      {"a run of less than a second is silent in a log, too", false, {milliseconds(0), milliseconds(999)}, {}},
      {"on a terminal the line is updated five times per second and erased at the end",
       true,
       {milliseconds(999), milliseconds(1000), milliseconds(1199), milliseconds(1200)},
       {"\r\x1b[Kat 1000", "\r\x1b[Kat 1200", "\r\x1b[K"}},
      {"in a log a line is added every ten seconds",
       false,
       {milliseconds(1000), milliseconds(1200), milliseconds(10'999), milliseconds(11'000)},
       {"at 1000\n", "at 11000\n"}},
  };
  for (const auto& row : rows) EXPECT_EQ(written(row.is_terminal, row.moments), row.written) << row.name;
}

TEST(ProgressReport, ARunThatEndsAtOnceWritesNothing) {
  std::string text;
  {
    ProgressReport report({[&](const std::string& bytes) { text += bytes; }, false});
    report.note(kQuarter);
  }
  EXPECT_EQ(text, "");
}

}  // namespace
}  // namespace capstan::cli
