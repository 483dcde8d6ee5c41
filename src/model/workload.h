#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/quantity.h"
#include "model/gang_spec.h"
#include "model/ids.h"
#include "model/level.h"

namespace capstan::model {

/// The part of a request that an engine instance computes.
enum class Role : std::uint8_t { both, prefill, decode };

/// Limits of one step of a replica's engine, as configured. 0: not configured, the engine uses its default.
struct StepLimits {
  std::int32_t max_seqs = 0;            ///< most sequences in one step
  std::int32_t max_batched_tokens = 0;  ///< most tokens in one step, of prompts and answers together
  friend bool operator==(const StepLimits&, const StepLimits&) = default;
};

/// The pod of a replica that asks for something else than the others, such as the leader of a LeaderWorkerSet, which
/// may need no GPUs.
struct LeaderPod {
  MilliGpu gpus;
  PodClassId pod_class{};  ///< as in PodSet
  friend bool operator==(const LeaderPod&, const LeaderPod&) = default;
};

/// One scale target of one variant: a model on one GPU kind with one parallelism, dtype and engine, and the gang of
/// pods that forms a replica.
struct Workload {
  std::string name;
  std::string model;  ///< name in data/engines.csv, such as "Llama-3.3-70B"
  std::string engine = "vllm";
  GpuKindId gpu;
  std::int32_t gpus_per_replica = 1;  ///< GPUs that one replica spans
  std::string dtype = "bfloat16";
  Role role = Role::both;
  std::int32_t pods = 1;                       ///< pods of the gang; they share the GPUs equally, except a leader
  Level required_level = TopologyLevel::node;  ///< the gang must fit inside one domain of this level
  std::optional<Level> preferred{};            ///< level at which the gang should fit, as in model::GangSpec
  bool placed_elsewhere = false;               ///< true: another scheduler binds its pods; only their GPUs are counted
  StepLimits step_limits{};
  QueueId queue{};                    ///< queue of its pods; none: no queue limits them
  PodClassId pod_class{};             ///< pod class of replicas that have no pods yet; none: every node admits them
  std::optional<LeaderPod> leader{};  ///< the pod that differs from the others; none: all pods are equal
  std::int32_t priority = 0;          ///< priority of its replicas, as in model::GangSpec
  MicroUsd price_per_hour{};          ///< stated price of a replica; 0: the price of the offerings of its GPUs
  friend bool operator==(const Workload&, const Workload&) = default;

  /// Returns the request of a replica that has no pods yet.
  GangSpec gang() const {
    const std::int64_t equal = std::max(pods - (leader ? 1 : 0), 1);
    const std::int64_t shared = whole_gpus(gpus_per_replica).count - (leader ? leader->gpus.count : 0);
    GangSpec spec{.pods = {.gpu = gpu,
                           .count = equal,
                           .gpus_per_pod = {std::max<std::int64_t>(shared / equal, 1)},
                           .pod_class = pod_class,
                           .minimum = 0},
                  .required_level = required_level,
                  .preferred = preferred,
                  .priority = priority,
                  .queue = queue};
    if (!leader || pods < 2) return spec;
    spec.other_pods = {
        {.gpu = gpu, .count = 1, .gpus_per_pod = leader->gpus, .pod_class = leader->pod_class, .minimum = 0}};
    // The set with the most GPUs per pod is the first one.
    if (leader->gpus > spec.pods.gpus_per_pod) std::swap(spec.pods, spec.other_pods.front());
    return spec;
  }
};

}  // namespace capstan::model
