#pragma once

#include <memory>
#include <string>
#include <vector>

#include "decide/scale/scale.h"
#include "kube/node_views.h"
#include "model/catalog.h"
#include "operator/cluster_view.h"

namespace capstan::op {

/// Gathers a catalog from what the cluster shows. Rows are only ever added, except that a service is rewritten when
/// somebody edits its scaler: positions are ids and stay.
class CatalogBuilder {
 public:
  CatalogBuilder();

  model::GpuKindId gpu_kind(const std::string& name);
  model::PoolId pool(const std::string& name);
  model::OfferingId offering(const model::Offering& offering);
  /// The domains that a node's labels state: zone, rack, NVLink clique. Levels that no label tells are none.
  model::DomainPath domains(const kube::StringMap& labels);
  /// The first GPU kind that was seen, for those that state none; none while there is none.
  model::GpuKindId any_gpu_kind() const {
    return catalog_.gpu_kinds.empty() ? model::GpuKindId{} : model::GpuKindId{0};
  }

  /// Sets the row of a service, which is the next one or one that there is.
  void set_service(model::ServiceId id, model::Service service);

  const model::Variant& service_variant(model::ServiceId service, model::VariantId variant) const {
    return catalog_.services.at(service.value).variants.at(variant.value);
  }

  std::shared_ptr<const model::Catalog> catalog() const { return std::make_shared<const model::Catalog>(catalog_); }

 private:
  model::DomainId domain(const std::string& name, model::TopologyLevel level, model::DomainId parent);

  model::Catalog catalog_;
};

/// What a node's labels, or a claim's, call its GPUs; the resource's name where they call them nothing.
std::string gpu_name(const kube::StringMap& labels, const kube::Resources& resources);

/// How Capstan scales what the scaler describes.
decide::scale::Policy policy_of(const InferenceScaler& scaler);

/// The service that a scaler stands for: its targets in the order in which they are written, all roles together.
model::Service service_of(const InferenceScaler& scaler, const Targets& targets, CatalogBuilder& catalog);

/// A variant of a scaler, flat: what `model::VariantId` counts.
struct TargetOf {
  const InferenceScaler::Role* role = nullptr;
  const InferenceScaler::Variant* variant = nullptr;
};
std::vector<TargetOf> targets_of(const InferenceScaler& scaler);

}  // namespace capstan::op
