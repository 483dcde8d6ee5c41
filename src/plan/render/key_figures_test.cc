#include "plan/render/key_figures.h"

#include <gtest/gtest.h>

namespace capstan::plan {
namespace {

Section warm_pool() {
  Section section{
      .key = "warm_pool", .title = "Warm pool", .answer = "Keep 3 ready. A start takes 2.5 min. Images are there."};
  section.statements = {{.name = "chat longest simulated cold start", .value = "95 s"},
                        {.name = "chat weights", .value = "46 s"},
                        {.name = "optional balloon", .value = "1 USD/h"},
                        {.name = "chat-prefill balloon", .value = "3 USD/h"}};
  return section;
}

TEST(KeyFigures, AreThoseThatDecideWithoutTheNameOfTheOnlyService) {
  PlanSpec spec;
  spec.services = {{.name = "chat"}};
  const PageBlock block = block_of(warm_pool(), spec);
  EXPECT_EQ(block.name, "warm pool");
  EXPECT_EQ(block.answer, "Keep 3 ready. A start takes 2.5 min.");
  ASSERT_EQ(block.figures.size(), 2u);
  EXPECT_EQ(block.figures[0].name, "longest simulated cold start");
  EXPECT_EQ(block.figures[1].name, "prefill balloon");
}

TEST(KeyFigures, KeepTheNamesOfSeveralServices) {
  PlanSpec spec;
  spec.services = {{.name = "chat"}, {.name = "code"}};
  EXPECT_EQ(block_of(warm_pool(), spec).figures[0].name, "chat longest simulated cold start");
}

TEST(KeyFigures, OfSeveralServicesWithTheSameValueAreOne) {
  PlanSpec spec;
  spec.services = {{.name = "chat"}, {.name = "code"}, {.name = "draft"}};
  Section section{.key = "workload", .answer = "A first sentence."};
  section.statements = {{.name = "chat startup probe", .value = "10 min"},
                        {.name = "chat grace period", .value = "10 min"},
                        {.name = "code startup probe", .value = "10 min"},
                        {.name = "draft startup probe", .value = "20 min"}};
  const PageBlock block = block_of(section, spec);
  ASSERT_EQ(block.figures.size(), 3u);
  EXPECT_EQ(block.figures[0].name, "chat and code startup probe");
  EXPECT_EQ(block.figures[1].name, "chat grace period");
  EXPECT_EQ(block.figures[2].name, "draft startup probe");
}

TEST(KeyFigures, DoNotRepeatTheFirstLinesOfThePage) {
  PlanSpec spec;
  spec.services = {{.name = "chat"}};
  Section section{.key = "cost", .answer = "The machines cost 2.00 USD/h. Serverless costs less. It has no storage."};
  EXPECT_EQ(block_of(section, spec).answer, "Serverless costs less.");
  section = {.key = "replicas", .answer = "For chat, the HPA holds the SLO for the least, 2.00 USD/h."};
  EXPECT_EQ(block_of(section, spec).answer, "");
}

TEST(KeyFigures, NameTheWatchedMetricsOnce) {
  PlanSpec spec;
  spec.services = {{.name = "chat"}, {.name = "code"}};
  Section section{.key = "monitoring"};
  section.statements = {{.name = "chat: Waiting requests", .value = "sum(a)"},
                        {.name = "code: Waiting requests", .value = "sum(b)"},
                        {.name = "code: left out", .value = "BudgetExceeded"}};
  const PageBlock block = block_of(section, spec);
  ASSERT_EQ(block.figures.size(), 1u);
  EXPECT_EQ(block.figures[0].value, "Waiting requests");
}

}  // namespace
}  // namespace capstan::plan
