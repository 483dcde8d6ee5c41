#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/quantity.h"
#include "base/time.h"
#include "model/ids.h"
#include "model/snapshot.h"

namespace capstan::experiment {

/// Tokens, requests, latencies and idle time of the replicas of one service in one minute, from their signals.
struct UseMinute {
  std::size_t user = 0;             ///< as in GangHistory
  std::int64_t minute = 0;          ///< number of the minute on the clock of the snapshots
  std::int64_t tokens = 0;          ///< output tokens
  std::int64_t requests = 0;        ///< requests that ended, as far as the engines report them
  std::int64_t timed_requests = 0;  ///< requests that ended at replicas whose engines report the times of phases
  /// Times of these requests in each phase, added up over the requests, in microseconds.
  std::int64_t queue_us = 0;
  std::int64_t prefill_us = 0;
  std::int64_t decode_us = 0;
  std::int64_t queue_prefill_us = 0;   ///< both phases together, of engines that do not report their queue
  std::int64_t prefill_decode_us = 0;  ///< both phases together, of engines that do not report the first token
  std::int64_t transfer_us = 0;        ///< sum of the times of the KV transfers, in microseconds
  std::int64_t transfers = 0;          ///< KV transfers; each rank may count its own
  double idle_gpu_s = 0;               ///< GPU-seconds of ready replicas without a request
  double idle_usd = 0;                 ///< cost of these GPU-seconds, as far as the prices of the nodes are known
  std::int64_t revision = 0;           ///< number of the observation that changed the row last
};

/// Sums up what replicas did between two snapshots. A ready replica is idle if it reports 0 running and 0 waiting
/// requests. Idle time counts in the minute of the first snapshot, tokens and requests in the minute of the second one.
class ReplicaUse {
 public:
  /// Price of a node.
  struct NodePrice {
    GpuCount gpus = 0;
    std::optional<MicroUsd> per_hour{};
  };
  using PriceOf = std::function<NodePrice(model::NodeId)>;

  /// @param user_of  position of a gang's service; no value: it belongs to none
  void note(const model::Snapshot& now, const std::function<std::optional<std::size_t>(const model::Gang&)>& user_of,
            const PriceOf& price_of, std::int64_t revision, std::vector<UseMinute>& minutes);
  /// Forgets the positions of the minutes, because they have changed.
  void forget_positions() { positions_.clear(); }

 private:
  static constexpr std::size_t kCounters = 7;
  struct Last {
    std::array<std::optional<std::int64_t>, kCounters> counters{};  ///< last values of the counters of the engine
    bool is_idle = false;
    std::size_t user = 0;
    double gpus = 0;
    double usd_per_s = 0;
  };
  UseMinute& row(std::size_t user, std::int64_t minute, std::int64_t revision, std::vector<UseMinute>& minutes);

  std::optional<Instant> before_;  ///< time of the last snapshot
  std::map<model::GangId, Last> last_;
  std::map<std::size_t, std::size_t> positions_;  ///< by service: position of its last minute
};

}  // namespace capstan::experiment
