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
