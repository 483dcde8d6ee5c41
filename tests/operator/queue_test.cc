// Queues in the cluster's objects: Capstan's and KAI's, their tree, the queue of each pod, and their status.
#include <gtest/gtest.h>

#include "objects.h"
#include "operator/snapshot/queue_tree.h"
#include "operator/snapshot/snapshot_builder.h"
#include "operator/status/queue_status.h"

namespace capstan::op {
namespace {

using std::chrono::seconds;
using testing::Cluster;
using testing::Object;

Object queue(const std::string& name, const std::string& parent, std::optional<int> limit = {}) {
  Object object = {{"metadata", {{"name", name}, {"uid", "uid-" + name}, {"generation", 1}}},
                   {"spec", Object::object()}};
  if (!parent.empty()) object["spec"]["parent"] = parent;
  if (limit) object["spec"]["gpus"]["limit"] = *limit;
  return object;
}

Object kai_queue(const std::string& name, const Object& limit) {
  return {{"metadata", {{"name", name}, {"uid", "uid-" + name}}},
          {"spec", {{"resources", {{"gpu", {{"limit", limit}}}}}}}};
}

const model::Queue& row(const QueueTree& tree, model::QueueId id) { return tree.rows().at(id.value); }

TEST(QueueTree, ParentsComeBeforeChildren) {
  Cluster cluster;
  cluster.queues.put(queue("a-team", "z-all", 8));
  cluster.queues.put(queue("z-all", ""));
  QueueTree tree(cluster.view());
  ASSERT_EQ(tree.rows().size(), 2u);
  EXPECT_EQ(tree.rows()[0], (model::Queue{.name = "z-all", .parent = {}, .limit = {}, .closed = false}));
  EXPECT_EQ(tree.rows()[1], (model::Queue{.name = "a-team", .parent = {0}, .limit = whole_gpus(8), .closed = false}));
}

TEST(QueueTree, QueuesWithAMissingOrCircularParentAreClosed) {
  Cluster cluster;
  cluster.queues.put(queue("lost", "missing"));
  cluster.queues.put(queue("one", "two"));
  cluster.queues.put(queue("two", "three"));
  cluster.queues.put(queue("three", "one"));
  QueueTree tree(cluster.view());
  ASSERT_EQ(tree.rows().size(), 4u);
  for (const char* name : {"lost", "one", "two", "three"}) {
    model::QueueId id = tree.of(kube::StringMap{{"capstan.dev/queue", name}});
    bool closed = row(tree, id).closed;
    for (int steps = 0; row(tree, id).parent.valid(); ++steps) {
      ASSERT_LT(steps, 4) << "a circle";
      id = row(tree, id).parent;
      closed |= row(tree, id).closed;
    }
    EXPECT_TRUE(closed) << name;
  }
}

TEST(QueueTree, HasQueuesOfCapstanAndOfKai) {
  Cluster cluster;
  cluster.queues.put(queue("team", "", 8));
  const kube::StringMap ours{{"capstan.dev/queue", "team"}};
  const auto kai = [](const char* name) { return kube::StringMap{{"kai.scheduler/queue", name}}; };
  EXPECT_FALSE(QueueTree(cluster.view()).of(kai("team")).valid()) << "KAI has no such queue";
  cluster.kai_queues.put(kai_queue("team", 2.5));
  cluster.kai_queues.put(kai_queue("all", -1));
  cluster.kai_queues.put(kai_queue("none", nullptr));
  cluster.kai_queues.put(kai_queue("huge", 1e15));
  QueueTree tree(cluster.view());
  const auto limit = [&](const kube::StringMap& labels) { return row(tree, tree.of(labels)).limit; };
  EXPECT_EQ(limit(ours), whole_gpus(8));
  EXPECT_EQ(limit(kai("team")), MilliGpu{2'500});
  EXPECT_EQ(row(tree, tree.of(kai("team"))).name, "kai/team");
  EXPECT_EQ(limit(kai("all")), std::nullopt);
  EXPECT_EQ(limit(kai("none")), MilliGpu{}) << "an unset quota of KAI is 0";
  EXPECT_EQ(limit(kai("huge")), whole_gpus(kMostHeld));
  EXPECT_TRUE(row(tree, tree.of(kai("not-there"))).closed);
}

TEST(QueueTree, LabelOrElsePodGroupNamesTheQueueOfAPod) {
  Cluster cluster;
  cluster.kai_queues.put(kai_queue("team", 8));
  cluster.kai_groups.put({{"metadata", testing::meta("group")}, {"spec", {{"minMember", 1}, {"queue", "team"}}}});
  Object member = testing::pod("member", "work");
  member["metadata"]["annotations"] = {{"pod-group-name", "group"}};
  Object labelled = testing::pod("labelled", "work");
  labelled["metadata"]["labels"]["capstan.dev/queue"] = "not-there";
  for (const Object& pod : {member, labelled, testing::pod("free", "work")}) cluster.pods.put(pod);
  const ClusterView view = cluster.view();
  QueueTree tree(view);
  view.pods.for_each([&](kube::RowId, const kube::Pod& pod) {
    const model::QueueId id = tree.of(pod);
    if (pod.meta.name == "free") {
      EXPECT_FALSE(id.valid());
    } else if (pod.meta.name == "member") {
      EXPECT_EQ(row(tree, id).name, "kai/team");
    } else {
      EXPECT_EQ(row(tree, id).name, "not-there");
      EXPECT_TRUE(row(tree, id).closed) << "the queue does not exist";
    }
  });
}

struct QueueStatus : ::testing::Test {
  QueueStatus() {
    cluster.nodes.put(testing::node("n"));
    cluster.queues.put(queue("all", "", 16));
    cluster.queues.put(queue("team", "all", 8));
    for (const char* node : {"n", ""}) {
      Object pod = testing::pod(std::string("pod") + node, "work", node, false, 4);
      pod["metadata"]["labels"]["capstan.dev/queue"] = "team";
      pod["spec"]["schedulerName"] = "capstan";
      cluster.pods.put(pod);
    }
    cluster.fleet.put({{"metadata", {{"name", "default"}}}, {"spec", {{"layers", {{"placement", "Active"}}}}}});
  }
  std::size_t writes(int second) {
    const model::Snapshot snapshot = builder.build(cluster.view(), {}, {}).snapshot;
    last = writer.look(snapshot, cluster.view().queues, {seconds(second)}, {.unix_us = 1'795'277'733'000'000});
    return last.size();
  }

  Cluster cluster;
  SnapshotBuilder builder;
  QueueStatusWriter writer;
  std::vector<QueueStatusWriter::Write> last;
};

TEST_F(QueueStatus, ShowsHeldAndWaitingGpus) {
  ASSERT_EQ(writes(1), 2u);
  for (const QueueStatusWriter::Write& write : last) {
    EXPECT_NE(write.request.body.find(
                  R"("status":{"observedGeneration":1,"gpus":{"held":4,"waiting":4},"conditions":[{"type":"Ready",)"
                  R"("status":"True","observedGeneration":1,"lastTransitionTime":"2026-11-21T16:15:33Z",)"
                  R"("reason":"Described","message":""}]}})"),
              std::string::npos)
        << write.request.body;
  }
}

TEST_F(QueueStatus, IsWrittenOnChangeAndAgainAfterAFailure) {
  ASSERT_EQ(writes(1), 2u);
  EXPECT_EQ(writes(10), 0u) << "the writes are in progress";
  writer.answered("uid-all", true);
  writer.answered("uid-team", false);
  ASSERT_EQ(writes(11), 1u);
  EXPECT_EQ(last[0].uid, "uid-team");
  writer.answered("uid-team", true);
  cluster.pods.remove("ns/pod");
  EXPECT_EQ(writes(12), 1u) << "the other status was written a second ago";
  writer.answered("uid-all", true);
  EXPECT_EQ(writes(13), 1u);
  writer.answered("uid-team", true);
  EXPECT_EQ(writes(60), 0u);
  writer.forget();
  EXPECT_EQ(writes(61), 2u) << "another leader wrote in between";
}

}  // namespace
}  // namespace capstan::op
