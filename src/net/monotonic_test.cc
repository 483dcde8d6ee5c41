#include "net/monotonic.h"

#include <gtest/gtest.h>

namespace capstan::net {
namespace {

TEST(Monotonic, NeverGoesBack) {
  const Clock clock = machine_clock();
  Instant last = clock();
  EXPECT_GT(last, Instant{});
  for (int i = 0; i < 1000; ++i) {
    const Instant next = clock();
    EXPECT_GE(next, last);
    last = next;
  }
}

}  // namespace
}  // namespace capstan::net
