#include "operator/snapshot/replica_table.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <set>

#include "objects.h"

namespace capstan::op {
namespace {

using testing::Object;

std::string letter() { return std::string(1, static_cast<char>('a' + *rc::gen::inRange(0, 3))); }

kube::Workload random_workload() {
  kube::Workload workload;
  workload.kind = *rc::gen::element<std::string>("Deployment", "LeaderWorkerSet");
  workload.meta.ns = letter();
  workload.meta.name = letter();
  workload.selector.present = *rc::gen::inRange(0, 5) > 0;
  if (*rc::gen::inRange(0, 5) > 0) workload.selector.labels.set("app", letter());
  if (*rc::gen::arbitrary<bool>()) workload.selector.labels.set("tier", letter());
  return workload;
}

void change_a_pod(testing::Cluster& cluster) {
  const std::string name = "p" + std::to_string(*rc::gen::inRange(0, 20));
  Object pod = testing::pod(name, letter());
  pod["metadata"]["namespace"] = letter();
  pod["metadata"]["labels"]["leaderworkerset.sigs.k8s.io/name"] = letter();
  const int index = *rc::gen::inRange(0, 4);
  if (index > 0) pod["metadata"]["labels"]["leaderworkerset.sigs.k8s.io/group-index"] = std::to_string(index);
  pod["metadata"]["labels"]["tier"] = letter();
  if (*rc::gen::inRange(0, 5) == 0) pod["status"]["phase"] = "Failed";
  if (*rc::gen::inRange(0, 3) == 0) return cluster.pods.remove(testing::key_of(pod));
  cluster.pods.put(pod);
}

/// Updates the replicas for the pods that changed.
void follow(ReplicaTable& kept, const kube::StoreSnapshot<kube::Pod>& before,
            const kube::StoreSnapshot<kube::Pod>& after) {
  using Row = std::shared_ptr<const kube::Pod>;
  after.rows.for_each_change(before.rows, [&](kube::RowId row, const Row*, const Row* now) {
    kept.set_pod(row, now == nullptr || (*now)->over() ? nullptr : now->get(), "");
  });
}

using Pods = std::vector<std::vector<const kube::Pod*>>;

Pods grouped_again(const ReplicaTable& kept, const ReplicaTable::Target& target) {
  Pods groups;
  for (const auto& [key, replica] : target.replicas) {
    if (replica.members.empty()) continue;
    const std::vector<PodGroup> same = replicas_of(*target.workload, kept.pods_of(replica));
    RC_ASSERT(same.size() == 1u);
    groups.push_back(same.front().pods);
  }
  return groups;
}

RC_GTEST_PROP(ReplicaTable, HaveThePodsThatASearchOfAllPodsFinds, ()) {
  testing::Cluster cluster;
  std::vector<kube::Workload> workloads;
  for (int i = *rc::gen::inRange(1, 4); i > 0; --i) workloads.push_back(random_workload());
  ReplicaTable kept;
  for (const kube::Workload& workload : workloads) {
    ReplicaTable::Target target;
    target.workload = &workload;
    kept.add(std::move(target));
  }
  kube::StoreSnapshot<kube::Pod> pods = cluster.pods.snapshot();
  for (int pass = 0; pass < 8; ++pass) {
    for (int i = *rc::gen::inRange(0, 12); i > 0; --i) change_a_pod(cluster);
    const kube::StoreSnapshot<kube::Pod> now = cluster.pods.snapshot();
    follow(kept, pods, now);
    pods = now;
    for (const ReplicaTable::Target& target : kept.targets()) {
      std::vector<const kube::Pod*> all;
      pods.for_each([&](kube::RowId, const kube::Pod& pod) {
        if (pod.meta.ns == target.workload->meta.ns) all.push_back(&pod);
      });
      Pods expected;
      for (const PodGroup& group : replicas_of(*target.workload, all)) expected.push_back(group.pods);
      RC_ASSERT(grouped_again(kept, target) == expected);
    }
  }
}

TEST(ReplicaTable, AChangedPodTouchesItsReplicasBeforeAndAfterTheChange) {
  testing::Cluster cluster;
  kube::Workload set;
  set.kind = "LeaderWorkerSet";
  set.meta.ns = "ns";
  set.meta.name = "set";
  ReplicaTable kept;
  ReplicaTable::Target target;
  target.workload = &set;
  kept.add(std::move(target));
  const auto put = [&](const char* index) {
    Object pod = testing::pod("p", "work");
    pod["metadata"]["labels"] = {{"leaderworkerset.sigs.k8s.io/name", "set"},
                                 {"leaderworkerset.sigs.k8s.io/group-index", index}};
    cluster.pods.put(pod);
  };
  using Touched = std::optional<std::pair<std::uint32_t, std::set<ReplicaTable::Key>>>;
  const kube::StoreSnapshot<kube::Pod> none = cluster.pods.snapshot();
  put("3");
  const kube::StoreSnapshot<kube::Pod> first = cluster.pods.snapshot();
  follow(kept, none, first);
  EXPECT_EQ(kept.next_touched(), Touched({0, {3}}));
  EXPECT_EQ(kept.next_touched(), Touched());
  put("5");
  const kube::StoreSnapshot<kube::Pod> second = cluster.pods.snapshot();
  follow(kept, first, second);
  EXPECT_EQ(kept.next_touched(), Touched({0, {3, 5}}));
  EXPECT_EQ(kept.take_touched_rows(), std::set<kube::RowId>{{0}});
  EXPECT_FALSE(kept.any_touched());
}

}  // namespace
}  // namespace capstan::op
