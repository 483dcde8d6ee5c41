#include "sim/cluster/node_provider.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/known_row.h"
#include "model/pool_limit.h"
#include "sim/cluster/pod_fit.h"
#include "sim/cluster/topology.h"

namespace capstan::sim {

NodeProvider::NodeProvider(Basics& basics, std::uint64_t seed, NodeListener& listener)
    : Component(basics),
      listener_(listener),
      provider_draws_(seed, "cluster.provider"),
      capacity_draws_(seed, "cluster.capacity"),
      spot_draws_(seed, "cluster.spot"),
      paths_(paths_of(catalog())) {
  for (std::uint32_t d = 0; d < catalog().domains.size(); ++d) {
    if (catalog().domains[d].level == model::TopologyLevel::nvlink) {
      places_[{d}] = config_.provider.nodes_per_nvlink_domain;
    }
  }
  for (std::uint32_t o = 0; o < catalog().offerings.size(); ++o) {
    const ProviderConfig& provider = config_.provider;
    expected_launch_[{o}] = provider.decision.midpoint() + provider.boot.midpoint() + provider.driver.midpoint();
  }
}

void NodeProvider::add_existing() {
  for (const ExistingNodes& group : config_.existing) {
    const model::Offering& offering = catalog().offering(group.offering);
    for (std::int64_t i = 0; i < group.count; ++i) {
      const auto place = std::ranges::find_if(
          places_, [&](const auto& p) { return p.second > 0 && catalog().lies_within(p.first, offering.zone); });
      CAPSTAN_ASSERT(place != places_.end());  // the scenario reader checks that existing nodes fit into their zone
      --place->second;
      make_node({.pool = group.pool,
                 .offering = group.offering,
                 .claim = {},
                 .gpu = {},
                 .gpus = {},
                 .domains = {},
                 .node_class = group.node_class,
                 .ready_at = {}},
                place->first);
    }
  }
}

/// Returns an NVLink domain of the offering's zone with room for one more machine. If `outer` is valid, the domain lies
/// inside it.
std::optional<model::DomainId> NodeProvider::find_place(const model::Offering& offering, model::DomainId outer) {
  std::vector<model::DomainId> fitting;
  for (const auto& [domain, room] : places_) {
    if (room <= 0 || !catalog().lies_within(domain, offering.zone)) continue;
    if (outer.valid() && known_row(paths_, domain).domain_at(catalog().domain(outer).level) != outer) continue;
    if (!config_.provider.scatter) return domain;
    fitting.push_back(domain);
  }
  if (fitting.empty()) return std::nullopt;
  return fitting[capacity_draws_.below(fitting.size())];
}

model::NodeId NodeProvider::make_node(model::Node node, model::DomainId place) {
  const model::NodeId id{next_node_++};
  const model::Offering& bought = catalog().offering(node.offering);
  nodes_.emplace(id,
                 Node{.allocated = {}, .free_counted_until = now(), .paid_since = now(), .place = place, .pods = {}});
  node.gpu = bought.gpu;
  node.gpus = whole_gpus(bought.gpus);
  node.domains = known_row(paths_, place);
  node.available = catalog().resources_of_new_node(node.offering);
  node.ready_at = now();
  api_.set(id, std::move(node));
  listener_.node_added(id);
  const std::uint32_t rate = config_.provider.spot_interruptions_per_million_hours;
  if (bought.capacity == model::CapacityType::spot && rate > 0) {
    const double hours = spot_draws_.exponential() * 1e6 / rate;
    constexpr double kLongest = 1e5;  // hours: longer than any run, and inside the range of a Duration
    if (hours < kLongest) {
      events_.schedule(now() + Duration(static_cast<std::int64_t>(hours * 3.6e12)), EventKind::spot_notice, id.value);
    }
  }
  return id;
}

model::NodeAmounts NodeProvider::in_use(model::PoolId pool) const {
  model::NodeAmounts sum;
  rows().nodes.for_each([&](model::NodeId, const model::Node& node) {
    if (node.pool == pool) sum += catalog().amounts_of(node.offering, 1);
  });
  rows().claims.for_each([&](model::ClaimId, const model::Claim& claim) {
    const bool on_its_way =
        claim.phase == model::Claim::Phase::requested || claim.phase == model::Claim::Phase::launched;
    if (claim.pool == pool && on_its_way) sum += catalog().amounts_of(claim.offering, 1);
  });
  return sum;
}

std::optional<model::Reason> NodeProvider::perform(const model::LaunchNodes& what) {
  const model::Reason malformed{model::ReasonCode::outcome_refused};
  if (what.pool.value >= catalog().pools.size() || what.offering.value >= catalog().offerings.size()) return malformed;
  if (what.count < 1 || what.count > kMaxLaunch) return malformed;
  if (what.domain.valid() && what.domain.value >= catalog().domains.size()) return malformed;
  const model::Pool& pool = catalog().pool(what.pool);
  if (std::ranges::find(pool.offerings, what.offering) == pool.offerings.end()) return malformed;
  const auto refusal = model::refusal_of_pool(catalog(), what.pool, what.offering, what.count, in_use(what.pool));
  if (refusal) return refusal;
  model::ClaimGroupId group;
  if (what.hold.count() > 0) group = {next_group_++};
  for (std::int64_t i = 0; i < what.count; ++i) {
    const model::ClaimId id{next_claim_++};
    claims_.emplace(id, Claim{});
    api_.set(id, model::Claim{.phase = model::Claim::Phase::requested,
                              .pool = what.pool,
                              .offering = what.offering,
                              .domain = what.domain,
                              .group = group,
                              .requested_at = now(),
                              .expected_ready_at = now() + known_row(expected_launch_, what.offering),
                              .node = {}});
    events_.schedule(now() + config_.provider.decision.draw(provider_draws_), EventKind::claim_decided, id.value);
  }
  return std::nullopt;
}

void NodeProvider::claim_decided(model::ClaimId id) {
  const auto record = claims_.find(id);
  if (record == claims_.end()) return;  // the claim was released before
  model::Claim claim = rows().claims.at(id);
  const std::vector<std::uint32_t>& ppm = config_.provider.refused_ppm;
  const model::DomainId zone = catalog().offering(claim.offering).zone;
  const bool refused = config_.provider.out(zone, now()) ||
                       (claim.offering.value < ppm.size() && capacity_draws_.chance_ppm(ppm[claim.offering.value]));
  const auto place = refused ? std::nullopt : find_place(catalog().offering(claim.offering), claim.domain);
  if (!place) {
    ++meter_.launches_refused;
    meter_.launches_without_room += refused ? 0 : 1;
    claims_.erase(record);
    api_.fail(id);
    return;
  }
  ++meter_.launches;
  --known_row(places_, *place);
  record->second.place = *place;
  record->second.times.bought_at = now();
  claim.phase = model::Claim::Phase::launched;
  api_.set(id, claim);
  events_.schedule(now() + config_.provider.boot.draw(provider_draws_), EventKind::node_booted, id.value);
}

void NodeProvider::node_booted(model::ClaimId id) {
  const auto record = claims_.find(id);
  if (record == claims_.end()) return;
  record->second.times.booted_at = now();
  events_.schedule(now() + config_.provider.driver.draw(provider_draws_), EventKind::node_ready, id.value);
}

void NodeProvider::node_ready(model::ClaimId id) {
  const auto record = claims_.find(id);
  if (record == claims_.end()) return;
  model::Claim claim = rows().claims.at(id);
  add_launching(account_, id, now());
  claim.phase = model::Claim::Phase::registered;
  claim.node = make_node({.pool = claim.pool,
                          .offering = claim.offering,
                          .claim = id,
                          .gpu = {},
                          .gpus = {},
                          .domains = {},
                          .node_class = node_class_of(catalog(), {claim.pool, claim.offering}),
                          .ready_at = {}},
                         record->second.place);
  Duration& expected = known_row(expected_launch_, claim.offering);
  expected = (3 * expected + (now() - claim.requested_at)) / 4;
  api_.set(id, claim);
}

/// Cancels a claim whose node does not exist yet.
void NodeProvider::cancel_claim(model::ClaimId id) {
  const Claim& record = known_row(claims_, id);
  if (record.is_bought()) {
    add_launching(account_, id, now());
    ++known_row(places_, record.place);
    ++meter_.nodes_removed;
  }
  claims_.erase(id);
  api_.erase(id);
}

std::optional<model::Reason> NodeProvider::perform(const model::ReleaseGroup& what) {
  std::vector<model::ClaimId> members;
  rows().claims.for_each([&](model::ClaimId id, const model::Claim& claim) {
    if (claim.group == what.group && claim.phase != model::Claim::Phase::failed) members.push_back(id);
  });
  if (!what.group.valid() || members.empty()) return model::Reason{model::ReasonCode::outcome_refused};
  for (model::ClaimId id : members) {
    const model::NodeId node = rows().claims.at(id).node;
    if (!node.valid()) {
      cancel_claim(id);
    } else if (pods(node).empty() && rows().nodes.at(node).phase != model::Node::Phase::terminating) {
      terminate(node, Interruption::termination);
    }
  }
  return std::nullopt;
}

std::optional<model::Reason> NodeProvider::perform(const model::TerminateNode& what) {
  const model::Node* node = rows().nodes.find(what.node);
  const bool in_pool = node != nullptr && node->pool.valid();
  if (!in_pool || node->phase == model::Node::Phase::terminating) {
    return model::Reason{model::ReasonCode::outcome_refused};
  }
  terminate(what.node, Interruption::termination);
  return std::nullopt;
}

void NodeProvider::terminate(model::NodeId id, Interruption why) {
  model::Node node = rows().nodes.at(id);
  node.phase = model::Node::Phase::terminating;
  api_.set(id, node);  // first, so that no pod is placed here while others are evicted
  while (!pods(id).empty()) listener_.evict(pods(id).front(), why);
  listener_.node_stopped(id);
  // The provider takes a spot node at once. A node that is given back shuts down first.
  const Instant gone_at = why == Interruption::spot ? now() : now() + config_.provider.removal;
  events_.schedule(gone_at, EventKind::node_gone, id.value);
}

void NodeProvider::node_gone(model::NodeId id) {
  const auto record = nodes_.find(id);
  if (record == nodes_.end()) return;  // the provider took the node while it was shutting down
  CAPSTAN_ASSERT(record->second.pods.empty());
  account_free(id);
  const model::Node& node = rows().nodes.at(id);
  account_.pay(node.offering, node.pool, node.gpus, now() - record->second.paid_since);
  if (const model::ClaimId claim = node.claim; claim.valid()) {
    claims_.erase(claim);
    api_.erase(claim);
  }
  ++known_row(places_, record->second.place);
  ++meter_.nodes_removed;
  nodes_.erase(record);
  api_.erase(id);
}

void NodeProvider::spot_notice(model::NodeId id) {
  if (!nodes_.contains(id)) return;
  model::Node node = rows().nodes.at(id);
  if (node.phase == model::Node::Phase::ready) {
    node.phase = model::Node::Phase::cordoned;
    api_.set(id, node);
  }
  events_.schedule(now() + config_.provider.spot_notice, EventKind::spot_kill, id.value);
}

void NodeProvider::spot_kill(model::NodeId id) {
  if (nodes_.contains(id)) terminate(id, Interruption::spot);
}

void NodeProvider::outage(model::DomainId zone) {
  std::vector<model::NodeId> lost;
  for (const auto& [id, record] : nodes_) {
    if (catalog().lies_within(record.place, zone)) lost.push_back(id);
  }
  for (const model::NodeId id : lost) terminate(id, Interruption::spot);
  std::vector<model::ClaimId> booting;
  for (const auto& [id, record] : claims_) {
    const bool is_node = rows().claims.at(id).node.valid();
    if (!is_node && record.is_bought() && catalog().lies_within(record.place, zone)) booting.push_back(id);
  }
  for (const model::ClaimId id : booting) cancel_claim(id);
}

void NodeProvider::add_pod(model::NodeId id, model::PodId pod, MilliGpu gpus) {
  account_free(id);
  Node& record = known_row(nodes_, id);
  record.allocated += gpus;
  record.pods.push_back(pod);
  change_available(id, pod, true);
}

void NodeProvider::remove_pod(model::NodeId id, model::PodId pod, MilliGpu gpus) {
  account_free(id);
  Node& record = known_row(nodes_, id);
  record.allocated -= gpus;
  std::erase(record.pods, pod);
  change_available(id, pod, false);
}

const model::Resources& NodeProvider::requests_of(model::PodId pod) const {
  const model::Gang& gang = rows().gangs.at(rows().pods.at(pod).gang);
  return catalog().eligibility.requests(gang.spec.pods.pod_class);
}

void NodeProvider::change_available(model::NodeId id, model::PodId pod, bool takes) {
  if (!rows().nodes.at(id).available || requests_of(pod) == model::Resources{}) return;
  model::Node node = rows().nodes.at(id);
  if (takes) {
    model::take_from(*node.available, requests_of(pod));
  } else {
    model::add_to(*node.available, requests_of(pod));
  }
  api_.set(id, std::move(node));
}

/// Adds the time of the node's free GPUs up to now to the account. It must be called before its pods change.
void NodeProvider::account_free(model::NodeId id) {
  add_free(account_, id, now());
  known_row(nodes_, id).free_counted_until = now();
}

void NodeProvider::add_free(GpuAccount& account, model::NodeId id, Instant end) const {
  const model::Node& node = rows().nodes.at(id);
  const Node& record = known_row(nodes_, id);
  const Duration time = end - record.free_counted_until;
  account.add(node.offering, {}, GpuState::unallocated, free(id), time);
  if (record.pods.empty()) account.add_empty_node(node.offering, node.gpus, time);
}

void NodeProvider::add_launching(GpuAccount& account, model::ClaimId id, Instant end) const {
  const model::Claim& claim = rows().claims.at(id);
  const MilliGpu gpus = whole_gpus(catalog().offering(claim.offering).gpus);
  const Duration time = end - known_row(claims_, id).times.bought_at;
  account.pay(claim.offering, claim.pool, gpus, time);
  account.add(claim.offering, {}, GpuState::launching, gpus, time);
}

void NodeProvider::add_unaccounted(GpuAccount& account, Instant end) const {
  for (const auto& [id, record] : nodes_) {
    const model::Node& node = rows().nodes.at(id);
    add_free(account, id, end);
    account.pay(node.offering, node.pool, node.gpus, end - record.paid_since);
  }
  for (const auto& [id, record] : claims_) {
    if (record.is_bought() && !rows().claims.at(id).node.valid()) add_launching(account, id, end);
  }
}

void NodeProvider::check_invariants() const {
  CAPSTAN_ASSERT(rows().nodes.size() == nodes_.size());
  CAPSTAN_ASSERT(rows().claims.size() == claims_.size() + api_.failed_claims());
  std::map<model::DomainId, std::int64_t> standing;
  for (const auto& [id, record] : nodes_) {
    const model::Node& node = rows().nodes.at(id);
    MilliGpu used{};
    std::optional<model::Resources> available = catalog().resources_of_new_node(node.offering);
    for (model::PodId pod : record.pods) {
      if (available) model::take_from(*available, requests_of(pod));
      CAPSTAN_ASSERT(rows().pods.at(pod).node == id);
      used += rows().pods.at(pod).gpus;
    }
    CAPSTAN_ASSERT(used == record.allocated && used <= node.gpus);
    CAPSTAN_ASSERT(available == node.available);
    CAPSTAN_ASSERT(!available || (available->cpu_milli >= 0 && available->memory_mib >= 0));
    CAPSTAN_ASSERT(!node.claim.valid() || rows().claims.at(node.claim).node == id);
    CAPSTAN_ASSERT(node.phase != model::Node::Phase::terminating || record.pods.empty());
    ++standing[record.place];
  }
  for (const auto& [id, record] : claims_) {
    const model::Claim& claim = rows().claims.at(id);
    CAPSTAN_ASSERT(record.is_bought() == (claim.phase != model::Claim::Phase::requested));
    CAPSTAN_ASSERT(claim.node.valid() == (claim.phase == model::Claim::Phase::registered));
    if (record.is_bought() && !claim.node.valid()) ++standing[record.place];
  }
  for (const auto& [place, room] : places_) {
    CAPSTAN_ASSERT(room >= 0 && room + standing[place] == config_.provider.nodes_per_nvlink_domain);
  }
}

void NodeProvider::add_draws(StateHash& hash) const {
  add_draw(hash, provider_draws_);
  add_draw(hash, capacity_draws_);
  add_draw(hash, spot_draws_);
}

}  // namespace capstan::sim
