#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/cron.h"
#include "base/quantity.h"
#include "base/time.h"
#include "model/ids.h"
#include "model/resources.h"

namespace capstan::model {

/// Amounts of several nodes together.
struct NodeAmounts {
  GpuCount gpus = 0;
  std::int64_t nodes = 0;
  std::int64_t cpu_milli = 0;
  std::int64_t memory_mib = 0;
  friend bool operator==(const NodeAmounts&, const NodeAmounts&) = default;

  NodeAmounts& operator+=(const NodeAmounts& more) {
    gpus += more.gpus;
    nodes += more.nodes;
    cpu_milli += more.cpu_milli;
    memory_mib += more.memory_mib;
    return *this;
  }
};

/// Upper limits on the sums over all nodes of a pool, nodes on their way included.
struct PoolLimits {
  GpuCount gpus = 0;
  std::int64_t nodes = kUnlimited;
  std::int64_t cpu_milli = kUnlimited;
  std::int64_t memory_mib = kUnlimited;
  friend bool operator==(const PoolLimits&, const PoolLimits&) = default;
};

/// A limit on the nodes of a pool that may terminate at the same time (`disruption.budgets[]` of a Karpenter NodePool).
/// With a number and a share, both apply.
struct DisruptionBudget {
  static constexpr Duration kLongest = std::chrono::days(31);
  static constexpr std::size_t kMax = 50;  ///< most budgets of one pool, as in Karpenter

  std::optional<std::int64_t> nodes{};
  std::optional<std::int64_t> share_ppm{};  ///< share of the pool's nodes, millionths; the node count is rounded up
  std::optional<Cron> start{};              ///< start of the time in which the budget applies; none: it always applies
  Duration duration{};                      ///< length of that time, at most `kLongest`
  friend bool operator==(const DisruptionBudget&, const DisruptionBudget&) = default;
};

/// A set of offerings with limits (Karpenter NodePool semantics).
struct Pool {
  std::string name;
  std::vector<OfferingId> offerings;  ///< offerings in order of preference
  PoolLimits limits{};
  std::int64_t weight = 0;  ///< offerings of a pool with a higher weight are preferred, whatever they cost
  /// Budgets for terminating nodes. No value: the pool states none, and the budget of the policy applies. Empty list:
  /// all nodes may terminate at the same time.
  std::optional<std::vector<DisruptionBudget>> budgets{};
  friend bool operator==(const Pool&, const Pool&) = default;
};

/// Returns how many nodes of the pool may terminate at the same time.
/// @param nodes      nodes of the pool
/// @param share_ppm  share that may terminate if the pool states no budgets, millionths
/// @param now        time since the Unix epoch; a simulation begins at the epoch
std::int64_t most_terminating(const Pool& pool, std::int64_t nodes, std::int64_t share_ppm, Instant now);

}  // namespace capstan::model
