#include "top/facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "explain/words.h"
#include "model/capacity_names.h"
#include "model/reason_sentence.h"
#include "serve/recorded.h"

namespace capstan::top {
namespace {

using model::Gang;
using model::GangId;
using model::Node;
using model::NodeId;
using model::Pod;
using model::PodId;

GpuUse use_of(const model::Snapshot& snapshot, const Pod& pod) {
  if (pod.phase == Pod::Phase::terminating) return GpuUse::draining;
  const Gang* gang = snapshot.gangs.find(pod.gang);
  if (gang == nullptr || !gang->service.valid()) return GpuUse::other;
  switch (gang->phase) {
    case Gang::Phase::pending:
      return GpuUse::held;
    case Gang::Phase::starting:
      return GpuUse::starting;
    case Gang::Phase::ready:
      return GpuUse::serving;
    case Gang::Phase::draining:
      return GpuUse::draining;
    case Gang::Phase::sleeping:
      return GpuUse::sleeping;
  }
  return GpuUse::other;
}

/// Returns the nodes whose free GPUs a new replica could use: in the domain that its pods must share, the free GPUs are
/// enough for all pods of a replica of some service.
std::set<NodeId> useful_nodes(const model::Snapshot& snapshot, const std::map<NodeId, MilliGpu>& free) {
  std::set<NodeId> useful;
  std::set<model::GangSpec> seen;
  snapshot.services.for_each([&](model::ServiceId id, const model::ServiceState&) {
    const model::GangSpec spec = snapshot.catalog->service(id).workload.gang();
    if (!seen.insert(spec).second) return;
    // The key is the id of a node if all pods must be on one node, otherwise the id of a domain. The value is the
    // number of pods that fit, and the nodes.
    std::map<std::uint32_t, std::pair<std::int64_t, std::vector<NodeId>>> domains;
    for (const auto& [node_id, gpus] : free) {
      const Node& node = snapshot.nodes.at(node_id);
      const std::int64_t pods = gpus.count / spec.pods.gpus_per_pod.count;
      if (pods == 0 || node.gpu != spec.pods.gpu) continue;
      const bool alone = spec.required_level == model::TopologyLevel::node;
      auto& [room, nodes] = domains[alone ? node_id.value : node.domains.domain_at(spec.required_level).value];
      room += pods;
      nodes.push_back(node_id);
    }
    for (const auto& [domain, room] : domains) {
      if (room.first >= spec.pods.count) useful.insert(room.second.begin(), room.second.end());
    }
  });
  return useful;
}

/// Collects the facts of one state.
class Collector {
 public:
  Collector(const archive::SavedState& state, const archive::RepeatedDecisions& decided)
      : snapshot_(state.snapshot),
        catalog_(*state.snapshot.catalog),
        names_(state.names),
        decided_(decided),
        summarizer_(state.snapshot, state.names, decided.place, decided.provision) {
    facts_.policy = state.policies.name;
    facts_.at = state.snapshot.at;
  }

  Facts collect() && {
    add_nodes();
    add_claims();
    add_replicas();
    add_services();
    return std::move(facts_);
  }

 private:
  std::string node_name(NodeId id) const {
    const std::string* known = names_.nodes.find(id);
    return known != nullptr ? *known : fmt::format("node {}", id.value);
  }

  Duration since(Instant moment) const {
    return moment.is_never() || moment > snapshot_.at ? Duration{} : snapshot_.at - moment;
  }

  std::optional<Duration> until(Instant moment) const {
    if (moment.is_never()) return std::nullopt;
    return std::max(moment - snapshot_.at, Duration{});
  }

  void set_offering(NodeFacts& facts, model::OfferingId id) const {
    if (!id.valid() || id.value >= catalog_.offerings.size()) return;
    const model::Offering& offering = catalog_.offering(id);
    facts.instance_type = offering.instance_type;
    facts.capacity = model::name(offering.capacity).label;
    if (offering.price_per_hour > MicroUsd{}) facts.per_hour = offering.price_per_hour;
    if (facts.zone.empty() && offering.zone.valid()) facts.zone = explain::domain_name(catalog_, offering.zone);
  }

  static NodeFacts::State state_of(const Node& node) {
    if (node.phase == Node::Phase::terminating) return NodeFacts::State::terminating;
    if (node.ready_at.is_never()) return NodeFacts::State::launching;  // it has registered, and accepts no pods yet
    return node.phase == Node::Phase::ready ? NodeFacts::State::ready : NodeFacts::State::cordoned;
  }

  NodeFacts node_facts(NodeId id, const Node& node) const {
    NodeFacts facts;
    facts.name = node_name(id);
    facts.state = state_of(node);
    facts.gpu = explain::gpu_name(catalog_, node.gpu);
    const model::DomainId zone = node.domains.domain_at(model::TopologyLevel::zone);
    if (zone.valid()) facts.zone = explain::domain_name(catalog_, zone);
    set_offering(facts, node.offering);
    facts.age = since(node.ready_at);
    const model::Claim* claim = snapshot_.claims.find(node.claim);
    if (facts.state == NodeFacts::State::launching && claim != nullptr) {
      facts.age = since(claim->requested_at);
      facts.ready_in = until(claim->expected_ready_at);
    }
    for (const model::Action& action : decided_.provision.plan.actions) {
      const auto* end = std::get_if<model::TerminateNode>(&action.effect);
      if (end != nullptr && end->node == id) facts.reason = model::sentence(action.why, catalog_);
    }
    return facts;
  }

  void add_nodes() {
    std::map<NodeId, NodeFacts> rows;
    snapshot_.nodes.for_each([&](NodeId id, const Node& node) {
      if (node.gpu.valid()) rows.emplace(id, node_facts(id, node));
    });
    snapshot_.pods.for_each([&](PodId, const Pod& pod) {
      const auto row = rows.find(pod.node);
      if (row == rows.end() || pod.gpus == MilliGpu{}) return;
      at(row->second.uses, use_of(snapshot_, pod)) += pod.gpus;
      ++row->second.pods;
    });
    std::map<NodeId, MilliGpu> free;
    for (auto& [id, row] : rows) {
      const MilliGpu left = std::max(snapshot_.nodes.at(id).gpus - allocated(row.uses), MilliGpu{});
      if (row.state == NodeFacts::State::ready) free.emplace(id, left);
      if (row.state != NodeFacts::State::ready) at(row.uses, GpuUse::unusable) = left;
    }
    const std::set<NodeId> useful = useful_nodes(snapshot_, free);
    for (const auto& [id, left] : free) {
      at(rows.at(id).uses, useful.contains(id) ? GpuUse::free : GpuUse::stranded) = left;
    }
    for (auto& [id, row] : rows) add(std::move(row));
  }

  void add_claims() {
    snapshot_.claims.for_each([&](model::ClaimId id, const model::Claim& claim) {
      if (claim.phase == model::Claim::Phase::failed || snapshot_.nodes.find(claim.node) != nullptr) return;
      NodeFacts facts;
      const std::string* known = names_.claims.find(id);
      facts.name = known != nullptr ? *known : fmt::format("claim {}", id.value);
      facts.state = NodeFacts::State::launching;
      set_offering(facts, claim.offering);
      if (claim.offering.valid() && claim.offering.value < catalog_.offerings.size()) {
        const model::Offering& offering = catalog_.offering(claim.offering);
        facts.gpu = explain::gpu_name(catalog_, offering.gpu);
        at(facts.uses, GpuUse::unusable) = whole_gpus(offering.gpus);
      }
      facts.is_paid = claim.phase != model::Claim::Phase::requested;
      facts.age = since(claim.requested_at);
      facts.ready_in = until(claim.expected_ready_at);
      add(std::move(facts));
    });
  }

  void add(NodeFacts node) {
    Sums& sums = facts_.totals;
    sums.launching += node.state == NodeFacts::State::launching ? 1 : 0;
    sums.leaving += node.state == NodeFacts::State::cordoned || node.state == NodeFacts::State::terminating ? 1 : 0;
    if (node.is_paid) {
      ++sums.nodes;
      sums.per_hour += node.per_hour.value_or(MicroUsd{});
      sums.unpriced += node.per_hour ? 0 : 1;
      for (std::size_t i = 0; i < kGpuUses; ++i) sums.uses[i] += node.uses[i];
    }
    facts_.nodes.push_back(std::move(node));
  }

  std::string replica_name(GangId id, const Gang& gang) const {
    if (const std::string* known = names_.gangs.find(id)) return *known;
    if (!gang.service.valid()) return fmt::format("gang {}", id.value);
    return fmt::format("{} {}", explain::service_name(catalog_, gang.service), gang.ordinal);
  }

  ReplicaFacts replica_facts(GangId id, const Gang& gang) const {
    ReplicaFacts facts;
    facts.name = replica_name(id, gang);
    facts.phase = gang.phase;
    facts.pods = std::ssize(gang.pods);
    facts.gpus = gang.spec.pods.gpus_per_pod * std::max(gang.spec.pods.count, facts.pods);
    if (gang.spec.pods.gpu.valid()) facts.gpu = explain::gpu_name(catalog_, gang.spec.pods.gpu);
    facts.age = since(gang.created_at);
    std::set<NodeId> nodes;
    for (const PodId pod_id : gang.pods) {
      const Pod* pod = snapshot_.pods.find(pod_id);
      if (pod == nullptr || !pod->node.valid()) continue;
      ++facts.bound;
      nodes.insert(pod->node);
    }
    if (!nodes.empty()) facts.nodes = node_name(*nodes.begin());
    if (nodes.size() > 1) facts.nodes += fmt::format(" and {} more", nodes.size() - 1);
    if (gang.phase == Gang::Phase::starting) facts.ready_in = until(gang.expected_ready_at);
    if (gang.phase == Gang::Phase::pending) {
      static const decide::scale::Decision kNone;
      const bool decided = gang.service.valid() && gang.service.value < decided_.scale.size();
      facts.limit = summarizer_.limit_of(id, decided ? decided_.scale[gang.service.value] : kNone);
    }
    return facts;
  }

  void add_replicas() {
    snapshot_.gangs.for_each([&](GangId id, const Gang& gang) {
      Sums::Gangs& sums = gang.service.valid() ? facts_.totals.replicas : facts_.totals.others;
      sums.ready += gang.phase == Gang::Phase::ready ? 1 : 0;
      sums.starting += gang.phase == Gang::Phase::starting ? 1 : 0;
      sums.waiting += gang.phase == Gang::Phase::pending ? 1 : 0;
      facts_.replicas.push_back(replica_facts(id, gang));
    });
    const auto order = [](const ReplicaFacts& facts) {
      constexpr std::array<int, 5> kOrder = {0, 1, 4, 2, 3};  // rank of each phase, in the order of Gang::Phase
      return std::pair(kOrder[static_cast<std::size_t>(facts.phase)], -facts.age.count());
    };
    std::ranges::stable_sort(facts_.replicas, {}, order);
  }

  void add_services() {
    const serve::FiguresOfServices numbers = serve::numbers_of(snapshot_, decided_);
    for (const auto& [id, row] : numbers) {
      const model::Service& service = catalog_.service(id);
      ServiceFacts facts;
      facts.name = service.name;
      facts.desired = row.desired.value_or(0);
      facts.replicas = summarizer_.states_of(id);
      facts.waiting = row.waiting;
      facts.late_allowed_ppm = 1'000'000 - service.slo.attainment_ppm;
      if (id.value < decided_.scale.size()) facts.why = model::sentence(decided_.scale[id.value].why, catalog_);
      add_latency(facts, id);
      facts_.services.push_back(std::move(facts));
    }
  }

  void add_latency(ServiceFacts& facts, model::ServiceId id) const {
    std::int64_t late = 0, replicas = 0;
    snapshot_.gangs.for_each([&](GangId gang_id, const Gang& gang) {
      if (gang.service != id || gang.phase != Gang::Phase::ready) return;
      const model::ReplicaSignals& signals = snapshot_.signals_of(gang_id);
      std::optional<std::int64_t> worst;
      for (const model::Signal* share : {&signals.ttft_late_ppm, &signals.queue_late_ppm, &signals.tpot_late_ppm}) {
        if (share->usable()) worst = std::max(worst.value_or(0), share->value);
      }
      late += worst.value_or(0);
      replicas += worst ? 1 : 0;
      if (signals.ttft_p99_us.usable()) {
        facts.ttft_p99_us = std::max(facts.ttft_p99_us.value_or(0), signals.ttft_p99_us.value);
      }
    });
    if (replicas > 0) facts.late_ppm = late / replicas;
  }

  const model::Snapshot& snapshot_;
  const model::Catalog& catalog_;
  const model::Names& names_;
  const archive::RepeatedDecisions& decided_;
  explain::Summarizer summarizer_;
  Facts facts_;
};

}  // namespace

MilliGpu allocated(const GpuUses& uses) {
  MilliGpu sum;
  for (const GpuUse use :
       {GpuUse::serving, GpuUse::starting, GpuUse::held, GpuUse::draining, GpuUse::sleeping, GpuUse::other}) {
    sum += at(uses, use);
  }
  return sum;
}

Facts facts_of(const archive::SavedState& state, const archive::RepeatedDecisions& decided) {
  return Collector(state, decided).collect();
}

}  // namespace capstan::top
