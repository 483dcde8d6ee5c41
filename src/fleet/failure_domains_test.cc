#include "fleet/failure_domains.h"

#include <gtest/gtest.h>

#include "fleet/testing/world.h"

namespace capstan::fleet {
namespace {

using testing::World;

ReplicaCount domains_at(const World& world, TopologyLevel level) {
  const model::Catalog& catalog = *world.snapshot.catalog;
  return failure_domains(build(world.snapshot), catalog, catalog.services.front().workload, level);
}

TEST(FailureDomains, AreThoseWithItsGpusAndThoseWhereNodesCanBeBought) {
  World world;
  EXPECT_EQ(domains_at(world, TopologyLevel::zone), 0);
  world.node(0);
  world.node(1);
  EXPECT_EQ(domains_at(world, TopologyLevel::node), 2);
  EXPECT_EQ(domains_at(world, TopologyLevel::rack), 1) << "two NVLink domains of one rack";
  EXPECT_EQ(domains_at(world, TopologyLevel::zone), 1);
  world.pool({world.offering(8, 1, 10)}, 24);
  EXPECT_EQ(domains_at(world, TopologyLevel::zone), 2);
  EXPECT_EQ(domains_at(world, TopologyLevel::node), 5) << "three more within the limit";
  EXPECT_EQ(domains_at(world, TopologyLevel::rack), 1) << "the rack of a future node is unknown";
}

TEST(FailureDomains, AReplicasDomainIsThatOfItsFirstPod) {
  World world;
  const NodeId node = world.node(6);
  const GangId gang = world.gang(2, 1, TopologyLevel::node);
  EXPECT_EQ(failure_domain_of(build(world.snapshot), world.snapshot.gangs.at(gang), TopologyLevel::zone), kNowhere);
  world.bind(gang, node);
  const Index index = build(world.snapshot);
  EXPECT_EQ(failure_domain_of(index, world.snapshot.gangs.at(gang), TopologyLevel::zone), world.zone(1).value);
  EXPECT_EQ(failure_domain_of(index, world.snapshot.gangs.at(gang), TopologyLevel::node), node.value);
}

TEST(FailureDomains, AnEvenShareIsRoundedUp) {
  EXPECT_EQ(even_share(9, 3), 3);
  EXPECT_EQ(even_share(10, 3), 4);
  EXPECT_EQ(even_share(10, 1), 10);
}

}  // namespace
}  // namespace capstan::fleet
