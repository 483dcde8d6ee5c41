#include "base/split.h"

#include <gtest/gtest.h>

namespace capstan {
namespace {

using Parts = std::vector<std::string_view>;

TEST(SplitTest, KeepsEmptyParts) {
  EXPECT_EQ(split("a,b,c", ','), (Parts{"a", "b", "c"}));
  EXPECT_EQ(split(",a,,", ','), (Parts{"", "a", "", ""}));
  EXPECT_EQ(split("whole", ','), Parts{"whole"});
  EXPECT_EQ(split("", ','), Parts{""});
}

}  // namespace
}  // namespace capstan
