#include "operator/snapshot/class_ids.h"

#include <gtest/gtest.h>

namespace capstan::op {
namespace {

using Ids = std::vector<std::uint32_t>;

TEST(ClassIds, KeepsIdsAndReusesThemOnlyAfterALookWithoutTheClass) {
  ClassIds ids;
  EXPECT_EQ(ids.acquire("a"), 0u);
  EXPECT_EQ(ids.acquire("b"), 1u);
  EXPECT_EQ(ids.forget_unused(), Ids{});
  ids.release_all();
  EXPECT_EQ(ids.acquire("b"), 1u);
  EXPECT_EQ(ids.acquire("c"), 2u) << "the pass before contained a";
  EXPECT_EQ(ids.forget_unused(), Ids{0});
  ids.release_all();
  EXPECT_EQ(ids.acquire("b"), 1u);
  EXPECT_EQ(ids.acquire("d"), 0u);
  EXPECT_EQ(ids.end(), 3u);
}

TEST(ClassIds, AClassIsInUseUntilEachOfItsUsesHasEnded) {
  ClassIds ids;
  for (const char* text : {"a", "a", "b"}) ids.acquire(text);
  ids.release(0);
  EXPECT_EQ(ids.forget_unused(), Ids{});
  ids.release(0);
  EXPECT_EQ(ids.acquire("c"), 2u);
  EXPECT_EQ(ids.acquire("a"), 0u) << "it is in use again before the pass ends";
  EXPECT_EQ(ids.forget_unused(), Ids{});
  ids.release(0);
  EXPECT_EQ(ids.forget_unused(), Ids{0});
  EXPECT_EQ(ids.acquire("d"), 0u);
}

}  // namespace
}  // namespace capstan::op
