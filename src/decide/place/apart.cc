#include "decide/place/apart.h"

#include <algorithm>
#include <set>

#include "base/sort_unique.h"

namespace capstan::decide::place {

Apart::Apart(const model::Snapshot& snapshot, const Index& index, const Memory& memory)
    : snapshot_(snapshot), index_(index), memory_(memory) {}

const NodeId* Apart::find_placed(GangId gang) {
  if (!assumed_) {
    assumed_.emplace();
    for (const Memory::Assumed& assumed : memory_.assumed) assumed_->emplace(assumed.gang, assumed.node);
  }
  if (const auto found = placed_.find(gang); found != placed_.end()) return &found->second;
  const auto found = assumed_->find(gang);
  return found == assumed_->end() ? nullptr : &found->second;
}

void Apart::Where::add(FailureDomain domain) {
  if (domain == kNowhere) return;
  ++held[domain];
  ++placed;
}

std::vector<ReplicaCount> Apart::Where::steps() const {
  std::set<ReplicaCount> counts{0};
  for (const auto& [domain, count] : held) {
    if (!firm() || count < share) counts.insert(count);
  }
  return {counts.begin(), counts.end()};
}

std::set<FailureDomain> Apart::Where::above(ReplicaCount most) const {
  std::set<FailureDomain> domains;
  for (const auto& [domain, count] : held) {
    if (count > most) domains.insert(domain);
  }
  return domains;
}

const Apart::Where* Apart::of(ServiceId service) {
  const auto [known, first] = where_.try_emplace(service);
  if (first) known->second = look(service);
  return known->second ? &*known->second : nullptr;
}

std::optional<Apart::Where> Apart::look(ServiceId service) {
  if (!service.valid()) return std::nullopt;
  const model::Service& settings = snapshot_.catalog->service(service);
  const model::ServiceState* state = snapshot_.services.find(service);
  if (!settings.survives || state == nullptr) return std::nullopt;
  Where where{.level = *settings.survives, .held = {}};
  const ReplicaCount domains =
      failure_domains(index_, index_.assumed.rooms(), *snapshot_.catalog, settings.workload, *settings.survives);
  if (domains < 2) return std::nullopt;
  if (const auto gangs = index_.gangs_by_service.find(service); gangs != index_.gangs_by_service.end()) {
    for (const GangId id : gangs->second) {
      const model::Gang& gang = snapshot_.gangs.at(id);
      // A gang that sleeps or drains serves no requests, so its domain does not matter.
      if (gang.leaves()) continue;
      FailureDomain domain = failure_domain_of(index_, index_.assumed.rooms(), gang, where.level);
      const NodeId* placed = domain == kNowhere ? find_placed(id) : nullptr;
      if (placed != nullptr) domain = failure_domain_of(index_.assumed.rooms(), *placed, where.level);
      where.add(domain);
    }
  }
  where.share = std::max<ReplicaCount>(even_share(state->desired_replicas, domains), 1);
  where.enough = state->desired_replicas - where.share;
  return where;
}

void Apart::place(ServiceId service, GangId gang, NodeId node) {
  if (!service.valid()) return;
  const auto known = where_.find(service);
  const bool is_known = known != where_.end() && known->second;
  const bool is_new = is_known && find_placed(gang) == nullptr;
  placed_.insert_or_assign(gang, node);
  if (!is_new) return;
  Where& where = *known->second;
  const bool counted =
      failure_domain_of(index_, index_.assumed.rooms(), snapshot_.gangs.at(gang), where.level) != kNowhere;
  if (!counted) where.add(failure_domain_of(index_.assumed.rooms(), node, where.level));
}

void Apart::steer(Shortfall& lack) {
  const Where* where = of(lack.service);
  if (!where) return;
  lack.apart = where->firm();
  if (where->level != TopologyLevel::zone) return;
  const auto held = [&](DomainId zone) {
    const auto here = where->held.find(zone.value);
    const auto promised = promised_.find({lack.service, zone.value});
    return (here == where->held.end() ? 0 : here->second) + (promised == promised_.end() ? 0 : promised->second);
  };
  const model::Catalog& catalog = *snapshot_.catalog;
  for (std::uint32_t p = 0; p < catalog.pools.size(); ++p) {
    for (const model::OfferingId id : catalog.pools[p].offerings) {
      const model::Offering& offering = catalog.offering(id);
      if (offering.gpu != lack.spec.pods.gpu || !offering.zone.valid()) continue;
      if (where->firm() && held(offering.zone) >= where->share) {
        lack.avoided_purchases.push_back({PoolId{p}, id});
      } else if (!lack.rather.valid() || held(offering.zone) < held(lack.rather)) {
        lack.rather = offering.zone;
      }
    }
  }
  sort_unique(lack.avoided_purchases);
  if (lack.rather.valid()) ++promised_[{lack.service, lack.rather.value}];
}

}  // namespace capstan::decide::place
