#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "decide/provision/passes.h"

namespace capstan::decide::provision {
namespace {

using model::DomainId;
using model::OfferingId;
using model::PoolId;
using model::Reason;
using model::ReasonCode;
using place::has_best;
using place::needs_one_node;
using place::Shortfall;

/// One way to complete a gang: a number of nodes of one offering inside one domain.
struct Option {
  PoolId pool;
  OfferingId offering;
  DomainId within;
  std::int64_t count = 0;
  std::int64_t weight = 0;         // of the pool
  MicroUsd price{};                // per hour, of all nodes
  bool in_preferred_zone = false;  // the nodes are in the zone that the shortfall prefers
  bool completes_best = false;     // the nodes complete the best domain of the shortfall
};

class Buyer {
 public:
  explicit Buyer(Context& context)
      : index_(context.index),
        capacity_(context.capacity),
        policy_(context.policy),
        memory_(context.memory),
        decision_(context.decision),
        detail_(context.detail) {}

  /// Buys the nodes that the gang lacks, or states why it waits.
  void serve(const Shortfall& lack) {
    if (const auto nomination = capacity_.expected_nodes().nominate(lack)) {
      return keep(lack, capacity_.reason(*nomination, lack.short_by));
    }
    Reason obstacle{ReasonCode::no_offering, {gpus_up(lack.needed), lack.spec.pods.gpu.value}};
    OfferComparison comparison{.gang = lack.gang,
                               .service = lack.service,
                               .ordinal = lack.ordinal,
                               .gpu = lack.spec.pods.gpu,
                               .gpus = lack.short_by};
    const bool keeps_offers = detail_ == Detail::candidates;
    const std::optional<Option> option = cheapest(lack, obstacle, keeps_offers ? &comparison : nullptr);
    if (keeps_offers) {
      note_comparison(decision_.offer_comparisons, std::move(comparison),
                      option.transform([](const Option& one) { return offer_of(one); }));
    }
    if (!option) return keep(lack, obstacle);
    capacity_.launch({.pool = option->pool,
                      .offering = option->offering,
                      .within = option->within,
                      .count = option->count,
                      .hold = policy_.hold,
                      .gang = lack.gang},
                     {ReasonCode::launch_for_gang, {option->count, gpus_up(lack.short_by)}}, decision_, memory_);
    place::ExpectedNodes& expected = capacity_.expected_nodes();
    if (option->completes_best) expected.use_free(lack.best_domain);
    expected.reserve(lack, option->within, expected.lacking(lack, option->within));
  }

 private:
  bool may_use(const Shortfall& lack, const model::Purchase& purchase) const {
    return lack.may_use(capacity_.catalog(), purchase);
  }

  /// Returns the domain of the level in the offering's zone that has the fewest nodes. Nodes on their way count. Among
  /// equal domains, the lowest id wins.
  DomainId new_domain(const Shortfall& lack, const model::Offering& offering) const {
    if (lack.spec.required_level == TopologyLevel::zone) return offering.zone;
    const model::Catalog& catalog = capacity_.catalog();
    DomainId best;
    std::size_t fewest = 0;
    for (std::uint32_t d = 0; d < catalog.domains.size(); ++d) {
      const DomainId id{d};
      if (catalog.domain(id).level != lack.spec.required_level || !capacity_.inside(id, offering.zone)) continue;
      if (has_best(lack) && id == lack.best_domain) continue;
      std::size_t nodes = 0;
      if (const DomainRoom* room = index_.rooms.find({lack.spec.required_level, id, lack.spec.pods.gpu}))
        nodes += room->nodes.size();
      for (const place::ExpectedNode& expected : capacity_.expected_nodes().nodes())
        nodes += capacity_.inside(expected.within, id) ? 1 : 0;
      if (best.valid() && nodes >= fewest) continue;
      best = id;
      fewest = nodes;
    }
    return best;
  }

  static Offer offer_of(const Option& option) {
    return {.purchase = {option.pool, option.offering},
            .within = option.within,
            .count = option.count,
            .price = option.price};
  }

  /// Returns the reason for which a new node does not hold `pods` of the gang although it has the GPUs; no value if it
  /// lacks GPUs.
  std::optional<Reason> lacking_resource(const Shortfall& lack, const model::Purchase& purchase,
                                         std::int64_t pods) const {
    const model::Catalog& catalog = capacity_.catalog();
    const MilliGpu of_node = whole_gpus(catalog.offering(purchase.offering).gpus);
    if (fleet::places({of_node}, lack.spec.pods.gpus_per_pod) < pods) return std::nullopt;
    model::Resources amounts;
    const model::Resources& of_pod = catalog.eligibility.requests(lack.spec.pods.pod_class);
    for (std::int64_t i = 0; i < pods; ++i) model::add_to(amounts, of_pod);
    return capacity_.new_nodes().lack(purchase, amounts, pods);
  }

  /// Returns the cheapest option of the pools with the highest weight. Ties go to the preferred zone, then to the best
  /// domain, then to the earlier pool, then to the lower id. If there is no option, `obstacle` receives the reason.
  /// @param comparison  receives the options that were considered; null: none are kept
  std::optional<Option> cheapest(const Shortfall& lack, Reason& obstacle, OfferComparison* comparison) const {
    const model::Catalog& catalog = capacity_.catalog();
    std::optional<Option> best;
    if (!needs_one_node(lack) && !catalog.is_chosen_at_launch(lack.spec.required_level)) {
      obstacle = {ReasonCode::domain_not_sold, {gpus_up(lack.needed), model::reason_number(lack.spec.required_level)}};
      return best;
    }
    const auto note = [&](const Option& option, Offer::Outcome outcome, const Reason& why = {}) {
      if (comparison == nullptr) return;
      Offer offer = offer_of(option);
      offer.outcome = outcome;
      offer.why = why;
      comparison->add(offer);
    };
    const auto consider = [&](PoolId pool, OfferingId id, DomainId within, bool completes) {
      const model::Offering& offering = catalog.offering(id);
      const std::int64_t per_node =
          capacity_.new_nodes().pods_on({pool, id}, lack.spec.pods.gpus_per_pod, lack.spec.pods.pod_class);
      std::int64_t pods = capacity_.expected_nodes().lacking(lack, within);
      if (!needs_one_node(lack)) pods -= capacity_.expected_nodes().slots(lack, within);
      if (per_node == 0 || (needs_one_node(lack) && per_node < pods)) {
        const std::optional<Reason> why = lacking_resource(lack, {pool, id}, needs_one_node(lack) ? pods : 1);
        if (why && obstacle.code == ReasonCode::no_offering) obstacle = *why;
        return note({pool, id, within}, Offer::Outcome::too_small, why.value_or(Reason{}));
      }
      const std::int64_t count = ceil_div(std::max<std::int64_t>(pods, 1), per_node);
      const bool preferred = lack.preferred_zone.valid() && offering.zone == lack.preferred_zone;
      const Option option{.pool = pool,
                          .offering = id,
                          .within = within,
                          .count = count,
                          .weight = catalog.pool(pool).weight,
                          .price = offering.price_per_hour * count,
                          .in_preferred_zone = preferred,
                          .completes_best = completes};
      const Capacity::Obstacle found = capacity_.obstacle(pool, id, count);
      if (found != Capacity::Obstacle::ok) {
        obstacle = capacity_.reason(found, pool, id, count);
        return note(option, Offer::Outcome::refused, obstacle);
      }
      note(option, Offer::Outcome::not_cheapest);
      const auto rank = [](const Option& o) {
        return std::tuple(-o.weight, o.price, !o.in_preferred_zone, !o.completes_best, o.pool, o.offering);
      };
      if (!best || rank(option) < rank(*best)) best = option;
    };
    for (std::uint32_t p = 0; p < catalog.pools.size(); ++p) {
      for (OfferingId id : catalog.pools[p].offerings) {
        const model::Offering& offering = catalog.offering(id);
        if (offering.gpu != lack.spec.pods.gpu) continue;
        if (!may_use(lack, {{p}, id})) {
          note({{p}, id, {}}, Offer::Outcome::not_allowed);
          continue;
        }
        if (needs_one_node(lack) || lack.spec.required_level == TopologyLevel::cluster) {
          // A gang that must fit on one node and has pods bound there can only wait for room on that node.
          if (!(needs_one_node(lack) && lack.bound_to_best)) consider({p}, id, lack.best_domain, !needs_one_node(lack));
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
    decision_.plan.no_actions.push_back(
        {planned ? model::Plan::NoAction::Subject::service : model::Plan::NoAction::Subject::gang,
         planned ? lack.service.value : lack.gang.value, why});
  }

  const Index& index_;
  Capacity& capacity_;
  const Policy& policy_;
  Memory& memory_;
  Decision& decision_;
  Detail detail_;
};

}  // namespace

void buy_for_gangs(Context& context) {
  if (!context.scans) return;
  Buyer buyer(context);
  MilliGpu short_by;
  for (const Shortfall& lack : context.placed.shortfalls) {
    short_by += lack.short_by;
    buyer.serve(lack);
  }
  context.decision.short_gpus = gpus_up(short_by);
}

}  // namespace capstan::decide::provision
