#include "sim/cluster/cluster.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/hash.h"

namespace capstan::sim {
namespace {

template <typename IdType>
void in_order_once(std::vector<IdType>& ids) {
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
}

}  // namespace

Cluster::Cluster(ClusterConfig config, std::uint64_t seed, ServingHook& hook)
    : config_(std::move(config)),
      hook_(hook),
      provider_draws_(seed, "cluster.provider"),
      capacity_draws_(seed, "cluster.capacity"),
      spot_draws_(seed, "cluster.spot"),
      workload_draws_(seed, "cluster.workload"),
      action_draws_(seed, "cluster.action"),
      scrape_draws_(seed, "cluster.scrape"),
      start_draws_(seed, "cluster.start") {
  CAPSTAN_ASSERT(config_.catalog != nullptr);
  CAPSTAN_ASSERT(config_.scrape.interval.count() > 0 && config_.scrape.delay < config_.scrape.interval);
  CAPSTAN_ASSERT(config_.drain_poll.count() > 0);
  seen_.catalog = config_.catalog;
  accounts_.assign(catalog().offerings.size(), Account(catalog().pools.size()));
  registry_ = network_.add_link(config_.bandwidth.registry);
  store_ = network_.add_link(config_.bandwidth.object_store);
  for (std::uint32_t d = 0; d < catalog().domains.size(); ++d) {
    if (catalog().domains[d].level == model::TopologyLevel::nvlink) {
      places_[{d}] = config_.provider.nodes_per_nvlink_domain;
    }
  }
  for (std::uint32_t s = 0; s < catalog().services.size(); ++s) {
    for (std::uint32_t v = 0; v < catalog().services[s].variants.size(); ++v) {
      const WorkloadKey key{{s}, {v}};
      workload_keys_.push_back(key);
      workloads_[key].expected_start = nominal_start(key);
    }
    set(model::ServiceId{s}, model::ServiceState{});
  }
  for (std::uint32_t o = 0; o < catalog().offerings.size(); ++o) {
    const ProviderConfig& provider = config_.provider;
    expected_launch_[{o}] = provider.decision.midpoint() + provider.boot.midpoint() + provider.driver.midpoint();
  }
  add_existing();
  schedule(now_, EventKind::initial);
  schedule(now_ + config_.scrape.interval, EventKind::scrape);
  for (const ProviderConfig::Outage& each : config_.provider.outages) {
    schedule(each.at, EventKind::outage, each.zone.value);
  }
}

void Cluster::schedule(Instant at, EventKind kind, std::uint32_t id) { events_.insert({at, kind, sequence_++, id}); }

Instant Cluster::next_event() {
  const Instant queued = events_.empty() ? Instant::never() : events_.begin()->at;
  return std::min(queued, network_.next_done());
}

void Cluster::advance(Instant to) {
  CAPSTAN_ASSERT(to >= now_);
  std::vector<FlowId> done;
  while (next_event() <= to) {
    const Instant at = next_event();
    const bool transfer_ends = network_.next_done() == at;
    now_ = at;
    done.clear();
    network_.advance(at, done);
    for (FlowId flow : done) transfer_done(flow);
    if (transfer_ends) continue;  // what they started may end at once; queued events of this moment come after
    const Event event = *events_.begin();
    events_.erase(events_.begin());
    handle(event);
  }
  now_ = to;
  network_.advance(to, done);
}

void Cluster::handle(const Event& event) {
  switch (event.kind) {
    case EventKind::node_gone:
      return node_gone({event.id});
    case EventKind::spot_kill:
      if (nodes_.contains({event.id})) terminate({event.id}, Interruption::spot);
      return;
    case EventKind::spot_notice:
      return spot_notice({event.id});
    case EventKind::drain_deadline:
      return cut_drain({event.id});
    case EventKind::drain_poll:
      return poll_drains();
    case EventKind::sleep_over:
      return sleep_over({event.id});
    case EventKind::claim_decided:
      return claim_decided({event.id});
    case EventKind::node_booted:
      return node_booted({event.id});
    case EventKind::node_ready:
      return node_ready({event.id});
    case EventKind::action_effect:
      return take_effect({event.id});
    case EventKind::unknown_told:
      outcomes_.push_back({{event.id},
                           ports::Outcome::Kind::unknown,
                           {model::ReasonCode::outcome_unknown, {config_.unknown_after / std::chrono::seconds(1)}}});
      return;
    case EventKind::reconcile:
      return reconcile(event.id);
    case EventKind::initial:
      return start_initial();
    case EventKind::engine_ready:
      return engine_ready({event.id});
    case EventKind::warm:
      return warm({event.id});
    case EventKind::scrape:
      return scrape();
    case EventKind::publish:
      return publish();
    case EventKind::outage:
      return outage({event.id});
  }
}

ports::Observation Cluster::observe() {
  in_order_once(changed_.services);
  in_order_once(changed_.nodes);
  in_order_once(changed_.claims);
  in_order_once(changed_.gangs);
  in_order_once(changed_.pods);
  in_order_once(changed_.signals);
  changed_.from_version = seen_.version;
  if (!changed_.empty()) ++seen_.version;
  changed_.to_version = seen_.version;
  seen_.at = now_;
  ports::Observation observation{seen_, std::exchange(changed_, {}), std::exchange(outcomes_, {})};
  for (model::ClaimId id : failed_claims_) {
    seen_.claims.erase(id);
    changed_.claims.push_back(id);
  }
  failed_claims_.clear();
  return observation;
}

model::ActionToken Cluster::submit(const model::Action& action) {
  const model::ActionToken token{next_action_++};
  Waiting waiting{action};
  waiting.refused = action_draws_.chance_ppm(config_.refused_ppm);
  waiting.known = !action_draws_.chance_ppm(config_.unknown_ppm);
  waiting.happens = !waiting.refused && (waiting.known || action_draws_.chance_ppm(500'000));
  waiting.counted_on = counted_on(action);
  actions_.emplace(token, std::move(waiting));
  const bool bind = std::holds_alternative<model::BindPods>(action.what);
  schedule(now_ + (bind ? config_.bind_latency : config_.action_latency), EventKind::action_effect, token.value);
  return token;
}

/// The replicas without which a lowering would be another decision: those that serve or are named. Where one of them is
/// lost before it takes effect, its replacement has just begun to start, and one that serves would go in its place.
std::vector<model::GangId> Cluster::counted_on(const model::Action& action) const {
  const auto* set = std::get_if<model::SetReplicas>(&action.what);
  if (set == nullptr || set->drain.empty()) return {};
  std::vector<model::GangId> counted = set->drain;
  const auto workload = workloads_.find({set->service, set->variant});
  if (workload == workloads_.end()) return counted;
  for (const model::GangId id : workload->second.gangs) {
    if (gangs_.at(id).stage == Stage::ready) counted.push_back(id);
  }
  return counted;
}

void Cluster::take_effect(model::ActionToken token) {
  const auto node = actions_.extract(token);
  const Waiting& waiting = node.mapped();
  std::optional<model::Reason> refusal;
  const auto lost = std::ranges::count_if(waiting.counted_on, [&](model::GangId id) { return !gangs_.contains(id); });
  if (waiting.happens && lost > 0) {
    refusal = model::Reason{model::ReasonCode::replicas_lost, {lost}};
  } else if (waiting.happens) {
    refusal = std::visit([&](const auto& what) { return perform(what); }, waiting.action.what);
    ActionCounts& counts = meter_.actions[waiting.action.what.index()];
    ++counts.asked;
    if (refusal) ++counts.refused;
  } else {
    refusal = model::Reason{model::ReasonCode::outcome_refused};
  }
  if (!waiting.known) {
    ++meter_.actions_unknown;
    schedule(now_ + config_.unknown_after, EventKind::unknown_told, token.value);
  } else if (refusal) {
    ++meter_.actions_refused;
    outcomes_.push_back({token, ports::Outcome::Kind::refused, *refusal});
  } else {
    outcomes_.push_back({token, ports::Outcome::Kind::applied, {}});
  }
}

void Cluster::set(model::NodeId id, model::Node row) {
  seen_.nodes.set(id, std::move(row));
  changed_.nodes.push_back(id);
}
void Cluster::set(model::ClaimId id, model::Claim row) {
  seen_.claims.set(id, std::move(row));
  changed_.claims.push_back(id);
}
void Cluster::set(model::GangId id, model::Gang row) {
  seen_.gangs.set(id, std::move(row));
  changed_.gangs.push_back(id);
}
void Cluster::set(model::GangId id, const model::ReplicaSignals& row) {
  seen_.signals.set(id, row);
  changed_.signals.push_back(id);
}
void Cluster::set(model::PodId id, model::Pod row) {
  seen_.pods.set(id, std::move(row));
  changed_.pods.push_back(id);
}
void Cluster::set(model::ServiceId id, model::ServiceState row) {
  seen_.services.set(id, std::move(row));
  changed_.services.push_back(id);
}

std::uint64_t Cluster::state_hash() {
  StateHash hash;
  hash.add(model::state_hash(seen_));
  hash.add(static_cast<std::uint64_t>(now_.since_start.count()));
  for (const Event& event : events_) {
    hash.add(static_cast<std::uint64_t>(event.at.since_start.count()));
    hash.add(static_cast<std::uint64_t>(event.kind));
    hash.add(event.id);
  }
  const Instant transfer = network_.next_done();
  hash.add(static_cast<std::uint64_t>(transfer.since_start.count()));
  hash.add(network_.flows());
  const ClusterMeter total = meter(now_);
  for (std::size_t s = 0; s < kGpuStates; ++s) {
    hash.add(static_cast<std::uint64_t>(total.gpu_time[s]));
    hash.add(static_cast<std::uint64_t>(total.gpu_time[s] >> 64));
    hash.add(static_cast<std::uint64_t>(total.cost[s].count));
  }
  for (std::int64_t n :
       {total.launches, total.launches_refused, total.nodes_removed, total.disruptions(), total.drains_cut,
        total.gangs_deferred, total.cold_starts, total.actions_refused, total.actions_unknown}) {
    hash.add(static_cast<std::uint64_t>(n));
  }
  // One more draw of each stream on a copy: runs that drew differently differ here, whatever they show.
  for (RandomStream stream :
       {provider_draws_, capacity_draws_, spot_draws_, workload_draws_, action_draws_, scrape_draws_, start_draws_}) {
    hash.add(stream.bits());
  }
  return hash.value();
}

}  // namespace capstan::sim
