#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/quantity.h"
#include "base/time.h"
#include "control/action_log.h"
#include "decide/place/place.h"
#include "decide/provision/provision.h"
#include "model/snapshot.h"
#include "operator/snapshot/snapshot_builder.h"

namespace capstan::op {

/// Measures requested nodes, waiting gangs and costs while this process leads, for its metrics. Counters are 0 when the
/// process starts.
class FleetMeter {
 public:
  /// Time between two sums of the costs. A sum walks all replicas.
  static constexpr Duration kCostPeriod = std::chrono::seconds(15);
  /// Longest time between two sums for which a cost is added. A longer time adds none, because it is unknown which
  /// replicas ran in it.
  static constexpr Duration kMaxGap = std::chrono::minutes(2);
  using Verdict = decide::place::PlacementResult::Kind;
  static constexpr std::array<Verdict, 4> kWaitingVerdicts = {Verdict::cannot_fit_now, Verdict::held_by_queue,
                                                              Verdict::never_fits, Verdict::nominated};

  /// One pass of the loop.
  struct Pass {
    const model::Snapshot& snapshot;
    const control::ActionLog& log;
    const decide::place::Decision& placed;
    const decide::provision::Decision& bought;
    const std::map<model::ServiceId, ServiceOrigin>& services;
  };
  void note(const Pass& pass);
  /// Forgets open requests and waiting gangs, because the process no longer leads. The counters keep their values. The
  /// decision log of the next leadership begins at 0.
  void end();

  /// Nodes that were requested.
  struct NodeWaits {
    std::int64_t ready = 0;   ///< nodes that became ready
    Duration sum{};           ///< total time from their requests until they were ready
    std::int64_t failed = 0;  ///< requests that ended before their node was ready
    std::int64_t open = 0;    ///< requests whose node is not ready yet
  };
  const NodeWaits& node_waits() const { return waits_; }

  using Owner = std::pair<std::string, std::string>;  ///< namespace and name of a scaler
  /// Returns the cost of the GPUs that the replicas of each scaler held.
  std::map<Owner, MicroUsd> costs() const;

  using NodeAction = std::pair<std::string_view, std::string_view>;  ///< "launch", "terminate" …, and the reason's code
  /// Returns the number of nodes of the actions that were decided. A "release_group" counts as one.
  const std::map<NodeAction, std::int64_t>& node_actions() const { return actions_; }

  /// Returns how often a gang began to wait for this reason.
  std::int64_t deferrals(Verdict verdict) const { return deferrals_[static_cast<std::size_t>(verdict)]; }
  /// Returns the number of gangs that wait for this reason.
  std::int64_t waiting(Verdict verdict) const;
  /// Returns the number of gangs that wait in each queue, without the gangs that wait in the queues below it.
  const std::map<std::string, std::int64_t>& queue_lengths() const { return queue_lengths_; }

 private:
  void note_nodes(const model::Snapshot& snapshot);
  void note_actions(const control::ActionLog& log);
  void note_gangs(const model::Snapshot& snapshot, const decide::place::Decision& placed);
  void note_costs(const Pass& pass);

  NodeWaits waits_;
  std::map<model::ClaimId, Instant> open_;  ///< requests whose node is not ready yet, and when they were made
  std::uint64_t seen_ = 0;                  ///< decisions of the log that were counted
  std::map<NodeAction, std::int64_t> actions_;
  std::map<model::GangId, Verdict> waiting_;
  std::array<std::int64_t, 6> deferrals_{};  ///< deferrals by verdict
  std::map<std::string, std::int64_t> queue_lengths_;
  struct Cost {
    MicroUsd per_hour{};                 ///< price of the GPUs that were held at the last sum
    unsigned __int128 micro_usd_ns = 0;  ///< price per hour times nanoseconds
  };
  std::map<Owner, Cost> costs_;
  std::optional<Instant> summed_at_;
};

}  // namespace capstan::op
