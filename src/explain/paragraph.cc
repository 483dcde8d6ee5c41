#include <fmt/format.h>

#include <algorithm>

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
      return "GPU duty cycle in %";
    case MetricReading::Kind::memory:
      return "GPU memory in %";
    case MetricReading::Kind::waiting:
      return "requests waiting";
    case MetricReading::Kind::running:
      return "requests running";
    case MetricReading::Kind::kv:
      return "KV memory in millionths";
    case MetricReading::Kind::ttft:
      return "the time to the first token in microseconds";
    case MetricReading::Kind::tpot:
      return "the time between tokens in microseconds";
    case MetricReading::Kind::goodput:
      return "goodput in millionths";
  }
  return {};
}

std::string reading_text(const MetricReading& reading) {
  const std::int64_t asked = reading.read + reading.missing + reading.unready;
  if (!reading.valid) return fmt::format(" None of {} replicas gave {}.", asked, metric_name(reading.kind));
  std::string text = fmt::format(
      " {} of {} replicas gave {}: {} in total, {}.{:03} on average over a target of {}, a ratio of {} per "
      "mille",
      reading.read, asked, metric_name(reading.kind), reading.total, reading.mean_milli / 1000,
      reading.mean_milli % 1000, reading.target, reading.ratio_per_mille);
  if (reading.filled_ratio_per_mille != reading.ratio_per_mille) {
    text += fmt::format(" ({} with {} missing and {} unready ones filled in)", reading.filled_ratio_per_mille,
                        reading.missing, reading.unready);
  }
  return text + fmt::format("; that asks for {}.", reading.wanted);
}

std::string_view bound_name(decide::scale::Sizing::Bound bound) {
  using Bound = decide::scale::Sizing::Bound;
  switch (bound) {
    case Bound::tpot:
      return "the time between tokens";
    case Bound::ttft:
      return "the time to the first token";
    case Bound::kv:
      return "KV memory";
    case Bound::sequences:
      return "the engine's limit of sequences";
  }
  return {};
}

std::string milli_text(std::int64_t milli) { return fmt::format("{}.{:03}", milli / 1000, milli % 1000); }

/// What starts from zero would make late, and what the SLO has for it.
std::string warm_text(const decide::scale::WarmSizing& w) {
  if (w.wakes == 0) return " No wake is remembered that a start from zero would have made late.";
  return fmt::format(
      " A start from zero would keep requests {} s longer than the SLO allows: {} of {} at the {} that {} remembered, "
      "where half of what may miss is {}; {} warm {} that.",
      whole_seconds(w.late_for), w.requests_late, w.requests,
      w.wakes == 1 ? "one wake" : fmt::format("{} wakes", w.wakes), w.wakes == 1 ? "is" : "are", w.requests_allowed,
      w.replicas, w.replicas == 1 ? "meets" : "meet");
}

/// What was seen, what a replica carries, what that makes demand, and what is planned for.
std::string sizing_text(const decide::scale::Sizing& s) {
  std::string text = fmt::format(
      " {} requests run, {} wait in engines and {} at the gateway; {} prompt tokens/s are computed, {} arrive, {} "
      "tokens/s"
      " are generated; {} replicas serve, {} are on their way, {} are silent.",
      s.running, s.waiting, s.held, s.prompt_tokens_per_s, s.arriving_tokens_per_s, s.generated_tokens_per_s, s.serving,
      s.starting, s.silent);
  text += s.role == model::Role::prefill
              ? fmt::format(" With prompts of {} tokens, {} us each, a replica takes {} at once and {} a second",
                            s.prompt, s.token_us, s.batch, s.tokens_per_s)
              : fmt::format(
                    " With prompts of {} tokens, answers of {} and contexts of {} a replica carries {} sequences at {} "
                    "us a token, {} tokens/s",
                    s.prompt, s.output, s.context, s.batch, s.token_us, s.tokens_per_s);
  text += fmt::format(", bound by {}{}; a step takes {} ppm of what the {} says.", bound_name(s.bound),
                      s.out_of_reach ? " (one request alone already misses its SLO)" : "", s.correction_ppm,
                      s.modelled ? "engine table" : "table of another model, as this one is not in it,");
  text += fmt::format(
      " Demand is worth {} replicas: {} by what is generated{}, {} by what arrives; {} by what is in flight, {} for a "
      "backlog.",
      milli_text(s.demand_milli), milli_text(s.served_milli), s.works_off ? " as a queue is worked off" : "",
      milli_text(s.arriving_milli), milli_text(s.in_flight_milli), milli_text(s.backlog_milli));
  text += fmt::format(
      " Over a lead time of {} s it may come to {}, and {} spreads of {} ppm above it are kept in hand{}, while {} ppm "
      "of the requests miss their SLO: {} are needed.",
      whole_seconds(s.lead), milli_text(s.forecast_milli), milli_text(s.safety_milli), s.spread_ppm,
      s.slack_ppm > 0 ? fmt::format(", and by root of squares {} ppm because requests wait for each other", s.slack_ppm)
                      : "",
      s.missed_ppm, milli_text(s.needed_milli));
  if (s.window > Duration{}) {
    text += fmt::format(" At most {} were needed within the last {} s.", milli_text(s.window_milli),
                        whole_seconds(s.window));
  }
  return s.warm ? text + warm_text(*s.warm) : text;
}

/// What the loss of a domain leaves.
std::string spread_text(const decide::scale::SpreadSizing& s) {
  const std::string_view level = model::name(s.level).words;
  if (!s.possible()) {
    return fmt::format(
        " The loss of a {} is to be survived, and {} {} its GPUs: {} hold the SLO, and none beside them.", level,
        s.domains == 1 ? "only one" : "no", s.domains == 1 ? "has" : "other has", s.need);
  }
  return fmt::format(
      " {} hold the SLO, whichever {} is lost, of {} that can hold some; the fullest has {} of the {} that stand, "
      "so that its loss now would leave {}: {} are asked for.",
      s.need, level, s.domains, s.fullest, s.placed, s.left(), s.asked);
}

/// "6.88 USD", or GPUs where a price is not known.
std::string price_text(std::int64_t price, bool in_usd) {
  return in_usd ? fmt::format("{}.{:02} USD", price / 1'000'000, price / 10'000 % 100)
                : fmt::format("{} GPUs", gpus_text({price}));
}

std::string variant_text(const model::Catalog& catalog, const decide::scale::VariantSizing& v,
                         const decide::scale::MixSizing& mix) {
  std::string text = fmt::format(
      "\n- {}: a replica carries {} sequences at {} us a token, bound by {}, worth {} of the first variant's; ",
      service_name(catalog, v.service), v.batch, v.token_us, bound_name(v.bound), milli_text(v.worth_milli));
  text += v.price_per_hour > MicroUsd{} ? price_text(v.price_per_hour.count, true) + " an hour"
                                        : fmt::format("its price is not known, {} GPUs", v.gpus);
  text += fmt::format("; ready after {} s. A step takes {} ppm of what the {} says.", whole_seconds(v.lead),
                      v.correction_ppm, v.modelled ? "engine table" : "table of another model");
  text += fmt::format(" {} serve, {} load, {} have no GPUs; ", v.serving, v.loading, v.pending);
  if (v.denied > Duration{} && v.worth_milli > 0) {
    text += fmt::format("more could not be had, and is not counted on for {} s;", whole_seconds(v.denied));
  } else if (v.more) {
    text += fmt::format("there is room for {} more;", *v.more);
  } else {
    text += "how many more there is room for is not known;";
  }
  text += fmt::format(" {} to {} can be chosen.", v.least, v.most);
  if (v.out_of_reach) text += " One request alone misses the SLO on it.";
  if (v.alone) {
    const std::int64_t price = mix.in_usd ? v.price_per_hour.count : whole_gpus(v.gpus).count;
    text += fmt::format(" Alone it would take {}, at {} an hour.", *v.alone, price_text(*v.alone * price, mix.in_usd));
  } else {
    text += " Alone it could not carry it.";
  }
  return text + fmt::format(" Asked for: {}; in the cheapest mix: {}; were nothing there yet: {}; decided: {}.",
                            v.current, v.chosen, v.begun_anew, v.desired);
}

/// The variants, and what each mix costs.
std::string mix_text(const model::Catalog& catalog, const decide::scale::MixSizing& mix) {
  std::string text = fmt::format(
      " {} variants together have to carry {} replicas of the first. What is asked for costs {} an hour, the cheapest "
      "mix that carries it {}; were nothing there yet, {}. What a switch costs has to be saved within {} s.",
      mix.variants.size(), milli_text(mix.target_milli), price_text(mix.price, mix.in_usd),
      price_text(mix.chosen_price, mix.in_usd), price_text(mix.anew_price, mix.in_usd), whole_seconds(mix.horizon));
  if (!mix.covers) text += " Nothing that can be had carries it.";
  if (!mix.exact) text += " The search ended at its bound: there may be a cheaper one.";
  for (const decide::scale::VariantSizing& each : mix.variants) text += variant_text(catalog, each, mix);
  return text;
}

std::string lines(const model::Catalog& catalog, const model::Plan& plan) {
  std::string text;
  for (const model::Action& action : plan.actions) text += "\n- " + line(catalog, action);
  for (const model::Plan::Kept& kept : plan.kept) text += "\n- " + line(catalog, kept);
  return text;
}

/// Another number was asked for, and it is a bound or a rate that keeps it from being decided.
bool limited(const decide::scale::Decision& decision) {
  using model::ReasonCode;
  constexpr ReasonCode kLimits[] = {ReasonCode::at_maximum, ReasonCode::at_minimum, ReasonCode::minimum_ahead,
                                    ReasonCode::rate_limited};
  const ReplicaCount asked = decision.spread ? decision.spread->asked : decision.held_to;
  return decision.desired != asked && std::ranges::find(kLimits, decision.why.code) != std::end(kLimits);
}

}  // namespace

std::string paragraph(const model::Catalog& catalog, const decide::scale::Decision& decision) {
  std::string text = fmt::format("{} has {} replicas asked for and {} counted.",
                                 service_name(catalog, decision.service), decision.current, decision.counted);
  for (const MetricReading& reading : decision.readings) text += reading_text(reading);
  if (decision.sizing) text += sizing_text(*decision.sizing);
  if (decision.decided_with.valid()) {
    text += fmt::format(" How many is decided together with {}.", service_name(catalog, decision.decided_with));
  }
  if (decision.held_to != decision.wanted) {
    text +=
        fmt::format(" {} are wanted, the window of earlier answers holds it at {}.", decision.wanted, decision.held_to);
  }
  if (decision.spread) text += spread_text(*decision.spread);
  if (limited(decision)) text += fmt::format(" The limits allow {}.", decision.desired);
  text += decision.desired == decision.current
              ? fmt::format(" It stays at {}: {}.", decision.current, sentence(decision.why, catalog))
              : fmt::format(" It goes from {} to {}: {}.", decision.current, decision.desired,
                            sentence(decision.why, catalog));
  if (!decision.drain.empty()) {
    text += fmt::format(" {} of them drain, gang {} first.", decision.drain.size(), decision.drain.front().value);
  }
  if (decision.sizing && decision.sizing->mix) text += mix_text(catalog, *decision.sizing->mix);
  return text;
}

std::string paragraph(const model::Catalog& catalog, const decide::place::Decision& decision) {
  using Kind = decide::place::Verdict::Kind;
  const auto count = [&](Kind kind) {
    return std::ranges::count(decision.verdicts, kind, &decide::place::Verdict::kind);
  };
  std::string text = fmt::format(
      "{}: {} placed now, {} bound already, {} that cannot fit now, {} that never will.",
      decision.verdicts.size() == 1 ? "1 gang waits" : fmt::format("{} gangs wait", decision.verdicts.size()),
      count(Kind::placed), count(Kind::assumed), count(Kind::cannot_fit_now), count(Kind::never_fits));
  if (const auto held = count(Kind::held_by_queue); held > 0) text += fmt::format(" {} held by their queues.", held);
  for (const decide::place::Shortfall& lack : decision.shortfalls) {
    text += fmt::format(
        "\n- {} replica {} lacks {} of {} {} GPUs together; {} has {} free", service_name(catalog, lack.service),
        lack.ordinal, gpus_text(lack.short_by), gpus_text(lack.needed), gpu_name(catalog, lack.gpu),
        lack.best_node.valid() ? fmt::format("node {}", lack.best_node.value) : domain_name(catalog, lack.best_domain),
        gpus_text(lack.best_free));
  }
  return text + lines(catalog, decision.plan);
}

std::string paragraph(const model::Catalog& catalog, const decide::provision::Decision& decision) {
  return fmt::format("{} GPUs are short, {} are on their way, {} are bought now.", decision.short_gpus,
                     decision.coming_gpus, decision.launched_gpus) +
         lines(catalog, decision.plan);
}

}  // namespace capstan::explain
