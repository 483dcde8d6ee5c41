#include "base/sort_unique.h"

#include <gtest/gtest.h>

namespace capstan {
namespace {

TEST(SortUnique, SortsAndRemovesDuplicates) {
  std::vector<int> values = {3, 1, 3, 2, 1};
  sort_unique(values);
  EXPECT_EQ(values, (std::vector<int>{1, 2, 3}));
  std::vector<int> none;
  sort_unique(none);
  EXPECT_TRUE(none.empty());
}

}  // namespace
}  // namespace capstan
