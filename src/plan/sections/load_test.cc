#include <gtest/gtest.h>

#include "plan/sections/sections.h"

namespace capstan::plan {
namespace {

TEST(LoadSection, ShowsMeasuredLoadsOnly) {
  PlanSpec spec;
  spec.services.push_back({.name = "generated"});
  const std::vector<ServicePlan> fleets(2);
  EXPECT_FALSE(load_section({spec, fleets, 0}));
  ServiceSpec chat{.name = "chat"};
  chat.load.measured = {{"requests", "900 in 30 min", "sum (rate(x[2m])) on http://prom:9090"},
                        {"pairs of lengths", "independent", "why", MeasuredFigure::Source::assumed}};
  spec.services.push_back(chat);
  const auto section = load_section({spec, fleets, 0});
  ASSERT_TRUE(section);
  ASSERT_EQ(section->statements.size(), 2u);
  EXPECT_EQ(section->statements[0].name, "chat requests");
  EXPECT_EQ(section->statements[0].evidence, Evidence::measured);
  EXPECT_EQ(section->statements[1].evidence, Evidence::assumed);
  EXPECT_EQ(section->answer.find("generated"), std::string::npos);
}

}  // namespace
}  // namespace capstan::plan
