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
#include "operator/status/fleet_meter.h"
#include "operator/status/fleet_status.h"
#include "operator/status/gang_verdicts.h"
#include "operator/status/queue_status.h"
#include "operator/status/report.h"
#include "operator/status/status_writer.h"

namespace capstan::op {

/// The process `capstan run`: it leads or is a standby. While it leads, it decides, passes actions to an
/// `ActionExecutor`, and writes status, Events and the checkpoint. It has no thread and never blocks; the owner of the
/// sockets calls `run_once`.
class Process {
 public:
  struct Options {
    std::string ns = "capstan-system";  ///< namespace of the Lease and of the checkpoint
    std::string identity;               ///< unique to this process; different after a restart
    /// Details of decisions about pods and nodes that are kept for explanations.
    decide::Detail detail = decide::Detail::reasons;
  };
  /// Everything that a process uses. All of it outlives the process.
  struct Dependencies {
    net::Transport& transport;
    kube::Client& client;
    net::Clock clock;  ///< counts from the Unix epoch, and never goes back
    kube::WallClock wall;
    RandomStream random;
    ActionExecutor* effects = nullptr;            ///< carries out actions; null: a new `Actuator` at the API server
    control::InputObserver input_observer{};      ///< sees inputs of decisions as in control::Options; may be empty
    control::OutcomeObserver outcome_observer{};  ///< sees the end of every action; may be empty
  };

  Process(Dependencies dependencies, Options options, Log log);
  ~Process();
  Process(const Process&) = delete;

  /// Does the work that is due. Call it at `next_deadline` and after each answer of the network.
  void run_once();
  Instant next_deadline() const;

  /// Starts an orderly end: saves the checkpoint and releases the Lease.
  void stop();
  bool stopped() const;

  bool leads() const;
  bool synced() const { return loop_.synced(); }
  /// Returns the kinds of objects about which the server has reported nothing for longer than `ClusterWatch::kMaxAge`,
  /// with the time since its last report. While there is such a kind, the process writes only to its own objects.
  std::map<std::string, Duration> too_old() const;
  /// Returns the time since the server's last report about each kind.
  std::map<std::string, Duration> ages() const { return loop_.watch().ages(dependencies_.clock()); }
  std::vector<std::string> waiting_for() const { return loop_.waiting_for(); }
  const std::vector<ScalerReport>& reports() const { return reports_; }  ///< reports of the last decision
  const kube::Client::Counters& api_counters() const { return dependencies_.client.counters(); }
  const DecisionLoop& loop() const { return loop_; }
  const StatusWriter& status() const { return status_; }
  const FleetMeter& meter() const { return meter_; }
  const kube::EventRecorder& events() const { return events_; }
  const CheckpointStore& checkpoint() const { return checkpoint_; }

 private:
  static constexpr Duration kStopMax = std::chrono::seconds(5);

  ActionExecutor& effects() const { return own_executor_ ? *own_executor_ : *dependencies_.effects; }
  actuate::Permit permit() const;
  bool is_view_fresh() const;
  void elect();
  void follow_lead();
  void decide();
  void show();
  void note(const kube::EventNote& note);
  void show_gangs();
  void show_fleet();
  void show_queues();
  void send_events();
  void log_readiness();
  void log_refusals();
  void log_view_ages();
  void call(kube::ApiRequest request, kube::Client::Handler handler);
  void write(kube::ApiRequest request, kube::Client::Handler handler);
  void end_in_order();

  Dependencies dependencies_;
  Log log_;
  kube::Election election_;
  kube::EventRecorder events_;
  std::unique_ptr<ActionExecutor> own_executor_;  // null if the dependencies have an executor
  DecisionLoop loop_;
  CheckpointStore checkpoint_;
  StatusWriter status_;
  GangVerdictWriter gang_verdicts_;
  FleetStatusWriter fleet_status_;
  QueueStatusWriter queue_status_;
  std::string identity_;
  FleetMeter meter_;
  std::vector<ScalerReport> reports_;
  bool leading_ = false;
  bool is_sync_logged_ = false;
  bool is_stale_view_logged_ = false;
  std::string logged_refusal_;
  std::map<std::string, std::string> logged_refusals_;  // last logged refusal, by kind
  std::map<std::string, std::string> logged_states_;    // last logged state of each scaler, by UID
  std::set<kube::Client::CallId> calls_;
  enum class ShutdownPhase : std::uint8_t { not_yet, saving, releasing, done } shutdown_phase_ = ShutdownPhase::not_yet;
  Instant end_by_ = Instant::never();
};

}  // namespace capstan::op
