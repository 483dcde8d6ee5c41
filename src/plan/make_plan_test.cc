#include "plan/make_plan.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "plan/result/figures.h"
#include "plan/testing/sample_specs.h"

namespace capstan::plan {
namespace {

const Plan& made_plan() {
  static const Plan plan = make_plan(sample_specs::small_spec(), {}).value();
  return plan;
}

TEST(MakePlan, HasEverySectionAndEndsWithTheKillSwitch) {
  std::vector<std::string> keys;
  for (const Section& section : made_plan().sections) keys.push_back(section.key);
  const std::vector<std::string> expected = {"nodes",    "gangs", "replicas", "warm_pool", "sharing",
                                             "workload", "cost",  "proof",    "monitoring"};
  EXPECT_EQ(keys, expected);
  EXPECT_FALSE(made_plan().sections.back().commands.empty());
}

TEST(MakePlan, ShowsEveryScalerInTheSectionOnReplicas) {
  const auto replicas = std::ranges::find(made_plan().sections, "replicas", &Section::key);
  for (const std::string_view scaler : {"Capstan", "ScaledObject", "HPA", "constant fleet"}) {
    const std::string name = "small " + std::string(scaler);
    EXPECT_NE(std::ranges::find(replicas->statements, name, &Statement::name), replicas->statements.end()) << name;
  }
}

}  // namespace
}  // namespace capstan::plan
