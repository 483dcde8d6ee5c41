#include "swarm/policies.h"

#include <vector>

namespace capstan::swarm {

namespace {

constexpr std::int64_t kCapstanPercent = 75;

const std::vector<std::string> kCapstanScale = {
    "capstan",
    "capstan",
    "{policy: capstan, to_zero: after_idle}",
    "{policy: capstan, sync_period: 15s}",
    "{policy: capstan, sync_period: 1m, attainment: 95%}",
    "rules",
    "{policy: rules, scale_on: queue, waiting_above: 2, cool_down: 1m}",
    "{policy: rules, scale_on: kv, kv_above: 60%, cool_down: 2m}",
    "{policy: queue_hpa, waiting_per_replica: 1, running_per_replica: 2, silence_holds: true}",
    "{policy: queue_hpa, waiting_per_replica: 4, downscale_stabilization: 0s, silence_holds: true}",
    "{policy: duty_cycle_hpa, target: 60%, downscale_stabilization: 1m, silence_holds: true}",
    "{policy: memory_hpa, target: 80%, silence_holds: true}",
    "{policy: fixed, replicas: 6}",
    "{policy: fixed, replicas: 12}",
};

const std::vector<std::string> kBaselineScale = {
    "{policy: queue_hpa, waiting_per_replica: 1, running_per_replica: 2, downscale_stabilization: 1m}",
    "{policy: queue_hpa, waiting_per_replica: 4}",
    "{policy: duty_cycle_hpa, target: 60%}",
    "memory_hpa",
};

/// Autoscalers of other projects. They can replace the scale policy of a service that has one kind of replicas.
const std::vector<std::string> kPeers = {
    "{policy: knative_kpa, target: 2, target-utilization-percentage: 100, min-scale: 1}",
    "{policy: knative_kpa, target: 4}",
    "{policy: ray_serve, target_ongoing_requests: 2, max_replicas: 16, downscale_delay_s: 60}",
    "{policy: aibrix_apa, targetMetric: num_requests_running, targetValue: 2}",
    "{policy: aibrix_kpa, targetMetric: num_requests_running, targetValue: 2}",
    "wva_v1",
    "wva_v2",
    "{policy: dynamo_planner, max_gpu_budget: 32}",
    "{manifest: scenarios/manifests/hpa-running.yaml}",
    "{manifest: scenarios/manifests/keda-requests.yaml, labels: {namespace: chat}}",
};

const std::vector<std::string> kCapstanPlace = {
    "gang",
    "gang",
    "{policy: gang, period: 5s}",
    "{policy: gang, assume_for: 10s, broken_for: 5m}",
};

const std::vector<std::string> kCapstanProvision = {
    "{policy: group, hold: 2m, consolidation: {policy: when_empty, after: 3m}}",
    "{policy: group, hold: 10m, consolidation: {policy: when_empty, after: 0s}}",
    "{policy: group, hold: 1m, backoff: 10s, backoff_max: 1m}",
    "{policy: group, hold: 5m, ask_timeout: 10s, consolidation: never}",
    "{policy: group, min_nodes: 1, scan_interval: 30s, consolidation: {policy: when_empty, after: 10m}}",
    "{policy: group, latency: {decision: 0s..30s, boot: 1s..10m, driver: 12s..14s}}",
};

const std::vector<std::string> kBaselineProvision = {
    "karpenter",
    "cluster_autoscaler",
    "{policy: karpenter, consolidation: {policy: when_empty, after: 1m}}",
};

}  // namespace

DrawnPolicy draw_policy(Dice& dice, ReplicaForms replicas) {
  DrawnPolicy drawn{.owner = dice.chance(kCapstanPercent) ? Owner::capstan : Owner::baseline,
                    .scale = dice.pick(kCapstanScale),
                    .place = dice.pick(kCapstanPlace),
                    .provision = dice.pick(kCapstanProvision),
                    .sleep = dice.chance(15) ? "{replicas: 2, for: 20m}" : ""};
  if (drawn.owner == Owner::capstan) return drawn;
  // At least one layer is a baseline.
  const std::int64_t baseline_layer = dice.between(0, 2);
  if (baseline_layer == 0 || dice.chance(50)) {
    const bool is_peer = replicas == ReplicaForms::one_kind && dice.chance(70);
    drawn.scale = dice.pick(is_peer ? kPeers : kBaselineScale);
  }
  if (baseline_layer >= 1 || dice.chance(50)) {
    drawn.provision = dice.pick(kBaselineProvision);
    // The group provisioner needs the shortfalls of gang placement, so first_fit is used only with other provisioners.
    if (baseline_layer == 2 || dice.chance(50)) drawn.place = "first_fit";
  }
  return drawn;
}

}  // namespace capstan::swarm
