#include "experiment/text/words.h"

#include <gtest/gtest.h>

namespace capstan::experiment {
namespace {

TEST(ShareText, IsWholeOnlyIfNothingIsMissed) {
  EXPECT_EQ(share_text(1'000'000), "100.0 %");
  EXPECT_EQ(share_text(999'999), "99.9 %");
  EXPECT_EQ(share_text(999'860), "99.9 %");
  EXPECT_EQ(share_text(993'000), "99.3 %");
  EXPECT_EQ(share_text(120), "0.1 %");
  EXPECT_EQ(share_text(0), "0.0 %");
}

}  // namespace
}  // namespace capstan::experiment
