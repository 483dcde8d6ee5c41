#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/quantity.h"
#include "base/time.h"
#include "model/bounds_window.h"
#include "model/ids.h"
#include "model/slo.h"
#include "model/topology.h"

namespace capstan::model {

/// The part of a request that an engine instance computes.
enum class Role : std::uint8_t { both, prefill, decode };

/// Limits of one step of a replica's engine, as configured. 0: not configured, the engine uses its default.
struct StepLimits {
  std::int32_t max_seqs = 0;            ///< most sequences in one step
  std::int32_t max_batched_tokens = 0;  ///< most tokens in one step, of prompts and answers together
  friend bool operator==(const StepLimits&, const StepLimits&) = default;
};

/// A model on one GPU kind with one parallelism, dtype and engine, and the gang of pods that forms a replica.
struct Variant {
  std::string name;
  std::string model;  ///< as in data/engines.csv, e.g. "Llama-3.3-70B"
  std::string engine = "vllm";
  GpuKindId gpu;
  std::int32_t tensor_parallel = 1;  ///< GPUs that one replica spans
  std::string dtype = "bfloat16";
  Role role = Role::both;
  std::int32_t pods = 1;                         ///< pods of the gang; each asks for tensor_parallel / pods GPUs
  TopologyLevel together = TopologyLevel::node;  ///< the gang must fit inside one domain of this level
  bool placed_elsewhere = false;                 ///< true: another scheduler binds its pods; they only use GPUs
  StepLimits step_limits{};
  QueueId queue{};            ///< queue of its pods; none: no queue limits them
  PodClassId pod_class{};     ///< of replicas that have no pods yet; none: they may run on every node
  MicroUsd price_per_hour{};  ///< stated price of a replica; 0: the price of the offerings of its GPUs
};

/// Bounds on the ratio of prefill and decode replicas of a service.
struct RoleLimits {
  static constexpr std::int64_t kRatioMostMilli = 1'000'000;
  static constexpr Duration kConversionMost = std::chrono::hours(24);
  std::int64_t decode_per_prefill_least_milli = 0;  ///< lowest ratio, thousandths; 0: no bound
  std::int64_t decode_per_prefill_most_milli = 0;   ///< highest ratio, thousandths; 0: no bound
  Duration conversion{};  ///< time to change a role after the running requests are finished; 0: impossible
  friend bool operator==(const RoleLimits&, const RoleLimits&) = default;
};

/// One workload that is scaled: a model behind one endpoint, its prefill or its decode replicas, or the replicas of one
/// variant if several variants serve the endpoint. Bounds are replicas.
struct Service {
  std::string name;
  Slo slo;
  std::vector<Variant> variants;  ///< at least one
  ReplicaCount min_replicas = 1;
  ReplicaCount max_replicas = 1;
  std::vector<BoundsWindow> windows{};  ///< tighter bounds at certain times
  /// After the loss of any one domain of this level (`node`, `rack` or `zone`) enough replicas remain to hold the SLO.
  std::optional<TopologyLevel> survives{};
  ServiceId fed_by{};        ///< prefill service of a decode service; none for other roles
  RoleLimits role_limits{};  ///< the same on a decode service and its prefill service
  /// The other variants with the same endpoint and role. Each is a service of its own, and a decision about this
  /// service sets the replicas of all of them. Empty on the other variants, and if there are none.
  std::vector<ServiceId> beside{};
  static constexpr std::size_t kBesideMost = 7;
};

}  // namespace capstan::model
