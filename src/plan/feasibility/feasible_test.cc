#include "plan/feasibility/feasible.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "plan/read/read_spec.h"

namespace capstan::plan {
namespace {

constexpr std::string_view kFeasible = R"(cluster: {instances: [p5.48xlarge]}
services:
- name: chat
  model: Llama-3.3-70B
  dtype: fp8
  slo: {ttft_p99: 2s}
  load: {requests_per_second: 2, burst_factor: 2, prompt_tokens: 1000, answer_tokens: 200}
)";

std::string feasible_errors(const std::vector<std::string>& sets) {
  const SpecResult spec = parse_plan_spec(kFeasible, "s.yaml", sets);
  if (spec) return "";
  EXPECT_EQ(spec.error().kind, ErrorKind::infeasible) << spec.error().text();
  return spec.error().text();
}

TEST(ImpossibleDemands, AreReportedWithTheGapAndTheNearestThatIsPossible) {
  struct Case {
    const char* teaches;
    std::vector<std::string> sets;
    const char* message;  ///< empty: the spec is feasible
  };
  const Case cases[] = {
      {"a plain spec", {}, ""},
      {"a step of the engine is the floor of TPOT", {"services.0.slo.tpot=2ms"}, "shorter than one step"},
      {"the floor is that of the fastest row", {"services.0.slo.tpot=2ms"}, "on 8 x H100); the nearest possible bound"},
      {"a bound above the floor", {"services.0.slo.tpot=20ms"}, ""},
      {"a prompt alone is the floor of TTFT", {"services.0.slo.ttft_p99=10ms"}, "a prompt of 1000 tokens on an idle"},
      {"the prompt at the attainment counts",
       {"services.0.slo.ttft_p99=150ms", "services.0.load.prompt_tokens={median: 1000, sigma: 1, longest: 100000}"},
       "a prompt of 10240 tokens (99 % of the prompts are not longer) on an idle replica"},
      {"a lower attainment needs only shorter prompts",
       {"services.0.slo.ttft_p99=150ms", "services.0.load.prompt_tokens={median: 1000, sigma: 1, longest: 100000}",
        "services.0.slo.attainment=50%"},
       ""},
      {"the answer is part of the whole request", {"services.0.slo.e2e=500ms"}, "199 further steps"},
      {"weights that fit no GPU",
       {"services.0.dtype=bfloat16", "cluster.instances=[g6e.xlarge]"},
       "(141.1 GB of weights, 89.6 GB more than the GPUs of g6e.xlarge have), expected a machine for one of: "},
      {"a parallelism without step times", {"services.0.tensor_parallel=3"}, "with tensor parallelism 3, expected"},
      {"machines with other GPUs", {"cluster.instances=[p6-b300.48xlarge]"}, "no machine that exists or can be bought"},
      {"a price of another capacity type",
       {"cluster.instances=[p5e.48xlarge]"},
       "cluster.capacity: [on_demand] needs usd_per_hour of a machine, and p5e.48xlarge has a price only as spot; the "
       "nearest that is possible is capacity: [spot], or usd_per_hour of p5e.48xlarge; the nodes of the minimum are "
       "spot only with capacity: [spot]"},
      {"a reserved price is not in the catalogue",
       {"cluster.capacity=[reserved]"},
       "cluster.capacity: [reserved] needs reserved_usd_per_hour of a machine, and p5.48xlarge has a price only as "
       "on_demand and as spot; the nearest that is possible is capacity: [on_demand], or reserved_usd_per_hour of "
       "p5.48xlarge"},
      {"a bound of 0", {"services.0.slo.tpot=0s"}, "slo.tpot: 0 ms is 8.76 ms shorter than one step"},
      {"pods that divide no parallelism",
       {"services.0.pods_per_replica=3"},
       "chat.pods_per_replica: no replica of Llama-3.3-70B in fp8 can be divided over 3 pods, because the engine table "
       "has it on 1, 2, 4, 8 GPUs; the nearest that is possible is pods_per_replica: 2"},
      {"more pods than GPUs", {"services.0.pods_per_replica=100"}, "is pods_per_replica: 8"},
      {"minima of the roles above the GPUs of all",
       {"services.0.disaggregated=true", "services.0.min_prefill_replicas=14", "services.0.min_decode_replicas=4",
        "limits.gpus=16"},
       "chat.min_prefill_replicas: 18 replicas of both roles need at least 18 GPUs, 2 more than limits.gpus of 16; the "
       "nearest that is possible is 16 replicas of both roles together"},
      {"minima of the roles within the limits",
       {"services.0.disaggregated=true", "services.0.min_prefill_replicas=14", "limits.gpus=16"},
       ""},
      {"nothing exists and nothing is bought", {"cluster.provisioner=none"}, "expected `existing`"},
      {"a GPU kind without step times",
       {"cluster.instances=[g4dn.xlarge]"},
       "; the nearest to the 16 GiB of t4 is L40S"},
      {"services may share a machine",
       {"limits.usd_per_hour=60", "limits.gpus=8",
        "services=[{name: a, model: Llama-3.1-8B, slo: {ttft_p99: 2s}}, {name: b, model: Llama-3.1-8B, slo: {ttft_p99: "
        "2s}}]"},
       ""},
      {"all services need the parts of the machines that they hold",
       {"limits.gpus=8",
        "services=[{name: a, model: Llama-3.1-8B, slo: {ttft_p99: 2s}}, {name: b, model: Llama-3.3-70B, dtype: fp8, "
        "tensor_parallel: 8, slo: {ttft_p99: 2s}}]"},
       "have 9 GPUs, 1 more than the limit of 8; the nearest that is possible is limits.gpus: 16, because a cluster of "
       "one machine is refused"},
      {"a limit below one machine", {"limits.gpus=4"}, "have 8 GPUs, 4 more than the limit of 4"},
      {"smaller weights need fewer GPUs",
       {"limits.gpus=1", "services.0.dtype=bfloat16", "cluster.instances=[p5.48xlarge, p5.4xlarge]"},
       "more than the limit of 1; the nearest that is possible is limits.gpus: 8; chat in fp8 needs 1 GPU"},
      {"a limit is advised that allows two machines",
       {"limits.gpus=4"},
       "the nearest that is possible is limits.gpus: 16, because a cluster of one machine is refused"},
      {"a minimum above the GPUs of all",
       {"services.0.min_replicas=20", "services.0.tensor_parallel=2", "limits.gpus=16"},
       "chat.min_replicas: 20 replicas need at least 40 GPUs, 24 more than limits.gpus of 16; the nearest that is "
       "possible is min_replicas: 8"},
      {"a minimum above the GPUs of the tenant",
       {"services.0.min_replicas=5", "services.0.tensor_parallel=2", "tenants=[{name: t, gpu_limit: 8}]"},
       "2 more than gpu_limit of tenant t of 8; the nearest that is possible is min_replicas: 4"},
      {"a minimum within the limits", {"services.0.min_replicas=4", "limits.gpus=64"}, ""},
      {"a budget below one machine", {"limits.usd_per_hour=50"}, "cost 55.04 USD/h, 5.04 USD/h more"},
      {"a budget of one machine", {"limits.usd_per_hour=55.04"}, ""},
      {"the advised budget is rounded up",
       {"cluster.instances=[g6e.12xlarge]", "services.0.slo.ttft_p99=30s", "limits.usd_per_hour=10.49"},
       "cost 10.50 USD/h, 0.01 USD/h more than the limit of 10.49 USD/h; the nearest that is possible is "
       "limits.usd_per_hour: 20.99, because a cluster of one machine is refused"},
      {"the advised budget is accepted",
       {"cluster.instances=[g6e.12xlarge]", "services.0.slo.ttft_p99=30s", "limits.usd_per_hour=10.50"},
       ""},
      {"GPUs that are too slow are not the nearest",
       {"cluster.instances=[g6e.12xlarge, p5.48xlarge]", "services.0.slo.ttft_p99=300ms", "limits.gpus=1"},
       "the nearest that is possible is limits.gpus: 8"},
      {"goodput above the load",
       {"services.0.slo.goodput_per_second=5"},
       "1 more than the load has in a burst; the nearest that is possible is 4"},
      {"a tenant that may not hold a replica",
       {"services.0.disaggregated=true", "tenants=[{name: t, gpu_limit: 1}]"},
       "needs 2 GPUs, 1 more than gpu_limit 1 of tenant t; the nearest that is possible is gpu_limit: 2"},
  };
  for (const Case& c : cases) {
    const std::string found = feasible_errors(c.sets);
    const std::string message = c.message;
    EXPECT_TRUE(message.empty() ? found.empty() : found.find(message) != found.npos) << c.teaches << ": " << found;
  }
}

TEST(ImpossibleDemands, HaveTheTextThatTheReferencePageShows) {
  constexpr std::string_view kTooFast = R"(cluster: {instances: [p5.48xlarge]}
services:
- name: chat
  model: meta-llama/Llama-3.3-70B-Instruct-FP8
  slo: {tpot: 2ms}
)";
  const SpecResult spec = parse_plan_spec(kTooFast, "s.yaml");
  ASSERT_FALSE(spec);
  EXPECT_EQ(
      spec.error().text(),
      "s.yaml:5:15: services.chat.slo.tpot: 2 ms is 6.76 ms shorter than one step with a single request, which "
      "takes 8.76 ms at best (Llama-3.3-70B in fp8 on 8 x H100); the nearest possible bound is 12 ms, with which a "
      "replica runs 4 requests at once by the engine model");
}

TEST(ImpossibleDemands, AReplicaNeedsMemoryForItsKvCache) {
  PlanSpec spec = *parse_plan_spec(kFeasible, "s.yaml");
  // The user's own row of a larger model: 79 GB of weights on a GPU of 86 GB, of which 90 % may be used.
  std::string csv(engine::bundled_engines_csv().substr(0, engine::bundled_engines_csv().find('\n') + 1));
  csv += "Big,h100_sxm,1,fp8,fp8,1,1,1,1,1,1,1,1,1,1,1,1,0,0,0,0,0,65536,79000000000,1250,40,0\n";
  csv += "Big,h100_sxm,2,fp8,fp8,1,1,1,1,1,1,1,1,1,1,1,1,0,0,0,0,0,32768,39500000000,1250,40,0\n";
  const auto engines = engine::EngineTable::bundled().with_rows_of(csv, "own.csv");
  ASSERT_TRUE(engines) << engines.error().text();
  spec.engines = std::make_shared<const engine::EngineTable>(*engines);
  spec.services.front().model = "Big";
  EXPECT_TRUE(impossible_demands(spec).empty());  // two GPUs have room
  spec.services.front().tensor_parallel = 1;
  const auto found = impossible_demands(spec);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found.front().path, "services.0");
  EXPECT_NE(found.front().message.find("leave no KV memory"), std::string::npos) << found.front().message;
  EXPECT_TRUE(found.front().message.ends_with("; the nearest that fits: Big in fp8 on 2 x H100"))
      << found.front().message;
}

}  // namespace
}  // namespace capstan::plan
