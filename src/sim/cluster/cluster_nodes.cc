// Nodes: how they are bought, boot, and go.
#include <algorithm>

#include "base/assert.h"
#include "sim/cluster/cluster.h"
#include "sim/cluster/topology.h"

namespace capstan::sim {

void Cluster::add_existing() {
  for (const ExistingNodes& group : config_.existing) {
    const model::Offering& offering = catalog().offering(group.offering);
    for (std::int64_t i = 0; i < group.count; ++i) {
      const auto place = std::find_if(places_.begin(), places_.end(), [&](const auto& p) {
        return p.second > 0 && catalog().lies_within(p.first, offering.zone);
      });
      CAPSTAN_ASSERT(place != places_.end());  // the scenario's check: existing nodes fit into their zone
      --place->second;
      make_node(group.offering, group.pool, {}, place->first);
    }
  }
}

/// An NVLink domain of the offering's zone, and inside `within` if there is one, where one more machine can stand.
std::optional<model::DomainId> Cluster::find_place(const model::Offering& offering, model::DomainId within) {
  std::vector<model::DomainId> fitting;
  for (const auto& [domain, room] : places_) {
    if (room <= 0 || !catalog().lies_within(domain, offering.zone)) continue;
    if (within.valid() && !catalog().lies_within(domain, within)) continue;
    if (!config_.provider.scatter) return domain;
    fitting.push_back(domain);
  }
  if (fitting.empty()) return std::nullopt;
  return fitting[capacity_draws_.below(fitting.size())];
}

model::NodeId Cluster::make_node(model::OfferingId offering, model::PoolId pool, model::ClaimId claim,
                                 model::DomainId place) {
  const model::NodeId id{next_node_++};
  const model::Offering& bought = catalog().offering(offering);
  NodeRecord record;
  record.allocated_since = now_;
  record.paid_since = now_;
  record.place = place;
  record.nic = network_.add_link(config_.bandwidth.node_nic);
  record.disk = network_.add_link(config_.bandwidth.node_disk);
  record.host = network_.add_link(config_.bandwidth.node_host);
  record.fabric = network_.add_link(config_.bandwidth.node_fabric);
  nodes_.emplace(id, std::move(record));
  set(id, model::Node{.phase = model::Node::Phase::ready,
                      .pool = pool,
                      .offering = offering,
                      .claim = claim,
                      .gpu = bought.gpu,
                      .gpus = whole_gpus(bought.gpus),
                      .domains = path_of(catalog(), place),
                      .ready_at = now_});
  const std::uint32_t rate = config_.provider.spot_interruptions_per_million_hours;
  if (bought.capacity == model::CapacityType::spot && rate > 0) {
    const double hours = spot_draws_.exponential() * 1e6 / rate;
    constexpr double kLongest = 1e5;  // hours: beyond any run, and inside the range of a Duration
    if (hours < kLongest) {
      schedule(now_ + Duration(static_cast<std::int64_t>(hours * 3.6e12)), EventKind::spot_notice, id.value);
    }
  }
  return id;
}

GpuCount Cluster::pool_gpus(model::PoolId pool) const {
  GpuCount gpus = 0;
  seen_.nodes.for_each([&](model::NodeId, const model::Node& node) {
    if (node.pool == pool) gpus += node.gpus.count / 1000;
  });
  seen_.claims.for_each([&](model::ClaimId, const model::Claim& claim) {
    const bool on_its_way =
        claim.phase == model::Claim::Phase::requested || claim.phase == model::Claim::Phase::launched;
    if (claim.pool == pool && on_its_way) gpus += catalog().offering(claim.offering).gpus;
  });
  return gpus;
}

std::optional<model::Reason> Cluster::perform(const model::LaunchNodes& what) {
  const model::Reason malformed{model::ReasonCode::outcome_refused};
  if (what.pool.value >= catalog().pools.size() || what.offering.value >= catalog().offerings.size()) return malformed;
  if (what.count < 1 || what.count > kMaxLaunch) return malformed;
  if (what.within.valid() && what.within.value >= catalog().domains.size()) return malformed;
  const model::Pool& pool = catalog().pool(what.pool);
  if (std::find(pool.offerings.begin(), pool.offerings.end(), what.offering) == pool.offerings.end()) return malformed;
  const GpuCount more = what.count * catalog().offering(what.offering).gpus;
  const GpuCount have = pool_gpus(what.pool);
  if (have + more > pool.gpu_limit) {
    return model::Reason{model::ReasonCode::pool_limit, {more, pool.gpu_limit, have, what.pool.value}};
  }
  model::ClaimGroupId group;
  if (what.hold.count() > 0) group = {next_group_++};
  for (std::int64_t i = 0; i < what.count; ++i) {
    const model::ClaimId id{next_claim_++};
    claims_.emplace(id, ClaimRecord{});
    set(id, model::Claim{.phase = model::Claim::Phase::requested,
                         .pool = what.pool,
                         .offering = what.offering,
                         .within = what.within,
                         .group = group,
                         .requested_at = now_,
                         .expected_ready_at = now_ + expected_launch_.at(what.offering),
                         .node = {}});
    schedule(now_ + config_.provider.decision.draw(provider_draws_), EventKind::claim_decided, id.value);
  }
  return std::nullopt;
}

void Cluster::claim_decided(model::ClaimId id) {
  const auto record = claims_.find(id);
  if (record == claims_.end()) return;  // released before
  model::Claim claim = seen_.claims.at(id);
  const std::vector<std::uint32_t>& ppm = config_.provider.refused_ppm;
  const model::DomainId zone = catalog().offering(claim.offering).zone;
  const bool refused = config_.provider.out(zone, now_) ||
                       (claim.offering.value < ppm.size() && capacity_draws_.chance_ppm(ppm[claim.offering.value]));
  const auto place = refused ? std::nullopt : find_place(catalog().offering(claim.offering), claim.within);
  if (!place) {
    ++meter_.launches_refused;
    meter_.launches_homeless += refused ? 0 : 1;
    claims_.erase(record);
    claim.phase = model::Claim::Phase::failed;
    set(id, claim);
    failed_claims_.push_back(id);
    return;
  }
  ++meter_.launches;
  --places_.at(*place);
  record->second.place = *place;
  record->second.bought_at = now_;
  claim.phase = model::Claim::Phase::launched;
  set(id, claim);
  schedule(now_ + config_.provider.boot.draw(provider_draws_), EventKind::node_booted, id.value);
}

void Cluster::node_booted(model::ClaimId id) {
  const auto record = claims_.find(id);
  if (record == claims_.end()) return;
  record->second.booted_at = now_;
  schedule(now_ + config_.provider.driver.draw(provider_draws_), EventKind::node_ready, id.value);
}

void Cluster::node_ready(model::ClaimId id) {
  const auto record = claims_.find(id);
  if (record == claims_.end()) return;
  model::Claim claim = seen_.claims.at(id);
  account_launching(accounts_, claim, record->second.bought_at, now_);
  claim.phase = model::Claim::Phase::registered;
  claim.node = make_node(claim.offering, claim.pool, id, record->second.place);
  Duration& expected = expected_launch_.at(claim.offering);
  expected = (3 * expected + (now_ - claim.requested_at)) / 4;
  set(id, claim);
}

/// Takes back a claim whose node does not exist yet.
void Cluster::cancel_claim(model::ClaimId id) {
  const ClaimRecord& record = claims_.at(id);
  if (record.bought()) {
    account_launching(accounts_, seen_.claims.at(id), record.bought_at, now_);
    ++places_.at(record.place);
    ++meter_.nodes_removed;
  }
  claims_.erase(id);
  seen_.claims.erase(id);
  changed_.claims.push_back(id);
}

std::optional<model::Reason> Cluster::perform(const model::ReleaseGroup& what) {
  std::vector<model::ClaimId> members;
  seen_.claims.for_each([&](model::ClaimId id, const model::Claim& claim) {
    if (claim.group == what.group && claim.phase != model::Claim::Phase::failed) members.push_back(id);
  });
  if (!what.group.valid() || members.empty()) return model::Reason{model::ReasonCode::outcome_refused};
  for (model::ClaimId id : members) {
    const model::NodeId node = seen_.claims.at(id).node;
    if (!node.valid()) {
      cancel_claim(id);
    } else if (nodes_.at(node).pods.empty() && seen_.nodes.at(node).phase != model::Node::Phase::terminating) {
      terminate(node, Interruption::termination);
    }
  }
  return std::nullopt;
}

std::optional<model::Reason> Cluster::perform(const model::TerminateNode& what) {
  const model::Node* node = seen_.nodes.find(what.node);
  const bool ours = node != nullptr && node->pool.valid();
  if (!ours || node->phase == model::Node::Phase::terminating) return model::Reason{model::ReasonCode::outcome_refused};
  terminate(what.node, Interruption::termination);
  return std::nullopt;
}

/// Ends every placement on the node at once.
void Cluster::remove_pods(model::NodeId id, Interruption why) {
  while (!nodes_.at(id).pods.empty()) evict(nodes_.at(id).pods.front(), why);
}

void Cluster::terminate(model::NodeId id, Interruption why) {
  model::Node node = seen_.nodes.at(id);
  node.phase = model::Node::Phase::terminating;
  set(id, node);  // first, so that nothing that follows is placed here
  remove_pods(id, why);
  for (auto it = transfers_.begin(); it != transfers_.end();) {
    if (it->second.node == id) {
      network_.cancel(it->first);
      it = transfers_.erase(it);
    } else {
      ++it;
    }
  }
  // The provider takes a spot node at once; one that is given back shuts down first.
  schedule(why == Interruption::spot ? now_ : now_ + config_.provider.removal, EventKind::node_gone, id.value);
}

void Cluster::node_gone(model::NodeId id) {
  const auto record = nodes_.find(id);
  if (record == nodes_.end()) return;  // taken by the provider while it was shutting down
  CAPSTAN_ASSERT(record->second.pods.empty());
  account_node(id);
  const model::Node& node = seen_.nodes.at(id);
  account_paid(accounts_, node, record->second.paid_since, now_);
  if (node.claim.valid()) {
    claims_.erase(node.claim);
    seen_.claims.erase(node.claim);
    changed_.claims.push_back(node.claim);
  }
  ++places_.at(record->second.place);
  ++meter_.nodes_removed;
  nodes_.erase(record);
  seen_.nodes.erase(id);
  changed_.nodes.push_back(id);
}

void Cluster::spot_notice(model::NodeId id) {
  if (!nodes_.contains(id)) return;
  model::Node node = seen_.nodes.at(id);
  if (node.phase == model::Node::Phase::ready) {
    node.phase = model::Node::Phase::cordoned;
    set(id, node);
  }
  schedule(now_ + config_.provider.spot_notice, EventKind::spot_kill, id.value);
}

/// As if the provider took every node of the zone; what is booting there never comes up.
void Cluster::outage(model::DomainId zone) {
  std::vector<model::NodeId> lost;
  for (const auto& [id, record] : nodes_) {
    if (catalog().lies_within(record.place, zone)) lost.push_back(id);
  }
  for (const model::NodeId id : lost) terminate(id, Interruption::spot);
  std::vector<model::ClaimId> booting;
  for (const auto& [id, record] : claims_) {
    const bool is_node = seen_.claims.at(id).node.valid();
    if (!is_node && record.bought() && catalog().lies_within(record.place, zone)) booting.push_back(id);
  }
  for (const model::ClaimId id : booting) cancel_claim(id);
}

}  // namespace capstan::sim
