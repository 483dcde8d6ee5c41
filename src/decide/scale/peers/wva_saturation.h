#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/quantity.h"

/// How llm-d's Workload Variant Autoscaler sees that a model is short of, or has spare, capacity: V1 counts saturated
/// replicas, V2 adds up tokens. Source: llm-d/llm-d-workload-variant-autoscaler internal/saturation and
/// internal/engines/analyzers/saturation_v2.
namespace capstan::decide::scale::wva {

/// ConfigMap saturation-scaling-config.
struct SaturationConfig {
  double kv_threshold = 0.8;         ///< of the KV cache
  double queue_threshold = 5;        ///< requests that wait in a replica
  double kv_spare_trigger = 0.1;     ///< V1
  double queue_spare_trigger = 3;    ///< V1
  double scale_up_threshold = 0.85;  ///< V2
  double scale_down_boundary = 0.7;  ///< V2
};

// V1.

struct ReplicaLoad {
  std::string variant;
  double kv_used = 0;  ///< of its KV cache; a metric that is missing counts as 0
  double queue_length = 0;
};

struct Saturation {
  struct Variant {
    std::string name;
    std::int64_t replicas = 0, non_saturated = 0;
    double spare_kv = 0, spare_queue = 0;  ///< mean over those that are not saturated
  };
  std::int64_t total = 0, non_saturated = 0;
  bool scale_up = false;
  bool scale_down_safe = false;
  double spare_kv = 0, spare_queue = 0;  ///< mean over the replicas that are not saturated: an imbalance hides overload
  std::vector<Variant> variants;         ///< in the order of their first replica
};

Saturation analyze_v1(const SaturationConfig& config, std::span<const ReplicaLoad> replicas);

struct VariantState {
  std::string name;
  double cost = 0;
  ReplicaCount reporting = 0;  ///< replicas that gave metrics
  ReplicaCount current = 0;
  ReplicaCount desired = 0;  ///< of the last decision; 0: none was made
  ReplicaCount pending = 0;  ///< where some are, no more are started
};

/// One replica more on the cheapest variant or one less on the most expensive. Any variant in transition freezes all.
/// @return in the order of `variants`
std::vector<ReplicaCount> targets_v1(bool scale_up, bool scale_down_safe, std::span<const VariantState> variants);

// V2.

struct ReplicaTokens {
  std::string variant, accelerator;
  std::int64_t tokens_in_use = 0;
  std::int64_t total_kv_tokens = 0;
  std::int64_t queue_length = 0;                         ///< requests
  double avg_input = 0, avg_output = 0, prefix_hit = 0;  ///< tokens, tokens, share
};

struct VariantReplicas {
  std::string name;
  ReplicaCount current = 0, pending = 0;
};

/// What is known of a variant's capacity while it has no replica to measure.
struct CapacityRecord {
  std::string accelerator;
  std::int64_t gpus = 1;
  bool live = false;  ///< measured; else derived from the engine's parameters
  std::int64_t effective_capacity = 0;
  std::int64_t total_kv_tokens = 0;
  std::int64_t max_batched_tokens = 0, max_seqs = 0;
  std::string params_key;  ///< engines of equal keys are comparable

  bool has_parameters() const { return max_batched_tokens > 0 || max_seqs > 0 || !params_key.empty(); }
  /// Unknown parameters are like no others. Where neither has a key, the tokens of a step stand for it.
  bool comparable(const CapacityRecord& other) const;
};

struct SchedulerQueue {
  std::int64_t requests = 0, bytes = 0;
};

struct Supply {
  std::map<std::string, std::int64_t> per_replica_capacity;  ///< tokens, of the variants that were asked for
  double demand = 0, required = 0, spare = 0;                ///< tokens
};

/// Tokens that the engine's batch holds in steady state; 0 where the parameters or lengths do not say.
std::int64_t capacity_from_parameters(std::int64_t max_batched_tokens, std::int64_t max_seqs, double avg_input,
                                      double avg_output);

/// Of an even count the integer mean of the middle two; 0 of none.
std::int64_t median(std::vector<std::int64_t> values);

/// One model's analyzer; it remembers what replicas held while their queue was long, and live capacities.
class AnalyzerV2 {
 public:
  void store(const std::string& variant, CapacityRecord record) { records_[variant] = std::move(record); }
  /// Replicas of a variant that is not in `variants`, and those whose KV cache is unknown, are no demand and no supply.
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

  std::map<std::string, std::deque<std::int64_t>> observed_;  ///< by accelerator and length of the output; ten each
  std::map<std::string, CapacityRecord> records_;             ///< by variant
};

}  // namespace capstan::decide::scale::wva
