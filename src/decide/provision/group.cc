#include <algorithm>
#include <optional>
#include <set>
#include <tuple>

#include "decide/provision/capacity.h"

namespace capstan::decide::provision {
namespace {

using model::DomainId;
using model::OfferingId;
using model::PoolId;
using model::Reason;
using model::ReasonCode;
using place::Shortfall;

/// One way to complete a gang: so many nodes of an offering inside one domain.
struct Option {
  PoolId pool;
  OfferingId offering;
  DomainId within;
  std::int64_t count = 0;
  MicroUsd price;       // per hour, of all of them
  bool rather = false;  // in the zone that was asked for
  bool best = false;    // completes the domain that the gang nearly fits
};

class Buyer {
 public:
  Buyer(const Index& index, Capacity& capacity, const Policy& policy, Memory& memory, Decision& decision)
      : index_(index), capacity_(capacity), policy_(policy), memory_(memory), decision_(decision) {}

  void serve(const Shortfall& lack) {
    if (covered_by_coming(lack)) {
      keep(lack, {ReasonCode::capacity_on_its_way, {capacity_.coming_gpus(), gpus_up(lack.short_by)}});
      return;
    }
    Reason obstacle{ReasonCode::no_offering, {gpus_up(lack.needed), lack.gpu.value}};
    const std::optional<Option> option = cheapest(lack, obstacle);
    if (!option) return keep(lack, obstacle);
    capacity_.launch({.pool = option->pool,
                      .offering = option->offering,
                      .within = option->within,
                      .count = option->count,
                      .hold = policy_.hold,
                      .gang = lack.gang},
                     {ReasonCode::launch_for_gang, {option->count, gpus_up(lack.short_by)}}, decision_, memory_);
    if (option->best) spoken_for_.insert(lack.best_domain);
    take(lack, option->within, lacking(lack, option->within));
  }

 private:
  bool may_use(const Shortfall& lack, const model::Purchase& purchase) const {
    return lack.may_use(capacity_.catalog(), purchase);
  }
  bool one_node(const Shortfall& lack) const { return lack.level == TopologyLevel::node; }

  /// Pods that need a node that is not there yet, if the gang goes to this domain. What is free in the best domain is
  /// counted for the first gang that asks only.
  std::int64_t lacking(const Shortfall& lack, DomainId domain) const {
    const bool uses_free = !one_node(lack) && has_best(lack) && domain == lack.best_domain;
    return uses_free && !spoken_for_.contains(domain) ? lack.short_by.count / lack.gpus_per_pod.count : lack.pods;
  }

  /// At level cluster the best domain has no id and yet is one.
  bool has_best(const Shortfall& lack) const {
    return lack.best_domain.valid() || (lack.level == TopologyLevel::cluster && lack.best_free > MilliGpu{});
  }

  std::int64_t slots(const Shortfall& lack, const Coming& coming, DomainId domain) const {
    if (coming.gpu != lack.gpu || !may_use(lack, coming.bought) || !capacity_.inside(coming.within, domain)) return 0;
    return coming.free.count / lack.gpus_per_pod.count;
  }

  std::int64_t coming_slots(const Shortfall& lack, DomainId domain) const {
    std::int64_t sum = 0;
    for (const Coming& coming : capacity_.coming()) sum += slots(lack, coming, domain);
    return sum;
  }

  /// Speaks for room of `pods` on nodes that come to the domain.
  void take(const Shortfall& lack, DomainId domain, std::int64_t pods) {
    for (Coming& coming : capacity_.coming()) {
      const std::int64_t n = std::min(slots(lack, coming, domain), pods);
      if (one_node(lack) && n < pods) continue;
      coming.free -= lack.gpus_per_pod * n;
      pods -= n;
    }
  }

  bool covered_by_coming(const Shortfall& lack) {
    if (one_node(lack)) {
      if (lack.bound_to_best) return false;
      const bool fits =
          std::ranges::any_of(capacity_.coming(), [&](const Coming& c) { return slots(lack, c, {}) >= lack.pods; });
      if (fits) take(lack, {}, lack.pods);
      return fits;
    }
    std::vector<DomainId> candidates;
    if (has_best(lack)) candidates.push_back(lack.best_domain);
    if (!lack.bound_to_best) {
      for (const Coming& coming : capacity_.coming()) {
        const DomainId domain = capacity_.at_level(coming.within, lack.level);
        const bool known = has(candidates, domain);
        if (!known && (domain.valid() || lack.level == TopologyLevel::cluster)) candidates.push_back(domain);
      }
    }
    for (DomainId domain : candidates) {
      const std::int64_t pods = lacking(lack, domain);
      if (coming_slots(lack, domain) < pods) continue;
      if (has_best(lack) && domain == lack.best_domain) spoken_for_.insert(domain);
      take(lack, domain, pods);
      return true;
    }
    return false;
  }

  /// The domain of the level in the offering's zone with the fewest nodes, those on their way included; ties by id.
  DomainId new_domain(const Shortfall& lack, const model::Offering& offering) const {
    if (lack.level == TopologyLevel::zone) return offering.zone;
    const model::Catalog& catalog = capacity_.catalog();
    DomainId best;
    std::size_t fewest = 0;
    for (std::uint32_t d = 0; d < catalog.domains.size(); ++d) {
      const DomainId id{d};
      if (catalog.domain(id).level != lack.level || !capacity_.inside(id, offering.zone)) continue;
      if (has_best(lack) && id == lack.best_domain) continue;
      std::size_t nodes = 0;
      if (const DomainRoom* room = index_.rooms.find({lack.level, id, lack.gpu})) nodes += room->nodes.size();
      for (const Coming& coming : capacity_.coming()) nodes += capacity_.inside(coming.within, id) ? 1 : 0;
      if (best.valid() && nodes >= fewest) continue;
      best = id;
      fewest = nodes;
    }
    return best;
  }

  /// The cheapest way; completing the best domain wins ties, then the earlier pool and the lower id. `obstacle` says
  /// what stood in the way when there is none.
  std::optional<Option> cheapest(const Shortfall& lack, Reason& obstacle) const {
    const model::Catalog& catalog = capacity_.catalog();
    std::optional<Option> best;
    if (!one_node(lack) && lack.level < catalog.launches_into) {
      obstacle = {ReasonCode::domain_not_sold, {gpus_up(lack.needed), static_cast<std::int64_t>(lack.level)}};
      return best;
    }
    const auto consider = [&](PoolId pool, OfferingId id, DomainId within, bool completes) {
      const model::Offering& offering = catalog.offering(id);
      const std::int64_t per_node = whole_gpus(offering.gpus).count / lack.gpus_per_pod.count;
      std::int64_t pods = lacking(lack, within);
      if (!one_node(lack)) pods -= coming_slots(lack, within);
      if (per_node == 0 || (one_node(lack) && per_node < pods)) return;
      const std::int64_t count = ceil_div(std::max<std::int64_t>(pods, 1), per_node);
      const Capacity::Obstacle found = capacity_.obstacle(pool, id, count);
      if (found != Capacity::Obstacle::ok) {
        obstacle = capacity_.reason(found, pool, id, count);
        return;
      }
      const bool rather = lack.rather.valid() && offering.zone == lack.rather;
      const Option option{pool, id, within, count, offering.price_per_hour * count, rather, completes};
      const auto rank = [](const Option& o) { return std::tuple(o.price, !o.rather, !o.best, o.pool, o.offering); };
      if (!best || rank(option) < rank(*best)) best = option;
    };
    for (std::uint32_t p = 0; p < catalog.pools.size(); ++p) {
      for (OfferingId id : catalog.pools[p].offerings) {
        const model::Offering& offering = catalog.offering(id);
        if (offering.gpu != lack.gpu || !may_use(lack, {{p}, id})) continue;
        if (one_node(lack) || lack.level == TopologyLevel::cluster) {
          // A gang inside one node that already has pods on it can only wait for room there.
          if (!(one_node(lack) && lack.bound_to_best)) consider({p}, id, lack.best_domain, !one_node(lack));
          continue;
        }
        const bool reaches = has_best(lack) && (capacity_.inside(lack.best_domain, offering.zone) ||
                                                capacity_.inside(offering.zone, lack.best_domain));
        if (reaches) consider({p}, id, lack.best_domain, true);
        if (lack.bound_to_best) continue;
        const DomainId other = new_domain(lack, offering);
        if (other.valid() && other != lack.best_domain) consider({p}, id, other, false);
      }
    }
    return best;
  }

  void keep(const Shortfall& lack, Reason why) {
    const bool planned = !lack.gang.valid();
    decision_.plan.kept.push_back({planned ? model::Plan::Kept::Subject::service : model::Plan::Kept::Subject::gang,
                                   planned ? lack.service.value : lack.gang.value, why});
  }

  const Index& index_;
  Capacity& capacity_;
  const Policy& policy_;
  Memory& memory_;
  Decision& decision_;
  std::set<DomainId> spoken_for_;  // best domains whose free GPUs an older gang counts on
};

}  // namespace

void buy_groups(const Index& index, const place::Decision& placed, Capacity& capacity, const Policy& policy,
                Memory& memory, Decision& decision) {
  Buyer buyer(index, capacity, policy, memory, decision);
  MilliGpu short_by;
  for (const Shortfall& lack : placed.shortfalls) {
    short_by += lack.short_by;
    buyer.serve(lack);
  }
  decision.short_gpus = gpus_up(short_by);
}

}  // namespace capstan::decide::provision
