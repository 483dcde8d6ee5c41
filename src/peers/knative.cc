#include "peers/knative.h"

#include <algorithm>
#include <cmath>

#include "peers/scaled_by_requests.h"

namespace capstan::peers {

using namespace std::chrono_literals;
using Activity = kpa::Revision::Activity;

namespace {

Duration panic_window(const KnativeSpec& spec) {
  const double seconds = static_cast<double>(spec.decider.stable_window / 1ms) / 1e3 *
                         static_cast<double>(spec.panic_window_percentage) / 100;
  return std::max<Duration>(1s, std::chrono::seconds(std::llround(seconds)));
}

}  // namespace

KnativeAutoscaler::KnativeAutoscaler(KnativeSpec spec)
    : spec_(spec), stable_(spec.decider.stable_window, 1s), panic_(panic_window(spec), 1s) {}

/// Applies the reconciler's bounds and its rules for scaling to zero to the decider's count.
ReplicaCount KnativeAutoscaler::apply_bounds_and_zero(ReplicaCount wanted, const ClusterView& view, Instant now) {
  kpa::Revision revision;
  revision.replicas = view.role.current;
  revision.activity = activity_;
  revision.activity_for = now - activity_since_;
  revision.initial_scale_reached = true;
  revision.reachability = kpa::Revision::Reachability::reachable;
  revision.proxied = activity_ == Activity::inactive;
  revision.proxied_for = revision.proxied ? now - activity_since_ : Duration{};
  const kpa::Step step = kpa::apply_bounds_and_zero(spec_.zero, revision, wanted);
  const Activity next = step.desired == 0 ? Activity::inactive : Activity::active;
  if (next != activity_) {
    activity_ = next;
    activity_since_ = now;
  }
  return step.desired < 0 || (step.desired == 0 && !step.applied) ? view.role.current : step.desired;
}

Recommendation KnativeAutoscaler::recommend(const ClusterView& view, Instant now) {
  if (const std::optional<double> total = requests_in_flight(view)) {
    stable_.record(now, *total);
    panic_.record(now, *total);
    recorded_ = true;
  }
  const ReplicaCount pods = ready_replicas(view.role);
  if (!state_) {
    state_ = kpa::begin(spec_.decider, pods, now);
    activity_ = view.role.current == 0 ? Activity::inactive : Activity::active;
  }
  const bool woken = view.role.current == 0 && view.gateway_waiting.value_or(0) > 0;
  if (now < next_decision_ && !woken) return last_.value_or(Recommendation{view.role.current, "no decision yet"});
  next_decision_ = now + kpa::kTick;
  kpa::Observation observed{pods, std::nullopt, std::nullopt};
  if (recorded_) observed = {pods, stable_.average(now), panic_.average(now)};
  const kpa::Result result = kpa::decide(spec_.decider, *state_, observed, now);
  if (!result.valid) return {view.role.current, "no metrics yet"};
  const std::string mode = state_->last_panic_at ? "in panic, " : "";
  last_ = Recommendation{apply_bounds_and_zero(result.desired, view, now),
                         mode + std::to_string(std::llround(*observed.stable)) + " requests over the stable window, " +
                             std::to_string(std::llround(*observed.panic)) +
                             " over the panic window: " + std::to_string(result.desired)};
  return *last_;
}

}  // namespace capstan::peers
