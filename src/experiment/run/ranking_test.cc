#include "experiment/run/ranking.h"

#include <gtest/gtest.h>

#include <string>

namespace capstan::experiment {
namespace {

/// A policy: the met requests of 1,000, and the cost.
struct Ranked {
  const char* name;
  RequestCount met;
  std::int64_t usd;
  std::int64_t gpu_hours = 10;
};

RunResult ranked_run(const Ranked& row) {
  RunResult result;
  result.policy = row.name;
  result.requests = {.arrived = 1000, .completed = 1000, .met = row.met};
  result.cost_micro_usd[0] = row.usd * 1'000'000;
  result.gpu_ns[0] = GpuNanoseconds{row.gpu_hours} * 3'600'000'000'000;
  return result;
}

struct RankCase {
  const char* teaches;
  std::vector<Ranked> policies;
  const char* order;
};
const RankCase kRankCases[] = {
    {"a policy that holds the SLO ranks before a cheaper one that misses it",
     {{"cheap", 960, 10}, {"holds", 990, 100}},
     "holds cheap"},
    {"of two that hold it the cheaper ranks first, whatever else it met",
     {{"better", 999, 80}, {"cheaper", 990, 79}},
     "cheaper better"},
    {"of two that miss it the one that meets more ranks first, whatever it costs",
     {{"cheap", 900, 10}, {"closer", 901, 100}},
     "closer cheap"},
    {"of two that miss it alike the cheaper ranks first", {{"a", 900, 12}, {"b", 900, 11}}, "b a"},
    {"without a price the paid GPU time decides", {{"large", 995, 0, 20}, {"small", 991, 0, 12}}, "small large"},
    {"ties go by name", {{"b", 995, 10}, {"c", 900, 10}, {"a", 995, 10}}, "a b c"},
    {"exactly the share of the SLO holds it", {{"missed by one", 989, 1}, {"exact", 990, 9}}, "exact missed by one"},
};

TEST(Ranking, OrdersAsAnOperatorChooses) {
  const model::Slo slo{.attainment_ppm = 990'000};
  for (const RankCase& row : kRankCases) {
    SCOPED_TRACE(row.teaches);
    std::vector<RunResult> results;
    for (const Ranked& policy : row.policies) results.push_back(ranked_run(policy));
    rank(results, slo);
    std::string order;
    for (const RunResult& result : results) order += (order.empty() ? "" : " ") + result.policy;
    EXPECT_EQ(order, row.order);
  }
}

TEST(Ranking, RequestsShortOfTheSloMakeItHold) {
  const model::Slo slo{.attainment_ppm = 995'000};
  RunResult result = ranked_run({"a", 900, 1});
  result.requests.arrived = 1001;
  const RequestCount short_of = requests_short_of_slo(result, slo);
  EXPECT_EQ(short_of, 96);  // 99.5 % of 1,001 are 995.995
  result.requests.met += short_of - 1;
  EXPECT_FALSE(holds_slo(result, slo));
  result.requests.met += 1;
  EXPECT_TRUE(holds_slo(result, slo));
  EXPECT_EQ(requests_short_of_slo(result, slo), 0);
}

}  // namespace
}  // namespace capstan::experiment
