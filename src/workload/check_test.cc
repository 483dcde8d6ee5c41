#include "workload/check.h"

#include <gtest/gtest.h>

#include <functional>

namespace capstan::workload {
namespace {

ClosedLoopSpec loop_of(std::int64_t concurrency) {
  ClosedLoopSpec loop;
  loop.concurrency = concurrency;
  return loop;
}

struct SettingRow {
  const char* teaches;
  std::function<void(WorkloadSpec&, GeneratorSpec&)> change;
  const char* setting;  ///< empty: no fault
};

// open_test.cc tests the bounds and the messages.
TEST(Check, NamesTheSettingAsAScenarioSpellsIt) {
  const SettingRow rows[] = {
      {"the default settings are valid", [](auto&, auto&) {}, ""},
      {"scale", [](auto& load, auto&) { load.scale = 0; }, "scale"},
      {"the period of a curve", [](auto&, auto& g) { g.rate.kind = RateCurve::Kind::diurnal; },
       "generator.rate.period"},
      {"one step of several",
       [](auto&, auto& g) {
         g.rate.kind = RateCurve::Kind::piecewise;
         g.rate.step = std::chrono::minutes(1);
         g.rate.step_rates = {1, 0, -1};
       },
       "generator.rate.step_rates.2"},
      {"lengths", [](auto&, auto& g) { g.lengths.output.tokens = 0; }, "generator.output.tokens"},
      {"a profile replaces lengths",
       [](auto&, auto& g) {
         g.lengths.output.tokens = 0;
         g.lengths_profile = "azure-hour";
       },
       ""},
      {"a Poisson process ignores the shape", [](auto&, auto& g) { g.arrivals.shape = 0; }, ""},
      {"no time is longer than a leap year", [](auto& load, auto&) { load.duration = kLongest + Duration(1); },
       "duration"},
      {"a closed loop", [](auto& load, auto&) { load.from = loop_of(0); }, "closed_loop.concurrency"},
      {"a scaled closed loop",
       [](auto& load, auto&) {
         load.from = loop_of(1000);
         load.scale = 2000;
       },
       "closed_loop.concurrency"},
  };
  for (const SettingRow& row : rows) {
    SCOPED_TRACE(row.teaches);
    WorkloadSpec load;
    GeneratorSpec generator;
    load.from = ProfileSpec{};
    row.change(load, generator);
    if (std::holds_alternative<ProfileSpec>(load.from)) load.from = generator;
    const std::optional<Fault> fault = find_fault(load);
    EXPECT_EQ(fault ? fault->setting : "", row.setting);
    EXPECT_EQ(fault && fault->message.empty(), false);
  }
}

TEST(Check, KnowsWhichLoadsEndByThemselves) {
  WorkloadSpec load;
  EXPECT_TRUE(ends_by_itself(load));  // a profile
  load.from = GeneratorSpec{};
  EXPECT_FALSE(ends_by_itself(load));
  GeneratorSpec stepped;
  stepped.rate.kind = RateCurve::Kind::piecewise;
  load.from = stepped;
  EXPECT_TRUE(ends_by_itself(load));
  load.from = ClosedLoopSpec{};
  EXPECT_FALSE(ends_by_itself(load));
  ClosedLoopSpec five;
  five.requests = 5;
  load.from = five;
  EXPECT_TRUE(ends_by_itself(load));
}

}  // namespace
}  // namespace capstan::workload
