#include "base/known_row.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <utility>
#include <vector>

namespace capstan {
namespace {

TEST(KnownRow, IsFoundByKeyOrPosition) {
  std::map<int, char> map{{3, 'a'}};
  known_row(map, 3) = 'b';
  EXPECT_EQ(known_row(std::as_const(map), 3), 'b');
  const std::vector<char> rows{'a', 'b'};
  EXPECT_EQ(known_row(rows, 1), 'b');
  std::array<int, 2> counts{};
  ++known_row(counts, 1);
  EXPECT_EQ(counts[1], 1);
}

TEST(KnownRowDeathTest, AMissingRowEndsTheProcess) {
  std::map<int, char> map{{3, 'a'}};
  const std::vector<char> rows{'a', 'b'};
  EXPECT_DEATH(known_row(map, 4), "known_row.h");
  EXPECT_DEATH(known_row(rows, 2), "known_row.h");
}

}  // namespace
}  // namespace capstan
