#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/quantity.h"

/// The detection of missing or spare capacity in llm-d's Workload Variant Autoscaler: V1 counts saturated replicas, V2
/// adds up tokens. Source: llm-d/llm-d-workload-variant-autoscaler internal/saturation and
/// internal/engines/analyzers/saturation_v2.
namespace capstan::peers::wva {

/// ConfigMap saturation-scaling-config.
struct SaturationConfig {
  double kv_threshold = 0.8;         ///< share of the KV cache
  double queue_threshold = 5;        ///< waiting requests of a replica
  double kv_spare_trigger = 0.1;     ///< V1: spare share of the KV cache below which replicas are added
  double queue_spare_trigger = 3;    ///< V1: spare queue places below which replicas are added
  double scale_up_threshold = 0.85;  ///< V2: used share of the supply above which replicas are added
  double scale_down_boundary = 0.7;  ///< V2: used share of the supply below which replicas are removed
};

// Analyzer V1.

struct ReplicaLoad {
  std::string variant;
  double kv_used = 0;  ///< used share of its KV cache; a missing metric counts as 0
  double queue_length = 0;
};

struct Saturation {
  struct Variant {
    std::string name;
    std::int64_t replicas = 0, non_saturated = 0;
    double spare_kv = 0, spare_queue = 0;  ///< mean over the non-saturated replicas
  };
  std::int64_t total = 0, non_saturated = 0;
  bool scale_up = false;
  bool scale_down_safe = false;
  double spare_kv = 0, spare_queue = 0;  ///< mean over the non-saturated replicas; overloaded ones do not lower it
  std::vector<Variant> variants;         ///< variants in the order of their first replicas in the input
};

Saturation analyze_v1(const SaturationConfig& config, std::span<const ReplicaLoad> replicas);

struct VariantState {
  std::string name;
  double cost = 0;
  ReplicaCount reporting = 0;  ///< replicas with metrics
  ReplicaCount current = 0;
  ReplicaCount desired = 0;  ///< replicas of the last decision; 0: there was none
  ReplicaCount pending = 0;  ///< replicas that do not serve yet; while there are any, no more are started
};

/// Adds one replica to the cheapest variant or removes one from the most expensive. Any variant in transition blocks
/// all changes.
/// @return in the order of `variants`
std::vector<ReplicaCount> targets_v1(bool scale_up, bool scale_down_safe, std::span<const VariantState> variants);

// Analyzer V2.

struct ReplicaTokens {
  std::string variant, accelerator;
  std::int64_t tokens_in_use = 0;
  std::int64_t total_kv_tokens = 0;
  std::int64_t queue_length = 0;                         ///< waiting requests
  double avg_input = 0, avg_output = 0, prefix_hit = 0;  ///< tokens, tokens, share
};

struct VariantReplicas {
  std::string name;
  ReplicaCount current = 0, pending = 0;
};

/// Last known capacity and engine parameters of a variant. The capacity counts while no replica can be measured.
struct CapacityRecord {
  std::string accelerator;
  std::int64_t gpus = 1;
  bool live = false;  ///< true: measured; false: derived from the engine's parameters
  std::int64_t effective_capacity = 0;
  std::int64_t total_kv_tokens = 0;
  std::int64_t max_batched_tokens = 0, max_seqs = 0;
  std::string params_key;  ///< engines with equal keys are comparable

  bool has_parameters() const { return max_batched_tokens > 0 || max_seqs > 0 || !params_key.empty(); }
  /// Returns true if both records have known parameters and equal keys. If the keys are empty, the token budgets of a
  /// step must be equal.
  bool comparable(const CapacityRecord& other) const;
};

struct SchedulerQueue {
  std::int64_t requests = 0, bytes = 0;
};

struct Supply {
  std::map<std::string, std::int64_t> per_replica_capacity;  ///< capacity of one replica by its variant, tokens
  double demand = 0, required = 0, spare = 0;                ///< tokens
};

/// Returns the tokens that the engine's batch holds in steady state; 0 if parameters or lengths are unknown.
std::int64_t capacity_from_parameters(std::int64_t max_batched_tokens, std::int64_t max_seqs, double avg_input,
                                      double avg_output);

/// Returns the median; of an even count the integer mean of the middle two, of none 0.
std::int64_t median(std::vector<std::int64_t> values);

/// Analyzer of one model. It remembers the tokens that replicas held while their queue was long, and measured
/// capacities.
class AnalyzerV2 {
 public:
  void store(const std::string& variant, CapacityRecord record) { records_[variant] = std::move(record); }
  /// Replicas of a variant that is not in `variants` count as neither demand nor supply. A replica with an unknown KV
  /// cache adds no demand, and is left out of the median that is the capacity of each replica of its variant.
  Supply analyze(const SaturationConfig& config, std::span<const ReplicaTokens> replicas,
                 std::span<const VariantReplicas> variants, const std::optional<SchedulerQueue>& queue);

 private:
  struct Workload {
    double avg_input = 0, avg_output = 0, prefix_hit = 0;
  };
  std::int64_t compute_bound(const SaturationConfig& config, const ReplicaTokens& replica, std::int64_t memory_bound);
  std::int64_t measured(const SaturationConfig& config, const ReplicaTokens& replica);
  std::int64_t unmeasured(const SaturationConfig& config, const std::string& variant, const std::string& accelerator,
                          const Workload& workload) const;
  std::int64_t estimate(const SaturationConfig& config, const CapacityRecord& record, const Workload& workload) const;
  const CapacityRecord* compatible(const CapacityRecord& record, const std::string& accelerator) const;
  static Workload workload_of(std::span<const ReplicaTokens> replicas);

  std::map<std::string, std::deque<std::int64_t>>
      observed_;                                   ///< histories by accelerator and output length; ten values each
  std::map<std::string, CapacityRecord> records_;  ///< records by variant
};

}  // namespace capstan::peers::wva
