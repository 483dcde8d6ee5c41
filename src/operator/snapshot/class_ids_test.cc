#include "operator/snapshot/class_ids.h"

#include <gtest/gtest.h>

namespace capstan::op {
namespace {

TEST(ClassIds, KeepsIdsAndReusesThemOnlyAfterALookWithoutTheClass) {
  ClassIds ids;
  EXPECT_EQ(ids.id_of("a"), 0u);
  EXPECT_EQ(ids.id_of("b"), 1u);
  ids.forget_unseen();
  EXPECT_EQ(ids.id_of("b"), 1u);
  EXPECT_EQ(ids.id_of("c"), 2u) << "the look before contained a";
  ids.forget_unseen();
  EXPECT_EQ(ids.id_of("b"), 1u);
  EXPECT_EQ(ids.id_of("d"), 0u);
  EXPECT_EQ(ids.end(), 3u);
}

}  // namespace
}  // namespace capstan::op
