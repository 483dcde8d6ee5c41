#include "decide/place/expected_nodes.h"

#include <algorithm>

namespace capstan::decide::place {

using model::Claim;
using model::Reason;
using model::ReasonCode;

bool in_transit(const Claim& claim, const model::Snapshot& snapshot) {
  switch (claim.phase) {
    case Claim::Phase::requested:
    case Claim::Phase::launched:
      return true;
    case Claim::Phase::registered:  // the node may appear in a later snapshot
      return claim.node.valid() && snapshot.nodes.find(claim.node) == nullptr;
    case Claim::Phase::failed:
      break;
  }
  return false;
}

bool is_expected(const Claim& claim, const model::Snapshot& snapshot) {
  const model::Node* node = snapshot.nodes.find(claim.node);
  const bool is_starting =
      node != nullptr && node->ready_at.is_never() && node->phase != model::Node::Phase::terminating;
  return is_starting || in_transit(claim, snapshot);
}

Reason reason_of(const Nomination& nomination, Instant now) {
  const std::int64_t claim = model::reason_number(nomination.last);
  const std::int64_t pool = model::reason_number(nomination.pool);
  if (nomination.ready_at.is_never()) return {ReasonCode::nominated_untimed, {nomination.nodes, claim, pool}};
  if (nomination.ready_at < now) {
    return {ReasonCode::nominated_overdue, {nomination.nodes, claim, pool, whole_seconds(now - nomination.ready_at)}};
  }
  return {ReasonCode::nominated_to_claim, {nomination.nodes, claim, pool, whole_seconds(nomination.ready_at - now)}};
}

std::int64_t pods_on(const ExpectedNode& expected, MilliGpu gpus_per_pod, const model::Resources& requests) {
  const std::int64_t by_gpus = fleet::places(expected.free, gpus_per_pod);
  return expected.others ? model::times_in(requests, *expected.others, by_gpus) : by_gpus;
}

void take(ExpectedNode& expected, MilliGpu gpus, const model::Resources& requests) {
  fleet::take(expected.free, gpus);
  if (expected.others) model::take_from(*expected.others, requests);
}

void ExpectedNodes::add(const Claim& claim, model::ClaimId id) {
  add(model::Purchase{claim.pool, claim.offering}, claim.within, 1);
  nodes_.back().claim = id;
  nodes_.back().ready_at = claim.expected_ready_at;
}

void ExpectedNodes::add(const model::Purchase& bought, DomainId within, std::int64_t count) {
  const model::Offering& offering = catalog_.offering(bought.offering);
  gpus_ += count * offering.gpus;
  const ExpectedNode expected{.bought = bought,
                              .gpu = offering.gpu,
                              .within = within.valid() ? within : offering.zone,
                              .free = {whole_gpus(offering.gpus)},
                              .others = new_nodes_.resources_of(bought)};
  nodes_.insert(nodes_.end(), static_cast<std::size_t>(std::max<std::int64_t>(count, 0)), expected);
}

void ExpectedNodes::sort() { std::ranges::stable_sort(nodes_, {}, &ExpectedNode::ready_at); }

std::optional<Nomination> ExpectedNodes::nominate(const Shortfall& lack) {
  if (needs_one_node(lack)) {
    if (lack.bound_to_best) return std::nullopt;
    std::optional<Nomination> found = find(lack, {}, lack.spec.pods.count);
    if (found) reserve(lack, {}, lack.spec.pods.count);
    return found;
  }
  std::optional<Nomination> first;
  DomainId chosen;
  for (const DomainId domain : candidates(lack)) {
    const std::optional<Nomination> found = find(lack, domain, lacking(lack, domain));
    if (!found || (first && found->ready_at >= first->ready_at)) continue;
    first = found;
    chosen = domain;
  }
  if (!first) return std::nullopt;
  const std::int64_t pods = lacking(lack, chosen);
  if (has_best(lack) && chosen == lack.best_domain) use_free(chosen);
  reserve(lack, chosen, pods);
  return first;
}

std::int64_t ExpectedNodes::lacking(const Shortfall& lack, DomainId domain) const {
  const bool uses_free = !needs_one_node(lack) && has_best(lack) && domain == lack.best_domain;
  return uses_free && !used_domains_.contains(domain) ? lack.short_by.count / lack.spec.pods.gpus_per_pod.count
                                                      : lack.spec.pods.count;
}

std::int64_t ExpectedNodes::slots(const Shortfall& lack, DomainId domain) const {
  std::int64_t sum = 0;
  for (const ExpectedNode& expected : nodes_) sum += slots(lack, expected, domain);
  return sum;
}

void ExpectedNodes::reserve(const Shortfall& lack, DomainId domain, std::int64_t pods) {
  for (ExpectedNode& expected : nodes_) {
    const std::int64_t n = std::min(slots(lack, expected, domain), pods);
    if (needs_one_node(lack) && n < pods) continue;
    const model::Resources& requests = catalog_.eligibility.requests(lack.spec.pods.pod_class);
    for (std::int64_t i = 0; i < n; ++i) take(expected, lack.spec.pods.gpus_per_pod, requests);
    pods -= n;
  }
}

std::int64_t ExpectedNodes::slots(const Shortfall& lack, const ExpectedNode& expected, DomainId domain) const {
  if (expected.gpu != lack.spec.pods.gpu || !lack.may_use(catalog_, expected.bought)) return 0;
  if (domain.valid() && !catalog_.lies_within(expected.within, domain)) return 0;
  return pods_on(expected, lack.spec.pods.gpus_per_pod, catalog_.eligibility.requests(lack.spec.pods.pod_class));
}

/// Returns the domain of `level` that contains `domain`, or an invalid id if `domain` is above that level.
DomainId ExpectedNodes::at_level(DomainId domain, model::Level level) const {
  for (; domain.valid(); domain = catalog_.domain(domain).parent) {
    if (catalog_.domain(domain).level == level) return domain;
  }
  return {};
}

/// Returns the domains in which the gang could be completed, the gang's best domain first.
std::vector<DomainId> ExpectedNodes::candidates(const Shortfall& lack) const {
  std::vector<DomainId> domains;
  if (has_best(lack)) domains.push_back(lack.best_domain);
  if (lack.bound_to_best) return domains;
  for (const ExpectedNode& expected : nodes_) {
    const DomainId domain = at_level(expected.within, lack.spec.required_level);
    const bool is_known = std::ranges::find(domains, domain) != domains.end();
    if (!is_known && (domain.valid() || lack.spec.required_level == model::TopologyLevel::cluster))
      domains.push_back(domain);
  }
  return domains;
}

/// Returns the nodes on their way to the domain that together have room for `pods` of the gang, taken in the order in
/// which they are expected. Returns nothing if they have too little room.
std::optional<Nomination> ExpectedNodes::find(const Shortfall& lack, DomainId domain, std::int64_t pods) const {
  Nomination found;
  if (pods <= 0) return found;
  for (const ExpectedNode& expected : nodes_) {
    const std::int64_t n = std::min(slots(lack, expected, domain), pods);
    if (n <= 0 || (needs_one_node(lack) && n < pods)) continue;
    pods -= n;
    ++found.nodes;
    found.last = expected.claim;
    found.pool = expected.bought.pool;
    found.ready_at = expected.ready_at;
    if (pods == 0) return found;
  }
  return std::nullopt;
}

}  // namespace capstan::decide::place
