#include "decide/place/new_nodes.h"

#include <algorithm>

#include "model/resource_number.h"

namespace capstan::decide::place {
namespace {

/// Changes each amount of `to` to the result of `pick(amount of to, amount of from)`.
template <typename Pick>
void combine(model::Resources& to, const model::Resources& from, Pick pick) {
  to.cpu_milli = pick(to.cpu_milli, from.cpu_milli);
  to.memory_mib = pick(to.memory_mib, from.memory_mib);
  to.storage_mib = pick(to.storage_mib, from.storage_mib);
  to.pod_slots = pick(to.pod_slots, from.pod_slots);
  to.extended.resize(std::max(to.extended.size(), from.extended.size()));
  for (std::size_t i = 0; i < to.extended.size(); ++i) to.extended[i] = pick(to.extended[i], from.extended_at(i));
}

std::int64_t smaller(std::int64_t a, std::int64_t b) { return std::min(a, b); }
std::int64_t larger(std::int64_t a, std::int64_t b) { return std::max(a, b); }

}  // namespace

NewNodes::NewNodes(const model::Snapshot& snapshot, const Rooms& rooms) : catalog_(*snapshot.catalog) {
  if (catalog_.eligibility.pod_classes.empty()) return;  // no pod needs anything besides GPUs
  snapshot.nodes.for_each([&](model::NodeId id, const model::Node& node) {
    if (!node.pool.valid() || !node.offering.valid() || !node.available) return;
    const NodeRoom* room = rooms.find(id);
    if (room == nullptr || !room->open || room->free.sum != room->gpus) return;
    const auto [known, is_new] = of_empty_nodes_.try_emplace(type_of({node.pool, node.offering}), *node.available);
    if (!is_new) combine(known->second, *node.available, larger);
  });
}

NewNodes::Type NewNodes::type_of(const model::Purchase& purchase) const {
  const model::Offering& offering = catalog_.offering(purchase.offering);
  return {.pool = purchase.pool,
          .name = offering.instance_type,
          .gpus = offering.gpus,
          .unnamed = offering.instance_type.empty() ? purchase.offering : model::OfferingId{}};
}

std::optional<model::Resources> NewNodes::resources_of(const model::Purchase& purchase) const {
  std::optional<model::Resources> amounts = catalog_.resources_of_new_node(purchase.offering);
  const auto seen = of_empty_nodes_.find(type_of(purchase));
  if (seen == of_empty_nodes_.end()) return amounts;
  if (!amounts) return seen->second;
  combine(*amounts, seen->second, smaller);
  return amounts;
}

std::int64_t NewNodes::pods_on(const model::Purchase& purchase, MilliGpu gpus_per_pod, model::PodClassId pods) const {
  const std::int64_t by_gpus = fleet::places({whole_gpus(catalog_.offering(purchase.offering).gpus)}, gpus_per_pod);
  const std::optional<model::Resources> others = resources_of(purchase);
  return others ? model::times_in(catalog_.eligibility.requests(pods), *others, by_gpus) : by_gpus;
}

std::optional<model::Reason> NewNodes::lack(const model::Purchase& purchase, const model::Resources& amounts,
                                            std::int64_t pods) const {
  const std::optional<model::Resources> others = resources_of(purchase);
  if (!others) return std::nullopt;
  const std::optional<std::size_t> scarcest = model::scarcest_resource(amounts, *others, 1);
  if (!scarcest) return std::nullopt;
  return model::Reason{
      model::ReasonCode::node_lacks_resource,
      {static_cast<std::int64_t>(*scarcest), amount_at(amounts, *scarcest),
       std::max<std::int64_t>(amount_at(*others, *scarcest), 0), model::reason_number(purchase.offering), pods}};
}

}  // namespace capstan::decide::place
