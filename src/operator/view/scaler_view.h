#pragma once

#include <array>
#include <cstdint>
#include <iterator>
#include <map>
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
#include "settings/names.h"

namespace capstan::op {

/// The mode of a layer. Of two modes, the more restrictive one applies: Off before Shadow before Active.
enum class Mode : std::uint8_t { off, shadow, active };

std::string_view name_of(Mode mode);  ///< "Off", "Shadow", "Active"

/// Annotation of an InferenceScaler: the time up to which a person has acknowledged SLO breaches. It ends a roll-back,
/// so that replicas may be removed again.
inline constexpr std::string_view kSloAcknowledged = "capstan.dev/slo-breach-acknowledged";

using settings::kCustomMetrics;

/// The fields of an InferenceScaler that Capstan reads (schema/crds/inferencescaler.yaml), with the defaults of the
/// schema. The API server checks objects against the schema; an invalid value reads as the default.
struct InferenceScaler {
  struct Variant {
    kube::TargetRef target;
    ReplicaCount min_replicas = 1;
    ReplicaCount max_replicas = 1;
    std::string gpu;  ///< GPU kind; empty: follows from the nodes or the pod template
    /// Row of the engine table; empty: found by the model's name.
    struct EngineProfile {
      std::string model;
      std::string dtype;
      friend bool operator==(const EngineProfile&, const EngineProfile&) = default;
    };
    EngineProfile engine_profile{};
    MicroUsd replica_price_per_hour;                 ///< price of a replica; 0: not stated
    std::optional<model::TopologyLevel> survives{};  ///< the service must survive the loss of any domain of this level
    std::vector<model::BoundsWindow> windows{};      ///< valid windows
    std::string window_fault{};                      ///< fault of the first invalid window; empty: none
    friend bool operator==(const Variant&, const Variant&) = default;
  };
  struct Role {
    model::Role role = model::Role::both;
    std::vector<Variant> variants;
    friend bool operator==(const Role&, const Role&) = default;
  };

  kube::Meta meta;
  std::string model;
  std::string engine;  ///< name of the engine; empty: found by the names of the metrics
  model::Slo slo;
  std::vector<Role> roles;
  model::RoleLimits role_limits{};               ///< limits on the ratio of decode to prefill replicas
  Duration interval = std::chrono::seconds(15);  ///< time between two scrapes
  std::optional<std::int64_t> port;              ///< port to scrape; none: the port named http, else 8000
  std::string path = "/metrics";
  /// URL of a Prometheus API that is queried instead of the pods; empty: none.
  std::string prometheus_url;
  std::string prometheus_selector;  ///< matchers of the service's series; empty: by namespace and pod
  /// Name of the metric of each row of `kCustomMetrics`; empty: the signal has none.
  std::array<std::string, std::size(kCustomMetrics)> custom{};
  /// The policy that decides the number of replicas.
  enum class Policy : std::uint8_t { capstan, rules, queue };
  Policy policy = Policy::capstan;
  decide::scale::Rules rules{};  ///< settings of the policy `rules`; its times are in `cool_down` and `interval`
  RequestCount waiting_per_replica = 4;
  std::optional<RequestCount> running_per_replica;
  Duration cool_down = std::chrono::minutes(5);
  Mode mode = Mode::shadow;
  kube::WallTime slo_acknowledged{};  ///< time up to which breaches are acknowledged
  std::string fault{};                ///< contradiction in the spec, or invalid window; empty: none

  // Fields of the status, as last written.
  std::vector<kube::Condition> conditions;
  struct LastDecision {
    std::string id;  ///< id of the decision; empty: there was none
    std::string time;
    std::string reason;
    ReplicaCount recommended = 0;
    friend bool operator==(const LastDecision&, const LastDecision&) = default;
  };
  LastDecision last_decision;
  friend bool operator==(const InferenceScaler&, const InferenceScaler&) = default;
};

std::string_view name_of(InferenceScaler::Policy policy);  ///< "Capstan", "Rules", "Queue"

InferenceScaler read_inference_scaler(kube::Json object);

/// The fields of the FleetPolicy that Capstan reads (schema/crds/fleetpolicy.yaml).
struct FleetPolicy {
  kube::Meta meta;
  Mode replicas = Mode::shadow;
  Mode placement = Mode::off;
  Mode nodes = Mode::off;
  bool halt = false;                   ///< true: writes only the Lease, the checkpoint, status and Events
  std::vector<std::string> shadow_of;  ///< schedulers; in Shadow, placement also decides about their gangs
  kube::StringMap node_labels;         ///< labels of the nodes to which placement may bind
  model::FleetLimits limits;
  struct InstanceType {
    std::string name;
    std::string gpu;
    GpuCount gpus = 1;
    std::optional<std::int64_t> cpu_milli{};
    std::optional<std::int64_t> memory_mib{};
    std::optional<std::int64_t> storage_mib{};  ///< ephemeral storage
    std::optional<std::int64_t> pod_slots{};
    std::map<std::string, std::int64_t> resources{};  ///< extended resources by name
    MicroUsd price_per_hour;
    friend bool operator==(const InstanceType&, const InstanceType&) = default;
  };
  std::vector<InstanceType> instance_types;
  std::vector<model::Topology> topologies{};  ///< in addition to the standard topology
  std::string topology_fault{};               ///< defect in the topologies, which then count as absent; empty: none
  Duration hold = std::chrono::minutes(10);
  Duration consolidate_after = std::chrono::hours(1);
  std::optional<control::SloBreachRule> slo_breach{};
  std::vector<kube::Condition> conditions;  ///< conditions of the status, as last written
  friend bool operator==(const FleetPolicy&, const FleetPolicy&) = default;
};

FleetPolicy read_fleet_policy(kube::Json object);

inline const kube::Resource kInferenceScalers{"capstan.dev", "v1alpha1", "inferencescalers", "InferenceScaler", true};
inline const kube::Resource kFleetPolicies{"capstan.dev", "v1alpha1", "fleetpolicies", "FleetPolicy", false};

}  // namespace capstan::op
