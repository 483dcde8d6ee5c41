#include "sim/cluster/cluster.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/assert.h"
#include "base/hash.h"

namespace capstan::sim {

Cluster::Cluster(ClusterConfig config, std::uint64_t seed, ServingHook& hook)
    : basics_(std::move(config)),
      nodes_(basics_, seed, *this),
      starts_(basics_, seed, nodes_, *this),
      pods_(basics_, nodes_),
      drains_(basics_, hook, *this),
      scraper_(basics_, seed, hook),
      gangs_(basics_, {hook, pods_, starts_, drains_, scraper_}, *this),
      jobs_(basics_, seed, pods_),
      queueing_(basics_, nodes_, jobs_),
      binder_(basics_, nodes_, pods_, gangs_, jobs_),
      controller_(basics_, seed, gangs_),
      actions_(basics_, seed, *this) {
  nodes_.add_existing();
  EventQueue& events = basics_.events;
  events.schedule(now(), EventKind::initial);
  events.schedule(now() + basics_.config.scrape.interval, EventKind::scrape);
  for (const ProviderConfig::Outage& outage : basics_.config.provider.outages) {
    events.schedule(outage.at, EventKind::outage, outage.zone.value);
  }
}

Instant Cluster::next_event() { return std::min(basics_.events.next(), starts_.next_transfer()); }

void Cluster::advance(Instant to) {
  while (next_event() <= to) {
    const Instant at = next_event();
    const bool transfer_ends = starts_.next_transfer() == at;
    basics_.events.set_now(at);
    starts_.advance(at);
    // Ends of transfers come before the queued events of the same time. They are checked again before each event,
    // because an event may begin a transfer that ends at once.
    if (!transfer_ends) handle(basics_.events.take());
  }
  basics_.events.set_now(to);
  starts_.advance(to);
}

void Cluster::handle(const Event& event) {
  switch (event.kind) {
    case EventKind::node_gone:
      return nodes_.node_gone({event.id});
    case EventKind::spot_kill:
      return nodes_.spot_kill({event.id});
    case EventKind::spot_notice:
      return nodes_.spot_notice({event.id});
    case EventKind::drain_deadline:
      return drains_.deadline({event.id});
    case EventKind::drain_poll:
      return drains_.poll();
    case EventKind::end_sleep:
      return gangs_.end_sleep({event.id});
    case EventKind::claim_decided:
      return nodes_.claim_decided({event.id});
    case EventKind::node_booted:
      return nodes_.node_booted({event.id});
    case EventKind::node_ready:
      return nodes_.node_ready({event.id});
    case EventKind::action_effect:
      return actions_.take_effect({event.id});
    case EventKind::unknown_reported:
      return actions_.report_unknown({event.id});
    case EventKind::reconcile:
      return controller_.reconcile({event.id});
    case EventKind::initial:
      return controller_.start_initial(binder_);
    case EventKind::engine_ready:
      return starts_.engine_ready({event.id});
    case EventKind::warm:
      return starts_.warm({event.id});
    case EventKind::scrape:
      return scraper_.scrape();
    case EventKind::publish:
      return scraper_.publish();
    case EventKind::outage:
      return nodes_.outage({event.id});
    case EventKind::job_done:
      return jobs_.done({event.id});
    case EventKind::job_started:
      return jobs_.started({event.id});
    case EventKind::job_restarted:
      return queueing_.choose_gpu(jobs_.create_gang(event.id));
    case EventKind::job_arrival:
      return queueing_.choose_gpu(jobs_.arrive(event.id));
    case EventKind::queueing:
      return queueing_.fit_and_preempt(actions_.ending_nodes());
  }
}

ports::Observation Cluster::observe() { return basics_.api.observe(now(), actions_.take_outcomes()); }

model::ActionToken Cluster::submit(const model::Action& action) {
  const auto* set = std::get_if<model::SetReplicas>(&action.effect);
  return actions_.submit(action, set == nullptr ? std::vector<model::GangId>{} : controller_.basis_of(*set));
}

std::optional<model::Reason> Cluster::perform(const model::Action& action) {
  struct Dispatch {
    Cluster& cluster;
    auto operator()(const model::SetReplicas& what) const { return cluster.controller_.perform(what); }
    auto operator()(const model::ConvertReplica& what) const { return cluster.controller_.perform(what); }
    auto operator()(const model::BindPods& what) const { return cluster.binder_.perform(what); }
    auto operator()(const model::EvictPod& what) const { return cluster.perform(what); }
    auto operator()(const model::LaunchNodes& what) const { return cluster.nodes_.perform(what); }
    auto operator()(const model::ReleaseGroup& what) const { return cluster.nodes_.perform(what); }
    auto operator()(const model::TerminateNode& what) const { return cluster.nodes_.perform(what); }
  };
  return std::visit(Dispatch{*this}, action.effect);
}

std::optional<model::Reason> Cluster::perform(const model::EvictPod& what) {
  const model::Pod* pod = truth().pods.find(what.pod);
  if (pod == nullptr || !pod->node.valid()) return model::Reason{model::ReasonCode::outcome_refused};
  evict(what.pod, Interruption::eviction);
  return std::nullopt;
}

void Cluster::evict(model::PodId pod, Interruption why) {
  const model::GangId gang = truth().pods.at(pod).gang;
  return jobs_.owns(gang) ? jobs_.evict(pod, why) : gangs_.evict(pod, why);
}

ClusterMeter Cluster::meter(Instant end) {
  CAPSTAN_ASSERT(end >= now());
  GpuAccount account = basics_.account;
  ClusterMeter total = basics_.meter;
  total.end = end;
  nodes_.add_unaccounted(account, end);
  gangs_.add_unaccounted(account, total, end);
  jobs_.add_unaccounted(account, end);
  account.charge(total);
  return total;
}

void Cluster::check_invariants() {
  nodes_.check_invariants();
  pods_.check_invariants();
  gangs_.check_invariants();
  jobs_.check_invariants();
  CAPSTAN_ASSERT(truth().gangs.size() == gangs_.size() + jobs_.gangs());
  const ClusterMeter total = meter(now());
  GpuTime sum = 0;
  std::int64_t cost = 0;
  for (std::size_t s = 0; s < kGpuStates; ++s) {
    CAPSTAN_ASSERT(total.gpu_time[s] >= 0);
    sum += total.gpu_time[s];
    cost += total.cost[s].count;
  }
  CAPSTAN_ASSERT(sum == total.paid_gpu_time && cost == total.total_cost.count);
}

std::uint64_t Cluster::state_hash() {
  StateHash hash;
  hash.add(model::state_hash(truth()));
  basics_.events.add_to(hash);
  starts_.add_transfers(hash);
  const ClusterMeter total = meter(now());
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
  nodes_.add_draws(hash);
  controller_.add_draws(hash);
  actions_.add_draws(hash);
  scraper_.add_draws(hash);
  starts_.add_draws(hash);
  jobs_.add_to(hash);
  queueing_.add_to(hash);
  return hash.value();
}

}  // namespace capstan::sim
