#include "plan/search/scenario_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "manifest/fields.h"
#include "model/role_names.h"
#include "plan/fleet/replacement_nodes.h"
#include "plan/objects/names.h"
#include "plan/result/figures.h"
#include "plan/search/scenario_parts.h"

namespace capstan::plan {

namespace {

using manifest::duration_text;
using model::CapacityType;

Yaml cluster_yaml(const PlanSpec& spec, const FleetOption& fleet, const Conditions& conditions) {
  const FleetCandidate& candidate = *fleet.candidate;
  const std::string pool = pool_name(candidate.engine.gpu);
  const std::int64_t most = fleet.maximum_machines(), spot = fleet.spot_machines();
  Yaml out = Yaml::map({{"zones", Yaml::list(spec.cluster.zones)}, {"racks_per_zone", 4}});
  out.set("nvlink_domains_per_rack", std::max<std::int64_t>(8, (std::max(most, candidate.machine.existing) + 3) / 4));
  const GpuCount node_gpus = whole_gpus_of(candidate.machine);
  const MicroUsd node_per_hour = price_of(candidate.machine, fleet.base).value_or(MicroUsd{0});
  const std::int64_t room = nodes_left(spec.limits, most * node_gpus, node_per_hour * most, node_gpus, node_per_hour);
  const std::int64_t replacing =
      replacement_nodes(spec.cluster, fleet.minimum_machines(), candidate.machines_per_replica(), room);
  const bool buys = spec.cluster.provisioner != Provisioner::none;
  if (buys) {
    Yaml pools = Yaml::list({pool_yaml(candidate.machine, pool, most - spot + replacing, fleet.base)});
    if (spot > 0) {
      pools.add(pool_yaml(candidate.machine, spot_pool_name(candidate.engine.gpu), spot, CapacityType::spot));
    }
    out.set("pools", pools);
  }
  Yaml existing = Yaml::list();
  add_initial_nodes(spec.cluster,
                    {.machine = &candidate.machine,
                     .base = fleet.base,
                     .pool = pool,
                     .spot_pool = spot_pool_name(candidate.engine.gpu),
                     .needed = candidate.machines_for(fleet.first_replicas()),
                     .spot = fleet.spot_base_machines(),
                     .unit = candidate.machines_per_replica()},
                    existing);
  if (!existing.empty()) out.set("existing", existing);
  add_cluster_facts(conditions.reclaims_ppm.value_or(spec.cluster.spot_interruptions_ppm), fleet.has_spot(), out);
  if (conditions.lost_zone) {
    out.set("outages", Yaml::list({Yaml::map({{"zone", *conditions.lost_zone},
                                              {"at", duration_text(conditions.lost_at)},
                                              {"length", duration_text(spec.cluster.zone_outage)}})}));
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

std::int64_t machines_for(const FleetCandidate& candidate, const std::vector<ReplicaCount>& replicas) {
  const ReplicaCount all = std::accumulate(replicas.begin(), replicas.end(), ReplicaCount{0});
  return candidate.machines_for(all);
}

std::string range_words(ReplicaCount low, ReplicaCount high) {
  return low == high ? fmt::format("{}", low) : fmt::format("{} to {}", low, high);
}

}  // namespace

std::int64_t FleetOption::minimum_machines() const { return machines_for(*candidate, minimum); }

std::int64_t FleetOption::spot_base_machines() const {
  if (base == CapacityType::spot) return 0;
  const std::int64_t unit = candidate->machines_per_replica();
  return minimum_machines() / unit * std::int64_t{spot_base_ppm} / 1'000'000 * unit;
}

ReplicaCount FleetOption::first_replicas(std::size_t role) const {
  return std::clamp(candidate->needs[role].at_first, minimum[role], maximum[role]);
}

ReplicaCount FleetOption::first_replicas() const {
  ReplicaCount first = 0;
  for (std::size_t i = 0; i < minimum.size(); ++i) first += first_replicas(i);
  return first;
}

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
  if (spot_base_machines() > 0) out += fmt::format(", {} % of the base spot", spot_base_ppm / 10'000);
  if (adds_spot()) out += fmt::format(", {} % of added nodes spot", spot_ppm / 10'000);
  if (is_all_spot()) out += ", all nodes spot";
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
  if (spot_base_machines() > 0) out += fmt::format(", base {} % spot", spot_base_ppm / 10'000);
  if (adds_spot()) out += fmt::format(", added nodes {} % spot", spot_ppm / 10'000);
  if (is_all_spot()) out += ", all nodes spot";
  if (scaler != ScalerKind::capstan) out += fmt::format(", {}", scaler_word(scaler));
  return out;
}

Yaml scenario_policy(const PlanSpec& spec, const FleetOption& fleet, const Conditions& conditions) {
  return Yaml::map({{"name", policy_name(fleet.scaler)},
                    {"scale", fleet.scale},
                    {"place", "gang"},
                    {"provision", provision_yaml(spec, conditions)}});
}

Yaml scenario_yaml(const PlanSpec& spec, const ServiceSpec& service, const FleetOption& fleet, const LoadFacts& load,
                   const Conditions& conditions) {
  Yaml out = Yaml::map({{"name", service.name},
                        {"title", fmt::format("{} of the plan {}: {}", service.name, spec.name, fleet.words())},
                        {"seed", 1}});
  out.set("load", load_yaml(service.load, load, conditions));
  out.set("service", service_yaml(spec, service, fleet, conditions));
  out.set("cluster", cluster_yaml(spec, fleet, conditions));
  out.set("policies", Yaml::list({scenario_policy(spec, fleet, conditions)}));
  return out;
}

}  // namespace capstan::plan
