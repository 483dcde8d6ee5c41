#include "plan/search/scenario_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>

#include "manifest/fields.h"
#include "model/role_names.h"
#include "plan/engine_limits.h"
#include "plan/figures.h"
#include "plan/names.h"

namespace capstan::plan {

namespace {

using namespace std::chrono_literals;
using manifest::duration_text;
using model::CapacityType;

std::string absolute(const std::string& path) { return std::filesystem::absolute(path).lexically_normal().string(); }

/// Returns a number that YAML and the reader of scenarios take as it is.
Yaml number(double value) { return Yaml::plain(fmt::format("{}", value)); }
Yaml usd(MicroUsd price) {
  return Yaml::plain(fmt::format("{}.{:06d}", price.count / 1'000'000, price.count % 1'000'000));
}
Yaml range(Duration low, Duration high, std::int64_t percent) {
  return fmt::format("{}..{}", duration_text(low * percent / 100), duration_text(high * percent / 100));
}

Yaml tokens_of(const TokenSpec& tokens) {
  if (tokens.sigma <= 0) return tokens.median;
  Yaml out = Yaml::map({{"kind", "log_normal"}, {"tokens", tokens.median}, {"sigma", number(tokens.sigma)}});
  out.set("max", std::max(tokens.median, tokens.longest));
  return out;
}

Yaml load_yaml(const LoadSpec& load, const LoadFacts& facts, const Conditions& conditions) {
  Yaml out;
  const double scale = load.scale * static_cast<double>(conditions.load_percent) / 100;
  if (load.source == LoadSpec::Source::trace) {
    out.set("trace", absolute(load.from));
  } else if (load.source == LoadSpec::Source::profile) {
    out.set("profile", load.from.find('/') == std::string::npos ? load.from : absolute(load.from));
  } else {
    const workload::WorkloadSpec workload = workload_of(load);
    const auto& generator = std::get<workload::GeneratorSpec>(workload.from);
    if (generator.rate.kind == workload::RateCurve::Kind::constant) {
      out["generator"].set("rate", number(generator.rate.rate));
    } else {
      out["generator"].set("rate", Yaml::map({{"kind", "on_off"},
                                              {"rate", number(generator.rate.rate)},
                                              {"peak", number(generator.rate.peak)},
                                              {"period", duration_text(load.burst_every)},
                                              {"length", duration_text(load.burst_length)}}));
    }
    out["generator"].set("input", tokens_of(load.prompt));
    out["generator"].set("output", tokens_of(load.answer));
  }
  if (scale != 1) out.set("scale", number(scale));
  if (conditions.length) {
    out.set("duration", duration_text(*conditions.length));
  } else if (load.duration > 0s || !facts.is_whole) {
    out.set("duration", duration_text(facts.length));
  }
  return out;
}

Yaml replicas_yaml(const FleetOption& fleet, std::size_t role) {
  const ReplicaCount minimum = fleet.minimum[role], maximum = fleet.maximum[role];
  Yaml out = Yaml::map({{"min", minimum}, {"max", maximum}});
  const ReplicaCount first = std::clamp(fleet.candidate->needs[role].at_first, minimum, maximum);
  if (first != minimum) out.set("initial", first, "the load does not begin in an idle fleet");
  return out;
}

Yaml service_yaml(const PlanSpec& spec, const ServiceSpec& service, const FleetOption& fleet,
                  const Conditions& conditions) {
  const engine::EngineRow& row = fleet.candidate->engine;
  Yaml out = Yaml::map({{"name", service.name},
                        {"model", row.model},
                        {"gpu", row.gpu},
                        {"dtype", row.weight_dtype},
                        {"tensor_parallel", row.tp}});
  if (!spec.step_times.empty()) out.set("step_times", absolute(spec.step_times));
  if (service.pods_per_replica > 1) out.set("pods_per_replica", service.pods_per_replica);
  if (fleet.candidate->machines_per_replica() > 1) out.set("together", "zone");
  Yaml slo;
  if (service.slo.ttft > 0s) slo.set("ttft", duration_text(service.slo.ttft));
  if (service.slo.ttft_prefills_milli > 0) {
    slo.set("ttft_prefills", number(static_cast<double>(service.slo.ttft_prefills_milli) / 1000));
  }
  if (service.slo.tpot > 0s) slo.set("tpot", duration_text(service.slo.tpot));
  if (service.slo.e2e > 0s) slo.set("e2e", duration_text(service.slo.e2e));
  slo.set("attainment", number(static_cast<double>(service.slo.attainment_ppm) / 1e6));
  out.set("slo", slo);
  if (fleet.minimum.size() > 1) {
    for (std::size_t i = 0; i < fleet.minimum.size(); ++i) {
      out["roles"][model::name(fleet.candidate->needs[i].role)].set("replicas", replicas_yaml(fleet, i));
    }
  } else {
    out.set("replicas", replicas_yaml(fleet, 0));
  }
  out.set("engine_settings",
          Yaml::map({{"max_batched_tokens", kEngineLimits.max_batched_tokens}, {"max_seqs", kEngineLimits.max_seqs}}));
  const std::int64_t percent = conditions.start_percent;
  // Weights that the engine quantizes are loaded in bfloat16, which is twice as large as FP8.
  const std::int64_t stored = row.weights().count * (quantizes_weights(service, row.weight_dtype) ? 2 : 1);
  Yaml start = Yaml::map({{"image_size", fmt::format("{}B", 10'000'000'000 * percent / 100)},
                          {"weights", fmt::format("{}B", stored * percent / 100)},
                          {"weights_from", "object_store"},
                          {"engine_init", range(30s, 45s, percent)},
                          {"engine_init_cached", range(15s, 20s, percent)},
                          {"warm_up", range(3s, 6s, percent)}});
  out.set("start", start);
  out.set("router", Yaml::map({{"policy", "least_loaded"}, {"gateway_max_waiting", 10'000}}));
  return out;
}

Yaml machine_yaml(const FleetCandidate& candidate, CapacityType capacity) {
  const MachineSpec& machine = candidate.machine;
  Yaml out = Yaml::map({{"instance", machine.name}, {"gpu", machine.gpu}, {"gpus", machine.gpus}});
  if (capacity == CapacityType::spot) out.set("capacity", "spot");
  if (capacity == CapacityType::reserved) out.set("capacity", "reserved");
  out.set("usd_per_hour", usd(*price_of(machine, capacity)));
  return out;
}

Yaml pool_yaml(const FleetCandidate& candidate, const std::string& name, std::int64_t machines, CapacityType capacity) {
  Yaml pool = Yaml::map({{"name", name}, {"gpu_limit", machines * candidate.machine.gpus}});
  pool.set("offerings", Yaml::list({machine_yaml(candidate, capacity)}));
  return pool;
}

/// Returns the nodes that stand at the start, over the zones in turn: nodes that exist, and nodes of the minimum.
Yaml existing_yaml(const PlanSpec& spec, const FleetOption& fleet, const std::string& pool) {
  const FleetCandidate& candidate = *fleet.candidate;
  ReplicaCount first = 0;
  for (std::size_t i = 0; i < fleet.minimum.size(); ++i) {
    first += std::clamp(candidate.needs[i].at_first, fleet.minimum[i], fleet.maximum[i]);
  }
  const std::int64_t needed = candidate.machines_for(first);
  const std::int64_t owned = candidate.machine.existing;
  const std::int64_t all = std::max(owned, needed);
  const auto zones = static_cast<std::int64_t>(spec.cluster.zones.size());
  Yaml out = Yaml::list();
  for (std::int64_t zone = 0; zone < zones; ++zone) {
    // The machines of one replica stand in one zone.
    const std::int64_t unit = candidate.machines_per_replica();
    const auto count_here = [&](std::int64_t machines) {
      const std::int64_t whole = machines / unit, rest = zone == 0 ? machines % unit : 0;
      return (whole + zones - 1 - zone) / zones * unit + rest;
    };
    const std::int64_t here_owned = count_here(owned), here = count_here(all);
    for (const bool is_owned : {true, false}) {
      const std::int64_t count = is_owned ? here_owned : here - here_owned;
      if (count == 0) continue;
      Yaml nodes = machine_yaml(candidate, candidate.base);
      nodes.set("zone", spec.cluster.zones[static_cast<std::size_t>(zone)]).set("count", count);
      if (!is_owned) nodes.set("pool", pool);
      out.add(nodes);
    }
  }
  return out;
}

Yaml cluster_yaml(const PlanSpec& spec, const FleetOption& fleet, const Conditions& conditions) {
  const FleetCandidate& candidate = *fleet.candidate;
  const std::string pool = pool_name(candidate.engine.gpu);
  const std::int64_t most = fleet.maximum_machines(), spot = fleet.spot_machines();
  Yaml out = Yaml::map({{"zones", Yaml::list(spec.cluster.zones)}, {"racks_per_zone", 4}});
  out.set("nvlink_domains_per_rack", std::max<std::int64_t>(8, (std::max(most, candidate.machine.existing) + 3) / 4));
  const bool buys = spec.cluster.provisioner != Provisioner::none;
  if (buys) {
    Yaml pools = Yaml::list({pool_yaml(candidate, pool, most - spot, candidate.base)});
    if (spot > 0) pools.add(pool_yaml(candidate, spot_pool_name(candidate.engine.gpu), spot, CapacityType::spot));
    out.set("pools", pools);
  }
  const Yaml existing = existing_yaml(spec, fleet, pool);
  if (!existing.empty()) out.set("existing", existing);
  if (spot > 0) {
    out["provider"].set("spot_interruptions_per_hour", fmt::format("{}%", kSpotInterruptionsPercentPerHour));
  }
  if (conditions.lost_zone) {
    out.set("outages",
            Yaml::list({Yaml::map(
                {{"zone", *conditions.lost_zone}, {"at", duration_text(conditions.lost_at)}, {"length", "30m"}})}));
  }
  return out;
}

std::string policy_name(ScalerKind kind) {
  switch (kind) {
    case ScalerKind::capstan:
      return "capstan";
    case ScalerKind::scaled_object:
      return "scaled-object";
    case ScalerKind::hpa:
      return "hpa";
    case ScalerKind::constant:
      return "constant";
  }
  return "";
}

Yaml policy_yaml(const PlanSpec& spec, const FleetOption& fleet, const Conditions& conditions) {
  Yaml out = Yaml::map({{"name", policy_name(fleet.scaler)}, {"scale", fleet.scale}, {"place", "gang"}});
  if (spec.cluster.provisioner == Provisioner::none) {
    out.set("provision", "none");
    return out;
  }
  Yaml provision = Yaml::map({{"policy", "group"}});
  const std::int64_t percent = conditions.start_percent;
  const bool is_slow = spec.cluster.provisioner == Provisioner::cluster_autoscaler;
  provision.set("latency", Yaml::map({{"decision", is_slow ? range(33s, 46s, percent) : range(3s, 6s, percent)},
                                      {"boot", is_slow ? range(45s, 60s, percent) : range(30s, 40s, percent)},
                                      {"driver", range(12s, 14s, percent)}}));
  provision.set("consolidation", Yaml::map({{"policy", "when_empty"}, {"after", "1h"}}));
  out.set("provision", provision);
  return out;
}

std::int64_t machines_for(const FleetCandidate& candidate, const std::vector<ReplicaCount>& replicas) {
  const ReplicaCount all = std::accumulate(replicas.begin(), replicas.end(), ReplicaCount{0});
  return candidate.machines_for(all);
}

std::string range_words(ReplicaCount low, ReplicaCount high) {
  return low == high ? fmt::format("{}", low) : fmt::format("{} to {}", low, high);
}

}  // namespace

std::int64_t FleetOption::minimum_machines() const { return machines_for(*candidate, minimum); }
std::int64_t FleetOption::maximum_machines() const {
  return std::max(machines_for(*candidate, maximum), minimum_machines());
}

std::string FleetOption::words() const {
  std::string out = candidate->words();
  for (std::size_t i = 0; i < minimum.size(); ++i) {
    const model::Role role = candidate->needs[i].role;
    out += fmt::format(", {} {}{}", range_words(minimum[i], maximum[i]),
                       role == model::Role::both ? "" : std::string(model::name(role)) + " ",
                       maximum[i] == 1 ? "replica" : "replicas");
  }
  if (spot_ppm > 0) out += fmt::format(", {} % of added nodes spot", spot_ppm / 10'000);
  if (scaler != ScalerKind::capstan) out += fmt::format(", {}", scaler_word(scaler));
  return out;
}

std::string FleetOption::short_words() const {
  std::string out = candidate->short_words();
  for (std::size_t i = 0; i < minimum.size(); ++i) {
    const model::Role role = candidate->needs[i].role;
    const std::string_view replicas = maximum[i] == 1 ? "replica" : "replicas";
    out += fmt::format(", {} {}", range_words(minimum[i], maximum[i]),
                       role == model::Role::both ? replicas : model::name(role));
  }
  if (spot_ppm > 0) out += fmt::format(", {} % spot if added", spot_ppm / 10'000);
  if (scaler != ScalerKind::capstan) out += fmt::format(", {}", scaler_word(scaler));
  return out;
}

std::string scenario_text(const PlanSpec& spec, const ServiceSpec& service, const FleetOption& fleet,
                          const LoadFacts& load, const Conditions& conditions) {
  Yaml out = Yaml::map({{"name", service.name},
                        {"title", fmt::format("{} of the plan {}: {}", service.name, spec.name, fleet.words())},
                        {"seed", 1}});
  out.set("load", load_yaml(service.load, load, conditions));
  out.set("service", service_yaml(spec, service, fleet, conditions));
  out.set("cluster", cluster_yaml(spec, fleet, conditions));
  out.set("policies", Yaml::list({policy_yaml(spec, fleet, conditions)}));
  return out.document();
}

}  // namespace capstan::plan
