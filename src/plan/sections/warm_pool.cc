#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/unit_text.h"
#include "explain/words.h"
#include "plan/cost/gpu_price.h"
#include "plan/objects/names.h"
#include "plan/pods/weight_cache.h"
#include "plan/sections/balloon.h"
#include "plan/sections/sections.h"
#include "plan/sections/warm_minimum.h"

namespace capstan::plan {

namespace {

using explain::time_text;

std::string phase_why(const StartPhase& phase, bool is_dominant) {
  const std::string range = phase.longest > phase.typical ? fmt::format("typical, up to {}", time_text(phase.longest))
                                                          : std::string("the same at each start");
  return range + (is_dominant ? "; the longest step" : "");
}

/// Returns where the time of a phase comes from. The default time for loading the weights is computed from their size.
Evidence phase_evidence(const PlanSpec& spec, const ServiceSpec& service, StartStep step) {
  const auto is_assumed = [&](std::string_view key) {
    return is_default(spec, fmt::format("services.{}.cold_start.{}", service.name, key));
  };
  switch (step) {
    case StartStep::node:
      return is_default(spec, "cluster.node_start.boot") || is_default(spec, "cluster.node_start.driver")
                 ? Evidence::assumed
                 : Evidence::stated;
    case StartStep::image_pull:
      return is_assumed("image_pull") ? Evidence::assumed : Evidence::stated;
    case StartStep::weights:
      return is_assumed("weights") ? Evidence::modelled : Evidence::stated;
    case StartStep::engine_start:
      return is_assumed("engine_start") ? Evidence::assumed : Evidence::stated;
    case StartStep::warm_up:
      return is_assumed("warm_up") ? Evidence::assumed : Evidence::stated;
  }
  return Evidence::assumed;
}

void add_start_statements(const PlanSpec& spec, const ServiceSpec& service, const ServicePlan& fleet, Section& out) {
  const ColdStart start = cold_start_sum(fleet.start);
  const std::string prefix = service.name + " ";
  for (const StartPhase& phase : fleet.start) {
    out.statements.push_back({.name = prefix + std::string(step_word(phase.step)),
                              .value = time_text(phase.typical),
                              .why = phase_why(phase, phase.step == start.dominant),
                              .evidence = phase_evidence(spec, service, phase.step)});
  }
  if (fleet.start.empty()) return;
  out.statements.push_back({.name = prefix + "cold start",
                            .value = time_text(start.typical),
                            .why = fmt::format("{}; up to {}, and {} on a node that exists", phases_words(fleet.start),
                                               time_text(start.longest), time_text(start.typical_without_node)),
                            .evidence = Evidence::modelled});
  Duration longest{};
  for (const Trial& trial : fleet.seeds) longest = std::max(longest, trial.cold_start_max);
  if (longest > Duration{}) {
    out.statements.push_back({.name = prefix + "longest simulated start on an existing node",
                              .value = time_text(longest),
                              .why =
                                  "from the moment at which its GPUs are assigned until it is ready, over all seeds; "
                                  "several starts at once share the bandwidth",
                              .evidence = Evidence::simulated,
                              .visibility = Visibility::page,
                              .subject = service.name});
  }
}

void add_minimum_statements(const ServiceSpec& service, const ServicePlan& fleet, const RoleFleet& role, Section& out) {
  const std::string name = workload_name(service, role.role);
  const std::optional<WarmMinimum> by_formula = warm_minimum(service, fleet, role);
  std::string why = fmt::format("the minimum of the {} that {} the SLO in the simulations",
                                fleet.scaler == ScalerKind::constant ? "constant fleet" : "cheapest fleet and scaler",
                                fleet.holds_slo ? "holds" : "comes nearest to");
  if (by_formula && by_formula->replicas != role.minimum) {
    why += fmt::format(
        "; the formula gives {}, and the simulation counts, because it knows the queues of single "
        "replicas, the batches and what the scaler does before the cold start ends",
        by_formula->replicas);
  }
  if (!fleet.start.empty()) {
    why += fmt::format("; never 0, because the first request would then wait for a whole cold start, {}",
                       time_text(cold_start_sum(fleet.start).typical));
  }
  out.statements.push_back({.name = name + " minimum ready replicas",
                            .value = fmt::format("{}", role.minimum),
                            .why = std::move(why),
                            .evidence = Evidence::simulated});
  if (by_formula) {
    out.statements.push_back({.name = name + " minimum by formula",
                              .value = fmt::format("{}", by_formula->replicas),
                              .why = by_formula->why,
                              .evidence = Evidence::modelled,
                              .visibility = Visibility::page,
                              .subject = name});
  }
}

/// Says what one balloon replica costs and saves.
void add_balloon_statement(const ServiceSpec& service, const ServicePlan& fleet, const RoleFleet& role, Section& out) {
  Duration node{};
  for (const StartPhase& phase : fleet.start) {
    if (phase.step == StartStep::node) node = phase.typical;
  }
  const GpuPrice price = gpu_price(role);
  const GpuCount gpus = role.gpus_per_replica();
  out.statements.push_back(
      {.name = workload_name(service, role.role) + " balloon",
       .value = price.per_hour.count > 0 ? explain::price_text(price.per_hour * gpus) : "price unknown",
       .why = fmt::format("optional: {} {} idle for the next replica, which then starts {} earlier; not in the cost of "
                          "this plan",
                          count_text(gpus, "GPU", "GPUs"), gpus == 1 ? "waits" : "wait", time_text(node)),
       .evidence = Evidence::modelled,
       .visibility = Visibility::one_service,
       .subject = workload_name(service, role.role)});
}

void add_objects(std::string_view folder, std::string_view name, std::vector<Yaml> objects, Section& out) {
  for (Yaml& object : objects) {
    out.manifests.push_back({.file = fmt::format("warm-pool/{}/{}.yaml", folder, name), .body = std::move(object)});
  }
}

Alternative spare_capacity(std::string option) { return {.choice = "spare capacity", .option = std::move(option)}; }

/// Adds the commands of the caches and of the two ways to hold GPUs for the next replica, of which one may be applied.
void add_warm_pool_commands(Section& out) {
  out.apply = {{.step = ApplyStep::cache,
                .command = "kubectl apply -f warm-pool/cache",
                .purpose = "images and weights on every node"},
               {.step = ApplyStep::spare_capacity,
                .command = "kubectl apply -f warm-pool/balloon",
                .purpose = "balloon pods for the next replica",
                .alternative = spare_capacity("balloon"),
                .is_optional = true},
               {.step = ApplyStep::spare_capacity,
                .command = "kubectl apply -f warm-pool/capacity-buffer",
                .purpose = "or a CapacityBuffer for it",
                .alternative = spare_capacity("capacity-buffer"),
                .is_optional = true}};
  for (Manifest& manifest : out.manifests) {
    for (const std::string_view option : {"balloon", "capacity-buffer"}) {
      if (manifest.file.starts_with(fmt::format("warm-pool/{}/", option)))
        manifest.alternative = spare_capacity(std::string(option));
    }
  }
}

/// Sets the answer. The page names only the longest cold start of several services.
void set_warm_pool_answer(const PlanFacts& facts, Section& section) {
  std::string minimums;
  for (std::size_t i = 0; i < facts.services.size(); ++i) {
    for (const RoleFleet& role : facts.services[i].roles) {
      minimums += fmt::format("{}{} {}", minimums.empty() ? "" : ", ", explain::replicas_text(role.minimum),
                              "of " + workload_name(facts.spec.services[i], role.role));
    }
  }
  std::string starts, longest_words;
  Duration longest{};
  for (std::size_t i = 0; i < facts.services.size(); ++i) {
    const ColdStart start = cold_start_sum(facts.services[i].start);
    if (!start.dominant) continue;
    const std::string words =
        fmt::format(" A cold start of {} takes {}, {} of it for {}.", facts.spec.services[i].name,
                    time_text(start.typical), time_text(start.dominant_typical), slowest_step_words(*start.dominant));
    starts += words;
    if (start.typical > longest) {
      longest = start.typical;
      longest_words = words;
    }
  }
  section.page_answer = fmt::format("Keep {} ready.{}", minimums, longest_words);
  section.answer = fmt::format(
      "Keep {} ready.{} Images and weights are fetched onto each node before a replica needs "
      "them.",
      minimums, starts);
}

}  // namespace

Section warm_pool_section(const PlanFacts& facts) {
  Section out{.key = "warm_pool", .title = "Warm pool"};
  set_warm_pool_answer(facts, out);
  add_objects("balloon", "priority-class", {balloon_priority_class()}, out);
  for (std::size_t i = 0; i < facts.services.size(); ++i) {
    const ServiceSpec& service = facts.spec.services[i];
    const ServicePlan& fleet = facts.services[i];
    add_start_statements(facts.spec, service, fleet, out);
    std::set<std::string> pools;
    for (const RoleFleet& role : fleet.roles) {
      const std::string name = workload_name(service, role.role);
      add_minimum_statements(service, fleet, role, out);
      add_balloon_statement(service, fleet, role, out);
      pools.insert(device_of(role).pool);
      add_objects("balloon", name, {balloon_deployment(facts.spec, service, role)}, out);
      add_objects("capacity-buffer", name, capacity_buffer_objects(facts.spec, service, role), out);
    }
    add_objects("cache", service.name, weight_cache_objects(facts.spec, service, {pools.begin(), pools.end()}), out);
  }
  add_warm_pool_commands(out);
  out.not_simulated.push_back(
      "balloon pods, capacity buffers, and the time until the cache's DaemonSet has loaded a new node");
  return out;
}

}  // namespace capstan::plan
