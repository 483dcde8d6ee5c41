#include "decide/place/fit.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <vector>

#include "fleet/testing/world.h"

namespace capstan::decide::place {
namespace {

using fleet::testing::World;

Request any_request(const World& world) {
  return {.gpu = {0},
          .level = static_cast<TopologyLevel>(*rc::gen::inRange(1, 5)),
          .pods = *rc::gen::inRange<std::int64_t>(1, 12),
          .gpus_per_pod = MilliGpu{*rc::gen::element<std::int64_t>(500, 1'000, 2'000, 3'000, 4'000, 8'000)},
          .pod_class = world.snapshot.catalog->eligibility.find({*rc::gen::inRange<std::uint32_t>(0, 4)})};
}

/// Calls `visit(id, room)` for each node of a domain that admits the pods of a request.
template <typename Visit>
void each_admitted(const World& world, const Index& index, const fleet::DomainKey& key, const Request& request,
                   Visit visit) {
  world.snapshot.nodes.for_each([&](NodeId id, const model::Node&) {
    const NodeRoom& room = *index.rooms.find(id);
    if (!room.open || room.gpu != key.gpu || room.domains.domain_at(key.level) != key.domain) return;
    if (request.pod_class == nullptr || request.pod_class->admits(room.node_class)) visit(id, room);
  });
}

RC_GTEST_PROP(Fit, PlacesEqualACountOfTheNodes, ()) {
  const World world = fleet::testing::random_world();
  const Index index = fleet::build(world.snapshot);
  const Request request = any_request(world);
  for (const auto& [key, domain] : index.rooms.domains()) {
    std::int64_t by_gpus = 0, now = 0;
    each_admitted(world, index, key, request, [&](NodeId id, const NodeRoom& room) {
      by_gpus += fleet::places(room.free, request.gpus_per_pod);
      now += slots(room, id, request);
    });
    RC_ASSERT(pods_by_gpus(domain.nodes, request) == by_gpus);
    RC_ASSERT(room_in(index.rooms, domain.nodes, request).pods == now);
  }
}

/// Upper bounds let the search skip most domains. They must not change which domain is found.
RC_GTEST_PROP(Fit, TheBestDomainTakesTheMostPodsAndIsTheFullest, ()) {
  const World world = fleet::testing::random_world();
  const Index index = fleet::build(world.snapshot);
  const Request request = any_request(world);
  const Fit fit = best_fit(index.rooms, request);
  const MilliGpu enough = request.gpus_per_pod * request.pods;
  using Rank = std::tuple<std::int64_t, bool, MilliGpu, DomainId>;
  std::vector<Rank> ranks;
  for (const auto& [key, domain] : index.rooms.domains()) {
    if (key.level != request.level || key.gpu != request.gpu) continue;
    std::int64_t pods = 0, nodes = 0;
    each_admitted(world, index, key, request, [&](NodeId id, const NodeRoom& room) {
      pods += slots(room, id, request);
      ++nodes;
    });
    if (nodes > 0) ranks.emplace_back(-std::min(pods, request.pods), domain.free < enough, domain.free, key.domain);
  }
  RC_ASSERT(
      (fit.best_domain.valid() == (!ranks.empty() && std::get<DomainId>(*std::ranges::min_element(ranks)).valid())));
  if (ranks.empty()) return;
  const Rank best = *std::ranges::min_element(ranks);
  RC_ASSERT(fit.best_domain == std::get<DomainId>(best));
  RC_ASSERT(fit.best_pods == -std::get<0>(best));
  RC_ASSERT(fit.nodes.empty() == (fit.best_pods < request.pods));
}

RC_GTEST_PROP(Fit, TheBestNodeTakesTheMostPodsAndIsTheFullest, ()) {
  const World world = fleet::testing::random_world();
  const Index index = fleet::build(world.snapshot);
  Request request = any_request(world);
  request.level = TopologyLevel::node;
  using Rank = std::tuple<std::int64_t, MilliGpu, NodeId>;
  std::vector<Rank> ranks;
  NodeId first;
  world.snapshot.nodes.for_each([&](NodeId id, const model::Node&) {
    const NodeRoom* room = index.rooms.find(id);
    if (!may_use(room, request)) return;
    const std::int64_t n = slots(*room, id, request);
    ranks.emplace_back(-std::min(n, request.pods), usable(room->free, request), id);
    if (n > 0) first = std::min(first, id);
  });
  RC_ASSERT(first_with_room(index.rooms, request) == first);
  const Fit fit = best_fit(index.rooms, request);
  RC_ASSERT(fit.best_node.valid() == !ranks.empty());
  if (ranks.empty()) return;
  RC_ASSERT((Rank{-fit.best_pods, fit.best_free, fit.best_node} == *std::ranges::min_element(ranks)));
}

struct NodeWithRoom {
  NodeId id;
  MilliGpu free;
  std::int64_t slots;
  bool is_empty;
};

/// Chooses nodes by the rules of best_fit(), with a scan of all nodes for each choice.
std::vector<NodeId> nodes_by_definition(std::vector<NodeWithRoom> rooms, std::int64_t pods) {
  std::vector<NodeId> chosen;
  for (const bool is_empty : {false, true}) {
    while (pods > 0) {
      const auto rank = [&](const NodeWithRoom& room) {
        const bool is_last = room.slots >= pods;
        return std::tuple(room.is_empty != is_empty, !is_last, is_last ? 0 : -room.slots, room.free, room.id);
      };
      const auto best = std::ranges::min_element(rooms, {}, rank);
      if (best == rooms.end() || best->is_empty != is_empty) break;
      const std::int64_t here = std::min(best->slots, pods);
      chosen.insert(chosen.end(), static_cast<std::size_t>(here), best->id);
      pods -= here;
      rooms.erase(best);
    }
  }
  return chosen;
}

RC_GTEST_PROP(Fit, TheNodesInADomainAreThoseOfTheDefinition, ()) {
  const World world = fleet::testing::random_world();
  const Index index = fleet::build(world.snapshot);
  Request request = any_request(world);
  std::set<FailureDomain> avoided;
  for (int i = *rc::gen::inRange(0, 3); i > 0; --i) avoided.insert(*rc::gen::inRange<std::uint32_t>(0, 9));
  request.avoided_level = TopologyLevel::node;
  if (!avoided.empty()) request.avoided = &avoided;
  const Fit fit = best_fit(index.rooms, request);
  if (fit.nodes.empty()) return;
  std::vector<NodeWithRoom> rooms;
  each_admitted(world, index, {request.level, fit.best_domain, request.gpu}, request,
                [&](NodeId id, const NodeRoom& room) {
                  const std::int64_t n = slots(room, id, request);
                  if (n > 0) rooms.push_back({id, room.free.sum, n, room.free.sum == room.gpus});
                });
  RC_ASSERT(fit.nodes == nodes_by_definition(rooms, request.pods));
}

}  // namespace
}  // namespace capstan::decide::place
