#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "decide/scale/scale.h"
#include "engine/names.h"
#include "kube/node_views.h"
#include "model/catalog.h"
#include "operator/view/cluster_view.h"

namespace capstan::op {

/// Gathers a catalog from what the cluster shows. Rows are only ever added, except that a service is rewritten when
/// somebody edits its scaler: positions are ids and stay.
class CatalogBuilder {
 public:
  CatalogBuilder();

  /// By any of its names: "H100" and "NVIDIA-H100-80GB-HBM3" are the engine table's h100_sxm.
  model::GpuKindId gpu_kind(const std::string& name);
  /// The model that is served under a name, where the engine table has it.
  const std::optional<engine::ServedModel>& served_model(const std::string& name);
  model::PoolId pool(const std::string& name);
  /// The row of an offering. A price that is given is the row's from now on; none leaves it as it is.
  model::OfferingId offering(const model::Offering& offering);
  /// What a pool sells, and how many GPUs it may have.
  void set_pool(model::PoolId id, std::vector<model::OfferingId> offerings, GpuCount gpu_limit);
  void set_queues(std::vector<model::Queue> queues) { catalog_.queues = std::move(queues); }
  void set_eligibility(model::Eligibility eligibility, std::vector<std::string> extended_resources) {
    catalog_.eligibility = std::move(eligibility);
    catalog_.extended_resources = std::move(extended_resources);
  }
  void set_limits(const model::FleetLimits& limits) { catalog_.limits = limits; }
  /// The domains that a node's labels state: zone, rack, NVLink clique. Levels that no label tells are none.
  model::DomainPath domains(const kube::StringMap& labels);
  /// For those that state none: the first GPU kind that was seen, "unknown" where none was.
  model::GpuKindId any_gpu_kind() { return catalog_.gpu_kinds.empty() ? gpu_kind("unknown") : model::GpuKindId{0}; }

  /// Sets the row of a service, which is the next one or one that there is.
  void set_service(model::ServiceId id, model::Service service);
  /// The replicas of `service` go on with what those of `feeder` began: decode and prefill of one scaler.
  void set_fed_by(model::ServiceId service, model::ServiceId feeder) {
    catalog_.services.at(service.value).fed_by = feeder;
  }
  /// How both are held to each other, once `service` is fed by `feeder`.
  void set_role_limits(model::ServiceId service, model::ServiceId feeder, const model::RoleLimits& limits) {
    catalog_.services.at(service.value).role_limits = catalog_.services.at(feeder.value).role_limits = limits;
  }
  /// The variants behind the same endpoint whose number is decided with that of `first`.
  void set_beside(model::ServiceId first, std::vector<model::ServiceId> others) {
    catalog_.services.at(first.value).beside = std::move(others);
  }
  /// Of a service that is gone nothing is kept but its place.
  void clear_service(model::ServiceId id);

  const model::Catalog& rows() const { return catalog_; }
  const model::Variant& service_variant(model::ServiceId service, model::VariantId variant) const {
    return catalog_.services.at(service.value).variants.at(variant.value);
  }

  std::shared_ptr<const model::Catalog> catalog() const { return std::make_shared<const model::Catalog>(catalog_); }

 private:
  model::DomainId domain(const std::string& name, model::TopologyLevel level, model::DomainId parent);

  model::Catalog catalog_;
  // By the name that a cluster has for it: asked at every look.
  std::map<std::string, std::string> gpu_names_;
  std::map<std::string, std::optional<engine::ServedModel>> models_;
};

/// The level of the domains that the values of a node label are; nothing for a label that names none.
std::optional<model::TopologyLevel> level_of(std::string_view label);

/// What a node's labels, or a claim's, call its GPUs; else what the fleet says of its instance type, whose nodes will
/// call them so; else the resource's name.
std::string gpu_name(const kube::StringMap& labels, const kube::Resources& resources, const FleetPolicy& fleet);

/// How Capstan scales what the scaler describes.
decide::scale::Policy policy_of(const InferenceScaler& scaler);

/// One target of a scaler. Each is a service of its own with one variant: it is one workload object, whose replicas
/// tell their own load. How many of each there are of one role is decided in one go by Capstan's own policy, by any
/// other of each for itself.
struct TargetOf {
  const InferenceScaler::Role* role = nullptr;
  const InferenceScaler::Variant* variant = nullptr;
  std::string field;  ///< where the scaler names it: "spec.roles[0].variants[1].targetRef"
  std::string shown;  ///< the service's name: "ns/chat", with several targets "ns/chat/chat-h100"
};
std::vector<TargetOf> targets_of(const InferenceScaler& scaler);  ///< in the order in which they are written

/// The service that a target stands for. `workload` is null where it does not exist.
model::Service service_of(const InferenceScaler& scaler, const TargetOf& target, const kube::Workload* workload,
                          CatalogBuilder& catalog);

}  // namespace capstan::op
