#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "base/known_row.h"
#include "decide/place/fit.h"
#include "decide/provision/passes.h"
#include "fleet/trial.h"

namespace capstan::decide::provision {
namespace {

using model::OfferingId;
using model::PoolId;
using model::Reason;
using model::ReasonCode;

/// A pod that is not bound to a node.
struct WaitingPod {
  PodId pod;
  GangId gang;
  model::GpuKindId gpu;
  MilliGpu gpus;
  model::PodClassId pod_class;
  Instant since;
  /// Shortfall of its gang, if a spread constraint or a preferred zone applies.
  const place::Shortfall* lack = nullptr;
};

/// The amounts that pods need together on an empty node.
struct Needed {
  fleet::NeededDevices devices{};
  model::Resources others{};
  std::int64_t pods = 0;
  std::set<model::PodClassId> classes{};  ///< classes of the pods, each of which the node must admit

  void add(const WaitingPod& pod, const model::Catalog& catalog) {
    ++pods;
    classes.insert(pod.pod_class);
    devices.add(pod.gpus);
    model::add_to(others, catalog.eligibility.requests(pod.pod_class));
  }
};

/// The pods for one new node. The offering is chosen when all pods are assigned to bins.
struct Bin {
  model::GpuKindId gpu;
  Needed needed{};
  std::vector<WaitingPod> pods{};
  const place::Shortfall* lack = nullptr;  ///< shortfall of its first pod
};

/// The offering to buy, and the pool to buy it in.
struct Choice {
  PoolId pool;
  OfferingId offering;
};

/// Returns true if nodes of the purchase admit pods of the class, and the spread of their service allows the purchase.
/// @param lack  shortfall of the pods' gang, or null
bool may_use(const place::Shortfall* lack, model::PodClassId pod_class, const model::Catalog& catalog,
             const model::Purchase& purchase) {
  return catalog.eligibility.admits(pod_class, purchase) && (lack == nullptr || !lack->avoids(purchase));
}

/// Returns true if pods with these shortfalls may share a node. Pods of one gang may always share one, and so may two
/// pods without a shortfall. Pods of different gangs with shortfalls may share a node if they prefer the same zone and
/// have the same constraints: their replicas are then spread over zones and not over nodes.
bool may_share_node(const place::Shortfall* a, const place::Shortfall* b) {
  if (a == b) return true;
  if (a == nullptr || b == nullptr || !a->preferred_zone.valid()) return false;
  return std::tie(a->preferred_zone, a->spread_is_strict, a->avoided_purchases, a->spec.pods.pod_class) ==
         std::tie(b->preferred_zone, b->spread_is_strict, b->avoided_purchases, b->spec.pods.pod_class);
}

/// Returns the offering that holds the amounts and can be bought now: the cheapest of the pools with the highest
/// weight. Ties go to the preferred zone, then to the lower id, then to the earlier pool. If there is none, `why`
/// receives the reason.
/// @param comparison  receives the offerings that were considered; null: none are kept
std::optional<Choice> cheapest(const PurchaseLimits& capacity, model::GpuKindId gpu, const Needed& needed,
                               const place::Shortfall* lack, Reason& why, OfferComparison* comparison = nullptr) {
  const model::Catalog& catalog = capacity.catalog();
  std::optional<Choice> best;
  why = {ReasonCode::no_offering, {needed.devices.count(), gpu.value}};
  const auto note = [&](const model::Purchase& purchase, Offer::Outcome outcome, const Reason& obstacle = {}) {
    if (comparison == nullptr) return;
    const MicroUsd price = catalog.offering(purchase.offering).price_per_hour;
    comparison->add({.purchase = purchase, .count = 1, .price = price, .outcome = outcome, .why = obstacle});
  };
  for (std::uint32_t p = 0; p < catalog.pools.size(); ++p) {
    for (OfferingId id : catalog.pools[p].offerings) {
      const model::Offering& offering = catalog.offering(id);
      if (offering.gpu != gpu) continue;
      if (offering.gpus < needed.devices.count()) {
        note({{p}, id}, Offer::Outcome::too_small);
        continue;
      }
      if (const auto lacked = capacity.new_nodes().lack({{p}, id}, needed.others, needed.pods)) {
        if (why.code == ReasonCode::no_offering) why = *lacked;
        note({{p}, id}, Offer::Outcome::too_small, *lacked);
        continue;
      }
      const bool is_allowed = std::ranges::all_of(
          needed.classes, [&](model::PodClassId pods) { return may_use(lack, pods, catalog, {{p}, id}); });
      if (!is_allowed) {
        note({{p}, id}, Offer::Outcome::not_allowed);
        continue;
      }
      const PurchaseLimits::Obstacle obstacle = capacity.obstacle({p}, id, 1);
      if (obstacle != PurchaseLimits::Obstacle::ok) {
        why = capacity.reason(obstacle, {p}, id, 1);
        note({{p}, id}, Offer::Outcome::refused, why);
        continue;
      }
      note({{p}, id}, Offer::Outcome::not_cheapest);
      const auto rank = [&](const Choice& choice) {
        const model::Offering& sold = catalog.offering(choice.offering);
        return std::tuple(-catalog.pool(choice.pool).weight, sold.price_per_hour,
                          lack != nullptr && sold.zone != lack->preferred_zone, choice.offering);
      };
      if (const Choice choice{{p}, id}; !best || rank(choice) < rank(*best)) best = choice;
    }
  }
  return best;
}

/// Returns the gangs that wait for their queues. Their pods are gated until the queues admit them, so no autoscaler
/// sees them.
std::set<GangId> gangs_held_by_queues(const place::Decision& placed) {
  std::set<GangId> held;
  for (const place::PlacementResult& verdict : placed.verdicts) {
    if (verdict.kind == place::PlacementResult::Kind::held_by_queue) held.insert(verdict.gang);
  }
  return held;
}

/// Returns the waiting pods in Karpenter's order: largest first, then oldest.
std::vector<WaitingPod> waiting_pods(const Index& index, const model::Snapshot& snapshot,
                                     const std::set<PodId>& bound_now, const place::Decision& placed) {
  std::map<GangId, const place::Shortfall*> lacks;
  for (const place::Shortfall& lack : placed.shortfalls) {
    if (lack.gang.valid() && (lack.spread_is_strict || lack.preferred_zone.valid())) lacks[lack.gang] = &lack;
  }
  const std::set<GangId> held = gangs_held_by_queues(placed);
  std::vector<WaitingPod> pods;
  for (const auto& [created, id] : index.unbound_pods) {
    const model::Pod& pod = snapshot.pods.at(id);
    if (bound_now.contains(id) || held.contains(pod.gang)) continue;
    const auto lack = lacks.find(pod.gang);
    const model::PodSet& set = snapshot.gangs.at(pod.gang).spec.set(pod.set);
    pods.push_back(
        {id, pod.gang, set.gpu, pod.gpus, set.pod_class, created, lack == lacks.end() ? nullptr : lack->second});
  }
  std::ranges::sort(pods, [](const WaitingPod& a, const WaitingPod& b) {
    return std::tuple(b.gpus, a.since, a.pod) < std::tuple(a.gpus, b.since, b.pod);
  });
  return pods;
}

/// Adds new pods to the batch. Returns true if the batch closes: no new pod has appeared for `batch_idle`, or the batch
/// has been open for `batch_max`.
bool close_batch(const std::vector<WaitingPod>& demand, const Policy& policy, Memory& memory, Instant now) {
  if (demand.empty()) {
    memory.batch_first = memory.batch_last = Instant::never();
    return false;
  }
  PodId newest = demand.front().pod;
  for (const WaitingPod& pod : demand) newest = std::max(newest, pod.pod);
  if (memory.batch_first.is_never())
    memory.batch_first = memory.batch_last = now;
  else if (!memory.newest_pod.valid() || newest > memory.newest_pod)
    memory.batch_last = now;
  memory.newest_pod = newest;
  return now - memory.batch_last >= policy.batch_idle || now - memory.batch_first >= policy.batch_max;
}

/// Assigns the pods to new nodes, each pod to the first node on which it fits.
std::vector<Bin> packed(const std::vector<WaitingPod>& demand, const PurchaseLimits& capacity) {
  std::vector<Bin> bins;
  Reason why;
  for (const WaitingPod& pod : demand) {
    const auto bin = std::ranges::find_if(bins, [&](const Bin& b) {
      if (b.gpu != pod.gpu || !may_share_node(b.lack, pod.lack)) return false;
      Needed needed = b.needed;
      needed.add(pod, capacity.catalog());
      return cheapest(capacity, b.gpu, needed, b.lack, why).has_value();
    });
    Bin& chosen = bin != bins.end() ? *bin : bins.emplace_back(Bin{.gpu = pod.gpu, .lack = pod.lack});
    chosen.needed.add(pod, capacity.catalog());
    chosen.pods.push_back(pod);
  }
  return bins;
}

/// Adds to the plan the reason why the pod's gang waits, once per gang and reason.
void add_no_action(Decision& decision, const WaitingPod& pod, Reason why) {
  std::vector<model::Plan::NoAction>& kept = decision.plan.no_actions;
  const auto same = [&](const model::Plan::NoAction& k) { return k.id == pod.gang.value && k.why.code == why.code; };
  if (std::ranges::none_of(kept, same)) kept.push_back({model::Plan::NoAction::Subject::gang, pod.gang.value, why});
}

/// Reserves the room of the pods that the plan binds, and returns these pods.
std::set<PodId> take_bindings(const model::Plan& plan, const Index& index, const model::Snapshot& snapshot,
                              fleet::Trial& room) {
  std::set<PodId> bound;
  for (const model::Action& action : plan.actions) {
    const auto* bind = std::get_if<model::BindPods>(&action.effect);
    if (bind == nullptr) continue;
    const model::GangSpec& spec = snapshot.gangs.at(bind->gang).spec;
    for (const model::BindPods::Binding& binding : bind->bindings) {
      bound.insert(binding.pod);
      const model::PodClassId pods = spec.set(snapshot.pods.at(binding.pod).set).pod_class;
      room.take(binding.node, known_row(index.pods, binding.pod).gpus, snapshot.catalog->eligibility.requests(pods));
    }
  }
  return bound;
}

/// Assigns waiting pods to free GPUs of nodes and of nodes on their way. Returns the pods that fit on none.
std::vector<WaitingPod> pods_without_room(Context& context) {
  PurchaseLimits& capacity = context.capacity;
  const model::Eligibility& eligibility = capacity.catalog().eligibility;
  fleet::Trial room(context.index.rooms);
  const std::set<PodId> bound_now = take_bindings(context.placed.plan, context.index, context.snapshot, room);
  // No node is bought for a pod that fits on an existing node, even if its gang does not fit: an autoscaler that knows
  // no gangs leaves such a pod to the scheduler.
  std::vector<WaitingPod> demand;
  for (const WaitingPod& pod : waiting_pods(context.index, context.snapshot, bound_now, context.placed)) {
    const bool is_spread = pod.lack != nullptr && pod.lack->spread_is_strict;
    const place::Request request{
        .gpu = pod.gpu, .gpus_per_pod = pod.gpus, .pod_class = eligibility.find(pod.pod_class)};
    const NodeId node = is_spread ? NodeId{} : place::first_with_room(room.rooms(), request);
    if (node.valid()) {
      room.take(node, pod.gpus, eligibility.requests(pod.pod_class));
      context.nominated.insert(node);
      continue;
    }
    const auto expected = std::ranges::find_if(capacity.expected_nodes().nodes(), [&](const place::ExpectedNode& c) {
      return c.gpu == pod.gpu && place::pods_on(c, pod.gpus, eligibility.requests(pod.pod_class)) > 0 &&
             may_use(pod.lack, pod.pod_class, capacity.catalog(), c.bought);
    });
    if (expected != capacity.expected_nodes().nodes().end()) {
      place::take(*expected, pod.gpus, eligibility.requests(pod.pod_class));
      add_no_action(context.decision, pod,
                    capacity.reason({1, expected->claim, expected->bought.pool, expected->ready_at}, pod.gpus));
      continue;
    }
    demand.push_back(pod);
  }
  return demand;
}

/// Buys one node for each bin, or states why its pods wait.
void buy_bins(const std::vector<Bin>& bins, Context& context) {
  PurchaseLimits& capacity = context.capacity;
  Reason why;
  for (const Bin& bin : bins) {
    const WaitingPod& first = bin.pods.front();
    const model::Gang& gang = context.snapshot.gangs.at(first.gang);
    OfferComparison comparison{.gang = first.gang, .service = gang.service, .ordinal = gang.ordinal, .gpu = bin.gpu};
    for (const WaitingPod& pod : bin.pods) comparison.gpus += pod.gpus;
    const bool keeps_offers = context.detail == Detail::candidates;
    const std::optional<Choice> choice =
        cheapest(capacity, bin.gpu, bin.needed, bin.lack, why, keeps_offers ? &comparison : nullptr);
    if (keeps_offers) {
      note_comparison(
          context.decision.offer_comparisons, std::move(comparison),
          choice.transform([](const Choice& one) { return Offer{.purchase = {one.pool, one.offering}, .count = 1}; }));
    }
    if (!choice) {
      for (const WaitingPod& pod : bin.pods) add_no_action(context.decision, pod, why);
      continue;
    }
    const WaitingPod& oldest = *std::ranges::min_element(bin.pods, {}, &WaitingPod::since);
    const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(context.now - oldest.since).count();
    capacity.launch(
        {.pool = choice->pool, .offering = choice->offering, .domain = {}, .count = 1, .hold = {}, .gang = {}},
        {ReasonCode::launch_for_pod, {waited, oldest.gpus.count}}, context.decision, context.memory);
    for (const WaitingPod& pod : bin.pods) {
      place::take(capacity.expected_nodes().nodes().back(), pod.gpus,
                  capacity.catalog().eligibility.requests(pod.pod_class));
    }
  }
}

}  // namespace

void buy_for_pods(Context& context) {
  if (!context.scans) return;
  Memory& memory = context.memory;
  const Instant now = context.now;
  if (context.index.unbound_pods.empty()) {
    close_batch({}, context.policy, memory, now);
    return;
  }
  const std::vector<WaitingPod> demand = pods_without_room(context);
  MilliGpu short_by;
  for (const WaitingPod& pod : demand) short_by += pod.gpus;
  context.decision.short_gpus = gpus_up(short_by);
  if (!close_batch(demand, context.policy, memory, now)) {
    for (const WaitingPod& pod : demand) {
      const auto open_ms = std::chrono::duration_cast<std::chrono::milliseconds>(now - memory.batch_first).count();
      const auto idle_ms = std::chrono::duration_cast<std::chrono::milliseconds>(now - memory.batch_last).count();
      add_no_action(context.decision, pod, {ReasonCode::batching, {open_ms, idle_ms}});
    }
    return;
  }
  memory.batch_first = memory.batch_last = Instant::never();
  buy_bins(packed(demand, context.capacity), context);
}

}  // namespace capstan::decide::provision
