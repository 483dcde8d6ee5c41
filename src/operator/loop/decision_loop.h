#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "control/controller.h"
#include "kube/client.h"
#include "net/http.h"
#include "net/monotonic.h"
#include "operator/act/action_executor.h"
#include "operator/act/kube_world.h"
#include "operator/loop/signal_sources.h"
#include "operator/memory/checkpoint.h"
#include "operator/status/report.h"
#include "operator/view/cluster_watch.h"

namespace capstan::op {

/// Watches the objects of the cluster, asks the serving replicas for their load and, after `begin`, decides. It writes
/// nothing itself. A standby watches and asks too, so that it can take over at once.
class DecisionLoop {
 public:
  /// Shortest time between two passes if the cluster changes, and longest time between two passes if it does not.
  static constexpr Duration kPassIntervalMin = std::chrono::seconds(1);
  static constexpr Duration kPassIntervalMax = std::chrono::seconds(15);
  /// Longest wait for the first answer of a replica. After it, the loop is ready without the replicas that are silent.
  static constexpr Duration kFirstAnswersMax = std::chrono::seconds(20);
  /// Time for which a report shows the last known time to the first token.
  static constexpr Duration kFirstTokensShown = std::chrono::minutes(1);

  /// @param clock    counts from the Unix epoch, and never goes back
  /// @param effects  outlives the loop, like `transport` and `client`; null: every action is refused
  DecisionLoop(net::Transport& transport, kube::Client& client, net::Clock clock, RandomStream random,
               ActionExecutor* effects);

  /// Sets what decisions after the next `begin` keep for explanations.
  void set_detail(decide::Detail detail) { detail_ = detail; }
  /// Handles events of the watch and starts the scrapes that are due.
  void run_once();
  Instant next_deadline() const;

  bool synced() const { return watch_.synced(); }
  /// Returns whether all objects are known and every serving replica has answered or used up its time.
  bool ready() const;
  /// Returns what `ready` still waits for, one line each.
  std::vector<std::string> waiting_for() const;

  /// Starts to decide, with the memory of the earlier leader. Call it only when `ready`.
  void begin(const Checkpoint& checkpoint, control::InputObserver input_observer = {},
             control::OutcomeObserver outcome_observer = {});
  /// Stops deciding and drops the memory.
  void end();
  bool begun() const { return leader_state_ != nullptr; }
  /// Returns whether it is time for a pass over the cluster.
  bool due() const;
  void decide();

  // These functions return results of the last decision. Call them only between `begin` and `end`.
  const control::Controller& controller() const { return leader_state_->controller; }
  const KubeWorld& world() const { return leader_state_->world; }
  Checkpoint checkpoint() const;
  std::vector<ScalerReport> reports() const;

  const ClusterView& view() const { return view_; }  ///< view of the last pass
  const ClusterWatch& watch() const { return watch_; }
  const SignalSources& sources() const { return sources_; }

 private:
  struct LeaderState {
    LeaderState(net::Clock clock, ActionExecutor* effects, const ClusterView& view, const Readings& readings,
                const Checkpoint& checkpoint, control::Options options);
    KubeWorld world;
    control::Controller controller;
  };

  void find_serving_replicas();
  void account(Instant now);
  void measure(Instant now);

  net::Clock clock_;
  ActionExecutor* effects_;
  decide::Detail detail_ = decide::Detail::reasons;
  ClusterWatch watch_;
  SignalSources sources_;
  ClusterView view_;
  Instant pass_at_{};
  std::uint64_t pass_version_ = 0;
  Instant synced_at_ = Instant::never();
  std::unique_ptr<SnapshotBuilder> standby_builder_;  ///< finds the serving replicas before `begin`
  std::unique_ptr<LeaderState> leader_state_;
  std::map<std::string, Ledger> ledgers_;  ///< ledgers by `ServiceOrigin::key`
  struct FirstTokens {
    std::int64_t p99_us = 0;
    Instant at{};
  };
  std::map<std::string, FirstTokens> first_tokens_;  ///< times to first token by UID of the scaler
};

}  // namespace capstan::op
