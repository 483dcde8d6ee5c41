#include "operator/view/pool_rules.h"

#include <gtest/gtest.h>

namespace capstan::op {
namespace {

using std::chrono::hours;

model::Pool rules_of(std::string_view spec) {
  kube::JsonDocument document;
  const std::string text = R"({"metadata": {"name": "h100"}, "spec": )" + std::string(spec) + "}";
  return pool_rules(kube::read_node_pool(document.parse(text).value()));
}

TEST(PoolRules, LimitsAreReadInTheirUnits) {
  struct Row {
    const char* limits;
    model::PoolLimits expected;
  };
  const Row rows[] = {
      {R"({})", {.gpus = 10'000'000}},
      {R"({"nvidia.com/gpu": "16"})", {.gpus = 16}},
      {R"({"nvidia.com/gpu": 16, "amd.com/gpu": "8"})", {.gpus = 24}},
      {R"({"nodes": "4"})", {.gpus = 10'000'000, .nodes = 4}},
      {R"({"cpu": "1000", "memory": "4Ti"})",
       {.gpus = 10'000'000, .cpu_milli = 1'000'000, .memory_mib = 4 * 1024 * 1024}},
      {R"({"cpu": "500m", "memory": "1000Mi"})", {.gpus = 10'000'000, .cpu_milli = 500, .memory_mib = 1000}},
      {R"({"nvidia.com/gpu": 0})", {.gpus = 0}},
      {R"({"cpu": "0"})", {.gpus = 10'000'000, .cpu_milli = 0}},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(rules_of(std::string(R"({"limits": )") + row.limits + "}").limits, row.expected) << row.limits;
  }
}

TEST(PoolRules, ABudgetForEmptyNodesIsRead) {
  using Budgets = std::vector<model::DisruptionBudget>;
  struct Row {
    const char* budgets;
    std::optional<Budgets> expected;
  };
  const Row rows[] = {
      {R"([])", std::nullopt},
      {R"([{"nodes": "10%"}])", Budgets{{.share_ppm = 100'000}}},
      {R"([{"nodes": "0"}, {"nodes": "3"}])", Budgets{{.nodes = 0}, {.nodes = 3}}},
      {R"([{"nodes": "0", "reasons": ["Drifted"]}])", Budgets{}},
      {R"([{"nodes": "0", "reasons": ["Drifted", "Empty"]}])", Budgets{{.nodes = 0}}},
      {R"([{"nodes": "0", "schedule": "0 9 * * *", "duration": "8h"}])",
       Budgets{{.nodes = 0, .start = Cron::parse("0 9 * * *").value(), .duration = hours(8)}}},
      {R"([{"nodes": "50%", "schedule": "no schedule", "duration": "8h"}])", Budgets{{.nodes = 0}}},
      {R"([{"nodes": "a tenth"}])", Budgets{{.nodes = 0}}},
      {R"([{"nodes": "200%"}])", Budgets{{.share_ppm = 1'000'000}}},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(rules_of(std::string(R"({"disruption": {"budgets": )") + row.budgets + "}}").budgets, row.expected)
        << row.budgets;
  }
}

TEST(PoolRules, TheWeightIsRead) {
  EXPECT_EQ(rules_of(R"({"weight": 50})").weight, 50);
  EXPECT_EQ(rules_of(R"({})").weight, 0);
}

}  // namespace
}  // namespace capstan::op
