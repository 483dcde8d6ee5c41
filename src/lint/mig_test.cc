#include "lint/mig.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace capstan::lint::mig_test {
namespace {

const MigProduct& product(std::string_view name) {
  for (const MigProduct& one : mig_products()) {
    if (one.product == name) return one;
  }
  ADD_FAILURE() << "no product " << name;
  return mig_products().front();
}

TEST(Mig, AGeometryFitsOnlyIfEveryProfileHasAPlace) {
  const MigProduct& h100 = product("H100 80GB");
  EXPECT_TRUE(fits(h100, {{{"1g.10gb", 7}}}));
  EXPECT_FALSE(fits(h100, {{{"1g.10gb", 8}}}));
  EXPECT_TRUE(fits(h100, {{{"2g.20gb", 2}, {"1g.10gb", 3}}}));
  EXPECT_FALSE(fits(h100, {{{"2g.20gb", 2}, {"1g.10gb", 4}}}));
  EXPECT_TRUE(fits(h100, {{{"3g.40gb", 2}}}));
  EXPECT_FALSE(fits(h100, {{{"3g.40gb", 2}, {"1g.10gb", 1}}}));
  EXPECT_TRUE(fits(h100, {{{"3g.40gb", 1}, {"4g.40gb", 1}}}));
  EXPECT_FALSE(fits(h100, {{{"4g.40gb", 2}}}));
  EXPECT_FALSE(fits(h100, {{{"1g.10gb+me", 2}}}));
  EXPECT_TRUE(fits(h100, {{{"1g.10gb", 2}, {"2g.20gb", 1}, {"3g.40gb", 1}}}));
  EXPECT_FALSE(fits(product("A100 40GB"), {{{"1g.10gb", 7}}}));
  EXPECT_TRUE(fits(product("A100 40GB"), {{{"1g.10gb", 4}}}));
  EXPECT_TRUE(fits(product("A30 24GB"), {{{"1g.6gb", 2}, {"2g.12gb", 1}}}));
  EXPECT_FALSE(fits(product("A30 24GB"), {{{"1g.6gb", 1}, {"2g.12gb", 2}}}));
}

/// With the double-memory profile, a GPU with eight slots can be divided in 78 ways. A GPU with four slots can be
/// divided in 10 ways.
TEST(Mig, AcceptsExactlyThePossibleGeometries) {
  const auto count = [](const MigProduct& mig_product, const std::vector<std::string_view>& profiles) {
    std::size_t all = 0;
    MigGeometry geometry;
    for (const std::string_view profile : profiles) geometry.parts.push_back({profile, 0});
    const auto step = [&](auto self, std::size_t i) -> void {
      if (i == profiles.size()) {
        if (fits(mig_product, geometry)) ++all;
        return;
      }
      for (std::int64_t n = 0; n <= 7; ++n) {
        geometry.parts[i].count = n;
        self(self, i + 1);
      }
      geometry.parts[i].count = 0;
    };
    step(step, 0);
    return all;  // includes the empty geometry
  };
  EXPECT_EQ(count(product("H100 80GB"), {"1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb"}), 78u);
  EXPECT_EQ(count(product("A30 24GB"), {"1g.6gb", "2g.12gb", "4g.24gb"}), 10u);
}

TEST(Mig, TheNearestGeometryKeepsTheLargeProfiles) {
  EXPECT_EQ(nearest_geometry(product("H100 80GB"), {{{"2g.20gb", 2}, {"1g.10gb", 4}}}),
            "2 of 2g.20gb and 3 of 1g.10gb");
}

}  // namespace
}  // namespace capstan::lint::mig_test
