#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "control/controller.h"
#include "explain/summary.h"
#include "kube/discovery.h"
#include "kube/wall_time.h"
#include "model/reason.h"
#include "operator/act/kube_world.h"
#include "operator/memory/ledger.h"
#include "operator/view/cluster_view.h"

namespace capstan::op {

/// One target of a scaler: its replicas now and the replicas that it should have.
struct TargetReport {
  std::string name;
  model::Role role = model::Role::both;
  ReplicaCount current = 0;  ///< number that the target's spec asks for now
  ReplicaCount starting = 0;
  ReplicaCount ready = 0;
  ReplicaCount draining = 0;
  ReplicaCount recommended = 0;
  ReplicaCount desired = 0;                 ///< number that Capstan writes to the target; `current` if it writes none
  std::optional<model::Reason> why;         ///< reason of the last decision; nothing before the first
  std::optional<explain::Summary> summary;  ///< summary of the last decision, in three lines
};

enum class ConditionStatus : std::uint8_t { no, yes, unknown };

/// A condition without its times.
struct StatusCondition {
  std::string type;
  ConditionStatus status = ConditionStatus::unknown;
  std::string reason;  ///< code in CamelCase
  std::string message;
};

/// Type of the condition that shows a roll-back.
inline constexpr std::string_view kSloBreach = "SLOBreach";

/// Everything that the status, the Events and the metrics of a scaler show.
struct ScalerReport {
  std::string ns;
  std::string name;
  std::string uid;
  std::int64_t generation = 0;
  Mode mode = Mode::shadow;
  InferenceScaler::Policy policy = InferenceScaler::Policy::capstan;
  std::vector<TargetReport> targets;
  ReplicaCount fresh = 0;
  ReplicaCount missing = 0;
  std::optional<Duration> oldest;         ///< age of the oldest known load
  std::vector<StatusCondition> verdicts;  ///< Ready first
  Ledger ledger;                          ///< sum over all targets

  ReplicaCount recommended() const;
  /// Returns the target whose reason the scaler shows: the first one that should change, else the first one with a
  /// decision.
  const TargetReport* shown_target() const;
};

/// The sources of a report.
struct ReportSources {
  const ClusterView& view;
  const KubeWorld& world;
  const control::Controller& controller;
  const kube::ServedResources& served;
  const std::map<std::string, std::string>& troubles;  ///< reasons why signals are missing, by UID of a pod or a scaler
  const std::map<std::string, Ledger>& ledgers;        ///< ledgers by `ServiceOrigin::key`
  /// 99th percentile of the time to the first token at the slowest replica, microseconds; by the scaler's uid.
  const std::map<std::string, std::int64_t>& ttft_us;
};

/// Returns the reports of all scalers, in the order of the store's rows.
std::vector<ScalerReport> reports_of(const ReportSources& sources);

/// Returns a reason's code in CamelCase, the form that Events and conditions use.
std::string camel_case(std::string_view code);

}  // namespace capstan::op
