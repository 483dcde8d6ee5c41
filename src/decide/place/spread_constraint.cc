#include "decide/place/spread_constraint.h"

#include <algorithm>
#include <set>

#include "base/sort_unique.h"

namespace capstan::decide::place {

SpreadConstraint::SpreadConstraint(const model::Snapshot& snapshot, const Index& index, const Memory& memory)
    : snapshot_(snapshot), index_(index), memory_(memory) {}

const NodeId* SpreadConstraint::find_placed(GangId gang) {
  if (!assumed_) {
    assumed_.emplace();
    for (const Memory::AssumedBinding& assumed : memory_.assumed) assumed_->emplace(assumed.gang, assumed.node);
  }
  if (const auto found = placed_.find(gang); found != placed_.end()) return &found->second;
  const auto found = assumed_->find(gang);
  return found == assumed_->end() ? nullptr : &found->second;
}

void SpreadConstraint::Distribution::add(FailureDomain domain) {
  if (domain == kNowhere) return;
  ++held[domain];
  ++placed;
}

std::vector<ReplicaCount> SpreadConstraint::Distribution::replica_limits() const {
  std::set<ReplicaCount> counts{0};
  for (const auto& [domain, count] : held) {
    if (!is_strict() || count < share) counts.insert(count);
  }
  return {counts.begin(), counts.end()};
}

std::set<FailureDomain> SpreadConstraint::Distribution::domains_above(ReplicaCount most) const {
  std::set<FailureDomain> domains;
  for (const auto& [domain, count] : held) {
    if (count > most) domains.insert(domain);
  }
  return domains;
}

const SpreadConstraint::Distribution* SpreadConstraint::distribution_of(ServiceId service) {
  const auto [known, first] = distributions_.try_emplace(service);
  if (first) known->second = count(service);
  return known->second ? &*known->second : nullptr;
}

std::optional<SpreadConstraint::Distribution> SpreadConstraint::count(ServiceId service) {
  if (!service.valid()) return std::nullopt;
  const model::Service& settings = snapshot_.catalog->service(service);
  const model::ServiceState* state = snapshot_.services.find(service);
  if (!settings.survives || state == nullptr) return std::nullopt;
  Distribution spread{.level = *settings.survives, .held = {}};
  const ReplicaCount domains =
      failure_domains(index_, index_.assumed.rooms(), *snapshot_.catalog, settings.workload, *settings.survives);
  if (domains < 2) return std::nullopt;
  if (const auto gangs = index_.gangs_by_service.find(service); gangs != index_.gangs_by_service.end()) {
    for (const GangId id : gangs->second) {
      const model::Gang& gang = snapshot_.gangs.at(id);
      // A gang that sleeps or drains serves no requests, so its domain does not matter.
      if (gang.is_leaving()) continue;
      FailureDomain domain = failure_domain_of(index_, index_.assumed.rooms(), gang, spread.level);
      const NodeId* placed = domain == kNowhere ? find_placed(id) : nullptr;
      if (placed != nullptr) domain = failure_domain_of(index_.assumed.rooms(), *placed, spread.level);
      spread.add(domain);
    }
  }
  spread.share = std::max<ReplicaCount>(even_share(state->desired_replicas, domains), 1);
  spread.strict_at = state->desired_replicas - spread.share;
  return spread;
}

void SpreadConstraint::place(ServiceId service, GangId gang, NodeId node) {
  if (!service.valid()) return;
  const auto known = distributions_.find(service);
  const bool is_known = known != distributions_.end() && known->second;
  const bool is_new = is_known && find_placed(gang) == nullptr;
  placed_.insert_or_assign(gang, node);
  if (!is_new) return;
  Distribution& spread = *known->second;
  const bool counted =
      failure_domain_of(index_, index_.assumed.rooms(), snapshot_.gangs.at(gang), spread.level) != kNowhere;
  if (!counted) spread.add(failure_domain_of(index_.assumed.rooms(), node, spread.level));
}

void SpreadConstraint::set_preference(Shortfall& lack) {
  const Distribution* spread = distribution_of(lack.service);
  if (!spread) return;
  lack.spread_is_strict = spread->is_strict();
  if (spread->level != TopologyLevel::zone) return;
  const auto held = [&](DomainId zone) {
    const auto here = spread->held.find(zone.value);
    const auto promised = promised_.find({lack.service, zone.value});
    return (here == spread->held.end() ? 0 : here->second) + (promised == promised_.end() ? 0 : promised->second);
  };
  const model::Catalog& catalog = *snapshot_.catalog;
  for (std::uint32_t p = 0; p < catalog.pools.size(); ++p) {
    for (const model::OfferingId id : catalog.pools[p].offerings) {
      const model::Offering& offering = catalog.offering(id);
      if (offering.gpu != lack.spec.pods.gpu || !offering.zone.valid()) continue;
      if (spread->is_strict() && held(offering.zone) >= spread->share) {
        lack.avoided_purchases.push_back({PoolId{p}, id});
      } else if (!lack.preferred_zone.valid() || held(offering.zone) < held(lack.preferred_zone)) {
        lack.preferred_zone = offering.zone;
      }
    }
  }
  sort_unique(lack.avoided_purchases);
  if (lack.preferred_zone.valid()) ++promised_[{lack.service, lack.preferred_zone.value}];
}

}  // namespace capstan::decide::place
