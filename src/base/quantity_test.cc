#include "base/quantity.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <concepts>

#include "base/ids.h"
#include "base/time.h"

namespace capstan {
namespace {

template <typename A, typename B>
concept addable = requires(A a, B b) { a + b; };

template <typename A, typename B>
concept comparable = requires(A a, B b) { a < b; };

// Units cannot be mixed: such an expression does not compile.
static_assert(addable<MicroUsd, MicroUsd>);
static_assert(!addable<MicroUsd, MilliGpu>);
static_assert(!addable<MicroUsd, int>);
static_assert(!comparable<MicroUsd, Bytes>);
static_assert(!addable<Instant, Instant>, "two instants have no sum");
static_assert(std::same_as<decltype(Instant{} - Instant{}), Duration>);
static_assert(std::same_as<decltype(Instant{} + Duration{}), Instant>);
static_assert(!comparable<Id<struct NodeTag>, Id<struct PodTag>>);

TEST(Quantity, KeepsItsUnit) {
  MicroUsd bill{1'500'000};
  bill += MicroUsd{500'000};
  bill -= MicroUsd{250'000};
  EXPECT_EQ(bill, MicroUsd{1'750'000});
  EXPECT_EQ(bill * 2, MicroUsd{3'500'000});
  EXPECT_EQ(whole_gpus(8) - MilliGpu{500}, MilliGpu{7'500});
  EXPECT_LT(MilliGpu{999}, whole_gpus(1));
}

TEST(Quantity, CeilDivRoundsUp) {
  EXPECT_EQ(ceil_div(0, 4), 0);
  EXPECT_EQ(ceil_div(1, 4), 1);
  EXPECT_EQ(ceil_div(4, 4), 1);
  EXPECT_EQ(ceil_div(5, 4), 2);
}

RC_GTEST_PROP(Quantity, CeilDivIsTheSmallestSufficientFactor, (std::uint32_t total, std::uint16_t by)) {
  RC_PRE(by > 0);
  const std::int64_t n = ceil_div(total, by);
  RC_ASSERT(n * by >= total);
  RC_ASSERT((n - 1) * by < total);
}

TEST(Id, AnInvalidIdIsGreaterThanAllOthers) {
  using NodeId = Id<struct NodeTag>;
  EXPECT_FALSE(NodeId{}.valid());
  EXPECT_TRUE(NodeId{0}.valid());
  EXPECT_LT(NodeId{0}, NodeId{1});
  EXPECT_LT(NodeId{1}, NodeId{});
}

TEST(Time, InstantsAndDurationsCanBeAddedAndSubtracted) {
  using std::chrono::seconds;
  const Instant start{seconds(10)};
  EXPECT_EQ(start + seconds(5) - start, seconds(5));
  EXPECT_EQ(start - seconds(4), Instant{seconds(6)});
  EXPECT_TRUE(Instant::never().is_never());
  EXPECT_LT(start, Instant::never());
}

}  // namespace
}  // namespace capstan
