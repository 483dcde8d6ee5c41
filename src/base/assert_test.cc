#include "base/assert.h"

#include <gtest/gtest.h>

namespace capstan {
namespace {

TEST(AssertDeathTest, PrintsTheInvariantAndItsPlace) {
  EXPECT_DEATH(CAPSTAN_ASSERT(1 + 1 == 3), "assert_test.cc:[0-9]+: broken invariant: 1 \\+ 1 == 3");
}

TEST(Assert, EvaluatesTheConditionOnce) {
  int evaluated = 0;
  CAPSTAN_ASSERT(++evaluated == 1);
  EXPECT_EQ(evaluated, 1);
}

}  // namespace
}  // namespace capstan
