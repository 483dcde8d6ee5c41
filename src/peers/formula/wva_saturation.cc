#include "peers/formula/wva_saturation.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace capstan::peers::wva {
namespace {

/// Returns true if one replica fewer would keep the triggers' spare capacity, given the load of the non-saturated
/// replicas. The load is derived from the mean spare capacity, as in the original, because a direct sum would round
/// differently.
bool safe_without_one(const SaturationConfig& config, const Saturation& all) {
  if (all.non_saturated < 2) return false;
  const auto n = static_cast<double>(all.non_saturated);
  const double factor = n / (n - 1);
  return config.kv_threshold - (config.kv_threshold - all.spare_kv) * factor >= config.kv_spare_trigger &&
         config.queue_threshold - (config.queue_threshold - all.spare_queue) * factor >= config.queue_spare_trigger;
}

std::int64_t truncated(double value) {
  constexpr double kMax = 9e18;
  return static_cast<std::int64_t>(std::clamp(value, -kMax, kMax));
}

/// Returns the history's key: replicas on the same GPU kind with outputs of similar length share a history.
std::string history_key(const ReplicaTokens& replica) {
  const char* length = replica.avg_output < 100 ? "short" : replica.avg_output < 500 ? "medium" : "long";
  return replica.accelerator + "|" + length;
}

}  // namespace

Saturation analyze_v1(const SaturationConfig& config, std::span<const ReplicaLoad> replicas) {
  Saturation all;
  for (const ReplicaLoad& replica : replicas) {
    auto variant = std::ranges::find(all.variants, replica.variant, &Saturation::Variant::name);
    if (variant == all.variants.end()) variant = all.variants.insert(variant, {.name = replica.variant});
    ++all.total;
    ++variant->replicas;
    if (replica.kv_used >= config.kv_threshold || replica.queue_length >= config.queue_threshold) continue;
    ++variant->non_saturated;
    variant->spare_kv += config.kv_threshold - replica.kv_used;
    variant->spare_queue += config.queue_threshold - replica.queue_length;
  }
  for (Saturation::Variant& variant : all.variants) {
    if (variant.non_saturated == 0) continue;
    const auto n = static_cast<double>(variant.non_saturated);
    variant.spare_kv /= n;
    variant.spare_queue /= n;
    all.non_saturated += variant.non_saturated;
    all.spare_kv += variant.spare_kv * n;
    all.spare_queue += variant.spare_queue * n;
  }
  if (all.non_saturated > 0) {
    all.spare_kv /= static_cast<double>(all.non_saturated);
    all.spare_queue /= static_cast<double>(all.non_saturated);
  }
  all.scale_up =
      all.total > 0 && (all.spare_kv < config.kv_spare_trigger || all.spare_queue < config.queue_spare_trigger);
  all.scale_down_safe = safe_without_one(config, all);
  return all;
}

std::vector<ReplicaCount> targets_v1(bool scale_up, bool scale_down_safe, std::span<const VariantState> variants) {
  const auto moves = [](const VariantState& v) { return v.desired != 0 && v.desired != v.current; };
  const bool frozen =
      std::ranges::any_of(variants, [&](const VariantState& v) { return moves(v) || v.reporting != v.current; });
  std::vector<ReplicaCount> targets;
  for (const VariantState& v : variants) targets.push_back(!frozen ? v.reporting : moves(v) ? v.desired : v.current);
  if (frozen || variants.empty()) return targets;

  const auto order = [&](std::size_t i) { return std::tie(variants[i].cost, variants[i].name); };
  std::optional<std::size_t> chosen;
  for (std::size_t i = 0; i < variants.size(); ++i) {
    const bool may = scale_up ? variants[i].pending == 0 : targets[i] > 1;
    const bool better = !chosen || (scale_up ? order(i) < order(*chosen) : order(*chosen) < order(i));
    if (may && better) chosen = i;
  }
  if (chosen && scale_up)
    ++targets[*chosen];
  else if (chosen && scale_down_safe)
    --targets[*chosen];
  return targets;
}

std::int64_t capacity_from_parameters(std::int64_t max_batched_tokens, std::int64_t max_seqs, double avg_input,
                                      double avg_output) {
  if (max_batched_tokens <= 0 || max_seqs <= 0 || avg_output <= 0 || avg_input + avg_output <= 0) return 0;
  // Prompt tokens and answer tokens share a step's token budget in the ratio of their mean numbers per request. Each
  // request in decode uses one token of it.
  const double batched = static_cast<double>(max_batched_tokens) * avg_output / (avg_input + avg_output);
  return truncated(std::min(batched, static_cast<double>(max_seqs)) * (avg_input + avg_output / 2));
}

std::int64_t median(std::vector<std::int64_t> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

bool CapacityRecord::comparable(const CapacityRecord& other) const {
  if (!has_parameters() || !other.has_parameters() || params_key != other.params_key) return false;
  return !params_key.empty() || max_batched_tokens == other.max_batched_tokens;
}

std::int64_t AnalyzerV2::compute_bound(const SaturationConfig& config, const ReplicaTokens& replica,
                                       std::int64_t memory_bound) {
  constexpr std::size_t kHistory = 10;
  std::deque<std::int64_t>& history = observed_[history_key(replica)];
  // Unlike in V1, the threshold is an integer here.
  if (replica.queue_length >= truncated(config.queue_threshold) && replica.tokens_in_use > 0) {
    history.push_back(replica.tokens_in_use);
    if (history.size() > kHistory) history.pop_front();
    return replica.tokens_in_use;
  }
  if (!history.empty()) {
    const auto sum = std::accumulate(history.begin(), history.end(), std::int64_t{0});
    return truncated(static_cast<double>(sum) / static_cast<double>(history.size()));
  }
  const auto record = records_.find(replica.variant);
  if (record == records_.end()) return memory_bound;
  const std::int64_t derived = capacity_from_parameters(record->second.max_batched_tokens, record->second.max_seqs,
                                                        replica.avg_input, replica.avg_output);
  return derived > 0 ? derived : memory_bound;
}

/// Returns the capacity of a replica, and overwrites the record of its variant. So the record of a variant holds the
/// capacity of the replica that was analyzed last.
std::int64_t AnalyzerV2::measured(const SaturationConfig& config, const ReplicaTokens& replica) {
  const std::int64_t bound = truncated(static_cast<double>(replica.total_kv_tokens) * config.kv_threshold);
  const std::int64_t capacity = std::min(bound, compute_bound(config, replica, bound));
  CapacityRecord& record = records_[replica.variant];
  record.live = true;
  record.accelerator = replica.accelerator;
  record.effective_capacity = capacity;
  record.total_kv_tokens = replica.total_kv_tokens;
  return capacity;
}

/// Returns a record of a comparable engine, preferably a measured one. The original takes any such record; this
/// function takes the first.
const CapacityRecord* AnalyzerV2::compatible(const CapacityRecord& record, const std::string& accelerator) const {
  const CapacityRecord* best = nullptr;
  for (const auto& [name, other] : records_) {
    if (other.accelerator != accelerator || other.gpus != record.gpus || !other.comparable(record)) continue;
    if (other.effective_capacity <= 0 && other.total_kv_tokens <= 0) continue;
    if (best == nullptr || (!best->live && other.live)) best = &other;
  }
  return best;
}

std::int64_t AnalyzerV2::estimate(const SaturationConfig& config, const CapacityRecord& record,
                                  const Workload& workload) const {
  if (record.live) return record.effective_capacity;
  std::int64_t capacity =
      capacity_from_parameters(record.max_batched_tokens, record.max_seqs, workload.avg_input, workload.avg_output);
  if (capacity == 0) return record.effective_capacity;
  const std::int64_t bound = truncated(static_cast<double>(record.total_kv_tokens) * config.kv_threshold);
  if (bound > 0) capacity = std::min(capacity, bound);
  const CapacityRecord* like = compatible(record, record.accelerator);
  if (like != nullptr && like->live && like->effective_capacity > 0)
    capacity = std::min(capacity, like->effective_capacity);
  return capacity;
}

/// @param accelerator  accelerator of the variant's replicas, none of which was measured; empty without replicas
std::int64_t AnalyzerV2::unmeasured(const SaturationConfig& config, const std::string& variant,
                                    const std::string& accelerator, const Workload& workload) const {
  const auto found = records_.find(variant);
  if (found == records_.end()) return 0;
  if (found->second.effective_capacity > 0) return estimate(config, found->second, workload);
  const CapacityRecord* like = compatible(found->second, accelerator);
  return like == nullptr ? 0 : like->effective_capacity;
}

AnalyzerV2::Workload AnalyzerV2::workload_of(std::span<const ReplicaTokens> replicas) {
  Workload mean;
  double known = 0;
  for (const ReplicaTokens& replica : replicas) {
    if (replica.avg_input <= 0 && replica.avg_output <= 0) continue;
    mean.avg_input += replica.avg_input;
    mean.avg_output += replica.avg_output;
    mean.prefix_hit += replica.prefix_hit;
    ++known;
  }
  return known > 0 ? Workload{mean.avg_input / known, mean.avg_output / known, mean.prefix_hit / known} : Workload{};
}

Supply AnalyzerV2::analyze(const SaturationConfig& config, std::span<const ReplicaTokens> replicas,
                           std::span<const VariantReplicas> variants, const std::optional<SchedulerQueue>& queue) {
  struct Measured {
    std::string accelerator;
    std::vector<std::int64_t> capacities;
    double demand = 0;
  };
  std::map<std::string, Measured> by_variant;
  for (const ReplicaTokens& replica : replicas) {
    Measured& all = by_variant.try_emplace(replica.variant, Measured{replica.accelerator, {}, 0}).first->second;
    if (replica.total_kv_tokens <= 0) continue;
    all.capacities.push_back(measured(config, replica));
    // The mean length is truncated to an integer before the multiplication.
    all.demand += static_cast<double>(replica.tokens_in_use + replica.queue_length * truncated(replica.avg_input));
  }
  Supply supply;
  const Workload workload = workload_of(replicas);
  double ready_tokens = 0, anticipated_tokens = 0;
  for (const VariantReplicas& variant : variants) {
    const Measured& all = by_variant[variant.name];
    const std::int64_t capacity =
        all.capacities.empty() ? unmeasured(config, variant.name, all.accelerator, workload) : median(all.capacities);
    supply.per_replica_capacity[variant.name] = capacity;
    supply.demand += all.demand;
    const ReplicaCount ready = std::max<ReplicaCount>(0, variant.current - variant.pending);
    ready_tokens += static_cast<double>(ready) * static_cast<double>(capacity);
    anticipated_tokens += static_cast<double>(ready + variant.pending) * static_cast<double>(capacity);
  }
  if (queue) {
    const auto requests = static_cast<double>(queue->requests);
    const double input = std::max(static_cast<double>(queue->bytes) / 4, requests * workload.avg_input);
    supply.demand += input * (1 - workload.prefix_hit) + requests * workload.avg_output;
  }
  // A threshold of 0 disables its direction.
  const double up = config.scale_up_threshold, down = config.scale_down_boundary;
  if (up > 0) supply.required = std::max(0.0, supply.demand / up - anticipated_tokens);
  if (down > 0) supply.spare = std::max(0.0, ready_tokens - supply.demand / down);
  return supply;
}

}  // namespace capstan::peers::wva
