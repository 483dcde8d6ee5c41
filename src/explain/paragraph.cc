#include <fmt/format.h>

#include <algorithm>

#include "explain/explain.h"
#include "explain/words.h"

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

std::string lines(const model::Catalog& catalog, const model::Plan& plan) {
  std::string text;
  for (const model::Action& action : plan.actions) text += "\n- " + line(catalog, action);
  for (const model::Plan::Kept& kept : plan.kept) text += "\n- " + line(catalog, kept);
  return text;
}

}  // namespace

std::string paragraph(const model::Catalog& catalog, const decide::scale::Decision& decision) {
  std::string text = fmt::format("{} has {} replicas asked for and {} counted.",
                                 service_name(catalog, decision.service), decision.current, decision.counted);
  for (const MetricReading& reading : decision.readings) text += reading_text(reading);
  if (decision.held_to != decision.wanted) {
    text +=
        fmt::format(" {} are wanted, the window of earlier answers holds it at {}.", decision.wanted, decision.held_to);
  }
  if (decision.desired != decision.held_to) text += fmt::format(" The limits allow {}.", decision.desired);
  text += decision.desired == decision.current
              ? fmt::format(" It stays at {}: {}.", decision.current, sentence(decision.why))
              : fmt::format(" It goes from {} to {}: {}.", decision.current, decision.desired, sentence(decision.why));
  if (!decision.drain.empty()) {
    text += fmt::format(" {} of them drain, gang {} first.", decision.drain.size(), decision.drain.front().value);
  }
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
