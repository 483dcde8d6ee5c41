#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/quantity.h"
#include "base/time.h"
#include "model/bounds_window.h"
#include "model/closed.h"
#include "model/ids.h"
#include "model/slo.h"
#include "model/topology.h"

namespace capstan::model {

/// What an engine instance does for a request.
enum class Role : std::uint8_t { both, prefill, decode };

/// What one step of a replica's engine holds at most, as the engine is told. 0: it is not, and its default holds.
struct StepLimits {
  std::int32_t max_seqs = 0;            ///< sequences
  std::int32_t max_batched_tokens = 0;  ///< tokens, of prompts and of answers together
  friend bool operator==(const StepLimits&, const StepLimits&) = default;
};

/// The model on one GPU kind, parallelism, dtype and engine; the shape of the gang that one replica of it is.
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
  bool placed_elsewhere = false;                 ///< another scheduler binds its pods: they take room, and that is all
  StepLimits step_limits{};
  QueueId queue{};            ///< of its pods
  Closed closed;              ///< to replicas that have no pods yet
  MicroUsd price_per_hour{};  ///< of a replica, where somebody states it; 0: what the offerings of its GPUs cost
};

/// How the prefill and the decode replicas of a service are held to each other.
struct RoleLimits {
  static constexpr std::int64_t kRatioMostMilli = 1'000'000;
  static constexpr Duration kConversionMost = std::chrono::hours(24);
  std::int64_t decode_per_prefill_least_milli = 0;  ///< thousandths; 0: no bound
  std::int64_t decode_per_prefill_most_milli = 0;   ///< thousandths; 0: no bound
  Duration conversion{};  ///< what a change of role takes, without finishing what the replica holds; 0: none can
  friend bool operator==(const RoleLimits&, const RoleLimits&) = default;
};

/// One workload that is scaled: a model behind one endpoint, or its prefill or its decode replicas, or those of one
/// variant where several serve the endpoint together. Bounds are replicas.
struct Service {
  std::string name;
  Slo slo;
  std::vector<Variant> variants;  ///< at least one
  ReplicaCount min_replicas = 1;
  ReplicaCount max_replicas = 1;
  std::vector<BoundsWindow> windows{};  ///< tighter bounds at certain times
  /// The loss of any one domain of this level, `node`, `rack` or `zone`, is to leave as many as hold the SLO.
  std::optional<TopologyLevel> survives{};
  ServiceId fed_by{};        ///< of decode replicas, the service whose replicas compute the prompts; else none
  RoleLimits role_limits{};  ///< the same on decode replicas and on those that feed them
  /// The further variants behind the same endpoint, of the same role, each a service of its own; how many of each is
  /// decided here. Empty on those, and where there is one variant.
  std::vector<ServiceId> beside{};
  static constexpr std::size_t kBesideMost = 7;
};

}  // namespace capstan::model
