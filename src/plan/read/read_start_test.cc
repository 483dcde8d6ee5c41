#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "plan/read/read_spec.h"
#include "plan/spec/testing.h"

namespace capstan::plan {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kStartSpec = R"(services:
- {name: chat, model: Llama-3.1-8B, slo: {ttft_p99: 2s}}
)";

TEST(ReadSpecStart, ListsEveryAssumedStepOfAColdStart) {
  const SpecResult spec = parse_plan_spec(kStartSpec, "s.yaml");
  ASSERT_TRUE(spec) << spec.error().text();
  EXPECT_EQ(default_of(*spec, "cluster.node_start.boot"), "1 min to 3 min");
  EXPECT_EQ(default_of(*spec, "cluster.node_start.driver"), "30 s to 2 min");
  EXPECT_EQ(default_of(*spec, "services.chat.cold_start.image_pull"), "3 min 9 s");
  EXPECT_EQ(default_of(*spec, "services.chat.cold_start.weights"), "500 MB/s");
  EXPECT_EQ(default_of(*spec, "services.chat.cold_start.engine_start"),
            "2 min 30 s, 50 s to 1 min with a compile cache");
}

TEST(ReadSpecStart, StatedTimesAreNoDefaults) {
  const std::vector<std::string> sets = {
      "cluster={node_start: {boot: 2m}, provisioner: karpenter}",
      "services.0.cold_start={image_pull: 20s, weights: 1m, engine_start: 40s, warm_up: 1s}"};
  const SpecResult spec = parse_plan_spec(kStartSpec, "s.yaml", sets);
  ASSERT_TRUE(spec) << spec.error().text();
  EXPECT_EQ(spec->cluster.node_start.boot.high, 2min);
  EXPECT_EQ(default_of(*spec, "cluster.node_start.boot"), "");
  EXPECT_NE(default_of(*spec, "cluster.node_start.driver"), "");
  const ColdStartSpec& start = spec->services[0].cold_start;
  EXPECT_EQ(start.weights, std::optional<Duration>(1min));
  EXPECT_EQ(start.engine_start_cached.low, 40s) << "a stated start counts with and without the cache";
  EXPECT_EQ(default_of(*spec, "services.chat.cold_start.engine_start"), "");
}

TEST(ReadSpecStart, NodesThatExistHaveNoAssumedBoot) {
  const std::vector<std::string> sets = {
      "cluster={provisioner: none, instances: [{instance: p5.48xlarge, existing: 2}]}"};
  const SpecResult spec = parse_plan_spec(kStartSpec, "s.yaml", sets);
  ASSERT_TRUE(spec) << spec.error().text();
  EXPECT_EQ(default_of(*spec, "cluster.node_start.boot"), "");
}

TEST(ReadSpecStart, ReclaimsAreADefaultOfSpotMachinesOnly) {
  const std::string path = "cluster.spot_interruptions_per_hour";
  const auto value = [&](const std::string& cluster) {
    const SpecResult spec = parse_plan_spec(kStartSpec, "s.yaml", std::vector<std::string>{"cluster=" + cluster});
    return spec ? default_of(*spec, path) : spec.error().text();
  };
  EXPECT_EQ(value("{capacity: [spot]}"), "2 %");
  EXPECT_EQ(value("{capacity: [spot], spot_interruptions_per_hour: 5%}"), "");
  EXPECT_EQ(value("{capacity: [on_demand]}"), "");
}

}  // namespace
}  // namespace capstan::plan
