#include "base/split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace capstan {
namespace {

using ::testing::ElementsAre;

TEST(SplitTest, KeepsEveryPartAlsoEmptyOnes) {
  EXPECT_THAT(split("a,b,c", ','), ElementsAre("a", "b", "c"));
  EXPECT_THAT(split(",a,,", ','), ElementsAre("", "a", "", ""));
  EXPECT_THAT(split("whole", ','), ElementsAre("whole"));
  EXPECT_THAT(split("", ','), ElementsAre(""));
}

}  // namespace
}  // namespace capstan
