#include "experiment/run/room_warning.h"

#include <gtest/gtest.h>

#include "scenario/scenario.h"

namespace capstan::experiment {
namespace {

constexpr std::string_view kScenario = R"(
name: chat
load: {generator: {rate: {kind: constant, rate: 1}, input: 100, output: 10}, duration: 1h}
service:
  model: Llama-3.3-70B
  gpu: H100
  tensor_parallel: 4
  slo: {ttft: 2s, tpot: 60ms}
  replicas: {min: 1, max: 40}
cluster: {pools: [{name: h100, offerings: [{instance: p5.48xlarge}]}]}
policies:
- {name: capstan, scale: capstan, place: gang, provision: group}
)";

/// Returns the warning about 44 launches in the scenario with these changes.
std::string warning_with(std::vector<std::string> sets) {
  const scenario::ScenarioResult scenario =
      scenario::parse_scenario(kScenario, "s.yaml", {.sets = std::move(sets), .trace = {}, .seed = {}, .policies = {}});
  return scenario ? room_warning(scenario->cluster, 44) : scenario.error().text();
}

TEST(RoomWarning, NamesTheNumberOfRacksThatIsEnough) {
  // Two replicas of four GPUs share one machine: 40 replicas need 20 machines, and a rack has places for four.
  EXPECT_EQ(warning_with({}),
            "44 launches found no room: the 4 racks of a zone have places for 16 machines; with "
            "cluster.racks_per_zone: 5 there are places for 20, enough for all replicas at their maximum");
  // Each pod of four GPUs needs a machine of its own, and one machine exists from the start.
  EXPECT_EQ(warning_with({"cluster.pools.0.offerings.0={instance: a3-highgpu-4g, usd_per_hour: 20}",
                          "cluster.existing=[{instance: a3-highgpu-4g, pool: h100, usd_per_hour: 20}]",
                          "cluster.racks_per_zone=1"}),
            "44 launches found no room: the 1 rack of a zone has places for 4 machines; with "
            "cluster.racks_per_zone: 11 there are places for 44, enough for all replicas at their maximum");
  // Four pods of one GPU may share a machine with others.
  EXPECT_EQ(warning_with({"service.pods_per_replica=4", "service.together=zone", "service.replicas.max=100",
                          "cluster.nodes_per_nvlink_domain=2"}),
            "44 launches found no room: the 4 racks of a zone have places for 32 machines; with "
            "cluster.racks_per_zone: 7 there are places for 56, enough for all replicas at their maximum");
}

TEST(RoomWarning, NamesTheKeysIfTheRacksHavePlacesForAllReplicas) {
  EXPECT_EQ(warning_with({"service.replicas.max=32"}),
            "44 launches found no room: the 4 racks of a zone have places for 16 machines (cluster.racks_per_zone, "
            "nvlink_domains_per_rack, nodes_per_nvlink_domain)");
}

}  // namespace
}  // namespace capstan::experiment
