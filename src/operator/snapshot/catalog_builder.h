#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>
#include "base/known_row.h"

#include "decide/scale/scale.h"
#include "engine/names.h"
#include "kube/node_views.h"
#include "kube/scheduling_views.h"
#include "model/catalog.h"
#include "operator/view/cluster_view.h"

namespace capstan::op {

/// Builds the catalog of a cluster. Positions of rows are ids, so rows are added and rewritten but never removed.
class CatalogBuilder {
 public:
  CatalogBuilder();

  /// Returns the GPU kind with a name: "H100" and "NVIDIA-H100-80GB-HBM3" are the engine table's h100_sxm.
  model::GpuKindId gpu_kind(const std::string& name);
  /// Returns the model that is served under a name, if the engine table has it.
  const std::optional<engine::ServedModel>& served_model(const std::string& name);
  model::PoolId pool(const std::string& name);
  /// Returns the row of an instance type, with the resources that are stated now. Returns none if its resources were
  /// never stated.
  model::InstanceTypeId instance_type(const model::InstanceType& type);
  /// Returns the row of an offering. A given price replaces the price of the row.
  model::OfferingId offering(const model::Offering& offering);
  /// Sets every field of a pool except its name.
  void set_pool(model::PoolId id, model::Pool pool);
  void set_queues(std::vector<model::Queue> queues) { catalog_.queues = std::move(queues); }
  void set_eligibility(model::Eligibility eligibility, std::vector<std::string> extended_resources) {
    catalog_.eligibility = std::move(eligibility);
    catalog_.extended_resources = std::move(extended_resources);
  }
  void set_limits(const model::FleetLimits& limits) { catalog_.limits = limits; }
  /// Adds the topologies that are new by their name. The levels of a known topology stay as they are, because domains
  /// refer to levels by number.
  void add_topologies(const std::vector<model::Topology>& topologies);
  /// Returns the domains that the labels of a node name: zone, rack and NVLink clique as far as the node has their
  /// labels, and the domains of every other topology of which the node has all labels.
  model::DomainPath domains(const kube::StringMap& labels);
  /// Returns the GPU kind for objects that state none: the first kind of the catalog, or "unknown".
  model::GpuKindId any_gpu_kind() { return catalog_.gpu_kinds.empty() ? gpu_kind("unknown") : model::GpuKindId{0}; }

  /// Sets the row of a service, which is an existing row or the next one.
  void set_service(model::ServiceId id, model::Service service);
  /// Sets the prefill service of a decode service.
  void set_prefill_service(model::ServiceId service, model::ServiceId prefill) {
    known_row(catalog_.services, service.value).prefill_service = prefill;
  }
  /// Sets the limits on the ratio of the replicas of a decode service and its prefill service.
  void set_role_limits(model::ServiceId service, model::ServiceId prefill, const model::RoleLimits& limits) {
    known_row(catalog_.services, service.value).role_limits = known_row(catalog_.services, prefill.value).role_limits =
        limits;
  }
  /// Sets the variants behind the same endpoint whose replicas are decided together with those of `first`.
  void set_alternatives(model::ServiceId first, std::vector<model::ServiceId> others) {
    known_row(catalog_.services, first.value).alternatives = std::move(others);
  }
  /// Removes what a service has in common with others: its prefill service, limits and variants.
  void unlink(model::ServiceId id) {
    model::Service& service = known_row(catalog_.services, id.value);
    service.prefill_service = {};
    service.role_limits = {};
    service.alternatives.clear();
  }
  void forget_queue(model::ServiceId id) { known_row(catalog_.services, id.value).workload.queue = {}; }
  /// Clears the row of a service that is gone. It keeps its position.
  void clear_service(model::ServiceId id);

  /// Returns the level whose domains a node label names. In a named topology, the level may also be given by its name.
  /// @param topology  name of a topology; empty or unknown: the standard one, and then the others in their order
  std::optional<model::Level> level_of(std::string_view topology, std::string_view label) const;
  /// Sets the levels that a gang requires and prefers, as far as its constraint states them with known labels. A
  /// preferred level that is wider than the required one, or in another topology, is dropped.
  void constrain(const kube::TopologyConstraint& constraint, model::Level& required_level,
                 std::optional<model::Level>& preferred) const;
  const model::Catalog& rows() const { return catalog_; }
  const model::Workload& workload_of(model::ServiceId service) const {
    return known_row(catalog_.services, service.value).workload;
  }

  std::shared_ptr<const model::Catalog> catalog() const { return std::make_shared<const model::Catalog>(catalog_); }

 private:
  model::DomainId domain(const std::string& name, model::Level level, model::DomainId parent);

  model::Catalog catalog_;
  std::map<std::tuple<model::DomainId, model::Level, std::string>, model::DomainId> domains_;  ///< by parent and name
  // Both maps cache lookups in the engine table, by the name that the cluster uses.
  std::map<std::string, std::string> gpu_names_;
  std::map<std::string, std::optional<engine::ServedModel>> models_;
};

/// Returns the name of the GPUs of a node or a claim: from its labels, else from the fleet's description of its
/// instance type, else the name of the GPU resource.
std::string gpu_name(const kube::StringMap& labels, const kube::Resources& resources, const FleetPolicy& fleet);

/// Returns the scaling policy of a scaler.
decide::scale::Policy policy_of(const InferenceScaler& scaler);

/// One target of a scaler. It is one workload object, and it becomes a service of its own. Capstan's own policy
/// decides the replicas of all targets of a role together; other policies decide each target alone.
struct ScalerTarget {
  const InferenceScaler::Role* role = nullptr;
  const InferenceScaler::Variant* variant = nullptr;
  std::string field;         ///< field of the scaler that names the target: "spec.roles[0].variants[1].targetRef"
  std::string service_name;  ///< name of the service: "ns/chat", or "ns/chat/chat-h100" if there are several targets
};
std::vector<ScalerTarget> targets_of(const InferenceScaler& scaler);  ///< in the order of the scaler's fields

/// Returns the row of a target's service. `workload` is null if the target does not exist.
model::Service service_of(const InferenceScaler& scaler, const ScalerTarget& target, const kube::Workload* workload,
                          CatalogBuilder& catalog);

}  // namespace capstan::op
