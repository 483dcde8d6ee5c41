#include "experiment/foresight/start_terms.h"

#include <algorithm>

#include "base/portable_math.h"

namespace capstan::experiment {
namespace {

using sim::Latency;
using namespace std::chrono_literals;

Duration least(const Latency& latency) {
  if (latency.shape == Latency::Shape::uniform || latency.low == latency.high) return latency.low;
  // The logarithms of `low` and `high` are 1.645 standard deviations below and above their mean. The result is six
  // deviations below the mean: one draw in 1e9 is smaller.
  const double low = portable_log(static_cast<double>(latency.low.count()));
  const double high = portable_log(static_cast<double>(latency.high.count()));
  return Duration{static_cast<std::int64_t>(portable_exp((low + high) / 2 - 6 * (high - low) / (2 * 1.645)))};
}

Duration transfer(std::int64_t bytes, std::int64_t bytes_per_s) {
  return Duration{static_cast<std::int64_t>(static_cast<__int128>(bytes) * 1'000'000'000 / bytes_per_s)};
}

/// Returns the highest rate at which weights can reach a node, bytes per second.
std::int64_t fastest_weights(const sim::ClusterConfig& cluster, const sim::VariantStart& start) {
  const sim::BandwidthConfig& bandwidth = cluster.bandwidth;
  using Cache = sim::WeightCache;
  using Tier = sim::WeightTier;
  std::int64_t rate = std::min(bandwidth.node_nic, bandwidth.object_store);
  if (start.tier == Tier::peer) rate = std::max(rate, bandwidth.node_fabric);
  if (start.tier == Tier::disk || cluster.weight_cache != Cache::none) rate = std::max(rate, bandwidth.node_disk);
  if (start.tier == Tier::host_memory || cluster.weight_cache == Cache::host_memory) {
    rate = std::max(rate, bandwidth.node_host);
  }
  return rate;
}

bool can_buy(const scenario::Scenario& scenario) {
  return std::ranges::any_of(scenario.catalog->pools, [](const model::Pool& pool) { return !pool.offerings.empty(); });
}

}  // namespace

Duration shortest_start(const scenario::Scenario& scenario) {
  const sim::ClusterConfig& cluster = scenario.cluster;
  const sim::VariantStart& start = cluster.starts.front();
  const std::int64_t a_pods_share = start.weights.count / std::max<std::int64_t>(scenario.workload().pods, 1);
  return transfer(a_pods_share, fastest_weights(cluster, start)) +
         std::min(least(start.engine_init), least(start.engine_init_cached)) + least(start.warm_up);
}

Duration shortest_boot(const scenario::Scenario& scenario) {
  if (!can_buy(scenario)) return {};
  Duration shortest = Duration::max();
  for (const scenario::PolicySpec& policy : scenario.policies) {
    shortest = std::min(shortest, least(policy.provider.boot) + least(policy.provider.driver));
  }
  return shortest == Duration::max() ? Duration{} : shortest;
}

Duration lead_time(const scenario::Scenario& scenario, const scenario::PolicySpec& policy) {
  const sim::ClusterConfig& cluster = scenario.cluster;
  const sim::VariantStart& start = cluster.starts.front();
  const sim::BandwidthConfig& bandwidth = cluster.bandwidth;
  Duration lead = cluster.action_latency + cluster.pod_creation.high + cluster.bind_latency;
  if (policy.policies.place) lead += policy.policies.place->period;
  if (can_buy(scenario)) {
    lead += policy.provider.decision.high + policy.provider.boot.high + policy.provider.driver.high;
    if (policy.policies.place) lead += policy.policies.place->period;
  }
  std::int64_t weights_rate = std::min(bandwidth.node_nic, bandwidth.object_store);
  if (start.tier == sim::WeightTier::disk) weights_rate = bandwidth.node_disk;
  if (start.tier == sim::WeightTier::host_memory) weights_rate = bandwidth.node_host;
  if (!cluster.image_cached_on_boot) {
    lead += transfer(start.image_size.count, std::min(bandwidth.node_nic, bandwidth.registry));
  }
  const Duration plain = start.engine_init.high + start.warm_up.high;
  return lead + transfer(start.weights.count, weights_rate) +
         (start.slower_from.is_never() ? plain : start.slowed(plain));
}

}  // namespace capstan::experiment
