// The changes of the catalog between two passes over the cluster.
#include <gtest/gtest.h>

#include "objects.h"
#include "operator/snapshot/snapshot_builder.h"

namespace capstan::op {
namespace {

using testing::Cluster;
using testing::Object;

TEST(SnapshotDelta, NamesTheChangedTablesOfTheCatalog) {
  Cluster cluster;
  cluster.scalers.put(testing::scaler("chat", "chat"));
  cluster.deployments.put(testing::deployment("chat", 1));
  cluster.nodes.put(testing::node("n"));
  SnapshotBuilder builder;
  const SnapshotBuilder::Output first = builder.build(cluster.view(), {}, {});
  EXPECT_TRUE(first.delta.catalog.services);
  EXPECT_TRUE(first.delta.catalog.gpu_kinds);

  cluster.nodes.put(testing::node("n", 4));
  const SnapshotBuilder::Output smaller = builder.build(cluster.view(), {}, {});
  EXPECT_EQ(smaller.delta.catalog, (model::CatalogChange{.offerings = true})) << "a node of another size";

  cluster.pods.put(testing::pod("p", "other", "n", true));
  const SnapshotBuilder::Output used = builder.build(cluster.view(), {}, {});
  EXPECT_FALSE(used.delta.empty());
  EXPECT_FALSE(used.delta.catalog.any());
  EXPECT_EQ(used.snapshot.catalog, smaller.snapshot.catalog) << "an unchanged catalog is the same object";

  Object scaler = testing::scaler("chat", "chat");
  scaler["spec"]["slo"]["ttft"] = "9s";
  cluster.scalers.put(scaler);
  EXPECT_EQ(builder.build(cluster.view(), {}, {}).delta.catalog, (model::CatalogChange{.services = true}));
}

}  // namespace
}  // namespace capstan::op
