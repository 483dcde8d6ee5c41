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

/// Everything up to the point where something is written: it follows the cluster's objects, asks the replicas that
/// serve for their load, and, once told to begin, decides. Whoever stands by does the first two, so that he can take
/// over at once.
class DecisionLoop {
 public:
  /// A change of the cluster is looked at no more often, and a cluster in which nothing happens no more seldom.
  static constexpr Duration kLookMin = std::chrono::seconds(1);
  static constexpr Duration kLookMax = std::chrono::seconds(15);
  /// Replicas that have not answered by then are silent: the loop begins without them.
  static constexpr Duration kFirstAnswersMax = std::chrono::seconds(20);
  /// What the last first tokens took is told for so long after them.
  static constexpr Duration kFirstTokensTold = std::chrono::minutes(1);

  /// @param clock  counts from the Unix epoch, and never goes back
  /// All but the clock outlive the loop; `effects` may be null.
  DecisionLoop(net::Transport& transport, kube::Client& client, net::Clock clock, RandomStream random,
               ActionExecutor* effects);

  /// Follows and asks.
  void turn();
  Instant next_deadline() const;

  bool synced() const { return watch_.synced(); }
  /// Synced, and everybody who serves has been heard or has had his time.
  bool ready() const;
  /// What it is not ready for, a line each.
  std::vector<std::string> waiting_for() const;

  /// Decides from now on, with what a predecessor remembered. Once `ready`.
  void begin(const Checkpoint& checkpoint, control::Witness witness = {});
  /// Decides no more, and forgets.
  void end();
  bool begun() const { return brain_ != nullptr; }
  /// Something may be decided.
  bool due() const;
  void decide();

  // Of the last decision; only once begun.
  const control::Controller& controller() const { return brain_->controller; }
  const KubeWorld& world() const { return brain_->world; }
  Checkpoint checkpoint() const;
  std::vector<ScalerReport> reports() const;

  const ClusterView& view() const { return view_; }  ///< of the last look
  const ClusterWatch& watch() const { return watch_; }
  const SignalSources& sources() const { return sources_; }

 private:
  struct Brain {
    Brain(net::Clock clock, ActionExecutor* effects, const ClusterView& view, const Readings& readings,
          const Checkpoint& checkpoint, control::Witness witness);
    KubeWorld world;
    control::Controller controller;
  };

  void scout();
  void account(Instant now);
  void measure(Instant now);

  net::Clock clock_;
  ActionExecutor* effects_;
  ClusterWatch watch_;
  SignalSources sources_;
  ClusterView view_;
  Instant looked_at_{};
  std::uint64_t looked_version_ = 0;
  Instant synced_at_ = Instant::never();
  std::unique_ptr<SnapshotBuilder> scout_;  ///< while nothing is decided: who serves
  std::unique_ptr<Brain> brain_;
  std::map<std::string, Ledger> ledgers_;  ///< by `ServiceOrigin::key`
  struct FirstTokens {
    std::int64_t p99_us = 0;
    Instant at{};
  };
  std::map<std::string, FirstTokens> first_tokens_;  ///< by the scaler's uid
};

}  // namespace capstan::op
