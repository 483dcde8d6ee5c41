#include "model/pool.h"

#include <gtest/gtest.h>

namespace capstan::model {
namespace {

using std::chrono::hours;

DisruptionBudget at_most(std::int64_t nodes) { return {.nodes = nodes}; }
DisruptionBudget share(std::int64_t percent) { return {.share_ppm = percent * 10'000}; }

DisruptionBudget from(std::string_view start, Duration duration, std::int64_t nodes) {
  return {.nodes = nodes, .start = Cron::parse(start).value(), .duration = duration};
}

TEST(Pool, ItsBudgetsBoundTheNodesThatMayTerminateAtOnce) {
  struct Row {
    const char* what;
    std::optional<std::vector<DisruptionBudget>> budgets;
    std::int64_t nodes;
    Instant now;
    std::int64_t most;
  };
  const Row rows[] = {
      {"the share of the policy", std::nullopt, 25, {}, 3},
      {"no budget applies", std::vector<DisruptionBudget>{}, 25, {}, 25},
      {"a number", std::vector{at_most(2)}, 25, {}, 2},
      {"a share, rounded up", std::vector{share(5)}, 25, {}, 2},
      {"the smallest of several", std::vector{share(50), at_most(4), at_most(9)}, 25, {}, 4},
      {"a freeze", std::vector{at_most(0)}, 25, {}, 0},
      {"a freeze from 9 to 17, before it", std::vector{from("0 9 * * *", hours(8), 0)}, 25, Instant{} + hours(8), 25},
      {"a freeze from 9 to 17, at its start", std::vector{from("0 9 * * *", hours(8), 0)}, 25, Instant{} + hours(9), 0},
      {"a freeze from 9 to 17, at its end", std::vector{from("0 9 * * *", hours(8), 0)}, 25, Instant{} + hours(17), 25},
      {"a freeze that began the day before", std::vector{from("0 22 * * *", hours(8), 0)}, 25, Instant{} + hours(26),
       0},
  };
  for (const Row& row : rows) {
    const Pool pool{.name = "h100", .offerings = {}, .budgets = row.budgets};
    EXPECT_EQ(most_terminating(pool, row.nodes, 100'000, row.now), row.most) << row.what;
  }
}

}  // namespace
}  // namespace capstan::model
