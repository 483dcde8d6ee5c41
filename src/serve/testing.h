#pragma once

// Fixtures for the tests of this folder.
namespace capstan::serve {

/// Two minutes of load, two pools in two zones, spot nodes and a stated number of replicas at the start.
inline constexpr const char* kSmallScenario = R"(name: small
load: {generator: {rate: 4, input: 600, output: 80}, duration: 2m, scale: 1.5}
service:
  model: Llama-3.1-8B
  gpu: H100
  slo: {ttft: 1s, tpot: 50ms}
  replicas: {min: 1, max: 8, initial: 2}
cluster:
  zones: [a, b]
  pools:
  - name: first
    offerings:
    - {instance: p5.48xlarge, usd_per_hour: 10}
    - {instance: p5.48xlarge, usd_per_hour: 2.5, zone: b, capacity: spot}
  - name: second
    offerings: [{instance: p5.48xlarge, usd_per_hour: 20, zone: a}]
  existing: [{instance: p5.48xlarge, pool: first, usd_per_hour: 10}]
  provider: {spot_interruptions_per_hour: 5%}
policies:
- {name: capstan, scale: capstan, place: gang, provision: group}
- {name: queue, scale: queue_hpa, place: gang, provision: group}
)";

}  // namespace capstan::serve
