#include "kube/wall_clock.h"

#include <gtest/gtest.h>

namespace capstan::kube {
namespace {

TEST(WallClock, IsInThisCentury) {
  const std::string now = wall_time_seconds(machine_wall_clock()());
  EXPECT_TRUE(now.starts_with("20")) << now;
}

}  // namespace
}  // namespace capstan::kube
