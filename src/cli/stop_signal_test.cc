#include "cli/stop_signal.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>

namespace capstan::cli {
namespace {

/// Runs in a process of its own, because the count belongs to the process and would end the loops of other tests.
TEST(StopSignal, CountsBothSignals) {
  const auto raise_both = [] {
    catch_stop_signals();
    std::raise(SIGTERM);
    std::raise(SIGINT);
    std::exit(stop_signals());
  };
  EXPECT_EXIT(raise_both(), testing::ExitedWithCode(2), "");
  EXPECT_EQ(stop_signals(), 0);
}

}  // namespace
}  // namespace capstan::cli
