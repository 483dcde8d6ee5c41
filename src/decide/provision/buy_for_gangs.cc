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
using place::PodCounts;
using place::Shortfall;

/// One way to complete a gang: a number of nodes of one offering inside one domain.
struct Option {
  PoolId pool;
  OfferingId offering;
  DomainId domain;
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
      return add_no_action(lack, capacity_.reason(*nomination, lack.short_by));
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
    if (!option) return add_no_action(lack, obstacle);
    capacity_.launch({.pool = option->pool,
                      .offering = option->offering,
                      .domain = option->domain,
                      .count = option->count,
                      .hold = policy_.hold,
                      .gang = lack.gang},
                     reason_of(lack, *option), decision_, memory_);
    place::ExpectedNodes& expected = capacity_.expected_nodes();
    if (option->completes_best) expected.use_free(lack.best_domain);
    expected.reserve(lack, option->domain, expected.lacking(lack, option->domain));
  }

 private:
  bool may_use(const Shortfall& lack, const model::Purchase& purchase) const {
    return lack.may_use(capacity_.catalog(), purchase);
  }

  /// Returns a domain of the gang's required level in the offering's zone, other than the gang's best domain. Of these
  /// domains it is the one with the fewest nodes, nodes on their way included. Ties go to the lowest id. For the level
  /// `zone` it is the offering's zone, even if that is the best domain.
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
        nodes += capacity_.inside(expected.domain, id) ? 1 : 0;
      if (best.valid() && nodes >= fewest) continue;
      best = id;
      fewest = nodes;
    }
    return best;
  }

  /// Returns the reason for a launch. It says so if the new nodes may lack CPU or memory for the pods, because the
  /// amounts are not known.
  Reason reason_of(const Shortfall& lack, const Option& option) const {
    bool needs_amounts = false;
    for (std::size_t set = 0; set < lack.spec.sets(); ++set) {
      const model::Resources& pod = capacity_.catalog().eligibility.requests(lack.spec.set(set).pod_class);
      needs_amounts = needs_amounts || pod.cpu_milli > 0 || pod.memory_mib > 0;
    }
    const std::int64_t gpus = gpus_up(lack.short_by);
    if (!needs_amounts || capacity_.new_nodes().resources_of({option.pool, option.offering}))
      return {ReasonCode::launch_for_gang, {option.count, gpus}};
    return {ReasonCode::launch_of_unknown_size, {option.count, gpus, model::reason_number(option.offering)}};
  }

  static Offer offer_of(const Option& option) {
    return {.purchase = {option.pool, option.offering},
            .domain = option.domain,
            .count = option.count,
            .price = option.price};
  }

  /// Returns the reason for which a new node does not hold these pods of the gang although it has the GPUs; no value if
  /// it lacks GPUs.
  std::optional<Reason> lacking_resource(const Shortfall& lack, const model::Purchase& purchase,
                                         const PodCounts& pods) const {
    const model::Catalog& catalog = capacity_.catalog();
    fleet::NeededDevices devices;
    model::Resources amounts;
    for (std::size_t set = 0; set < lack.spec.sets(); ++set) {
      const model::PodSet& equal = lack.spec.set(set);
      for (std::int64_t i = 0; i < pods[set]; ++i) {
        devices.add(equal.gpus_per_pod);
        model::add_to(amounts, catalog.eligibility.requests(equal.pod_class));
      }
    }
    if (devices.count() > catalog.offering(purchase.offering).gpus) return std::nullopt;
    return capacity_.new_nodes().lack(purchase, amounts, place::sum_of(pods));
  }

  /// Returns the number of new nodes that the pods need, at least one. No value: a new node has no room for one of the
  /// pods, or not for all of them although the gang needs one node.
  std::optional<std::int64_t> nodes_for(const Shortfall& lack, const model::Purchase& purchase, PodCounts pods) const {
    const place::NewNodes& new_nodes = capacity_.new_nodes();
    if (lack.spec.other_pods.empty()) {
      const std::int64_t per_node = new_nodes.pods_on(purchase, lack.spec.pods.gpus_per_pod, lack.spec.pods.pod_class);
      if (per_node == 0 || (needs_one_node(lack) && per_node < pods[0])) return std::nullopt;
      return ceil_div(std::max<std::int64_t>(pods[0], 1), per_node);
    }
    const place::ExpectedNode fresh{.bought = purchase,
                                    .gpu = lack.spec.pods.gpu,
                                    .domain = {},
                                    .free = {whole_gpus(capacity_.catalog().offering(purchase.offering).gpus)},
                                    .others = new_nodes.resources_of(purchase)};
    std::int64_t nodes = 0;
    for (std::int64_t left = place::sum_of(pods); left > 0; ++nodes) {
      const PodCounts here = place::pods_on(fresh, lack, capacity_.catalog(), pods);
      const std::int64_t on_node = place::sum_of(here);
      if (on_node == 0 || (needs_one_node(lack) && on_node < left)) return std::nullopt;
      for (std::size_t set = 0; set < pods.size(); ++set) pods[set] -= here[set];
      left -= on_node;
    }
    return std::max<std::int64_t>(nodes, 1);
  }

  /// Returns pods that one new node must hold: all of them if the gang needs one node, else one pod of each set.
  static PodCounts pods_of_one_node(const Shortfall& lack, const PodCounts& pods) {
    PodCounts some = pods;
    for (std::int64_t& count : some) count = needs_one_node(lack) ? count : std::min<std::int64_t>(count, 1);
    if (lack.spec.other_pods.empty() && !needs_one_node(lack)) some[0] = 1;
    return some;
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
    const auto consider = [&](PoolId pool, OfferingId id, DomainId domain, bool completes) {
      const model::Offering& offering = catalog.offering(id);
      PodCounts pods = capacity_.expected_nodes().lacking(lack, domain);
      if (!needs_one_node(lack)) pods = capacity_.expected_nodes().without_room(lack, domain, pods);
      const std::optional<std::int64_t> nodes = nodes_for(lack, {pool, id}, pods);
      if (!nodes) {
        const std::optional<Reason> why = lacking_resource(lack, {pool, id}, pods_of_one_node(lack, pods));
        if (why && obstacle.code == ReasonCode::no_offering) obstacle = *why;
        return note({pool, id, domain}, Offer::Outcome::too_small, why.value_or(Reason{}));
      }
      const std::int64_t count = *nodes;
      const bool preferred = lack.preferred_zone.valid() && offering.zone == lack.preferred_zone;
      const Option option{.pool = pool,
                          .offering = id,
                          .domain = domain,
                          .count = count,
                          .weight = catalog.pool(pool).weight,
                          .price = offering.price_per_hour * count,
                          .in_preferred_zone = preferred,
                          .completes_best = completes};
      const PurchaseLimits::Obstacle found = capacity_.obstacle(pool, id, count);
      if (found != PurchaseLimits::Obstacle::ok) {
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
          // A gang that must fit on one node and already has pods on a node can only wait for room on that node.
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

  void add_no_action(const Shortfall& lack, Reason why) {
    const bool planned = !lack.gang.valid();
    decision_.plan.no_actions.push_back(
        {planned ? model::Plan::NoAction::Subject::service : model::Plan::NoAction::Subject::gang,
         planned ? lack.service.value : lack.gang.value, why});
  }

  const Index& index_;
  PurchaseLimits& capacity_;
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
