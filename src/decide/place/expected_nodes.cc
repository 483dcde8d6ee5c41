#include "decide/place/expected_nodes.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>

namespace capstan::decide::place {

using model::Claim;
using model::Reason;
using model::ReasonCode;

namespace {

/// Returns the pods of each set of the gang.
PodCounts counts_of(const Shortfall& lack) {
  PodCounts counts{};
  for (std::size_t i = 0; i < lack.spec.sets(); ++i) counts[i] = lack.spec.set(i).count;
  return counts;
}

void subtract(PodCounts& from, const PodCounts& pods) {
  for (std::size_t i = 0; i < from.size(); ++i) from[i] -= pods[i];
}

}  // namespace

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

std::int64_t sum_of(const PodCounts& counts) { return std::accumulate(counts.begin(), counts.end(), std::int64_t{}); }

PodCounts pods_on(const ExpectedNode& expected, const Shortfall& lack, const model::Catalog& catalog,
                  const PodCounts& most) {
  PodCounts pods{};
  if (lack.spec.other_pods.empty()) {
    const model::PodSet& set = lack.spec.pods;
    const bool is_admitted = catalog.eligibility.admits(set.pod_class, expected.bought);
    const model::Resources& requests = catalog.eligibility.requests(set.pod_class);
    if (is_admitted) pods[0] = std::min(pods_on(expected, set.gpus_per_pod, requests), most[0]);
    return pods;
  }
  ExpectedNode left = expected;
  for (std::size_t i = 0; i < lack.spec.sets(); ++i) {
    const model::PodSet& set = lack.spec.set(i);
    if (!catalog.eligibility.admits(set.pod_class, expected.bought)) continue;
    const model::Resources& requests = catalog.eligibility.requests(set.pod_class);
    pods[i] = std::min(pods_on(left, set.gpus_per_pod, requests), most[i]);
    for (std::int64_t taken = 0; taken < pods[i]; ++taken) take(left, set.gpus_per_pod, requests);
  }
  return pods;
}

void take(ExpectedNode& expected, MilliGpu gpus, const model::Resources& requests) {
  fleet::take(expected.free, gpus);
  if (expected.others) model::take_from(*expected.others, requests);
}

void ExpectedNodes::add(const Claim& claim, model::ClaimId id) {
  add(model::Purchase{claim.pool, claim.offering}, claim.domain, 1);
  nodes_.back().claim = id;
  nodes_.back().ready_at = claim.expected_ready_at;
}

void ExpectedNodes::add(const model::Purchase& bought, DomainId domain, std::int64_t count) {
  const model::Offering& offering = catalog_.offering(bought.offering);
  gpus_ += count * offering.gpus;
  const ExpectedNode expected{.bought = bought,
                              .gpu = offering.gpu,
                              .domain = domain.valid() ? domain : offering.zone,
                              .free = {whole_gpus(offering.gpus)},
                              .others = new_nodes_.resources_of(bought)};
  nodes_.insert(nodes_.end(), static_cast<std::size_t>(std::max<std::int64_t>(count, 0)), expected);
}

void ExpectedNodes::sort() { std::ranges::stable_sort(nodes_, {}, &ExpectedNode::ready_at); }

std::optional<Nomination> ExpectedNodes::nominate(const Shortfall& lack) {
  if (needs_one_node(lack)) {
    if (lack.bound_to_best) return std::nullopt;
    std::optional<Nomination> found = find(lack, {}, counts_of(lack));
    if (found) reserve(lack, {}, counts_of(lack));
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
  const PodCounts pods = lacking(lack, chosen);
  if (has_best(lack) && chosen == lack.best_domain) use_free(chosen);
  reserve(lack, chosen, pods);
  return first;
}

PodCounts ExpectedNodes::lacking(const Shortfall& lack, DomainId domain) const {
  const bool uses_free = !needs_one_node(lack) && has_best(lack) && domain == lack.best_domain;
  return uses_free && !used_domains_.contains(domain) ? lack.short_pods : counts_of(lack);
}

PodCounts ExpectedNodes::without_room(const Shortfall& lack, DomainId domain, const PodCounts& from) const {
  PodCounts pods = from;
  for (const ExpectedNode& expected : nodes_) {
    if (sum_of(pods) == 0) break;
    subtract(pods, slots(lack, expected, domain, pods));
  }
  return pods;
}

void ExpectedNodes::reserve(const Shortfall& lack, DomainId domain, const PodCounts& all) {
  PodCounts pods = all;
  for (ExpectedNode& expected : nodes_) {
    const PodCounts here = slots(lack, expected, domain, pods);
    if (needs_one_node(lack) && here != pods) continue;
    for (std::size_t i = 0; i < lack.spec.sets(); ++i) {
      const model::PodSet& set = lack.spec.set(i);
      const model::Resources& requests = catalog_.eligibility.requests(set.pod_class);
      for (std::int64_t taken = 0; taken < here[i]; ++taken) take(expected, set.gpus_per_pod, requests);
    }
    subtract(pods, here);
  }
}

/// Returns how many pods of each set the node takes together, at most `most`.
PodCounts ExpectedNodes::slots(const Shortfall& lack, const ExpectedNode& expected, DomainId domain,
                               const PodCounts& most) const {
  const bool is_usable = expected.gpu == lack.spec.pods.gpu && lack.may_use(catalog_, expected.bought) &&
                         (!domain.valid() || catalog_.lies_within(expected.domain, domain));
  return is_usable ? pods_on(expected, lack, catalog_, most) : PodCounts{};
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
    const DomainId domain = at_level(expected.domain, lack.spec.required_level);
    const bool is_known = std::ranges::find(domains, domain) != domains.end();
    if (!is_known && (domain.valid() || lack.spec.required_level == model::TopologyLevel::cluster))
      domains.push_back(domain);
  }
  return domains;
}

/// Returns the nodes on their way to the domain that together have room for these pods of the gang, taken in the order
/// in which they are expected. Returns nothing if they have too little room.
std::optional<Nomination> ExpectedNodes::find(const Shortfall& lack, DomainId domain, const PodCounts& all) const {
  Nomination found;
  PodCounts pods = all;
  if (sum_of(pods) <= 0) return found;
  for (const ExpectedNode& expected : nodes_) {
    const PodCounts here = slots(lack, expected, domain, pods);
    if (sum_of(here) <= 0 || (needs_one_node(lack) && here != pods)) continue;
    subtract(pods, here);
    ++found.nodes;
    found.last = expected.claim;
    found.pool = expected.bought.pool;
    found.ready_at = expected.ready_at;
    if (sum_of(pods) == 0) return found;
  }
  return std::nullopt;
}

}  // namespace capstan::decide::place
