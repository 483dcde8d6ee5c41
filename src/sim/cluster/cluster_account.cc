// GPU time and money, and the checks that they add up.
#include <algorithm>

#include "base/assert.h"
#include "sim/cluster/cluster.h"

namespace capstan::sim {
namespace {

constexpr std::int64_t kNsPerHour = 3'600'000'000'000;

GpuTime gpu_time(MilliGpu gpus, Duration time) { return static_cast<GpuTime>(gpus.count) * time.count(); }

}  // namespace

std::string_view name(GpuState state) {
  constexpr std::array<std::string_view, kGpuStates> kNames = {"launching", "unallocated", "held",     "starting",
                                                               "busy",      "idle",        "sleeping", "draining"};
  return kNames.at(static_cast<std::size_t>(state));
}

/// The GPUs of the node that no pod has, up to now. Called before that number changes.
void Cluster::account_node(model::NodeId id) {
  account_free(accounts_, id, now_);
  nodes_.at(id).allocated_since = now_;
}

void Cluster::account_free(std::vector<Account>& accounts, model::NodeId id, Instant end) const {
  const NodeRecord& record = nodes_.at(id);
  const model::Node& node = seen_.nodes.at(id);
  Account& account = accounts.at(node.offering.value);
  account.gpu_time[static_cast<std::size_t>(GpuState::unallocated)] +=
      gpu_time(node.gpus - record.allocated, end - record.allocated_since);
}

/// A bound pod's GPUs up to now, in the state it was in. One that serves is accounted by account_ready instead.
void Cluster::account_pod(model::PodId id) {
  PodRecord& record = pods_.at(id);
  if (record.state == GpuState::idle) {
    CAPSTAN_ASSERT(record.since == now_);
    return;
  }
  account_bound(accounts_, id, now_);
  record.since = now_;
}

void Cluster::account_bound(std::vector<Account>& accounts, model::PodId id, Instant end) const {
  const PodRecord& record = pods_.at(id);
  const model::Pod& pod = seen_.pods.at(id);
  Account& account = accounts.at(seen_.nodes.at(pod.node).offering.value);
  account.gpu_time[static_cast<std::size_t>(record.state)] += gpu_time(pod.gpus, end - record.since);
}

/// The time of a serving replica, split by what its engine says it computed.
void Cluster::account_ready(std::vector<Account>& accounts, model::GangId id, Instant end) {
  const GangRecord& record = gangs_.at(id);
  const Duration served = end - record.ready_since;
  const Duration busy = std::clamp(hook_.sample(id, end, false).busy_total, Duration{}, served);
  for (model::PodId pod_id : seen_.gangs.at(id).pods) {
    const model::Pod& pod = seen_.pods.at(pod_id);
    Account& account = accounts.at(seen_.nodes.at(pod.node).offering.value);
    account.gpu_time[static_cast<std::size_t>(GpuState::busy)] += gpu_time(pod.gpus, busy);
    account.gpu_time[static_cast<std::size_t>(GpuState::idle)] += gpu_time(pod.gpus, served - busy);
  }
}

void Cluster::close_ready(model::GangId id) {
  account_ready(accounts_, id, now_);
  for (model::PodId pod : seen_.gangs.at(id).pods) pods_.at(pod) = {GpuState::draining, now_};
}

void Cluster::account_paid(std::vector<Account>& accounts, const model::Node& node, Instant from, Instant end) const {
  accounts.at(node.offering.value).paid_by(node.pool) += gpu_time(node.gpus, end - from);
}

void Cluster::account_launching(std::vector<Account>& accounts, const model::Claim& claim, Instant from,
                                Instant end) const {
  const GpuTime time = gpu_time(whole_gpus(catalog().offering(claim.offering).gpus), end - from);
  Account& account = accounts.at(claim.offering.value);
  account.paid_by(claim.pool) += time;
  account.gpu_time[static_cast<std::size_t>(GpuState::launching)] += time;
}

/// Turns the GPU time of each offering into money: by state, by pool, and in all.
void Cluster::charge(const std::vector<Account>& accounts, ClusterMeter& total) const {
  for (std::size_t o = 0; o < accounts.size(); ++o) {
    const model::Offering& offering = catalog().offerings[o];
    const GpuTime per_hour = static_cast<GpuTime>(whole_gpus(offering.gpus).count) * kNsPerHour;
    // The price of all GPU time so far is rounded down, and a part costs the difference: the parts add up exactly.
    const auto split = [&](GpuTime& so_far, GpuTime more) {
      const auto price = [&](GpuTime time) { return time * offering.price_per_hour.count / per_hour; };
      const GpuTime before = price(so_far);
      so_far += more;
      return MicroUsd{static_cast<std::int64_t>(price(so_far) - before)};
    };
    GpuTime by_state = 0;
    for (std::size_t s = 0; s < kGpuStates; ++s) {
      total.gpu_time[s] += accounts[o].gpu_time[s];
      total.cost[s] += split(by_state, accounts[o].gpu_time[s]);
    }
    GpuTime by_pool = 0;
    for (std::uint32_t p = 0; p < accounts[o].paid.size(); ++p) {
      const GpuTime paid = accounts[o].paid[p];
      if (paid == 0) continue;
      const MicroUsd cost = split(by_pool, paid);
      const bool in_pool = p < catalog().pools.size();
      total.spending.push_back(
          {model::OfferingId{static_cast<std::uint32_t>(o)}, in_pool ? model::PoolId{p} : model::PoolId{}, paid, cost});
      total.paid_gpu_time += paid;
      total.total_cost += cost;
    }
  }
}

ClusterMeter Cluster::meter(Instant end) {
  CAPSTAN_ASSERT(end >= now_);
  std::vector<Account> accounts = accounts_;
  ClusterMeter total = meter_;
  total.end = end;
  for (const auto& [id, record] : nodes_) {
    account_free(accounts, id, end);
    account_paid(accounts, seen_.nodes.at(id), record.paid_since, end);
  }
  for (const auto& [id, record] : claims_) {
    const model::Claim& claim = seen_.claims.at(id);
    if (record.bought() && !claim.node.valid()) account_launching(accounts, claim, record.bought_at, end);
  }
  for (const auto& [id, record] : gangs_) {
    if (record.stage == Stage::ready) {
      account_ready(accounts, id, end);
      continue;
    }
    if (record.stage == Stage::binding && end > record.deferred_at) ++total.gangs_deferred;
    for (model::PodId pod : seen_.gangs.at(id).pods) {
      if (seen_.pods.at(pod).node.valid()) account_bound(accounts, pod, end);
    }
  }
  charge(accounts, total);
  return total;
}

void Cluster::check_invariants() {
  CAPSTAN_ASSERT(seen_.nodes.size() == nodes_.size() && seen_.gangs.size() == gangs_.size());
  CAPSTAN_ASSERT(seen_.pods.size() == pods_.size() && seen_.claims.size() == claims_.size() + failed_claims_.size());
  std::map<model::DomainId, std::int64_t> standing;
  for (const auto& [id, record] : nodes_) {
    const model::Node& node = seen_.nodes.at(id);
    MilliGpu used{};
    for (model::PodId pod : record.pods) {
      CAPSTAN_ASSERT(seen_.pods.at(pod).node == id);
      used += seen_.pods.at(pod).gpus;
    }
    CAPSTAN_ASSERT(used == record.allocated && used <= node.gpus);
    CAPSTAN_ASSERT(!node.claim.valid() || seen_.claims.at(node.claim).node == id);
    CAPSTAN_ASSERT(node.phase != model::Node::Phase::terminating || record.pods.empty());
    ++standing[record.place];
  }
  for (const auto& [id, record] : claims_) {
    const model::Claim& claim = seen_.claims.at(id);
    CAPSTAN_ASSERT(record.bought() == (claim.phase != model::Claim::Phase::requested));
    CAPSTAN_ASSERT(claim.node.valid() == (claim.phase == model::Claim::Phase::registered));
    if (record.bought() && !claim.node.valid()) ++standing[record.place];
  }
  for (const auto& [place, room] : places_) {
    CAPSTAN_ASSERT(room >= 0 && room + standing[place] == config_.provider.nodes_per_nvlink_domain);
  }
  std::size_t pods = 0;
  for (const auto& [id, record] : gangs_) {
    const model::Gang& gang = seen_.gangs.at(id);
    CAPSTAN_ASSERT(workloads_.at({gang.service, gang.variant}).gangs.contains(id));
    bool whole = true;
    for (model::PodId pod : gang.pods) {
      CAPSTAN_ASSERT(seen_.pods.at(pod).gang == id);
      const model::NodeId node = seen_.pods.at(pod).node;
      CAPSTAN_ASSERT(!node.valid() || std::ranges::count(nodes_.at(node).pods, pod) == 1);
      whole = whole && node.valid();
    }
    CAPSTAN_ASSERT(whole == (record.stage != Stage::binding));
    CAPSTAN_ASSERT(whole == (gang.phase != model::Gang::Phase::pending));
    CAPSTAN_ASSERT(draining_.contains(id) == (record.stage == Stage::draining));
    CAPSTAN_ASSERT(sleeping_.contains(id) == (record.stage == Stage::sleeping));
    CAPSTAN_ASSERT(converting_.contains(id) == (record.stage == Stage::converting));
    pods += gang.pods.size();
  }
  CAPSTAN_ASSERT(pods == pods_.size());
  const ClusterMeter total = meter(now_);
  GpuTime sum = 0;
  std::int64_t cost = 0;
  for (std::size_t s = 0; s < kGpuStates; ++s) {
    CAPSTAN_ASSERT(total.gpu_time[s] >= 0);
    sum += total.gpu_time[s];
    cost += total.cost[s].count;
  }
  CAPSTAN_ASSERT(sum == total.paid_gpu_time && cost == total.total_cost.count);
}

}  // namespace capstan::sim
