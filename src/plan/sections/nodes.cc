#include <fmt/format.h>

#include <algorithm>

#include "base/number_text.h"
#include "base/unit_text.h"
#include "engine/instances.h"
#include "explain/words.h"
#include "plan/objects/charts.h"
#include "plan/objects/names.h"
#include "plan/objects/scheduling.h"
#include "plan/pools/cluster_autoscaler.h"
#include "plan/pools/karpenter.h"
#include "plan/pools/node_class.h"
#include "plan/pools/pools.h"
#include "plan/sections/sections.h"
#include "plan/spec/candidates.h"

namespace capstan::plan {

namespace {

bool has_node_autoscaler(const ClusterSpec& cluster) {
  return cluster.provisioner != Provisioner::none && cluster.cloud != Cloud::on_premises;
}

std::string machine_text(const MachineSpec& machine) {
  return fmt::format("{} ({} x {})", machine.name, machine.gpus, gpu_short_name(machine.gpu));
}

std::string price_list(const MachineSpec& machine) {
  std::string text;
  const auto add = [&](const std::optional<MicroUsd>& price, const char* name) {
    if (price) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, explain::price_text(*price));
  };
  add(machine.on_demand_per_hour, "on-demand");
  add(machine.spot_per_hour, "spot");
  add(machine.reserved_per_hour, "reserved");
  return text;
}

/// Returns the source of the prices in a row of data/instances.csv. data/README.md describes the sources.
std::string_view price_source(const engine::Instance& row) {
  if (row.cloud == "azure") return "karpenter-provider-azure of 2026-06-18 (data/instances.csv)";
  if (row.cloud == "gcp") return "karpenter-provider-gcp of 2026-08-06 (data/instances.csv)";
  return row.spot_per_hour ? "karpenter-provider-aws of 2026-07-20, spot SkyPilot's catalog v8 (data/instances.csv)"
                           : "karpenter-provider-aws of 2026-07-20 (data/instances.csv)";
}

/// The prices of a machine, by their source.
struct PriceSources {
  MachineSpec stated{};  ///< has the prices that the spec states
  MachineSpec listed{};  ///< has the prices of the catalogue
};

PriceSources price_sources(const MachineSpec& machine, const engine::Instance* row) {
  PriceSources out{machine, machine};
  const auto divide = [&](std::optional<MicroUsd> MachineSpec::* price, const std::optional<MicroUsd>& of_row) {
    (row != nullptr && machine.*price == of_row ? out.stated : out.listed).*price = std::nullopt;
  };
  divide(&MachineSpec::on_demand_per_hour, row == nullptr ? std::nullopt : row->on_demand_per_hour);
  divide(&MachineSpec::spot_per_hour, row == nullptr ? std::nullopt : row->spot_per_hour);
  divide(&MachineSpec::reserved_per_hour, std::nullopt);
  return out;
}

/// Adds the prices of a machine once, also if several pools use it. Those of the spec and those of the catalogue have a
/// statement each.
void add_price(Section& section, const PlanSpec& spec, const MachineSpec& machine) {
  const std::string name = "price of " + machine.name;
  if (std::ranges::find(section.statements, name, &Statement::name) != section.statements.end()) return;
  const engine::Instance* row = engine::find_instance(machine.name);
  const PriceSources sources = price_sources(machine, row);
  const std::string stated = price_list(sources.stated), listed = price_list(sources.listed);
  if (!stated.empty()) {
    section.statements.push_back({.name = name,
                                  .value = stated,
                                  .why = "the spec states it",
                                  .evidence = Evidence::stated,
                                  .visibility = Visibility::one_service});
  }
  if (listed.empty() || row == nullptr) return;
  std::string why = fmt::format("list price{} in {}, {}", listed.find(',') != listed.npos ? "s" : "", row->region,
                                price_source(*row));
  if (row->region != spec.cluster.region) why += "; the price in " + spec.cluster.region + " may differ";
  section.statements.push_back({.name = stated.empty() ? name : "list " + name,
                                .value = listed,
                                .why = std::move(why),
                                .evidence = Evidence::catalogue,
                                .visibility = Visibility::one_service});
}

void add_pool(Section& section, const PlanSpec& spec, const GpuPool& pool) {
  std::string machines, users;
  for (const MachineSpec& machine : pool.machines) machines += (machines.empty() ? "" : ", ") + machine_text(machine);
  for (const std::string& workload : pool.workloads) users += (users.empty() ? "" : ", ") + workload;
  const MachineSpec& machine = pool.machines.front();
  section.statements.push_back(
      {.name = "pool " + pool.name,
       .value = machines,
       .why = pool.holds_slo ? fmt::format("the machine of the cheapest fleet that held the SLO of {}", users)
                             : fmt::format("the machine of the best simulated fleet of {}; none held the SLO", users),
       .evidence = Evidence::simulated});
  add_price(section, spec, machine);
  const std::int64_t nodes = pool.limit_nodes() + pool.spot_nodes;
  section.statements.push_back(
      {.name = "GPU limit of " + pool.name,
       .value = fmt::format("{} on {}", count_text(nodes * pool.whole_gpus_per_node(), "GPU", "GPUs"),
                            count_text(nodes, "node", "nodes")),
       .why = fmt::format("{}, in whole nodes of {}; without a limit an error in a scaler buys nodes without end",
                          pool.arithmetic, count_text(pool.whole_gpus_per_node(), "GPU", "GPUs")),
       .evidence = Evidence::modelled,
       .visibility = Visibility::page});
}

/// Returns the chance of a reclaim, with which spot nodes are simulated.
std::string reclaim_words(const ClusterSpec& cluster) {
  return fmt::format("{} of the spot nodes are reclaimed in an hour{}", percent_text(cluster.spot_interruptions_ppm),
                     cluster.spot_interruptions_ppm == kSpotInterruptionsPpm ? ", which is assumed" : "");
}

/// Says that no simulation of a pool bought a spot node; empty if one did.
std::string unproved_spot_words(const PlanFacts& facts, const GpuPool& pool) {
  std::int64_t micro_usd = 0;
  for (const ServicePlan& service : facts.services) {
    const auto is_of_pool = [&](const RoleFleet& role) { return device_of(role).pool == pool.name; };
    if (std::ranges::none_of(service.roles, is_of_pool)) continue;
    for (const Trial& trial : service.seeds) micro_usd += trial.spot_micro_usd;
  }
  return micro_usd > 0 ? "" : "; no simulation of this load needed a spot node, so reclaims were not tested";
}

void add_capacity(Section& section, const PlanFacts& facts, const GpuPool& pool) {
  const PlanSpec& spec = facts.spec;
  std::string base;
  for (const std::string& type : base_capacity(spec.cluster, pool)) base += (base.empty() ? "" : ", ") + type;
  const std::vector<model::CapacityType>& types = spec.cluster.capacity;
  const bool may_buy_spot = std::ranges::find(types, model::CapacityType::spot) != types.end();
  if (pool.base == model::CapacityType::spot) {
    const bool is_spot_only = std::ranges::all_of(types, [](auto type) { return type == model::CapacityType::spot; });
    section.statements.push_back(
        {.name = "capacity of " + pool.name,
         .value = base,
         .why =
             fmt::format("{}; in the simulations {}",
                         is_spot_only ? "the spec allows nothing else"
                                      : "cluster.spot_base allows a base of spot nodes, and it held the SLO for less",
                         reclaim_words(spec.cluster)),
         .evidence = is_spot_only ? Evidence::stated : Evidence::simulated,
         .visibility = Visibility::page});
    return;
  }
  if (pool.spot_nodes == 0) {
    const MachineSpec& machine = pool.machines.front();
    const bool has_price = price_of(machine, model::CapacityType::spot).has_value();
    section.statements.push_back(
        {.name = "capacity of " + pool.name,
         .value = base + (may_buy_spot && !has_price ? ", because no spot price is known" : ""),
         .why = !may_buy_spot ? "the spec allows no spot nodes"
                : has_price
                    ? "the fleet that the search chose buys no spot nodes"
                    : fmt::format("the catalogue has no spot price of {}, so the search did not try spot nodes; "
                                  "state spot_usd_per_hour of it in cluster.instances",
                                  machine.name),
         .evidence = may_buy_spot && !has_price             ? Evidence::catalogue
                     : may_buy_spot                         ? Evidence::simulated
                     : is_default(spec, "cluster.capacity") ? Evidence::assumed
                                                            : Evidence::stated,
         .visibility = Visibility::page});
    return;
  }
  section.statements.push_back(
      {.name = "capacity of " + pool.name,
       .value = fmt::format(
           "{} for {}, spot for {} more{}", base, count_text(pool.max_nodes - pool.spot_nodes, "node", "nodes"),
           count_text(pool.spot_nodes, "node", "nodes"), pool.is_constant ? " under an autoscaler" : ""),
       .why =
           fmt::format("the minimum replicas need {}{}; the search chose the share of spot above them, and the cloud "
                       "may reclaim spot nodes with a notice of {}; in the simulations {}{}",
                       count_text(pool.base_nodes, "node", "nodes"),
                       pool.spot_base_nodes > 0
                           ? fmt::format(", {} of them spot, because cluster.spot_base allows it and it held the "
                                         "SLO for less",
                                         pool.spot_base_nodes)
                           : "",
                       spec.cluster.cloud == Cloud::aws ? "2 min" : "30 s", reclaim_words(spec.cluster),
                       unproved_spot_words(facts, pool)),
       .evidence = unproved_spot_words(facts, pool).empty() ? Evidence::simulated : Evidence::modelled,
       .visibility = Visibility::page});
}

void add_provisioning(Section& section, const PlanSpec& spec, const GpuPool& pool) {
  const bool is_stated = !is_default(spec, "cluster.node_start.boot") && !is_default(spec, "cluster.node_start.driver");
  if (pool.node_typical == Duration{}) return;
  section.statements.push_back(
      {.name = "time to a new node of " + pool.name,
       .value = fmt::format("{} to {}", explain::time_text(pool.node_typical), explain::time_text(pool.node_longest)),
       .why = "middle and upper end of the range that the simulations draw from; published figures go from 45 s to "
              "8 min, and a cloud without free machines takes longer, so state yours as cluster.node_start",
       .evidence = is_stated ? Evidence::stated : Evidence::assumed});
}

/// Says which nodes the provisioner removes to save money.
void add_consolidation(Section& section, const ClusterSpec& cluster, const std::vector<GpuPool>& pools) {
  const auto slowest = std::ranges::max_element(pools, {}, &GpuPool::start_typical);
  const std::string start = slowest == pools.end() || slowest->start_typical == Duration{}
                                ? std::string("minutes")
                                : explain::time_text(slowest->start_typical);
  const std::string gap = "a gap between two bursts is often shorter than 1 h";
  if (has_karpenter(cluster)) {
    section.statements.push_back(
        {.name = "consolidation",
         .value = "only empty nodes, after 1 h",
         .why =
             fmt::format("WhenEmptyOrUnderutilized moves serving replicas to save a node, and each move costs a start "
                         "of {} and the requests in flight; {}",
                         start, gap),
         .evidence = Evidence::assumed});
    return;
  }
  // GKE and AKS run the Cluster Autoscaler themselves, with a profile of the whole cluster.
  if (cluster.cloud != Cloud::aws) {
    section.statements.push_back(
        {.name = "consolidation",
         .value = "by the profile of the cloud's autoscaler",
         .why = fmt::format("the plan's commands do not change this profile; the simulations remove only empty nodes, "
                            "after 1 h, because a moved replica costs a start of {} and the requests in flight, and {}",
                            start, gap),
         .evidence = Evidence::none});
    return;
  }
  section.statements.push_back(
      {.name = "consolidation",
       .value = "only empty nodes, after 1 h",
       .why =
           fmt::format("the Cluster Autoscaler moves the pods of a node whose use is below "
                       "scale-down-gpu-utilization-threshold; 0.01 is less than one GPU of a node, because each move "
                       "costs a start of {} and the requests in flight; {}",
                       start, gap),
       .evidence = Evidence::assumed});
}

/// Says how Karpenter replaces nodes for other reasons than cost.
void add_replacement(Section& section) {
  section.statements.push_back(
      {.name = "replacement of nodes for a new image",
       .value = "one at a time, 22:00 to 06:00 UTC",
       .why =
           "WhenEmpty does not stop drift; a disruption budget of 0 nodes stops it from 06:00 to 22:00 UTC; move the "
           "hours to your quiet ones",
       .evidence = Evidence::assumed});
  section.statements.push_back(
      {.name = "expiry",
       .value = "never",
       .why = "expiry ignores disruption budgets and would drain serving nodes at any hour; a new pinned image renews "
              "the nodes by drift instead",
       .evidence = Evidence::assumed});
  section.statements.push_back({.name = "longest drain of a node",
                                .value = "1 h",
                                .why =
                                    "longer than the grace period of any pod of the plan, and a bound for a pod that "
                                    "does not end",
                                .evidence = Evidence::assumed});
}

/// Returns the machines and their number as a sentence.
std::string machines_answer(const std::vector<GpuPool>& pools) {
  std::string parts;
  for (const GpuPool& pool : pools) {
    const bool is_range = pool.base_nodes != pool.max_nodes;
    const bool is_constant = pool.is_constant && is_range;
    parts += fmt::format("{}{}{} of {}{}", parts.empty() ? "" : ", ",
                         is_range && !is_constant ? fmt::format("{} to ", pool.base_nodes) : "",
                         count_text(is_constant ? pool.base_nodes : pool.max_nodes, "node", "nodes"),
                         machine_text(pool.machines.front()),
                         is_constant ? fmt::format(", up to {} under an autoscaler", pool.max_nodes) : "");
  }
  return parts + ".";
}

std::string_view launch_answer(const ClusterSpec& cluster) {
  if (has_node_autoscaler(cluster) && !has_karpenter(cluster) && cluster.cloud != Cloud::aws) {
    return " The cloud's autoscaler decides by its profile when a node goes.";
  }
  return has_node_autoscaler(cluster)
             ? " Empty nodes go after 1 h; nodes with replicas are never moved to save money."
             : " Nothing launches nodes in this cluster, so the nodes exist before the replicas do.";
}

/// Says which pools have no command, because GKE does not offer their GPU.
void add_missing_gke_pools(Section& section, const std::vector<GpuPool>& pools) {
  for (const GpuPool& pool : pools) {
    const MachineSpec& machine = pool.machines.front();
    if (!gke_accelerator(machine).empty()) continue;
    section.statements.push_back({.name = "node pool " + pool.name,
                                  .value = "not written",
                                  .why = fmt::format("GKE has no accelerator type for the {} of {}; name a machine "
                                                     "type of GKE in cluster.instances",
                                                     gpu_short_name(machine.gpu), machine.name),
                                  .evidence = Evidence::none,
                                  .visibility = Visibility::page});
  }
}

void add_commands(Section& section, const std::vector<std::string>& commands, std::string_view purpose) {
  for (const std::string& command : commands)
    section.apply.push_back({.step = ApplyStep::nodes, .command = command, .purpose = std::string(purpose)});
}

/// Adds the objects of Karpenter.
void add_karpenter(Section& section, const PlanSpec& spec, const std::vector<GpuPool>& pools) {
  for (const GpuPool& pool : pools) {
    std::ranges::move(node_pools(spec, pool), std::back_inserter(section.manifests));
    section.manifests.push_back(spec.cluster.cloud == Cloud::azure ? aks_node_class(pool) : ec2_node_class(spec, pool));
    std::ranges::move(node_overlays(spec, pool), std::back_inserter(section.manifests));
  }
  add_commands(section, {"kubectl apply -f nodes"}, "the node pools");
}

/// Adds the node groups of AWS, and the Cluster Autoscaler that resizes them.
void add_node_groups(Section& section, const PlanSpec& spec, const std::vector<GpuPool>& pools) {
  section.manifests = node_groups(spec, pools);
  add_commands(section,
               {"eksctl create nodegroup --config-file nodes/eksctl/node-groups.yaml --install-nvidia-plugin=false"},
               "the node groups; the GPU Operator brings the device plugin");
  add_commands(section, {"kubectl apply -f nodes"}, "the order in which the Cluster Autoscaler asks the groups");
  add_commands(
      section,
      {helm_install("cluster-autoscaler", "--namespace kube-system --values nodes/values/cluster-autoscaler.yaml")},
      "the Cluster Autoscaler");
}

}  // namespace

Section nodes_section(const PlanFacts& facts) {
  const PlanSpec& spec = facts.spec;
  const std::vector<GpuPool> pools = gpu_pools(facts);
  Section section{.key = "nodes", .title = "Nodes", .page_answer = machines_answer(pools)};
  section.answer = section.page_answer + std::string(launch_answer(spec.cluster));
  for (const GpuPool& pool : pools) {
    add_pool(section, spec, pool);
    if (!has_node_autoscaler(spec.cluster)) continue;
    add_capacity(section, facts, pool);
    add_provisioning(section, spec, pool);
  }
  if (!has_node_autoscaler(spec.cluster)) {
    add_commands(section, label_nodes(spec, pools), "label and taint of the nodes that exist");
    return section;
  }
  add_consolidation(section, spec.cluster, pools);
  if (has_karpenter(spec.cluster)) add_replacement(section);
  if (spec.cluster.cloud == Cloud::gcp) {
    add_missing_gke_pools(section, pools);
    add_commands(section, gke_node_pools(spec, pools), "a node pool of GKE");
  } else if (has_karpenter(spec.cluster)) {
    add_karpenter(section, spec, pools);
  } else if (spec.cluster.cloud == Cloud::azure) {
    add_commands(section, aks_node_pools(spec, pools), "a node pool of AKS");
  } else {
    add_node_groups(section, spec, pools);
  }
  return section;
}

}  // namespace capstan::plan
