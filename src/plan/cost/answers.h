#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/quantity.h"
#include "base/time.h"
#include "plan/result/plan.h"

// The costs of parts of a fleet, each with its formula. The plan's section on cost and `capstan cost` print the same
// answers.
namespace capstan::plan {

/// Returns the sum of a month or a year in USD. From 1,000 USD on it has no cents, because the price of one simulated
/// hour is not that exact: "39,723".
std::string usd_sum(std::int64_t micro_usd);

/// The price of a GPU and where it is from.
struct GpuPrice {
  MicroUsd per_hour{};
  Evidence evidence = Evidence::stated;
};

struct WarmPoolInput {
  ReplicaCount replicas = 1;
  GpuCount gpus_per_replica = 1;
  GpuPrice price{};
};
/// Returns the cost of replicas that are always ready.
Statement warm_pool_cost(const WarmPoolInput& input);

struct TokenInput {
  std::int64_t micro_usd_per_hour = 0;  ///< price of the fleet
  double tokens_per_s = 0;              ///< answer tokens of the service, mean; 0: unknown
};
/// Returns the cost of a fleet for a month and, if its tokens are known, for a million answer tokens.
std::vector<Statement> token_cost(const TokenInput& input);

struct IdleInput {
  std::int64_t paid_micro_usd_per_hour = 0;
  std::int64_t idle_ppm = 0;  ///< part of the paid GPU time without work, millionths
  Evidence evidence = Evidence::stated;
};
/// Returns the cost of paid GPUs that do nothing.
Statement idle_cost(const IdleInput& input);

struct ConsolidationInput {
  static constexpr std::int64_t kAssumedPerDay = 60;
  /// Replicas that Karpenter ends to move them to another node; nothing: `kAssumedPerDay` are assumed.
  std::optional<std::int64_t> replicas_ended_per_day{};
  Duration cold_start{};  ///< time from the end of the old replica until the new one serves
  GpuCount gpus_per_replica = 1;
  GpuPrice price{};
  double requests_per_s = 0;  ///< requests of the service; 0: unknown
  ReplicaCount replicas = 1;  ///< replicas that share these requests
  std::optional<MicroUsd> per_lost_request{};
};
/// Returns the cost of Karpenter's policy WhenEmptyOrUnderutilized on a pool whose nodes serve: the GPU time
/// that the new starts take, and an upper bound of the requests that are cut or late.
std::vector<Statement> consolidation_cost(const ConsolidationInput& input);

struct ServerlessInput {
  std::int64_t gpu_micro_usd_per_hour = 0;  ///< cost of the fleet
  std::int64_t gpu_milli = 0;               ///< fewest GPUs that could serve the met requests, mean over time, 1/1000
  StaffSpec staff{};
  Evidence staff_evidence = Evidence::assumed;
  Evidence fleet_evidence = Evidence::stated;
};
/// Compares the fleet and the people who run it with a serverless offer that charges only for useful work. Without a
/// price of the offer, the answer is the price at which both cost the same.
std::vector<Statement> serverless_cost(const ServerlessInput& input);
/// Returns the same comparison as a sentence that begins with a space: " With staff costs included, serverless would
/// cost 14,154.00 USD/month less than your own cluster." Empty without work.
std::string serverless_words(const ServerlessInput& input);

}  // namespace capstan::plan
