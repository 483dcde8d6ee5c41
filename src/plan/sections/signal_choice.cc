#include "plan/sections/signal_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace capstan::plan {

namespace {

/// Shares of the step time beyond which one kind of work dominates. Between them both matter.
constexpr double kPrefillBound = 0.6, kDecodeBound = 0.3;
/// An HPA changes nothing while a metric is within this factor of its target.
constexpr double kHpaTolerance = 1.1;
/// Largest growth for which every replica keeps room. Room for more is cheaper as ready replicas, in the minimum.
constexpr double kMostGrowth = 1.5;
/// With a target above this, a ratio could add less than half of the replicas in one step.
constexpr double kMostKv = 0.65;
constexpr std::int64_t kLeastWaiting = 2;    ///< a threshold of 1 would add replicas at the first waiting request
constexpr std::int64_t kAssumedWaiting = 4;  ///< policy Queue's default

/// Returns the bound on the first token, seconds: a third of the end-to-end bound if there is no bound of its own.
double slo_ttft_s(const ServiceSpec& service) {
  const Duration bound = service.slo.ttft > Duration{} ? service.slo.ttft : service.slo.e2e / 3;
  return std::chrono::duration<double>(bound).count();
}

void classify(const RoleFleet& role, SignalChoice& choice) {
  if (role.role == model::Role::prefill) {
    choice.kind = WorkKind::prefill_bound;
    choice.kind_why = "prefill replicas compute prompts and nothing else";
  } else if (role.role == model::Role::decode) {
    choice.kind = WorkKind::decode_bound;
    choice.kind_why =
        fmt::format("decode replicas compute no prompts; at {} sequences their KV memory is {:.0f} % full",
                    choice.batch, role.kv_share_at_batch * 100);
  } else {
    choice.kind = choice.prefill_share >= kPrefillBound  ? WorkKind::prefill_bound
                  : choice.prefill_share <= kDecodeBound ? WorkKind::decode_bound
                                                         : WorkKind::mixed;
    choice.kind_why = fmt::format(
        "at {} sequences prompts take {:.0f} % of the step time, answers {:.0f} %, and {:.0f} % of the KV memory is in "
        "use; prefill-bound from {:.0f} %, decode-bound up to {:.0f} %",
        choice.batch, choice.prefill_share * 100, (1 - choice.prefill_share) * 100, role.kv_share_at_batch * 100,
        kPrefillBound * 100, kDecodeBound * 100);
  }
}

/// Sets by how much the load of a burst exceeds the minimum. Replicas keep this much room, because a burst is there
/// before new replicas are.
void set_growth(const ServiceSpec& service, const RoleFleet& role, const MeanRequest& request,
                const ReplicaCapacity& capacity, SignalChoice& choice) {
  const double base = request.per_second / std::max(capacity.requests_per_s, 1e-9);
  const double burst = base * std::max(service.load.burst_factor, 1.0);
  const double ready = std::max(static_cast<double>(role.minimum), base);
  choice.growth = std::clamp(burst / std::max(ready, 1e-9), 1.0, kMostGrowth);
}

/// Returns a mean load whose usual deviation stays within `most`: requests arrive at random, so that the deviation is
/// the square root.
double less_deviation(double most) { return std::max(most - std::sqrt(most), 1.0); }

void set_in_flight(const RoleFleet& role, SignalChoice& choice) {
  const bool is_prefill = role.role == model::Role::prefill;
  const auto batch = static_cast<double>(choice.batch);
  // A prompt that finds a full TTFT of other prompts before it is late, so that half of them is the most on average.
  const double most = is_prefill ? batch / 2 : batch;
  const double target = less_deviation(most) / choice.growth / kHpaTolerance;
  choice.in_flight = std::max<std::int64_t>(static_cast<std::int64_t>(target), is_prefill ? kLeastWaiting : 1);
  choice.in_flight_why = fmt::format(
      "{}{} sequences within the SLO, limited by {}{}, less {:.1f} for random arrivals, / {:.2f} for a burst beyond "
      "the "
      "minimum / {:.1f} for the tolerance of the HPA = {:.1f}",
      is_prefill ? "half of " : "", choice.batch, bound_word(choice.bound),
      is_prefill ? ", because a prompt behind all of them is late" : "", most - less_deviation(most), choice.growth,
      kHpaTolerance, target);
}

void set_waiting(const ServiceSpec& service, const ReplicaCapacity& capacity, SignalChoice& choice) {
  const double ttft_s = slo_ttft_s(service);
  if (ttft_s <= 0 || capacity.prompt_s <= 0) {
    choice.waiting = kAssumedWaiting;
    choice.is_waiting_assumed = true;
    choice.waiting_why = "the SLO has no bound on the first token";
    return;
  }
  const double prompts = ttft_s / capacity.prompt_s / 2;
  choice.waiting = std::clamp<std::int64_t>(static_cast<std::int64_t>(prompts), kLeastWaiting,
                                            std::max(kLeastWaiting, choice.in_flight));
  choice.waiting_why = fmt::format(
      "a replica computes {:.1f} mean prompts of {:.2f} s within half of the TTFT bound of {:.2f} s; the other half is "
      "for the prompt itself and the next reading; at least {}, at most the {} in flight",
      prompts, capacity.prompt_s, ttft_s, kLeastWaiting, choice.in_flight);
}

void set_kv(const RoleFleet& role, SignalChoice& choice) {
  const auto batch = static_cast<double>(choice.batch);
  const double usual = less_deviation(batch);
  const double share = role.kv_share_at_batch * usual / batch / choice.growth / kHpaTolerance;
  choice.kv_percent = std::max<std::int64_t>(static_cast<std::int64_t>(std::min(share, kMostKv) * 100), 1);
  choice.kv_why = fmt::format(
      "{:.0f} % at {} sequences x {:.1f} / {} for random arrivals / {:.2f} for a burst beyond the minimum / {:.1f} for "
      "the tolerance of the HPA = {:.0f} %, at most {:.0f} %",
      role.kv_share_at_batch * 100, choice.batch, usual, choice.batch, choice.growth, kHpaTolerance, share * 100,
      kMostKv * 100);
}

}  // namespace

SignalChoice choose_signal(const ServiceSpec& service, const ServicePlan& fleet, const RoleFleet& role) {
  const MeanRequest request = mean_request(service, fleet);
  const ReplicaCapacity capacity = replica_capacity(service, role, request);
  SignalChoice choice{.prefill_share = std::clamp(role.prefill_share, 0.0, 1.0),
                      .batch = std::max<std::int64_t>(role.batch, 1),
                      .bound = capacity.found.bound};
  classify(role, choice);
  set_growth(service, role, request, capacity, choice);
  set_in_flight(role, choice);
  set_waiting(service, capacity, choice);
  set_kv(role, choice);
  return choice;
}

std::string signal_word(WorkKind kind) {
  switch (kind) {
    case WorkKind::prefill_bound:
      return "queue depth";
    case WorkKind::decode_bound:
      return "KV pressure";
    case WorkKind::mixed:
      return "composite goodput";
  }
  return "";
}

std::string kind_word(WorkKind kind) {
  switch (kind) {
    case WorkKind::prefill_bound:
      return "prefill-bound";
    case WorkKind::decode_bound:
      return "decode-bound";
    case WorkKind::mixed:
      return "mixed";
  }
  return "";
}

}  // namespace capstan::plan
