#pragma once

#include <map>
#include <vector>

#include "decide/scale/scale.h"

// Prefill and decode apart: each role is decided by itself, and both decisions are then held to each other.
namespace capstan::decide::scale {

/// What was decided of one role, and on which sight of it.
struct RolePart {
  RoleView role;
  Decision decision;
  std::vector<model::Action> changes{};  ///< of replicas that join this role
};

/// The other role of the service, in `catalog`; none: it has none.
model::ServiceId other_role(const model::Catalog& catalog, model::ServiceId service);

/// Is the service decided together with its other role, in what Capstan's own policies decide?
bool is_paired(const model::Catalog& catalog, model::ServiceId service, const Policy& policy);

/// Holds each decode service in `parts` to the one that feeds it, where both are there:
///  - *Ratio.* Where there are fewer of a role than its bound asks for beside what was decided of the other, it is
///    raised, as far as its maximum allows. Nothing is lowered for a ratio.
///  - *Conversion.* Where a replica can be either, sooner than one starts, both roles are one fleet. Who is where
///    follows from what has to serve now: what one role lacks and the other can spare changes over, those with the
///    least to lose; the other keeps its minimum and the ratio. Started is what the other cannot give, stopped what it
///    does not lack. Where a role is to survive the loss of a domain, nobody changes over.
/// The plans of those that change are made anew.
void hold_together(const model::Catalog& catalog, std::map<model::ServiceId, RolePart>& parts);

}  // namespace capstan::decide::scale
