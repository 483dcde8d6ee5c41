#include "cli/terminal.h"

#include <gtest/gtest.h>

#include <vector>

namespace capstan::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const experiment::Progress kQuarter{
    .at = {std::chrono::minutes(20)}, .part = 0.25, .arrived = 1234567, .simulated = std::chrono::minutes(40)};

TEST(Progress, SaysHowFarHowFastAndHowLong) {
  EXPECT_EQ(progress_words(kQuarter, seconds(2)),
            "00:20:00 simulated · 1,234,567 requests · 1,200 x real time · 6 s left");
}

TEST(Progress, PromisesNothingBeforeItKnows) {
  EXPECT_EQ(progress_words({}, Duration{}), "00:00:00 simulated · 0 requests");
}

TEST(ProgressLine, AppearsAfterASecondThenFiveTimesASecondAndIsWiped) {
  std::vector<std::string> written;
  {
    ProgressLine line([&](const std::string& bytes) { written.push_back(bytes); });
    line.show(kQuarter, milliseconds(999));
    EXPECT_TRUE(written.empty());
    line.show(kQuarter, milliseconds(1000));
    line.show(kQuarter, milliseconds(1199));
    EXPECT_EQ(written.size(), 1u);
    line.show(kQuarter, milliseconds(1200));
    EXPECT_EQ(written.size(), 2u);
    EXPECT_TRUE(written.front().starts_with("\r\x1b[K00:20:00 simulated"));
  }
  EXPECT_EQ(written.back(), "\r\x1b[K");
}

TEST(ProgressLine, ARunOfLessThanASecondIsSilentAndSoIsOneWithoutATerminal) {
  std::string written;
  {
    ProgressLine([&](const std::string& bytes) { written += bytes; }).show(kQuarter, milliseconds(900));
  }
  EXPECT_EQ(written, "");
  ProgressLine(ProgressLine::Write()).show(kQuarter, seconds(9));
}

}  // namespace
}  // namespace capstan::cli
