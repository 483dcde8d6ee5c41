#include "plan/fleet/replacement_nodes.h"

#include <gtest/gtest.h>

namespace capstan::plan {
namespace {

TEST(ReplacementNodes, AreThoseOfOneZone) {
  const ClusterSpec cluster{.zones = {"a", "b", "c"}};
  EXPECT_EQ(replacement_nodes(cluster, 1, 1, 100), 1);
  EXPECT_EQ(replacement_nodes(cluster, 7, 1, 100), 3);
  EXPECT_EQ(replacement_nodes(cluster, 2, 2, 100), 2) << "both nodes of the replica are in the lost zone";
  EXPECT_EQ(replacement_nodes(cluster, 7, 1, 2), 2) << "within the limit of the cluster";
  EXPECT_EQ(replacement_nodes(cluster, 7, 1, -1), 0);
}

TEST(ReplacementNodes, AreNoneWhereNoneCanBeBought) {
  EXPECT_EQ(replacement_nodes({.zones = {"a"}}, 7, 1, 100), 0);
  EXPECT_EQ(replacement_nodes({.zones = {"a", "b"}, .provisioner = Provisioner::none}, 7, 1, 100), 0);
}

TEST(NodesLeft, KeepBothLimits) {
  const MicroUsd price{55'040'000};
  EXPECT_GT(nodes_left({}, 16, price * 2, 8, price), 1'000'000);
  EXPECT_EQ(nodes_left({.gpus = 31}, 16, price * 2, 8, price), 1);
  EXPECT_EQ(nodes_left({.gpus = 64, .per_hour = MicroUsd{120'000'000}}, 8, price, 8, price), 1);
  EXPECT_EQ(nodes_left({.per_hour = MicroUsd{120'000'000}}, 16, price * 2, 8, price), 0);
  EXPECT_EQ(nodes_left({.per_hour = MicroUsd{100'000'000}}, 16, price * 2, 8, price), 0) << "the base is above it";
}

}  // namespace
}  // namespace capstan::plan
