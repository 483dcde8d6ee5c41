#include "cli/terminal.h"

#include <gtest/gtest.h>

namespace capstan::cli {
namespace {

TEST(Progress, SaysHowFarHowFastAndHowLong) {
  const experiment::Progress progress{.at = {std::chrono::minutes(20)}, .part = 0.25, .arrived = 1234567};
  EXPECT_EQ(progress_words(progress, 2.0), "00:20:00 simulated · 1,234,567 requests · 600 x real time · 6 s left");
}

TEST(Progress, PromisesNothingBeforeItKnows) { EXPECT_EQ(progress_words({}, 0), "00:00:00 simulated · 0 requests"); }

}  // namespace
}  // namespace capstan::cli
