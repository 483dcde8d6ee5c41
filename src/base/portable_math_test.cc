#include "base/portable_math.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>

#include "base/random.h"

namespace capstan {
namespace {

struct Golden {
  double x;
  std::uint64_t bits;
};

// Bit patterns computed once by an independent program with the same operations. They must not change.
constexpr Golden kLog[] = {
    {0.001, 0xc01ba18a998fffa0}, {0.5, 0xbfe62e42fefa39ef},        {1.0, 0x0000000000000000},
    {1.5, 0x3fd9f323ecbf984c},   {2.0, 0x3fe62e42fefa39ef},        {10.0, 0x40026bb1bbb55516},
    {1e300, 0x4085963447f87fb5}, {123456.789, 0x40277281cad8a844},
};
constexpr Golden kExp[] = {
    {-700.0, 0x00d14f2b0fb9307f}, {-1.0, 0x3fd78b56362cef38}, {-0.1, 0x3fecf46d99d52b3a}, {0.0, 0x3ff0000000000000},
    {0.5, 0x3ffa61298e1e069c},    {1.0, 0x4005bf0a8b14576a},  {10.0, 0x40d5829dcf950560}, {700.0, 0x7f0d945df4f8ec8e},
};
constexpr Golden kSinTurns[] = {
    {0.0, 0x0000000000000000}, {0.1, 0x3fe2cf2304755a5e}, {0.125, 0x3fe6a09e667f3bcc}, {0.3, 0x3fee6f0e13445500},
    {0.5, 0x0000000000000000}, {0.9, 0xbfe2cf2304755a5d}, {-0.1, 0xbfe2cf2304755a5d},  {12345.678, 0xbfecc7ed85aa7580},
};

template <std::size_t N>
void expect_bits(const Golden (&rows)[N], double (*function)(double)) {
  for (const Golden& row : rows) EXPECT_EQ(std::bit_cast<std::uint64_t>(function(row.x)), row.bits) << row.x;
}

TEST(PortableMath, LogIsFrozen) { expect_bits(kLog, portable_log); }
TEST(PortableMath, ExpIsFrozen) { expect_bits(kExp, portable_exp); }
TEST(PortableMath, SinIsFrozen) { expect_bits(kSinTurns, portable_sin_turns); }

TEST(PortableMath, PowIsFrozen) {
  EXPECT_EQ(std::bit_cast<std::uint64_t>(portable_pow(2, 0.5)), 0x3ff6a09e667f3bcc);
  EXPECT_EQ(std::bit_cast<std::uint64_t>(portable_pow(10, -3)), 0x3f50624dd2f1a9f9);
  EXPECT_EQ(std::bit_cast<std::uint64_t>(portable_pow(0.3, 1.7)), 0x3fc08819f76d9f8d);
}

// The reference is the C library in long double, whose own error is 1/1000 of the allowed error.
constexpr int kPoints = 200'000;

double relative_error(double value, long double exact) {
  return static_cast<double>(std::fabs((static_cast<long double>(value) - exact) / exact));
}

TEST(PortableMath, LogIsWithinItsError) {
  RandomStream stream(1, "log");
  double max_error = 0;
  for (int i = 0; i < kPoints; ++i) {
    const double wide = std::exp(-700 + 1400 * stream.unit());
    const double near_one = 0.5 + 1.5 * stream.unit();
    for (const double x : {wide, near_one, 1 + 1e-6 * (stream.unit() - 0.5)}) {
      if (x != 1)
        max_error = std::max(max_error, relative_error(portable_log(x), std::log(static_cast<long double>(x))));
    }
  }
  EXPECT_LT(max_error, 4e-15);
}

TEST(PortableMath, ExpIsWithinItsError) {
  RandomStream stream(1, "exp");
  double max_error = 0;
  for (int i = 0; i < kPoints; ++i) {
    for (const double x : {-700 + 1400 * stream.unit(), stream.unit() - 0.5}) {
      max_error = std::max(max_error, relative_error(portable_exp(x), std::exp(static_cast<long double>(x))));
    }
  }
  EXPECT_LT(max_error, 4e-15);
}

TEST(PortableMath, TheErrorOfPowGrowsWithTheSizeOfTheResult) {
  RandomStream stream(1, "pow");
  for (int i = 0; i < kPoints; ++i) {
    const double x = std::exp(-20 + 40 * stream.unit());
    const double y = -30 + 60 * stream.unit();
    const long double exact = std::pow(static_cast<long double>(x), static_cast<long double>(y));
    const double size = 1 + std::fabs(y * std::log(x));
    ASSERT_LT(relative_error(portable_pow(x, y), exact), 4e-16 * size) << x << " to the power of " << y;
  }
}

TEST(PortableMath, SinIsWithinItsError) {
  RandomStream stream(1, "sin");
  constexpr long double kTurn = 6.283185307179586476925286766559L;
  double max_error = 0;
  for (int i = 0; i < kPoints; ++i) {
    const double turns = -4 + 8 * stream.unit();
    const long double exact = std::sin(kTurn * static_cast<long double>(turns));
    max_error = std::max(max_error, static_cast<double>(std::fabs(portable_sin_turns(turns) - exact)));
  }
  EXPECT_LT(max_error, 1e-15);
}

TEST(PortableMathDeathTest, RefusesArgumentsOutOfRange) {
  EXPECT_DEATH(portable_log(0), "broken invariant");
  EXPECT_DEATH(portable_log(-1), "broken invariant");
  EXPECT_DEATH(portable_log(std::nan("")), "broken invariant");
  EXPECT_DEATH(portable_exp(701), "broken invariant");
  EXPECT_DEATH(portable_exp(std::nan("")), "broken invariant");
}

}  // namespace
}  // namespace capstan
