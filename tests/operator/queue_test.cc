// Queues in the cluster's objects: Capstan's and KAI's, their tree, the queue of each pod, and their status.
#include <gtest/gtest.h>

#include "model/queue_fault.h"
#include "model/reason_sentence.h"
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

/// Returns a KAI Queue with these resources, such as {"gpu": {"limit": 8}}.
Object kai_queue_of(const std::string& name, const Object& resources) {
  return {{"metadata", {{"name", name}, {"uid", "uid-" + name}}}, {"spec", {{"resources", resources}}}};
}

const model::Queue& row(QueueTree& tree, model::QueueId id) { return tree.rows().at(id.value); }

TEST(QueueTree, ParentsComeBeforeChildren) {
  Cluster cluster;
  cluster.queues.put(queue("a-team", "z-all", 8));
  cluster.queues.put(queue("z-all", ""));
  ClassIds ids;
  QueueTree tree(cluster.view(), ids);
  ASSERT_EQ(tree.rows().size(), 2u);
  EXPECT_EQ(tree.rows()[0], (model::Queue{.name = "z-all"}));
  EXPECT_EQ(tree.rows()[1], (model::Queue{.name = "a-team", .parent = {0}, .gpus = {.limit = whole_gpus(8)}}));
}

TEST(QueueTree, AVerdictNamesTheMissingParentAndTheLoop) {
  Cluster cluster;
  cluster.queues.put(queue("lost", "missing"));
  cluster.queues.put(queue("below", "lost"));
  cluster.queues.put(queue("one", "two"));
  cluster.queues.put(queue("two", "three"));
  cluster.queues.put(queue("three", "one"));
  cluster.queues.put(queue("self", "self"));
  ClassIds ids;
  QueueTree tree(cluster.view(), ids);
  EXPECT_EQ(model::find_parent_cycle(tree.rows()), std::nullopt) << "no walk to the top may be endless";
  const auto why = [&](const char* name) {
    const model::QueueId id = tree.take(kube::StringMap{{"capstan.dev/queue", name}});
    const std::optional<model::Reason> reason = model::fault_reason(tree.rows(), id);
    model::Catalog catalog;
    catalog.queues = tree.rows();
    return reason ? model::sentence(*reason, catalog) : std::string();
  };
  const char* kLost =
      "queue \"lost\" names queue \"missing\" as its parent, which has no Queue object: no pod of queue \"lost\" is "
      "placed until that object exists or `spec.parent` names another queue";
  EXPECT_EQ(why("lost"), kLost);
  EXPECT_EQ(why("below"), kLost);
  for (const char* name : {"one", "two", "three", "self"}) {
    EXPECT_NE(why(name).find("form a loop"), std::string::npos) << name << ": " << why(name);
  }
}

TEST(QueueTree, AQueueKeepsItsIdWhenOthersComeAndGo) {
  Cluster cluster;
  cluster.nodes.put(testing::node("n"));
  cluster.queues.put(queue("m-team", "", 8));
  cluster.queues.put(queue("z-team", "", 8));
  Object pod = testing::pod("pod", "work", "n");
  pod["metadata"]["labels"]["capstan.dev/queue"] = "z-team";
  cluster.pods.put(pod);
  SnapshotBuilder builder;
  const auto pass = [&](int second) { return builder.build(cluster.view(), {}, {seconds(2'000'000'000 + second)}); };
  const auto name = [](const SnapshotBuilder::Output& seen, std::size_t at) {
    return seen.snapshot.catalog->queues.at(at).name;
  };
  const SnapshotBuilder::Output first = pass(1);
  ASSERT_EQ(first.snapshot.catalog->queues.size(), 2U);
  ASSERT_EQ(first.snapshot.pods.size(), 1U);
  const auto of_pod = [](const SnapshotBuilder::Output& seen) {
    model::QueueId queue;
    seen.snapshot.pods.for_each([&](model::PodId, const model::Pod& row) { queue = row.queue; });
    return queue;
  };
  EXPECT_EQ(of_pod(first), model::QueueId{1});

  cluster.queues.put(queue("a-team", ""));
  const SnapshotBuilder::Output second = pass(2);
  EXPECT_EQ(of_pod(second), model::QueueId{1});
  EXPECT_TRUE(second.delta.pods.empty()) << "no pod changed";
  EXPECT_TRUE(second.delta.catalog.queues);
  EXPECT_EQ(name(second, 2), "a-team");

  cluster.queues.remove("m-team");
  const SnapshotBuilder::Output third = pass(3);
  EXPECT_EQ(of_pod(third), model::QueueId{1});
  EXPECT_EQ(name(third, 0), "") << "its id is free for a later pass";
  cluster.queues.put(queue("b-team", ""));
  const SnapshotBuilder::Output fourth = pass(4);
  EXPECT_EQ(name(fourth, 0), "b-team");
  EXPECT_TRUE(fourth.delta.pods.empty());
}

TEST(QueueTree, HasQueuesOfCapstanAndOfKai) {
  Cluster cluster;
  cluster.queues.put(queue("team", "", 8));
  const kube::StringMap ours{{"capstan.dev/queue", "team"}};
  const auto kai = [](const char* name) { return kube::StringMap{{"kai.scheduler/queue", name}}; };
  ClassIds ids;
  EXPECT_FALSE(QueueTree(cluster.view(), ids).take(kai("team")).valid()) << "KAI has no such queue";
  cluster.kai_queues.put(kai_queue("team", 2.5));
  cluster.kai_queues.put(kai_queue("all", -1));
  cluster.kai_queues.put(kai_queue("none", nullptr));
  cluster.kai_queues.put(kai_queue("huge", 1e15));
  QueueTree tree(cluster.view(), ids);
  const auto limit = [&](const kube::StringMap& labels) { return row(tree, tree.take(labels)).gpus.limit; };
  EXPECT_EQ(limit(ours), whole_gpus(8));
  EXPECT_EQ(limit(kai("team")), MilliGpu{2'500});
  EXPECT_EQ(row(tree, tree.take(kai("team"))).name, "kai/team");
  EXPECT_EQ(limit(kai("all")), std::nullopt);
  EXPECT_EQ(limit(kai("none")), MilliGpu{}) << "an unset quota of KAI is 0";
  EXPECT_EQ(limit(kai("huge")), whole_gpus(kMaxQueueLimit));
  EXPECT_EQ(row(tree, tree.take(kai("not-there"))).fault, model::QueueFault::not_found);
}

TEST(QueueTree, AKaiQueueHasSharesOfThreeResources) {
  Cluster cluster;
  Object whole = kai_queue_of("team", {{"gpu", {{"quota", 4}, {"limit", -1}, {"overQuotaWeight", 2}}},
                                       {"cpu", {{"quota", -1}, {"limit", 64000}}},
                                       {"memory", {{"quota", 1048576}, {"limit", -7}}}});
  whole["spec"]["priority"] = 50;
  whole["spec"]["preemptMinRuntime"] = "10m";
  whole["spec"]["reclaimMinRuntime"] = "-1m";
  cluster.kai_queues.put(whole);
  ClassIds ids;
  QueueTree tree(cluster.view(), ids);
  EXPECT_EQ(tree.rows().at(0), (model::Queue{.name = "kai/team",
                                             .gpus = {.limit = {}, .quota = whole_gpus(4), .weight_milli = 2'000},
                                             .cpu_milli = {.limit = 64'000, .quota = 1'000'000'000'000},
                                             .memory_mib = {.limit = 0, .quota = 1'000'000},
                                             .priority = 50,
                                             .preempt_min_runtime = std::chrono::minutes(10),
                                             .reclaim_min_runtime = {}}))
      << "a negative time is not read";
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
  ClassIds ids;
  QueueTree tree(view, ids);
  view.pods.for_each([&](kube::RowId, const kube::Pod& pod) {
    const model::QueueId id = tree.take(pod);
    if (pod.meta.name == "free") {
      EXPECT_FALSE(id.valid());
    } else if (pod.meta.name == "member") {
      EXPECT_EQ(row(tree, id).name, "kai/team");
    } else {
      EXPECT_EQ(row(tree, id).name, "not-there");
      EXPECT_EQ(row(tree, id).fault, model::QueueFault::not_found);
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
    last = writer.update(snapshot, cluster.view().queues, {seconds(second)}, {.unix_us = 1'795'277'733'000'000});
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
