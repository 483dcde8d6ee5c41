#include "decide/provision/give_back.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/known_row.h"
#include "decide/place/fit.h"

namespace capstan::decide::provision {
namespace {

std::int64_t pods_hash(const Index& index, NodeId id) {
  StateHash hash;
  if (const auto pods = index.pods_by_node.find(id); pods != index.pods_by_node.end()) {
    for (const PodId pod : pods->second) hash.add(pod.value);
  }
  return static_cast<std::int64_t>(hash.value());
}

}  // namespace

void note_stable_pods(Memory& memory, const Index& index, const model::Snapshot& snapshot, Instant now) {
  std::vector<Memory::StablePods> quiet;
  auto known = memory.stable_pods.begin();
  snapshot.nodes.for_each([&](NodeId id, const model::Node& node) {
    if (!node.pool.valid()) return;
    while (known != memory.stable_pods.end() && known->node < id) ++known;
    const std::int64_t hash = pods_hash(index, id);
    const bool same = known != memory.stable_pods.end() && known->node == id && known->pods_hash == hash;
    quiet.push_back({id, hash, same ? known->since : now});
  });
  memory.stable_pods = std::move(quiet);
}

void terminate(Context& context, NodeId id, const model::Node& node, model::Reason why) {
  context.capacity.give_back(node.pool);
  context.memory.terminating.push_back({id, context.now});
  context.decision.plan.actions.push_back({model::TerminateNode{id}, why});
}

MicroUsd price_of(const Context& context, const model::Node& node) {
  return node.offering.valid() ? context.capacity.catalog().offering(node.offering).price_per_hour : MicroUsd{};
}

ReturnableNodes::ReturnableNodes(const Context& context) : context_(context) {
  const Policy& policy = context.policy;
  std::map<model::PoolId, std::int64_t> all, going;
  context.snapshot.nodes.for_each([&](NodeId id, const model::Node& node) {
    if (!node.pool.valid()) return;
    ++all[node.pool];
    const bool is_told = has(context.memory.terminating, id, &Memory::PendingTermination::node);
    going[node.pool] += node.phase == model::Node::Phase::terminating || is_told ? 1 : 0;
  });
  for (const auto& [pool, nodes] : all) {
    const model::Pool& stated = context.capacity.catalog().pool(pool);
    const std::int64_t allowed =
        model::most_terminating(stated, nodes, policy.consolidation.budget_percent * 10'000, context.now);
    budgets_[pool] = {allowed, going[pool], context.capacity.nodes_of(pool) - policy.min_nodes};
  }
}

bool ReturnableNodes::contains(NodeId id, const model::Node& node) const {
  return node.pool.valid() && !node.is_foreign && node.phase == model::Node::Phase::ready &&
         !context_.nominated.contains(id) && !has(context_.memory.terminating, id, &Memory::PendingTermination::node) &&
         !is_in_unfinished_group(node) && !is_awaited(id, node);
}

Duration ReturnableNodes::unchanged_for(NodeId id) const {
  const std::vector<Memory::StablePods>& rows = context_.memory.stable_pods;
  const auto found = std::ranges::lower_bound(rows, id, {}, &Memory::StablePods::node);
  return found != rows.end() && found->node == id ? context_.now - found->since : Duration{};
}

std::int64_t ReturnableNodes::budget(model::PoolId pool) const {
  const auto found = budgets_.find(pool);
  if (found == budgets_.end()) return 0;
  const Budget& budget = found->second;
  return std::min(budget.allowed - budget.terminating, budget.above_minimum);
}

std::optional<model::Reason> ReturnableNodes::wait_for_budget(model::PoolId pool) const {
  const Budget& budget = known_row(budgets_, pool);
  const bool is_stated = context_.capacity.catalog().pool(pool).budgets.has_value();
  if (!is_stated || budget.terminating < budget.allowed) return std::nullopt;
  return model::Reason{model::ReasonCode::pool_budget, {budget.allowed, budget.terminating, pool.value}};
}

void ReturnableNodes::count_return(model::PoolId pool) {
  Budget& budget = budgets_[pool];
  ++budget.terminating;
  --budget.above_minimum;
}

bool ReturnableNodes::is_in_unfinished_group(const model::Node& node) const {
  return std::ranges::any_of(context_.memory.groups,
                             [&](const Memory::Group& group) { return has(group.claims, node.claim); });
}

/// Returns true if the policy `group` keeps the node for a waiting gang. Such a node lies in the best domain of the
/// gang, to which the policy is about to add the missing nodes. If the node is empty, it must also have room for a pod
/// of the gang.
bool ReturnableNodes::is_awaited(NodeId id, const model::Node& node) const {
  if (context_.policy.kind != Policy::Kind::group) return false;
  return std::ranges::any_of(context_.placed.shortfalls, [&](const place::Shortfall& lack) {
    if (lack.spec.pods.gpu != node.gpu || !lack.best_domain.valid() ||
        node.domains.domain_at(lack.spec.required_level) != lack.best_domain) {
      return false;
    }
    if (!is_empty(id)) return true;
    const NodeRoom* room = context_.index.rooms.find(id);
    for (std::size_t set = 0; set < lack.spec.sets(); ++set) {
      const model::PodSet& pods = lack.spec.set(set);
      const place::Request request{.gpu = pods.gpu,
                                   .gpus_per_pod = pods.gpus_per_pod,
                                   .pod_class = context_.capacity.catalog().eligibility.find(pods.pod_class)};
      if (place::may_use(room, request) && place::slots(*room, id, request) > 0) return true;
    }
    return false;
  });
}

}  // namespace capstan::decide::provision
