#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "actuate/effect.h"
#include "base/random.h"
#include "kube/client.h"
#include "kube/election.h"
#include "kube/events.h"
#include "kube/wall_clock.h"
#include "net/http.h"
#include "net/monotonic.h"
#include "operator/act/action_executor.h"
#include "operator/loop/decision_loop.h"
#include "operator/loop/log.h"
#include "operator/memory/checkpoint_store.h"
#include "operator/status/fleet_status.h"
#include "operator/status/gang_verdicts.h"
#include "operator/status/queue_status.h"
#include "operator/status/report.h"
#include "operator/status/status_writer.h"

namespace capstan::op {

/// `capstan run`: leads or stands by, decides while it leads, and writes what it shows: status, Events, checkpoint.
/// What acts is `ActionExecutor`. It has no thread and never waits; whoever owns the sockets calls `turn`.
class Process {
 public:
  struct Options {
    std::string ns = "capstan-system";  ///< of the Lease and of the checkpoint
    std::string identity;               ///< of this process alone, also after a restart
  };
  /// What a process stands on. All of it outlives the process.
  struct Base {
    net::Transport& transport;
    kube::Client& client;
    net::Clock clock;  ///< counts from the Unix epoch, and never goes back
    kube::WallClock wall;
    RandomStream random;
    ActionExecutor* effects = nullptr;  ///< null: at the API server
  };

  Process(Base base, Options options, Log log);
  ~Process();
  Process(const Process&) = delete;

  /// Does what is due. Call it when `next_deadline` has come, and after anything has arrived.
  void turn();
  Instant next_deadline() const;

  /// Ends in good order: saves what it remembers and gives the lease back.
  void stop();
  bool stopped() const;

  bool leads() const;
  bool synced() const { return loop_.synced(); }
  /// Kinds of which nothing was heard for longer than `ClusterWatch::kAgeMost`: as long as there are any, nobody else's
  /// objects are written.
  std::map<std::string, Duration> too_old() const;
  std::map<std::string, Duration> ages() const { return loop_.watch().ages(base_.clock()); }  ///< of all kinds
  std::vector<std::string> waiting_for() const { return loop_.waiting_for(); }
  const std::vector<ScalerReport>& reports() const { return reports_; }  ///< of the last decision
  const kube::Client::Counters& api_counters() const { return base_.client.counters(); }
  const DecisionLoop& loop() const { return loop_; }
  const StatusWriter& status() const { return status_; }
  const kube::EventRecorder& events() const { return events_; }
  const CheckpointStore& checkpoint() const { return checkpoint_; }

 private:
  static constexpr Duration kStopMax = std::chrono::seconds(5);

  ActionExecutor& effects() const { return own_effects_ ? *own_effects_ : *base_.effects; }
  actuate::Permit permit() const;
  bool sees() const;
  void elect();
  void follow_lead();
  void decide();
  void show();
  void note(const kube::EventNote& note);
  void show_gangs();
  void show_fleet();
  void show_queues();
  void send_events();
  void tell_troubles();
  void tell_refusals();
  void tell_ages();
  void call(kube::ApiRequest request, kube::Client::Handler handler);
  void write(kube::ApiRequest request, kube::Client::Handler handler);
  void end_in_order();

  Base base_;
  Log log_;
  kube::Election election_;
  kube::EventRecorder events_;
  std::unique_ptr<ActionExecutor> own_effects_;  // where none were given
  DecisionLoop loop_;
  CheckpointStore checkpoint_;
  StatusWriter status_;
  GangVerdictWriter gang_verdicts_;
  FleetStatusWriter fleet_status_;
  QueueStatusWriter queue_status_;
  std::string identity_;
  std::vector<ScalerReport> reports_;
  bool leading_ = false;
  bool synced_told_ = false;
  bool too_old_told_ = false;
  std::string refusal_told_;
  std::map<std::string, std::string> refusals_told_;  // by kind
  std::map<std::string, std::string> told_;           // what was logged of a scaler last, by uid
  std::set<kube::Client::CallId> calls_;
  enum class End : std::uint8_t { not_yet, saving, releasing, done } end_ = End::not_yet;
  Instant end_by_ = Instant::never();
};

}  // namespace capstan::op
