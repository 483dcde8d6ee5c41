#include "base/erase_from.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace capstan {
namespace {

TEST(EraseFrom, AnEmptySetIsErasedWithItsLastValue) {
  std::map<int, std::set<int>> map = {{1, {10, 11}}, {2, {20}}};
  erase_from(map, 1, 10);
  erase_from(map, 2, 20);
  EXPECT_EQ(map, (std::map<int, std::set<int>>{{1, {11}}}));
}

TEST(EraseFrom, AMissingKeyOrValueChangesNothing) {
  std::map<int, std::set<int>> map = {{1, {10}}};
  erase_from(map, 2, 10);
  erase_from(map, 1, 11);
  EXPECT_EQ(map, (std::map<int, std::set<int>>{{1, {10}}}));
}

}  // namespace
}  // namespace capstan
