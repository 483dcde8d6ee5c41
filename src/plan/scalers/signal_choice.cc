#include "plan/scalers/signal_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "plan/feasibility/refusal.h"
#include "plan/scalers/engine_metrics.h"

namespace capstan::plan {

namespace {

/// Shares of the step time that prompts take: above the first, prefill dominates; below the second, decode does.
constexpr double kPrefillBound = 0.6, kDecodeBound = 0.3;
/// An HPA changes nothing while a metric is within this factor of its target.
constexpr double kHpaTolerance = 1.1;
/// Cap of the headroom factor. A larger burst is covered by more minimum replicas, which costs less.
constexpr double kGrowthMax = 1.5;
/// Cap of the KV target, so that full KV memory adds at least half of the replicas.
constexpr double kKvMax = 0.65;
constexpr std::int64_t kRequestsMin = 2;     ///< a threshold of 1 would add replicas at the first request
constexpr std::int64_t kAssumedWaiting = 4;  ///< waiting requests per replica, the default of Capstan's policy Queue

/// Returns "230 ms" or "1.2 s".
std::string short_time(double seconds) {
  return seconds < 1 ? fmt::format("{:.3g} ms", seconds * 1000) : fmt::format("{:.3g} s", seconds);
}

/// Returns the bound on the first token, seconds: a third of the end-to-end bound if there is no bound of its own.
double slo_ttft_s(const ServiceSpec& service) {
  const Duration bound = service.slo.ttft > Duration{} ? service.slo.ttft : service.slo.e2e / 3;
  return std::chrono::duration<double>(bound).count();
}

void classify(const RoleFleet& role, SignalChoice& choice) {
  if (role.role == model::Role::prefill) {
    choice.kind = WorkKind::prefill_bound;
    choice.kind_reason = "prefill replicas compute prompts and nothing else";
  } else if (role.role == model::Role::decode) {
    choice.kind = WorkKind::decode_bound;
    choice.kind_reason =
        fmt::format("decode replicas compute no prompts; at {} sequences their KV memory is {:.0f} % full",
                    choice.batch, role.kv_share_at_batch * 100);
  } else {
    choice.kind = choice.prefill_share >= kPrefillBound  ? WorkKind::prefill_bound
                  : choice.prefill_share <= kDecodeBound ? WorkKind::decode_bound
                                                         : WorkKind::mixed;
    choice.kind_reason = fmt::format(
        "at {} sequences prompts take {:.0f} % of the step time, answers {:.0f} %, and {:.0f} % of the KV memory is in "
        "use; prefill-bound from {:.0f} %, decode-bound up to {:.0f} %",
        choice.batch, choice.prefill_share * 100, (1 - choice.prefill_share) * 100, role.kv_share_at_batch * 100,
        kPrefillBound * 100, kDecodeBound * 100);
  }
}

/// Replaces the signal that fits the work by the one that the spec asks for.
void apply_asked_signal(std::string_view asked, SignalChoice& choice) {
  choice.signal = choice.kind;
  const std::optional<AskedSignal> word = asked.empty() ? std::nullopt : asked_signal(asked);
  if (!word) return;
  if (word == AskedSignal::queue || word == AskedSignal::latency) choice.signal = WorkKind::prefill_bound;
  if (word == AskedSignal::kv) choice.signal = WorkKind::decode_bound;
  if (word == AskedSignal::goodput) choice.signal = WorkKind::mixed;
  choice.asked_reason = fmt::format("asked.scale_on: {}", asked);
  if (word == AskedSignal::latency) {
    choice.asked_reason +=
        "; a latency rises only after requests wait, so the signal is the queue, with its threshold from the TTFT "
        "bound";
  }
  choice.asked_reason += choice.signal == choice.kind
                             ? "; the plan would take the same"
                             : fmt::format("; the plan would take {}", signal_word(choice.kind));
}

/// Sets the factor by which the load of a burst exceeds what the minimum carries. The thresholds leave this much
/// headroom, because a burst arrives before new replicas are ready.
void set_growth(const ServiceSpec& service, const RoleFleet& role, const MeanRequest& request,
                const ReplicaCapacity& capacity, SignalChoice& choice) {
  const double base = request.per_second / std::max(capacity.requests_per_s, 1e-9);
  const double burst = base * std::max(service.load.burst_factor, 1.0);
  const double minimum = static_cast<double>(role.burst_minimum > 0 ? role.burst_minimum : role.minimum);
  const double ready = std::max(minimum, base);
  choice.growth = std::clamp(burst / std::max(ready, 1e-9), 1.0, kGrowthMax);
}

/// Returns a mean number of requests that usually stays within `most`, even with random arrivals: their standard
/// deviation is about the square root of `most`.
double mean_within(double most) { return std::max(most - std::sqrt(most), 1.0); }

void set_in_flight(const RoleFleet& role, SignalChoice& choice) {
  const bool is_prefill = role.role == model::Role::prefill;
  const auto batch = static_cast<double>(choice.batch);
  // A prompt is late if the prompts before it take as long as the TTFT bound. So the mean queue may take half as long.
  const double most = is_prefill ? batch / 2 : batch;
  const double target = mean_within(most) / choice.growth / kHpaTolerance;
  choice.in_flight = std::max<std::int64_t>(static_cast<std::int64_t>(target), kRequestsMin);
  choice.in_flight_reason = fmt::format(
      "{} runs {} sequences within the SLO, limited by {}; ({}{} - {:.2f} for random arrivals) / {:.2f} for the part "
      "of a burst above the minimum / {:.1f} for the tolerance of the HPA = {:.2f}, {}",
      is_prefill ? "a prompt behind all others is late, so that half of them count: a replica" : "a replica",
      choice.batch, bound_word(choice.bound), choice.batch, is_prefill ? " / 2" : "", most - mean_within(most),
      choice.growth, kHpaTolerance, target,
      target < static_cast<double>(kRequestsMin) ? fmt::format("raised to {}", kRequestsMin) : "rounded down");
}

void set_waiting(const ServiceSpec& service, const RoleFleet& role, const ReplicaCapacity& capacity,
                 SignalChoice& choice) {
  const double ttft_s = slo_ttft_s(service);
  const bool is_decode = role.role == model::Role::decode;
  if (ttft_s <= 0 || capacity.prompt_s <= 0 || is_decode) {
    choice.waiting = kAssumedWaiting;
    choice.is_waiting_assumed = true;
    choice.waiting_reason =
        is_decode
            ? "decode replicas compute no prompts; only the HPA has this metric, because it cannot add waiting to "
              "running requests"
            : "the SLO has no bound on the first token";
    return;
  }
  const double prompts = ttft_s / capacity.prompt_s / 2;
  const std::int64_t most = std::max(kRequestsMin, choice.in_flight);
  choice.waiting = std::clamp<std::int64_t>(static_cast<std::int64_t>(prompts), kRequestsMin, most);
  choice.waiting_reason = fmt::format(
      "a replica computes {:.1f} mean prompts of {} within half of the TTFT bound of {}; the other half is for the "
      "prompt itself and the next reading{}",
      prompts, short_time(capacity.prompt_s), short_time(ttft_s),
      prompts < static_cast<double>(kRequestsMin) ? fmt::format("; at least {}", kRequestsMin)
      : prompts >= static_cast<double>(most + 1)  ? fmt::format("; not above the {} that are in flight", most)
                                                  : "");
}

void set_kv(const RoleFleet& role, SignalChoice& choice) {
  const auto batch = static_cast<double>(choice.batch);
  const double usual = mean_within(batch);
  const double share = role.kv_share_at_batch * usual / batch / choice.growth / kHpaTolerance;
  choice.kv_percent = std::max<std::int64_t>(static_cast<std::int64_t>(std::min(share, kKvMax) * 100), 1);
  choice.kv_reason = fmt::format(
      "{:.0f} % at {} sequences x {:.1f} / {} for random arrivals / {:.2f} for the part of a burst above the minimum / "
      "{:.1f} for the tolerance of the HPA = {:.1f} %, rounded down, at most {:.0f} %",
      role.kv_share_at_batch * 100, choice.batch, usual, choice.batch, choice.growth, kHpaTolerance, share * 100,
      kKvMax * 100);
}

/// Sets the threshold of the composite goodput. Goodput is what a replica delivers within every bound of the SLO. It is
/// measured in answer tokens, because engines count these as they are generated, and requests only when they end.
void set_goodput(const ServiceSpec& service, const MeanRequest& request, const ReplicaCapacity& capacity,
                 SignalChoice& choice) {
  choice.has_goodput_metric = find_metric(service.engine, signals::SignalName::generated_tokens_total).has_value();
  const double most = capacity.found.tokens_per_s;
  const double target = most / choice.growth / kHpaTolerance;
  choice.goodput_tokens = std::max<std::int64_t>(static_cast<std::int64_t>(target), 1);
  choice.goodput_reason = fmt::format(
      "a replica delivers {:.2f} requests/s of {:.0f} answer tokens within every bound of the SLO, {:.0f} tokens/s, "
      "prompts and answers together; / {:.2f} for the part of a burst above the minimum / {:.1f} for the tolerance of "
      "the HPA = {:.1f}, rounded down; the waiting requests, which deliver nothing yet, are a target of their own",
      capacity.requests_per_s, request.answer, most, choice.growth, kHpaTolerance, target);
}

/// Compares the thresholds by the requests of one replica at which they are reached.
void set_first_threshold(const RoleFleet& role, const ServiceSpec& service, const MeanRequest& request,
                         SignalChoice& choice) {
  const double kv_per_sequence = role.kv_share_at_batch / static_cast<double>(choice.batch);
  const double by_kv = kv_per_sequence > 0 ? static_cast<double>(choice.kv_percent) / 100 / kv_per_sequence : 0;
  const bool has_kv = choice.uses_kv() && by_kv > 0;
  const double by_goodput =
      choice.uses_goodput() ? sequences_at(role, service.slo, request, static_cast<double>(choice.goodput_tokens)) : 0;
  const auto is_first = [&](double requests) {
    return requests > 0 && requests < static_cast<double>(choice.in_flight);
  };
  choice.first_threshold = has_kv && is_first(by_kv) ? "KV memory" : is_first(by_goodput) ? "goodput" : "in flight";
  choice.first_threshold_reason = fmt::format("with mean requests, {} in flight is reached at {} requests of a replica",
                                              choice.in_flight, choice.in_flight);
  if (has_kv) choice.first_threshold_reason += fmt::format(", {} % of KV memory at {:.0f}", choice.kv_percent, by_kv);
  if (by_goodput > 0) {
    choice.first_threshold_reason +=
        fmt::format(", {} tokens/s of goodput at {:.0f}", choice.goodput_tokens, by_goodput);
  }
  if (choice.uses_waiting()) {
    choice.first_threshold_reason += fmt::format(", {} waiting at {}, because the others are in the batch",
                                                 choice.waiting, choice.batch + choice.waiting);
  }
  choice.first_threshold_reason +=
      "; the lowest adds replicas, and the others take over when prompts or answers are longer than the mean";
}

}  // namespace

SignalChoice choose_signal(const ServiceSpec& service, const ServicePlan& fleet, const RoleFleet& role,
                           std::string_view asked) {
  const MeanRequest request = mean_request(service, fleet);
  const ReplicaCapacity capacity = replica_capacity(service, role, request);
  SignalChoice choice{.prefill_share = std::clamp(role.prefill_share, 0.0, 1.0),
                      .batch = std::max<std::int64_t>(role.batch, 1),
                      .bound = capacity.found.bound};
  classify(role, choice);
  apply_asked_signal(asked, choice);
  set_growth(service, role, request, capacity, choice);
  set_in_flight(role, choice);
  set_waiting(service, role, capacity, choice);
  set_kv(role, choice);
  set_goodput(service, request, capacity, choice);
  set_first_threshold(role, service, request, choice);
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
