#include "peers/formula/kpa_zero.h"

#include <algorithm>

namespace capstan::peers::kpa {
namespace {

using Activity = Revision::Activity;
using Reachability = Revision::Reachability;

ReplicaCount bounded(const ZeroSettings& settings, const Revision& revision, ReplicaCount wanted) {
  ReplicaCount least = 0;
  if (revision.reachability != Reachability::unreachable) {
    least = settings.min_scale;
    if (settings.initial_scale > 1 && !revision.initial_scale_reached) least = std::max(least, settings.initial_scale);
  }
  if (wanted < least) return least;
  return settings.max_scale != 0 ? std::min(wanted, settings.max_scale) : wanted;
}

/// A step and whether its count is applied.
struct Proposal {
  Step step;
  bool apply = false;
};

/// Retires an inactive revision: the activator must hold its requests before the last pod is removed.
Proposal retire(const ZeroSettings& settings, const Revision& revision) {
  const bool always_in_path = settings.target_burst_capacity == -1;
  if (!always_in_path && !revision.activator_answers) return {{.probe = true}, false};
  // The last pod is retained for further requests. Without a route no request can arrive.
  const bool reachable = revision.reachability != Reachability::unreachable;
  const Duration retention = reachable ? settings.retention : Duration{};
  const Duration inactive = revision.activity_for;
  if (inactive >= std::max(settings.grace, retention)) return {{}, true};
  if (inactive >= retention && revision.proxied_for >= settings.grace) return {{}, true};
  return {{.recheck = true}, false};
}

Proposal to_zero(const ZeroSettings& settings, const Revision& revision) {
  if (!settings.scale_to_zero) return {{.desired = 1}, true};
  switch (revision.activity) {
    case Activity::activating:
      // The revision was not ready within the timeout, so it is scaled to zero.
      if (revision.activity_for > settings.activation_timeout) return {{}, true};
      [[fallthrough]];
    case Activity::unset:
      return {{.desired = kUnknown, .recheck = true}, false};
    case Activity::active:
      // After a whole idle window, the returned 0 is not applied: it only marks the revision inactive. If the activator
      // is not in the request path, it is put there, and this change triggers Knative's next evaluation. If it is there
      // already, nothing changes, so a recheck triggers the evaluation.
      if (revision.activity_for >= settings.stable_window) return {{.recheck = revision.proxied}, false};
      return {{.desired = 1, .recheck = true}, true};
    case Activity::inactive:
      break;
  }
  return retire(settings, revision);
}

}  // namespace

Step apply_bounds_and_zero(const ZeroSettings& settings, const Revision& revision, ReplicaCount wanted) {
  const bool activating = revision.activity == Activity::activating || revision.activity == Activity::unset;
  if (wanted < 0 && !activating) return {.desired = wanted};
  const ReplicaCount desired = bounded(settings, revision, wanted);
  Proposal proposal{{.desired = desired}, true};
  if (desired == 0) proposal = to_zero(settings, revision);
  proposal.step.applied = proposal.apply && proposal.step.desired != revision.replicas;
  return proposal.step;
}

}  // namespace capstan::peers::kpa
