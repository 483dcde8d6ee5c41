#include "base/hash.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace capstan {
namespace {

StateHash hash_of(std::initializer_list<std::string_view> texts) {
  StateHash hash;
  for (const std::string_view text : texts) hash.add(text);
  return hash;
}

// These values must not change, because the golden results of scenarios contain state hashes.
TEST(StateHash, IsFrozen) {
  EXPECT_EQ(StateHash().value(), 0xe9e0033e3badaf36);
  EXPECT_EQ(hash_text("capstan"), 0x14af9bf6d11e1307);
  EXPECT_EQ(hash_text(""), 0x6d9cec73583254ae);
  EXPECT_EQ(mix64(1), 0x5692161d100b05e5);
}

TEST(StateHash, DependsOnOrderAndBoundaries) {
  EXPECT_NE(hash_of({"a", "b"}).value(), hash_of({"b", "a"}).value());
  EXPECT_NE(hash_of({"ab", "c"}).value(), hash_of({"a", "bc"}).value());
  EXPECT_NE(hash_of({""}).value(), hash_of({"", ""}).value());
}

RC_GTEST_PROP(StateHash, DifferentWordsGiveDifferentHashes, (std::uint64_t a, std::uint64_t b)) {
  RC_PRE(a != b);
  StateHash left, right;
  left.add(a);
  right.add(b);
  RC_ASSERT(left.value() != right.value());
}

}  // namespace
}  // namespace capstan
