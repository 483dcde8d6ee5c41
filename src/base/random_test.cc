#include "base/random.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <set>
#include <vector>

namespace capstan {
namespace {

// Outputs computed once by an independent program. They must not change: a change would change every recorded result of
// every user and would need a new format version.
struct GoldenBits {
  const char* teaches;
  std::uint64_t seed;
  const char* name;
  std::uint64_t index;
  std::array<std::uint64_t, 4> first;
};

constexpr GoldenBits kGoldenBits[] = {
    {"a stream", 1, "arrivals", 0, {0x4ff02bf78b256904, 0x79595d880cae7b2c, 0xdd98857539b357bf, 0xebe0cf4820e3378d}},
    {"another index",
     1,
     "arrivals",
     1,
     {0xdbed64b79d624cf, 0x27c3ad44259cbaea, 0xea73d1894c043772, 0x26ff901d6a23a029}},
    {"another name", 1, "faults", 0, {0xc2b02329ac09f40c, 0xa6ce9ace8f2183a4, 0xcaffb96eb092a0f3, 0x6795ce108483f722}},
    {"another seed",
     2,
     "arrivals",
     0,
     {0xdeb0643b30c6d86a, 0x2e927b8b6b260fa1, 0xc212ddf742608916, 0x14619632ff070584}},
};

TEST(RandomStream, FirstBitsAreFrozen) {
  for (const GoldenBits& row : kGoldenBits) {
    SCOPED_TRACE(row.teaches);
    RandomStream stream(row.seed, row.name, row.index);
    for (const std::uint64_t expected : row.first) EXPECT_EQ(stream.bits(), expected);
  }
}

TEST(RandomStream, BoundedDrawsAreFrozen) {
  RandomStream stream(7, "golden");
  for (const std::uint64_t expected : {602, 342, 13, 745, 692, 333, 360, 251}) EXPECT_EQ(stream.below(1000), expected);
}

using Draw = double (*)(RandomStream&);

struct GoldenDraws {
  const char* name;
  Draw draw;
  std::array<std::uint64_t, 2> first;
};

constexpr GoldenDraws kGoldenDraws[] = {
    {"unit", [](RandomStream& s) { return s.unit(); }, {0x3fe3e1e9c3134ffb, 0x3fe420c203107fe1}},
    {"exponential", [](RandomStream& s) { return s.exponential(); }, {0x3feb0605e703a336, 0x3fb8a3426dbeda10}},
    {"normal", [](RandomStream& s) { return s.normal(); }, {0xbfc642747b491c91, 0xbfc0cd7c20e92e9c}},
    {"gamma", [](RandomStream& s) { return s.gamma(0.5); }, {0x3ff03bbf1280f5f8, 0x3fd24b4fd087b8fa}},
    {"weibull", [](RandomStream& s) { return s.weibull(0.7); }, {0x3fedb9fa46630a33, 0x3fc8cf4ed25f6966}},
    {"lognormal", [](RandomStream& s) { return s.log_normal(200, 1.2); }, {0x4041518e73ce6b80, 0x40573675d5d4fa9a}},
};

TEST(RandomStream, DistributionsAreFrozenToTheLastBit) {
  for (const GoldenDraws& row : kGoldenDraws) {
    SCOPED_TRACE(row.name);
    RandomStream stream(7, row.name);
    for (const std::uint64_t expected : row.first) EXPECT_EQ(std::bit_cast<std::uint64_t>(row.draw(stream)), expected);
  }
}

struct Moments {
  const char* teaches;
  Draw draw;
  double mean, variance;
};

// Theoretical mean and variance. The test allows six standard errors of 200,000 draws; the seed is fixed.
const Moments kMoments[] = {
    {"uniform", [](RandomStream& s) { return s.unit(); }, 0.5, 1.0 / 12},
    {"exponential", [](RandomStream& s) { return s.exponential(); }, 1, 1},
    {"normal", [](RandomStream& s) { return s.normal(); }, 0, 1},
    {"gamma below one", [](RandomStream& s) { return s.gamma(0.5); }, 0.5, 0.5},
    {"gamma above one", [](RandomStream& s) { return s.gamma(4); }, 4, 4},
    {"weibull of shape one is exponential", [](RandomStream& s) { return s.weibull(1); }, 1, 1},
    {"weibull", [](RandomStream& s) { return s.weibull(2); }, 0.886226925452758, 0.21460183660255172},
    {"log-normal", [](RandomStream& s) { return s.log_normal(1, 0.5); }, 1.1331484530668263, 0.36469585403641},
};

TEST(RandomStream, MomentsAreThoseOfTheDistribution) {
  constexpr int kDraws = 200'000;
  for (const Moments& row : kMoments) {
    SCOPED_TRACE(row.teaches);
    RandomStream stream(11, row.teaches);
    std::vector<double> draws(kDraws);
    double sum = 0;
    for (double& x : draws) sum += x = row.draw(stream);
    const double mean = sum / kDraws;
    double squares = 0, fourths = 0;
    for (const double x : draws) {
      squares += (x - mean) * (x - mean);
      fourths += (x - mean) * (x - mean) * (x - mean) * (x - mean);
    }
    const double variance = squares / kDraws;
    EXPECT_NEAR(mean, row.mean, 6 * std::sqrt(row.variance / kDraws));
    EXPECT_NEAR(variance, row.variance, 6 * std::sqrt((fourths / kDraws - variance * variance) / kDraws));
  }
}

TEST(RandomStream, BelowIsUniform) {
  // Seven does not divide 2^64, so a biased reduction would be visible. Chi-squared with 6 degrees of freedom
  // exceeds 27.9 once in 10,000 tests.
  RandomStream stream(3, "dice");
  std::array<double, 7> counts{};
  constexpr double kDraws = 140'000;
  for (int i = 0; i < kDraws; ++i) ++counts[stream.below(7)];
  double chi_squared = 0;
  for (const double n : counts) chi_squared += (n - kDraws / 7) * (n - kDraws / 7) / (kDraws / 7);
  EXPECT_LT(chi_squared, 27.9);
}

TEST(RandomStream, ChanceIsInMillionths) {
  RandomStream stream(3, "chance");
  int hits = 0;
  for (int i = 0; i < 100'000; ++i) hits += stream.chance_ppm(250'000);
  EXPECT_NEAR(hits, 25'000, 6 * std::sqrt(100'000 * 0.25 * 0.75));
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(stream.chance_ppm(0));
    EXPECT_TRUE(stream.chance_ppm(1'000'000));
  }
}

double correlation(RandomStream a, RandomStream b) {
  constexpr int kDraws = 100'000;
  double sum = 0;
  for (int i = 0; i < kDraws; ++i) sum += (a.unit() - 0.5) * (b.unit() - 0.5);
  return sum / kDraws * 12;
}

TEST(RandomStream, StreamsWithDifferentSeedNameOrIndexAreIndependent) {
  constexpr double kSixErrors = 6 / 316.2;  // six standard errors of the correlation of 100,000 independent pairs
  const RandomStream base(1, "a", 0);
  EXPECT_NEAR(correlation(base, RandomStream(2, "a", 0)), 0, kSixErrors);
  EXPECT_NEAR(correlation(base, RandomStream(1, "b", 0)), 0, kSixErrors);
  EXPECT_NEAR(correlation(base, RandomStream(1, "a", 1)), 0, kSixErrors);
  EXPECT_NEAR(correlation(base, base), 1, kSixErrors);
}

TEST(RandomStream, NeighbouringSeedsAndIndexesGiveDifferentStreams) {
  std::set<std::uint64_t> first;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    for (std::uint64_t index = 0; index < 40; ++index) {
      for (const char* name : {"", "a", "b", "ab", "ba"}) first.insert(RandomStream(seed, name, index).bits());
    }
  }
  EXPECT_EQ(first.size(), 40u * 40u * 5u);
}

RC_GTEST_PROP(RandomStream, EqualNamesGiveEqualStreams,
              (std::uint64_t seed, const std::string& name, std::uint64_t index)) {
  RandomStream a(seed, name, index), b(seed, name, index);
  for (int i = 0; i < 10; ++i) RC_ASSERT(a.bits() == b.bits());
}

RC_GTEST_PROP(RandomStream, BetweenStaysInItsBounds, (std::uint64_t seed, std::int32_t a, std::int32_t b)) {
  RandomStream stream(seed, "between");
  const std::int64_t low = std::min(a, b), high = std::max(a, b);
  for (int i = 0; i < 20; ++i) {
    const std::int64_t x = stream.between(low, high);
    RC_ASSERT((low <= x && x <= high));
  }
}

RC_GTEST_PROP(RandomStream, UnitIsNeverZeroOrOne, (std::uint64_t seed)) {
  RandomStream stream(seed, "unit");
  for (int i = 0; i < 50; ++i) {
    const double x = stream.unit();
    RC_ASSERT((0 < x && x < 1));
  }
}

}  // namespace
}  // namespace capstan
