#include "serve/wake_up.h"

#include <gtest/gtest.h>
#include <poll.h>

namespace capstan::serve {
namespace {

bool is_readable(const WakeUp& wake) {
  pollfd descriptor{wake.fd(), POLLIN, 0};
  return poll(&descriptor, 1, 0) == 1;
}

TEST(WakeUp, IsReadableFromTheFirstSetToTheNextClear) {
  WakeUp wake;
  EXPECT_FALSE(is_readable(wake));
  wake.set();
  wake.set();
  EXPECT_TRUE(is_readable(wake));
  wake.clear();
  EXPECT_FALSE(is_readable(wake));
  wake.clear();
  EXPECT_FALSE(is_readable(wake));
}

}  // namespace
}  // namespace capstan::serve
