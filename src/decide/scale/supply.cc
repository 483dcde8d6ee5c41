#include "decide/scale/supply.h"

#include <algorithm>

#include "decide/place/fit.h"
#include "decide/provision/purchase_limits.h"

namespace capstan::decide::scale {
namespace {

using provision::PurchaseLimits;

MilliGpu gpus_per_pod(const model::Workload& workload) { return workload.gang().pods.gpus_per_pod; }

bool may_run_on(const model::Workload& workload, const model::Catalog& catalog, const model::Purchase& purchase) {
  return catalog.offering(purchase.offering).gpu == workload.gpu &&
         catalog.eligibility.admits(workload.pod_class, purchase);
}

template <typename Visit>
void each_purchase(const model::Workload& workload, const model::Catalog& catalog, Visit&& visit) {
  for (std::uint32_t p = 0; p < catalog.pools.size(); ++p) {
    for (const model::OfferingId offering : catalog.pools[p].offerings) {
      const model::Purchase purchase{{p}, offering};
      if (may_run_on(workload, catalog, purchase)) visit(purchase);
    }
  }
}

MicroUsd price_of(const model::Workload& workload, const model::Catalog& catalog) {
  if (workload.price_per_hour != MicroUsd{}) return workload.price_per_hour;
  std::int64_t cheapest = 0;
  const auto consider = [&](const model::Offering& offering) {
    if (offering.price_per_hour <= MicroUsd{} || offering.gpus <= 0) return;
    const std::int64_t price = ceil_div(offering.price_per_hour.count * workload.gpus_per_replica, offering.gpus);
    if (cheapest == 0 || price < cheapest) cheapest = price;
  };
  each_purchase(workload, catalog, [&](const model::Purchase& p) { consider(catalog.offering(p.offering)); });
  if (cheapest != 0) return {cheapest};
  for (const model::Offering& offering : catalog.offerings) {  // includes offerings of existing nodes
    if (offering.gpu == workload.gpu) consider(offering);
  }
  return {cheapest};
}

/// Returns how many more pods fit on the existing nodes.
std::int64_t pods_on_nodes(const Index& index, const model::Catalog& catalog, const model::Workload& workload) {
  const place::Request request{.gpu = workload.gpu,
                               .gpus_per_pod = gpus_per_pod(workload),
                               .pod_class = catalog.eligibility.find(workload.pod_class)};
  return place::pods_that_fit(index.rooms, request);
}

/// Returns for how many pods nodes may still be bought. In each pool, the search stops at the first whole node that
/// reaches `most` pods. Sets `refused` if only capacity errors prevent a purchase.
std::int64_t pods_on_purchases(const model::Workload& workload, const PurchaseLimits& capacity, std::int64_t most,
                               bool& refused) {
  const model::Catalog& catalog = capacity.catalog();
  std::vector<std::int64_t> by_pool(catalog.pools.size());
  bool any = false, all_back_off = true;
  each_purchase(workload, catalog, [&](const model::Purchase& p) {
    const std::int64_t pods_per_node = capacity.new_nodes().pods_on(p, gpus_per_pod(workload), workload.pod_class);
    if (pods_per_node == 0) return;
    any = true;
    all_back_off = all_back_off && capacity.obstacle(p.pool, p.offering, 1) == PurchaseLimits::Obstacle::backing_off;
    std::int64_t low = 0, high = ceil_div(most, pods_per_node);
    while (low < high) {
      const std::int64_t middle = (low + high + 1) / 2;
      if (capacity.obstacle(p.pool, p.offering, middle) == PurchaseLimits::Obstacle::ok) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    by_pool[p.pool.value] = std::max(by_pool[p.pool.value], low * pods_per_node);
  });
  refused = any && all_back_off;
  std::int64_t pods = 0;
  for (const std::int64_t pods_in_pool : by_pool) pods += pods_in_pool;
  return pods;
}

}  // namespace

Supply supply_of(const Index& index, const model::Catalog& catalog, const model::Workload& workload,
                 provision::PurchaseLimits* capacity, ReplicaCount most) {
  Supply supply{.gpus = workload.gpus_per_replica, .price_per_hour = price_of(workload, catalog)};
  if (capacity == nullptr || workload.placed_elsewhere) return supply;
  // Nodes are counted for the set with the most GPUs per pod.
  const std::int64_t pods_per_replica = workload.gang().pods.count;
  const std::int64_t pods_most = most * pods_per_replica;
  std::int64_t pods = pods_on_nodes(index, catalog, workload);
  for (const place::ExpectedNode& expected : capacity->expected_nodes().nodes()) {
    if (expected.gpu != workload.gpu || !catalog.eligibility.admits(workload.pod_class, expected.bought)) continue;
    pods += place::pods_on(expected, gpus_per_pod(workload), catalog.eligibility.requests(workload.pod_class));
  }
  const std::int64_t buyable = pods_on_purchases(workload, *capacity, pods_most, supply.refused);
  supply.refused = supply.refused && pods == 0;
  supply.further_replicas = std::min(most, (pods + buyable) / pods_per_replica);
  return supply;
}

}  // namespace capstan::decide::scale
