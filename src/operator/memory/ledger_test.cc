#include "operator/memory/ledger.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace capstan::op {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr MicroUsd kPrice{10'000'000};  // 10 USD an hour

TEST(Ledger, GpuHoursAndMoneyFollowTheReplicas) {
  Ledger ledger;
  EXPECT_TRUE(ledger.since().is_never());
  for (int minute = 0; minute <= 60; ++minute) ledger.add(-2, whole_gpus(8), kPrice, {hours(1) + minutes(minute)});
  EXPECT_EQ(ledger.since(), Instant{hours(1)});
  EXPECT_EQ(ledger.gpu_hours_milli(), -16'000);
  EXPECT_EQ(ledger.cost(), MicroUsd{-20'000'000});
}

TEST(Ledger, APauseIsNotCounted) {
  Ledger ledger;
  ledger.add(1, whole_gpus(1), kPrice, {hours(0)});
  ledger.add(1, whole_gpus(1), kPrice, {hours(5)});
  EXPECT_EQ(ledger.gpu_hours_milli(), 0);
  ledger.add(1, whole_gpus(1), kPrice, {hours(5) + seconds(36)});
  EXPECT_EQ(ledger.gpu_hours_milli(), 10);
}

RC_GTEST_PROP(Ledger, ManySmallStepsCostWhatOneLargeDoes, ()) {
  const auto price = *rc::gen::inRange<std::int64_t>(0, 100'000'000);
  const auto more = *rc::gen::inRange<std::int64_t>(-50, 50);
  const auto steps = *rc::gen::inRange<int>(1, 100);
  Ledger small, large;
  for (int i = 0; i <= steps; ++i) small.add(more, whole_gpus(1), {price}, {seconds(i)});
  large.add(more, whole_gpus(1), {price}, {});
  large.add(more, whole_gpus(1), {price}, {seconds(steps)});
  RC_ASSERT((small == large));
  const Result<Ledger> again = parse_ledger(to_text(small));
  RC_ASSERT(again.has_value());
  RC_ASSERT((*again == small));
}

TEST(Ledger, RefusesATextThatIsNotALedger) { EXPECT_FALSE(parse_ledger("ledger/9 1 2")); }

}  // namespace
}  // namespace capstan::op
