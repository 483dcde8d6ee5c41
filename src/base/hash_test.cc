#include "base/hash.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace capstan {
namespace {

StateHash of(std::initializer_list<std::string_view> texts) {
  StateHash hash;
  for (const std::string_view text : texts) hash.add(text);
  return hash;
}

// Frozen: state hashes stand in the golden results of scenarios.
TEST(StateHash, IsFrozen) {
  EXPECT_EQ(StateHash().value(), 0xe9e0033e3badaf36);
  EXPECT_EQ(hash_text("capstan"), 0x14af9bf6d11e1307);
  EXPECT_EQ(hash_text(""), 0x6d9cec73583254ae);
  EXPECT_EQ(mix64(1), 0x5692161d100b05e5);
}

TEST(StateHash, SeesOrderAndBoundaries) {
  EXPECT_NE(of({"a", "b"}).value(), of({"b", "a"}).value());
  EXPECT_NE(of({"ab", "c"}).value(), of({"a", "bc"}).value());
  EXPECT_NE(of({""}).value(), of({"", ""}).value());
}

RC_GTEST_PROP(StateHash, OneWordMakesTheDifference, (std::uint64_t a, std::uint64_t b)) {
  RC_PRE(a != b);
  StateHash left, right;
  left.add(a);
  right.add(b);
  RC_ASSERT(left.value() != right.value());
}

}  // namespace
}  // namespace capstan
