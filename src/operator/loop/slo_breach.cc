#include "operator/loop/slo_breach.h"
#include "base/known_row.h"

namespace capstan::op {

void add_slo_breach(control::Policies& policies, const ClusterView& view,
                    const std::map<model::ServiceId, ServiceOrigin>& services) {
  policies.slo_breach = fleet_policy(view.fleet).slo_breach;
  if (!policies.slo_breach) return;
  const ScalersByUid scalers = scalers_by_uid(view);
  policies.acknowledged.assign(policies.scale.size(), Instant{});
  for (const auto& [id, origin] : services) {
    known_row(policies.acknowledged, id.value) = instant_of(known_row(scalers, origin.scaler_uid)->slo_acknowledged);
  }
}

}  // namespace capstan::op
