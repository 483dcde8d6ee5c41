#include "plan/measure/use_measured_load.h"

#include <gtest/gtest.h>

namespace capstan::plan {
namespace {

TEST(UseMeasuredLoad, ReplacesTheProfileByItsText) {
  scenario::Scenario scenario;
  scenario.endpoints.emplace_back();
  scenario.endpoints.front().load.from = workload::ProfileSpec{"load-chat.csv"};
  use_measured_load("", scenario);
  EXPECT_EQ(std::get<workload::ProfileSpec>(scenario.endpoint().load.from).name, "load-chat.csv");
  use_measured_load("capstan-profile,1\n", scenario);
  EXPECT_EQ(std::get<workload::ProfileSpec>(scenario.endpoint().load.from).name, "capstan-profile,1\n");
  EXPECT_EQ(measured_load_file("chat"), "load-chat.csv");
}

}  // namespace
}  // namespace capstan::plan
