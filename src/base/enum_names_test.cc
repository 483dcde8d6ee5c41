#include "base/enum_names.h"

#include <gtest/gtest.h>

namespace capstan {
namespace {

enum class Fruit { apple, pear };

struct FruitName {
  std::string_view key;
  std::string_view label;
};
constexpr std::array<FruitName, 2> kFruits{{{"apple", "Apple"}, {"pear", "Pear"}}};
constexpr auto kLabels = enum_column(kFruits, &FruitName::label);

TEST(EnumNames, NamesAndValuesBelongTogether) {
  EXPECT_EQ(enum_name(kLabels, Fruit::pear), "Pear");
  EXPECT_EQ(enum_named<Fruit>(kLabels, "Apple"), Fruit::apple);
  EXPECT_EQ(enum_named<Fruit>(kLabels, "Pear"), Fruit::pear);
  EXPECT_EQ(enum_named<Fruit>(kLabels, "pear"), std::nullopt) << "this is a key";
  EXPECT_EQ(enum_named<Fruit>(enum_column(kFruits, &FruitName::key), "pear"), Fruit::pear);
}

}  // namespace
}  // namespace capstan
