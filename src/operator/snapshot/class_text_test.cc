#include "operator/snapshot/class_text.h"

#include <gtest/gtest.h>

namespace capstan::op {
namespace {

TEST(ClassText, DifferentPartsNeverGiveTheSameText) {
  EXPECT_NE(ClassText().add("a").add("bc").text(), ClassText().add("ab").add("c").text());
  EXPECT_NE(ClassText().add("").add("a").text(), ClassText().add("a").text());
  EXPECT_EQ(ClassText().add(12).text(), ClassText().add("12").text());
}

}  // namespace
}  // namespace capstan::op
