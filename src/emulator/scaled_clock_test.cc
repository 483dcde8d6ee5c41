#include "emulator/scaled_clock.h"

#include <gtest/gtest.h>

namespace capstan::emulator {
namespace {

using namespace std::chrono_literals;

TEST(ScaledClock, StartsAtZeroAndRunsAtItsSpeed) {
  for (const std::int64_t milli : {1, 500, 1000, 10'000, 3'333}) {
    Instant world{5s};
    const ScaledClock clock([&] { return world; }, milli);
    EXPECT_EQ(clock.now(), Instant{});
    world = Instant{7s};
    EXPECT_EQ(clock.now(), Instant{Duration{2s} * milli / 1000});
    const Instant later = clock.now() + 1s;
    world = world + clock.until(later);
    EXPECT_GE(clock.now(), later);
    EXPECT_EQ(clock.until(later), Duration{});
    EXPECT_EQ(clock.until(Instant::never()), Duration::max());
    EXPECT_EQ(clock.clock()(), clock.now());
  }
}

}  // namespace
}  // namespace capstan::emulator
