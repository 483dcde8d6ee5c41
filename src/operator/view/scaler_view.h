#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/quantity.h"
#include "base/time.h"
#include "control/slo_watch.h"
#include "decide/scale/rules/settings.h"
#include "kube/common_views.h"
#include "kube/resource.h"
#include "kube/wall_time.h"
#include "model/offering.h"
#include "model/service.h"
#include "model/slo.h"

namespace capstan::op {

/// How far a layer may go. The smaller of two is the one that counts.
enum class Mode : std::uint8_t { off, shadow, active };

std::string_view name_of(Mode mode);  ///< "Off", "Shadow", "Active"

/// On an InferenceScaler: until when breaches of its SLO have been seen by a person, who allows reductions again.
inline constexpr std::string_view kSloAcknowledged = "capstan.dev/slo-breach-acknowledged";

/// What is read of an InferenceScaler (schema/crds/inferencescaler.yaml), with the schema's defaults. The API server
/// has held it against the schema; what is wrong all the same reads as the default.
struct InferenceScaler {
  struct Variant {
    kube::TargetRef target;
    ReplicaCount min_replicas = 1;
    ReplicaCount max_replicas = 1;
    std::string gpu;  ///< empty: told from the nodes
    /// The row of the engine table that it is; empty: told from the model's name.
    struct EngineProfile {
      std::string model;
      std::string dtype;
      friend bool operator==(const EngineProfile&, const EngineProfile&) = default;
    };
    EngineProfile engine_profile{};
    MicroUsd replica_price_per_hour;                 ///< 0: not stated
    std::optional<model::TopologyLevel> survives{};  ///< the loss of any one domain of this level
    std::vector<model::BoundsWindow> windows{};      ///< those that make sense
    std::string window_fault{};                      ///< why the first other one does not; empty: there is none
    friend bool operator==(const Variant&, const Variant&) = default;
  };
  struct Role {
    model::Role role = model::Role::both;
    std::vector<Variant> variants;
    friend bool operator==(const Role&, const Role&) = default;
  };

  kube::Meta meta;
  std::string model;
  std::string engine;  ///< empty: told from the metrics' names
  model::Slo slo;
  std::vector<Role> roles;
  model::RoleLimits role_limits{};               ///< between prefill and decode, each of one variant
  Duration interval = std::chrono::seconds(15);  ///< between two scrapes
  std::optional<std::int64_t> port;              ///< nothing: the one named http, else 8000
  std::string path = "/metrics";
  /// A server of Prometheus' API that is asked in place of the pods; empty: none.
  std::string prometheus_url;
  std::string prometheus_selector;  ///< which series are this service's; empty: told apart by namespace and pod
  /// Of engine custom, the metric of each signal; empty: it has none.
  struct Custom {
    std::string waiting;
    std::string running;
    std::string kv_usage;
    std::string prompt_tokens;
    std::string generated_tokens;
    std::string ttft;
    friend bool operator==(const Custom&, const Custom&) = default;
  };
  Custom custom;
  /// Who says how many replicas there should be.
  enum class Policy : std::uint8_t { capstan, rules, queue };
  Policy policy = Policy::capstan;
  decide::scale::Rules rules{};  ///< of that policy, times apart
  RequestCount waiting_per_replica = 4;
  std::optional<RequestCount> running_per_replica;
  Duration cool_down = std::chrono::minutes(5);
  Mode mode = Mode::shadow;
  kube::WallTime slo_acknowledged{};  ///< breaches up to then; an annotation
  std::string fault{};                ///< where the spec contradicts itself, which the schema refuses; else empty

  // Of the status, as last written.
  std::vector<kube::Condition> conditions;
  struct LastDecision {
    std::string id;  ///< empty: there was none
    std::string time;
    std::string reason;
    ReplicaCount recommended = 0;
  };
  LastDecision last_decision;
};

std::string_view name_of(InferenceScaler::Policy policy);  ///< "Capstan", "Rules", "Queue"

/// Engines whose metrics count no tokens; of a user's own nobody knows.
inline constexpr std::string_view kCountNoTokens[] = {"tensorrt-llm", "triton", "tgi", "custom"};

InferenceScaler read_inference_scaler(kube::Json object);

/// What is read of the FleetPolicy (schema/crds/fleetpolicy.yaml).
struct FleetPolicy {
  kube::Meta meta;
  Mode replicas = Mode::shadow;
  Mode placement = Mode::off;
  Mode nodes = Mode::off;
  bool halt = false;                   ///< no write but Lease, status and Events
  std::vector<std::string> shadow_of;  ///< schedulers whose gangs are looked at while placement is in Shadow
  kube::StringMap node_labels;         ///< of the nodes that the placement layer may bind to
  model::FleetLimits limits;
  struct InstanceType {
    std::string name;
    std::string gpu;
    GpuCount gpus = 1;
    MicroUsd price_per_hour;
    friend bool operator==(const InstanceType&, const InstanceType&) = default;
  };
  std::vector<InstanceType> instance_types;
  Duration hold = std::chrono::minutes(10);
  Duration consolidate_after = std::chrono::hours(1);
  std::optional<control::SloBreachRule> slo_breach{};
  std::vector<kube::Condition> conditions;  ///< of the status, as last written
};

FleetPolicy read_fleet_policy(kube::Json object);

inline const kube::Resource kInferenceScalers{"capstan.dev", "v1alpha1", "inferencescalers", "InferenceScaler", true};
inline const kube::Resource kFleetPolicies{"capstan.dev", "v1alpha1", "fleetpolicies", "FleetPolicy", false};

}  // namespace capstan::op
