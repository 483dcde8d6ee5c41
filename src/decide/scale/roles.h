#pragma once

#include <map>
#include <vector>

#include "decide/scale/scale.h"

// Disaggregated services: prefill and decode are decided separately, and the two decisions are then reconciled.
namespace capstan::decide::scale {

/// The decision about one role, and the view from which it was made.
struct RolePart {
  WorkloadView role;
  Decision decision;
  std::vector<model::Action> conversions{};  ///< conversions of replicas that join this role
};

/// Returns the other role of the service in `catalog`, or an invalid id if it has none.
model::ServiceId other_role(const model::Catalog& catalog, model::ServiceId service);

/// Returns true if the service is decided together with its other role; only Capstan's own policies do that.
bool is_paired(const model::Catalog& catalog, model::ServiceId service, const Policy& policy);

/// Reconciles each decode service in `parts` with the service that computes its prompts, if both are present:
///  - *Ratio.* Each decision is raised to the fewest replicas that the ratio requires, given the decision about the
///    other role, up to the maximum of the role. A ratio never lowers a decision.
///  - *Conversion.* If a replica can change its role faster than a new one starts, both roles form one fleet. If a role
///    lacks replicas that must serve now, it takes spare replicas of the other role, the least loaded first. The other
///    role keeps its minimum and the ratio. Replicas are started only if the other role cannot lend them, and stopped
///    only if the other role does not lack them. If a role must survive the loss of a domain, no replica converts.
/// The plan of every changed decision is recomputed.
void reconcile_roles(const model::Catalog& catalog, std::map<model::ServiceId, RolePart>& parts);

}  // namespace capstan::decide::scale
