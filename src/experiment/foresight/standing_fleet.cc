#include "experiment/foresight/standing_fleet.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <utility>

#include "base/known_row.h"
#include "base/number_text.h"
#include "base/unit_text.h"
#include "experiment/text/words.h"
#include "model/role_names.h"
#include "sim/cluster/topology.h"

namespace capstan::experiment {
namespace {

/// Machines of one offering that may be chosen.
struct MachineChoice {
  model::OfferingId offering;
  model::PoolId pool;
  std::int64_t available = 0;  ///< machines that may still be opened; the limits of pool and zone apply, too
};

/// Fills machines with replicas, service by service, and opens a machine if no open one has room.
class NodeFiller {
 public:
  NodeFiller(const scenario::Scenario& scenario, RemainingNodes remaining)
      : scenario_(scenario),
        catalog_(*scenario.catalog),
        remaining_(remaining),
        zone_room_(sim::nvlink_domains_in(catalog_, model::TopologyLevel::zone) *
                   scenario.cluster.provider.nodes_per_nvlink_domain) {
    find_choices();
    for (const sim::ExistingNodes& nodes : scenario.cluster.existing) {
      for (std::int64_t i = 0; stays(nodes) && i < nodes.count; ++i) open(nodes.offering, nodes.pool);
    }
  }

  /// Adds the replicas of a service. Returns false if one does not fit.
  bool fill(model::ServiceId service, ReplicaCount replicas) {
    const model::Workload& workload = catalog_.service(service).workload;
    const bool on_one_node = workload.pods == 1 || workload.required_level == model::TopologyLevel::node;
    const GpuCount unit = on_one_node ? workload.gpus_per_replica : workload.gpus_per_replica / workload.pods;
    const std::int64_t units = replicas * (on_one_node ? 1 : workload.pods);
    std::size_t at = 0;  // open machines before this one have no room for a unit
    for (std::int64_t left = units; left > 0; --left) {
      while (at < open_.size() && !has_room(open_[at], workload.gpu, unit)) ++at;
      if (at == open_.size() && !open_best(workload.gpu, unit, left)) {
        unplaced_gpu_ = workload.gpu;
        unplaced_unit_ = unit;
        return false;
      }
      open_[at].free -= unit;
    }
    return true;
  }

  /// Returns the limits that stopped the last `fill`, as the scenario states them. Empty if the scenario has no machine
  /// for the replicas.
  std::vector<std::string> limits_reached() const {
    std::vector<std::string> limits;
    for (const MachineChoice& choice : choices_) {
      const model::Offering& offering = catalog_.offering(choice.offering);
      if (offering.gpu != unplaced_gpu_ || offering.gpus < unplaced_unit_) continue;
      for (std::string& limit : limits_of(choice, offering)) {
        if (std::ranges::find(limits, limit) == limits.end()) limits.push_back(std::move(limit));
      }
    }
    return limits;
  }

  StandingNodes result() && {
    StandingNodes standing;
    for (const auto& [key, count] : opened_) {
      const model::Offering& offering = catalog_.offering(key.first);
      standing.nodes.push_back({.offering = key.first, .count = count, .pool = key.second});
      standing.micro_usd_per_hour += offering.price_per_hour.count * count;
      standing.gpus += offering.gpus * count;
    }
    return standing;
  }

 private:
  struct OpenMachine {
    model::GpuKindId gpu;
    GpuCount free = 0;
  };
  static bool has_room(const OpenMachine& machine, model::GpuKindId gpu, GpuCount unit) {
    return machine.gpu == gpu && machine.free >= unit;
  }

  /// Returns the limits that do not let one more of these machines open.
  std::vector<std::string> limits_of(const MachineChoice& choice, const model::Offering& offering) const {
    std::vector<std::string> limits;
    const std::size_t pool = choice.pool.value;
    const model::PoolLimits& stated = catalog_.pools[pool].limits;
    if (pool_left_[pool].gpus < offering.gpus)
      limits.push_back(fmt::format("cluster.pools.{}.gpu_limit: {}", pool, stated.gpus));
    if (pool_left_[pool].nodes <= 0)
      limits.push_back(fmt::format("cluster.pools.{}.node_limit: {}", pool, stated.nodes));
    const auto in_zone = in_zone_.find(offering.zone);
    if (in_zone != in_zone_.end() && in_zone->second >= zone_room_) {
      limits.push_back(fmt::format("the {} in each zone (cluster.racks_per_zone and nvlink_domains_per_rack)",
                                   count_text(zone_room_, "place for a node", "places for nodes")));
    }
    return limits;
  }

  bool stays(const sim::ExistingNodes& nodes) const { return remaining_ == RemainingNodes::all || !nodes.pool.valid(); }

  void find_choices() {
    pool_left_.resize(catalog_.pools.size());
    for (std::size_t p = 0; p < catalog_.pools.size(); ++p) {
      const model::PoolId pool{static_cast<std::uint32_t>(p)};
      model::NodeAmounts standing;
      for (const sim::ExistingNodes& nodes : scenario_.cluster.existing) {
        if (nodes.pool != pool) continue;
        standing += catalog_.amounts_of(nodes.offering, nodes.count);
        const bool sold =
            std::ranges::find(catalog_.pools[p].offerings, nodes.offering) != catalog_.pools[p].offerings.end();
        if (!sold && !stays(nodes)) choices_.push_back({nodes.offering, pool, nodes.count});
      }
      const model::PoolLimits& limits = catalog_.pools[p].limits;
      const bool all_stay = remaining_ == RemainingNodes::all;
      pool_left_[p] = {.gpus = std::max(limits.gpus, standing.gpus) - (all_stay ? standing.gpus : 0),
                       .nodes = std::max(limits.nodes, standing.nodes) - (all_stay ? standing.nodes : 0)};
      for (const model::OfferingId offering : catalog_.pools[p].offerings) {
        choices_.push_back({offering, pool, zone_room_});
      }
    }
  }

  /// Opens the machine with the lowest price per unit that it would hold, if `left` units remain to be placed. Opens a
  /// spot machine only if there is no other, because a fleet that its provider takes away is not constant. Returns
  /// false if no machine can be opened.
  bool open_best(model::GpuKindId gpu, GpuCount unit, std::int64_t left) {
    MachineChoice* best = nullptr;
    std::int64_t best_price = 0, best_held = 1;
    bool best_is_spot = false;
    for (MachineChoice& choice : choices_) {
      const model::Offering& offering = catalog_.offering(choice.offering);
      const std::int64_t held = std::min<std::int64_t>(offering.gpus / unit, left);
      const model::NodeAmounts& pool_left = pool_left_[choice.pool.value];
      const bool possible = offering.gpu == gpu && held > 0 && choice.available > 0 &&
                            pool_left.gpus >= offering.gpus && pool_left.nodes > 0 &&
                            in_zone_[offering.zone] < zone_room_;
      if (!possible) continue;
      const std::int64_t price = offering.price_per_hour.count;
      const bool is_spot = offering.capacity == model::CapacityType::spot;
      if (best != nullptr && is_spot && !best_is_spot) continue;
      const bool better = best == nullptr || (best_is_spot && !is_spot) ||
                          static_cast<__int128>(price) * best_held < static_cast<__int128>(best_price) * held ||
                          (price == 0 && best_price == 0 && offering.gpus < catalog_.offering(best->offering).gpus);
      if (!better) continue;
      best = &choice;
      best_price = price;
      best_held = held;
      best_is_spot = is_spot;
    }
    if (best == nullptr) return false;
    --best->available;
    pool_left_[best->pool.value].gpus -= catalog_.offering(best->offering).gpus;
    --pool_left_[best->pool.value].nodes;
    open(best->offering, best->pool);
    return true;
  }

  void open(model::OfferingId id, model::PoolId pool) {
    const model::Offering& offering = catalog_.offering(id);
    open_.push_back({offering.gpu, offering.gpus});
    ++in_zone_[offering.zone];
    ++opened_[{id, pool}];
  }

  const scenario::Scenario& scenario_;
  const model::Catalog& catalog_;
  RemainingNodes remaining_;
  std::int64_t zone_room_;  ///< machines that fit into each zone
  std::vector<MachineChoice> choices_;
  std::vector<model::NodeAmounts> pool_left_;  // GPUs and nodes that the limits still allow, by pool
  std::map<model::DomainId, std::int64_t> in_zone_;
  std::vector<OpenMachine> open_;
  std::map<std::pair<model::OfferingId, model::PoolId>, std::int64_t> opened_;
  model::GpuKindId unplaced_gpu_{};  ///< GPU kind of the last unit that found no room
  GpuCount unplaced_unit_ = 0;       ///< its GPUs
};

/// Adds the services to a filler, those with large replicas first, so that small ones fill the room that they leave.
/// Returns false if a replica does not fit.
bool fill_all(const scenario::Scenario& scenario, const ReplicaCounts& replicas, NodeFiller& filler) {
  std::vector<std::uint32_t> order(replicas.size());
  std::iota(order.begin(), order.end(), 0);
  const auto size = [&](std::uint32_t service) {
    return scenario.catalog->services[service].workload.gpus_per_replica;
  };
  std::ranges::stable_sort(order, std::ranges::greater{}, size);
  return std::ranges::all_of(order, [&](std::uint32_t service) { return filler.fill({service}, replicas[service]); });
}

/// Returns "5 prefill and 4 decode" or "3 h100".
std::string by_part(const scenario::Scenario& scenario, const ReplicaCounts& replicas) {
  std::string words;
  for (std::size_t i = 0; i < replicas.size(); ++i) {
    if (replicas[i] == 0 && scenario.endpoint().has_variants()) continue;
    const std::string part = part_name(*scenario.catalog, scenario.catalog->services[i]);
    words += fmt::format("{}{} {}", words.empty() ? "" : " and ", grouped_text(replicas[i]), part);
  }
  return words;
}

/// Returns the words of a fleet that fit into a table: "9 replicas", "5 + 4" or "3 h100".
std::string short_words(const scenario::Scenario& scenario, const ReplicaCounts& replicas) {
  if (!scenario.endpoint().is_disaggregated())
    return replicas.size() == 1 ? fleet_words(scenario, replicas) : by_part(scenario, replicas);
  return fmt::format("{} + {}", grouped_text(replicas[0]), grouped_text(replicas[1]));
}

}  // namespace

std::optional<StandingNodes> nodes_for(const scenario::Scenario& scenario, const ReplicaCounts& replicas,
                                       RemainingNodes remaining) {
  NodeFiller filler(scenario, remaining);
  if (!fill_all(scenario, replicas, filler)) return std::nullopt;
  return std::move(filler).result();
}

std::vector<std::string> size_limits(const scenario::Scenario& scenario, const ReplicaCounts& replicas) {
  std::vector<std::string> limits;
  const auto add = [&](std::string limit) {
    if (std::ranges::find(limits, limit) == limits.end()) limits.push_back(std::move(limit));
  };
  for (std::size_t i = 0; i < replicas.size(); ++i) {
    const model::Service& service = scenario.catalog->services[i];
    if (replicas[i] >= service.max_replicas) {
      const std::string owner = replicas.size() == 1 ? "service." : part_name(*scenario.catalog, service) + " ";
      add(fmt::format("{}replicas.max: {}", owner, service.max_replicas));
    }
    ReplicaCounts larger = replicas;
    ++larger[i];
    NodeFiller filler(scenario, RemainingNodes::without_pool);
    if (fill_all(scenario, larger, filler)) continue;
    for (std::string& limit : filler.limits_reached()) add(std::move(limit));
  }
  return limits;
}

std::string part_name(const model::Catalog& catalog, const model::Service& service) {
  const std::string variant = variant_name(catalog, service);
  return variant.empty() ? std::string(model::name(service.workload.role)) : variant;
}

scenario::Scenario with_standing_fleet(const scenario::Scenario& scenario, const ReplicaCounts& replicas,
                                       const StandingNodes& nodes) {
  scenario::Scenario standing = scenario;
  standing.policies.clear();
  auto catalog = std::make_shared<model::Catalog>(*scenario.catalog);
  for (model::Service& service : catalog->services) service.windows.clear();
  standing.catalog = standing.cluster.catalog = std::move(catalog);
  standing.cluster.existing = nodes.nodes;
  for (sim::InitialReplicas& initial : standing.cluster.initial) {
    initial.replicas = known_row(replicas, initial.service.value);
    initial.ready = true;
  }
  return standing;
}

scenario::PolicySpec constant_policy(const scenario::Scenario& scenario, const ReplicaCounts& replicas) {
  scenario::PolicySpec spec;
  spec.policies.name = "constant fleet of " + short_words(scenario, replicas) + " (hindsight)";
  for (const ReplicaCount count : replicas) spec.policies.scale.push_back(decide::scale::Fixed{.replicas = count});
  spec.policies.place = decide::place::Policy{};
  if (!scenario.catalog->pools.empty()) spec.policies.provision = decide::provision::whole_groups();
  spec.provider = scenario.cluster.provider;
  return spec;
}

std::string fleet_words(const scenario::Scenario& scenario, const ReplicaCounts& replicas) {
  if (replicas.size() == 1) return count_text(replicas.front(), "replica", "replicas");
  const ReplicaCount all = std::accumulate(replicas.begin(), replicas.end(), ReplicaCount{0});
  return by_part(scenario, replicas) + (all == 1 ? " replica" : " replicas");
}

}  // namespace capstan::experiment
