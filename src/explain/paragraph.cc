#include <fmt/format.h>

#include <algorithm>

#include "decide/place/shortfall_reason.h"
#include "explain/candidates.h"
#include "explain/explain.h"
#include "explain/words.h"
#include "model/reason_sentence.h"
#include "model/topology_names.h"

namespace capstan::explain {
namespace {

using decide::scale::MetricReading;

std::string_view metric_name(MetricReading::Kind kind) {
  switch (kind) {
    case MetricReading::Kind::duty_cycle:
      return "the GPU duty cycle";
    case MetricReading::Kind::memory:
      return "GPU memory in use";
    case MetricReading::Kind::waiting:
      return "the requests waiting";
    case MetricReading::Kind::running:
      return "the requests running";
    case MetricReading::Kind::kv:
      return "KV memory in use";
    case MetricReading::Kind::ttft:
      return "the time to the first token";
    case MetricReading::Kind::tpot:
      return "the time between tokens";
    case MetricReading::Kind::goodput:
      return "the share of tokens that hold the SLO";
  }
  return {};
}

/// Returns a value of a metric in the unit that people use for it.
/// @param thousandths  value in the metric's own unit, times 1000
std::string metric_value(MetricReading::Kind kind, std::int64_t thousandths) {
  switch (kind) {
    case MetricReading::Kind::duty_cycle:
    case MetricReading::Kind::memory:
      return decimal_text(thousandths) + " %";
    case MetricReading::Kind::kv:
    case MetricReading::Kind::goodput:
      return percent_text(thousandths / 1000);
    case MetricReading::Kind::ttft:
    case MetricReading::Kind::tpot:
      return time_text(std::chrono::nanoseconds(thousandths));
    case MetricReading::Kind::waiting:
    case MetricReading::Kind::running:
      break;
  }
  return decimal_text(thousandths);
}

/// Returns true if the sum over the replicas is meaningful: requests add up, shares and times do not.
bool adds_up(MetricReading::Kind kind) {
  return kind == MetricReading::Kind::waiting || kind == MetricReading::Kind::running;
}

std::string percent_of_thousand(std::int64_t thousandths) { return percent_text(thousandths * 1000); }

std::string reading_text(const MetricReading& reading) {
  const std::int64_t asked = reading.read + reading.missing + reading.unready;
  if (!reading.valid) {
    return fmt::format(" None of {} reported {}.", replicas_text(asked), metric_name(reading.kind));
  }
  std::string text =
      fmt::format(" {} of {} reported {}: ", reading.read, replicas_text(asked), metric_name(reading.kind));
  if (adds_up(reading.kind)) text += fmt::format("{} in total, ", reading.total);
  text += fmt::format("{} on average for a target of {}, which is {} of the target",
                      metric_value(reading.kind, reading.mean_milli), metric_value(reading.kind, reading.target * 1000),
                      percent_of_thousand(reading.ratio_per_mille));
  if (reading.filled_ratio_per_mille != reading.ratio_per_mille) {
    text += fmt::format(" ({} with values assumed for {} without a reading and {} that are not ready)",
                        percent_of_thousand(reading.filled_ratio_per_mille), replicas_text(reading.missing),
                        reading.unready);
  }
  return text + fmt::format(". If only this metric decided, {} would be needed.", replicas_text(reading.proposed));
}

std::string_view bound_name(decide::scale::Sizing::Bound bound) {
  using Bound = decide::scale::Sizing::Bound;
  switch (bound) {
    case Bound::tpot:
      return "the SLO's time between tokens";
    case Bound::ttft:
      return "the SLO's time to the first token";
    case Bound::kv:
      return "KV memory";
    case Bound::sequences:
      return "the engine's limit on sequences";
  }
  return {};
}

std::string micros_text(std::int64_t us) { return time_text(std::chrono::microseconds(us)); }

/// Returns how the measured step times compare with the engine table.
std::string correction_text(std::int64_t correction_ppm, bool modelled) {
  const std::string_view table = modelled ? "the engine table" : "the table of another model, since this one has none";
  return fmt::format("Measured engine steps take {} of the step time in {}.", percent_text(correction_ppm), table);
}

std::string warm_text(const decide::scale::WarmSizing& w) {
  if (w.wakes == 0) return " No load after an idle period is on record, so no replica stays warm.";
  return fmt::format(
      " A start from zero makes requests wait {} longer than the SLO allows. In {} it would make {} of {} late. The "
      "limit is {}, half of the misses that the SLO allows. {} {} this limit.",
      time_text(w.late_for), count_text(w.wakes, "recorded burst after idle time", "recorded bursts after idle time"),
      grouped_text(w.requests_late), count_text(w.requests, "request", "requests"),
      count_text(w.requests_allowed, "late request", "late requests"),
      count_text(w.replicas, "warm replica", "warm replicas"), w.replicas == 1 ? "keeps" : "keep");
}

/// Returns what was observed: requests, tokens and replicas.
std::string observed_text(const decide::scale::Sizing& s) {
  return fmt::format(
      " Load: {} running, {} waiting in engines, {} waiting at the gateway. Prompts arrive at {} tokens/s and are "
      "computed at {} tokens/s; answers are generated at {} tokens/s. Replicas: {} serving, {} pending or starting, {} "
      "without a reading.",
      count_text(s.running, "request", "requests"), s.waiting, s.gateway_queued, grouped_text(s.arriving_tokens_per_s),
      grouped_text(s.prompt_tokens_per_s), grouped_text(s.generated_tokens_per_s), s.serving, s.starting, s.silent);
}

/// Returns how much one replica carries, and what limits it.
std::string replica_text(const decide::scale::Sizing& s) {
  std::string text =
      s.role == model::Role::prefill
          ? fmt::format(" With prompts of {} tokens, which take {} each, a replica computes {} at once and {} a second",
                        s.prompt, micros_text(s.token_us), s.batch, s.tokens_per_s)
          : fmt::format(
                " With prompts of {} tokens, answers of {} and contexts of {}, a replica carries {} at {} between "
                "tokens, {} tokens/s",
                s.prompt, s.output, s.context, count_text(s.batch, "sequence", "sequences"), micros_text(s.token_us),
                s.tokens_per_s);
  text += fmt::format("; its limit is {}.", bound_name(s.bound));
  if (s.out_of_reach) text += " A request that runs alone already misses its SLO.";
  return text + ' ' + correction_text(s.correction_ppm, s.modelled);
}

/// Returns the current demand and its parts.
std::string demand_text(const decide::scale::Sizing& s) {
  const std::string_view choice =
      s.queue_drains ? "by arriving prompts, because a queue is being worked off" : "the larger of two estimates";
  return fmt::format(
      " Demand is {} replicas, {}: {} from generated tokens, {} from arriving prompts. Requests in flight occupy {} "
      "{}, "
      "the backlog {}.",
      decimal_text(s.demand_milli), choice, decimal_text(s.served_milli), decimal_text(s.arriving_milli),
      decimal_text(s.in_flight_milli), s.in_flight_milli == 1000 ? "replica" : "replicas",
      decimal_text(s.backlog_milli));
}

/// Returns the plan for the end of the lead time: forecast, safety margin and headroom.
std::string plan_text(const decide::scale::Sizing& s) {
  std::string text = fmt::format(
      " A new replica serves in {}; by then demand may be {}. The safety margin is {} times the usual forecast error "
      "of {}",
      time_text(s.lead), decimal_text(s.forecast_milli), decimal_text(s.safety_milli),
      percent_text(s.forecast_error_ppm));
  if (s.slack_ppm > 0) {
    text += fmt::format(
        ". A headroom of {} covers queues that form because requests arrive at random. Margin and headroom are "
        "combined as independent errors (root of the sum of squares)",
        percent_text(s.slack_ppm));
  }
  text += fmt::format(". {} of the requests miss their SLO now. {} replicas are needed.", percent_text(s.missed_ppm),
                      decimal_text(s.needed_milli));
  if (s.window > Duration{}) {
    text += fmt::format(" In the last {}, at most {} were needed.", time_text(s.window), decimal_text(s.window_milli));
  }
  return text;
}

std::string sizing_text(const decide::scale::Sizing& s) {
  const std::string text = observed_text(s) + replica_text(s) + demand_text(s) + plan_text(s);
  return s.warm ? text + warm_text(*s.warm) : text;
}

/// Returns how many replicas remain after the loss of a domain.
std::string spread_text(const decide::scale::SpreadSizing& s) {
  const std::string_view level = model::name(s.level).words;
  if (!s.possible()) {
    return fmt::format(
        " The service must survive the loss of a {0}, but {1} {0} has its GPUs. {2} hold the SLO until that {0} is "
        "lost.",
        level, s.domains == 1 ? "only one" : "no", replicas_text(s.need));
  }
  return fmt::format(
      " {} must remain after the loss of any {}. {} {}s can hold replicas. The fullest has {} of {} now, so its loss "
      "would leave {}. In total, {} are needed.",
      replicas_text(s.need), level, s.domains, level, s.fullest, replicas_text(s.placed), s.left(),
      replicas_text(s.required));
}

/// Returns the price of a mix per hour, or its number of GPUs if a price is unknown.
/// @param price  price as in `MixSizing::price`: a `MicroUsd` count if `in_usd`, else a `MilliGpu` count
std::string mix_price_text(std::int64_t price, bool in_usd) {
  return in_usd ? price_text({price}) : gpus_text({price}) + " GPUs";
}

std::string supply_text(const decide::scale::VariantSizing& v) {
  if (v.denied > Duration{} && v.worth_milli > 0) {
    return fmt::format("The cluster gave no more GPUs of its kind; the plan does not count on them for {}.",
                       time_text(v.denied));
  }
  if (v.further_replicas) return fmt::format("There is room for {} more.", *v.further_replicas);
  return "The room for more replicas is unknown.";
}

std::string variant_text(const model::Catalog& catalog, const decide::scale::VariantSizing& v,
                         const decide::scale::MixSizing& mix) {
  std::string text = fmt::format(
      "\n- {}: a replica carries {} at {} between tokens, its limit is {}. Its worth in replicas of the "
      "first variant is {}, and it costs ",
      service_name(catalog, v.service), count_text(v.batch, "sequence", "sequences"), micros_text(v.token_us),
      bound_name(v.bound), decimal_text(v.worth_milli));
  text += v.price_per_hour > MicroUsd{} ? price_text(v.price_per_hour)
                                        : count_text(v.gpus, "GPU", "GPUs") + " (its price is not known)";
  text += fmt::format("; a new one serves in {}. {}", time_text(v.lead), correction_text(v.correction_ppm, v.modelled));
  text += fmt::format(" {} serving, {} loading, {} without GPUs. {} The plan may choose {} to {}.",
                      replicas_text(v.serving), v.loading, v.pending, supply_text(v), v.least, v.most);
  if (v.out_of_reach) text += " A request that runs alone misses the SLO on it.";
  if (v.replicas_alone) {
    const std::int64_t price = mix.in_usd ? v.price_per_hour.count : whole_gpus(v.gpus).count;
    text += fmt::format(" Without the other variants it would take {} for {}.", replicas_text(*v.replicas_alone),
                        mix_price_text(*v.replicas_alone * price, mix.in_usd));
  } else {
    text += " Without the other variants it cannot carry the demand.";
  }
  return text +
         fmt::format(" Requested so far: {}; cheapest mix: {}; cheapest mix if nothing ran yet: {}; decided: {}.",
                     v.current, v.chosen, v.from_zero, v.desired);
}

/// Returns the variants and the price of each mix that was considered.
std::string mix_text(const model::Catalog& catalog, const decide::scale::MixSizing& mix) {
  std::string text = fmt::format(
      " The demand on {} is {} replicas of the first variant. The replicas that are requested so far cost {}, the "
      "cheapest mix that carries the demand costs {}, and {} if nothing ran yet. A switch must pay for itself within "
      "{}.",
      count_text(std::ssize(mix.variants), "variant", "variants"), decimal_text(mix.target_milli),
      mix_price_text(mix.price, mix.in_usd), mix_price_text(mix.chosen_price, mix.in_usd),
      mix_price_text(mix.from_zero_price, mix.in_usd), time_text(mix.horizon));
  if (!mix.covers) text += " All available GPUs together do not carry the demand.";
  if (!mix.exact) text += " The search reached its limit of steps: a cheaper mix may exist.";
  for (const decide::scale::VariantSizing& variant : mix.variants) text += variant_text(catalog, variant, mix);
  return text;
}

std::string lines(const model::Catalog& catalog, const model::Plan& plan, const model::Names* names = nullptr) {
  std::string text;
  for (const model::Action& action : plan.actions) text += "\n- " + line(catalog, action, names);
  for (const model::Plan::NoAction& kept : plan.no_actions) text += "\n- " + line(catalog, kept);
  return text;
}

/// Returns true if a minimum, a maximum or a rate limit changed the number that was asked for.
bool is_limited(const decide::scale::Decision& decision) {
  using model::ReasonCode;
  constexpr ReasonCode kLimits[] = {ReasonCode::at_maximum,    ReasonCode::at_minimum,    ReasonCode::above_maximum,
                                    ReasonCode::below_minimum, ReasonCode::minimum_ahead, ReasonCode::rate_limited};
  const ReplicaCount asked = decision.spread ? decision.spread->required : decision.stabilized;
  return decision.desired != asked && std::ranges::find(kLimits, decision.why.code) != std::end(kLimits);
}

}  // namespace

std::string paragraph(const model::Catalog& catalog, const decide::scale::Decision& decision) {
  std::string text =
      fmt::format("{}: {} requested, {} of them exist or start.", service_name(catalog, decision.service),
                  replicas_text(decision.current), decision.counted);
  for (const MetricReading& reading : decision.readings) text += reading_text(reading);
  if (decision.sizing) text += sizing_text(*decision.sizing);
  if (decision.decided_with.valid()) {
    text += fmt::format(" The number is decided together with {}.", service_name(catalog, decision.decided_with));
  }
  if (decision.stabilized != decision.proposed) {
    text += fmt::format(
        " {} would be enough now; earlier recommendations inside the stabilization window still ask for {}.",
        replicas_text(decision.proposed), decision.stabilized);
  }
  if (decision.spread) text += spread_text(*decision.spread);
  if (is_limited(decision)) text += fmt::format(" The limits allow {}.", decision.desired);
  text += decision.desired == decision.current
              ? fmt::format(" The number stays at {}: {}.", decision.current, sentence(decision.why, catalog))
              : fmt::format(" The number changes from {} to {}: {}.", decision.current, decision.desired,
                            sentence(decision.why, catalog));
  if (!decision.drain.empty()) {
    text += fmt::format(" {} {}, gang {} first.", replicas_text(std::ssize(decision.drain)),
                        decision.drain.size() == 1 ? "drains" : "drain", decision.drain.front().value);
  }
  if (decision.sizing && decision.sizing->mix) text += mix_text(catalog, *decision.sizing->mix);
  return text;
}

std::string paragraph(const model::Catalog& catalog, const decide::place::Decision& decision,
                      const model::Names* names) {
  using Kind = decide::place::PlacementResult::Kind;
  const auto count = [&](Kind kind) {
    return std::ranges::count(decision.verdicts, kind, &decide::place::PlacementResult::kind);
  };
  std::string text = "No gang is pending.";
  if (!decision.verdicts.empty()) {
    text = fmt::format(
        "{} pending: {} placed now, {} bound but not confirmed by the API server, {} without room now, {} too large "
        "for any domain.",
        count_text(std::ssize(decision.verdicts), "gang", "gangs"), count(Kind::placed), count(Kind::assumed),
        count(Kind::cannot_fit_now), count(Kind::never_fits));
  }
  if (const auto held = count(Kind::held_by_queue); held > 0) {
    text += fmt::format(" {} above the limit of {} queue.", count_text(held, "gang is", "gangs are"),
                        held == 1 ? "its" : "their");
  }
  if (const auto waiting = count(Kind::nominated); waiting > 0) {
    text += fmt::format(" {} for nodes on the way.", count_text(waiting, "gang waits", "gangs wait"));
  }
  for (const decide::place::Shortfall& lack : decision.shortfalls) {
    const std::string subject = lack.service.valid()
                                    ? fmt::format("replica {} of {}", lack.ordinal, service_name(catalog, lack.service))
                                    : gang_name(names, lack.gang);
    if (decide::place::has_unusable_gpus(lack.why)) {
      text += fmt::format("\n- {}: {}", subject, sentence(lack.why, catalog));
      continue;
    }
    text += fmt::format(
        "\n- {} lacks {} of {} {} GPUs in one domain; {} has {} free", subject, gpus_text(lack.short_by),
        gpus_text(lack.needed), gpu_name(catalog, lack.spec.pods.gpu),
        lack.best_node.valid() ? fmt::format("node {}", lack.best_node.value) : domain_name(catalog, lack.best_domain),
        gpus_text(lack.best_free));
  }
  text += lines(catalog, decision.plan, names);
  for (const decide::place::Search& search : decision.searches) text += '\n' + places(catalog, search);
  return text;
}

std::string paragraph(const model::Catalog& catalog, const decide::provision::Decision& decision) {
  std::string text =
      fmt::format("Pending replicas lack {}; {} on the way, {} bought now.",
                  count_text(decision.short_gpus, "GPU", "GPUs"), decision.expected_gpus, decision.launched_gpus) +
      lines(catalog, decision.plan);
  for (const decide::provision::OfferComparison& comparison : decision.offer_comparisons)
    text += '\n' + offers(catalog, comparison);
  return text;
}

}  // namespace capstan::explain
