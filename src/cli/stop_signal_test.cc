#include "cli/stop_signal.h"

#include <gtest/gtest.h>

#include <csignal>

namespace capstan::cli {
namespace {

TEST(StopSignal, BothAreCounted) {
  catch_stop_signals();
  const int before = stop_signals();
  std::raise(SIGTERM);
  std::raise(SIGINT);
  EXPECT_EQ(stop_signals(), before + 2);
}

}  // namespace
}  // namespace capstan::cli
