#include "operator/view/pod_groups.h"

#include <gtest/gtest.h>

namespace capstan::op {
namespace {

kube::Pod pod(const std::string& name, kube::StringMap labels, const std::string& node = "n", bool ready = true) {
  kube::Pod pod;
  pod.meta.ns = "ns";
  pod.meta.name = name;
  pod.meta.labels = std::move(labels);
  pod.spec.node = node;
  pod.phase = "Running";
  if (ready)
    pod.conditions.push_back(
        {.type = "Ready", .is_true = true, .is_false = false, .reason = "", .message = "", .since = {}});
  return pod;
}

kube::Workload set_of(const std::string& kind) {
  kube::Workload workload;
  workload.kind = kind;
  workload.meta.ns = "ns";
  workload.meta.name = "web";
  workload.selector.present = true;
  workload.selector.labels = {{"app", "web"}};
  return workload;
}

std::vector<PodGroup> groups(const kube::Workload& workload, const std::vector<kube::Pod>& pods) {
  std::vector<const kube::Pod*> candidates;
  for (const kube::Pod& pod : pods) candidates.push_back(&pod);
  return replicas_of(workload, candidates);
}

TEST(PodGroups, EachLivingPodThatTheSelectorMatchesIsAReplica) {
  std::vector<kube::Pod> pods = {pod("web-7", {{"app", "web"}}), pod("b", {{"app", "db"}}), pod("c", {{"app", "web"}})};
  pods[2].phase = "Failed";
  const std::vector<PodGroup> found = groups(set_of("StatefulSet"), pods);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].ordinal, 7u);
  EXPECT_EQ(groups(set_of("Deployment"), pods)[0].ordinal, std::nullopt) << "a Deployment's pods have no numbers";
}

kube::Pod member(const std::string& group, const std::string& worker, const std::string& node = "n") {
  return pod("web-" + group + "-" + worker,
             {{"leaderworkerset.sigs.k8s.io/name", "web"},
              {"leaderworkerset.sigs.k8s.io/group-index", group},
              {"leaderworkerset.sigs.k8s.io/worker-index", worker}},
             node);
}

TEST(PodGroups, AGroupOfALeaderWorkerSetIsOneReplicaAndItsLeaderComesFirst) {
  kube::Workload workload = set_of("LeaderWorkerSet");
  workload.pods_per_replica = 2;
  const std::vector<kube::Pod> pods = {member("1", "0"), member("0", "1"), member("0", "0"),
                                       pod("stranger", {{"app", "web"}})};
  const std::vector<PodGroup> found = groups(workload, pods);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].name, "ns/web-0");
  EXPECT_EQ(found[0].pods.front()->meta.name, "web-0-0");
  EXPECT_EQ(phase_of(found[0]), model::Gang::Phase::ready);
  EXPECT_EQ(phase_of(found[1]), model::Gang::Phase::pending) << "one of its two pods does not exist yet";
}

TEST(PodGroups, AGroupIsWholeAtTheSizeThatItWasMadeWith) {
  kube::Workload workload = set_of("LeaderWorkerSet");
  workload.pods_per_replica = 4;  // edited after the group was created with 2 pods
  std::vector<kube::Pod> pods = {member("0", "0"), member("0", "1")};
  for (kube::Pod& pod : pods) pod.meta.annotations.set("leaderworkerset.sigs.k8s.io/size", "2");
  EXPECT_EQ(phase_of(groups(workload, pods)[0]), model::Gang::Phase::ready);
}

TEST(PodGroups, PhasesFollowThePods) {
  struct Row {
    const char* what;
    std::string node;
    bool ready;
    bool leaving;
    model::Pod::Phase phase;
    model::Gang::Phase group;
  };
  const Row rows[] = {
      {"not bound", "", false, false, model::Pod::Phase::pending, model::Gang::Phase::pending},
      {"bound", "n", false, false, model::Pod::Phase::starting, model::Gang::Phase::starting},
      {"ready", "n", true, false, model::Pod::Phase::ready, model::Gang::Phase::ready},
      {"leaving, though ready", "n", true, true, model::Pod::Phase::terminating, model::Gang::Phase::draining},
  };
  for (const Row& row : rows) {
    kube::Pod one = pod("p", {}, row.node, row.ready);
    if (row.leaving) one.meta.deletion_at = {1};
    EXPECT_EQ(phase_of(one), row.phase) << row.what;
    EXPECT_EQ(phase_of(PodGroup{.pods = {&one}, .expected = 1, .ordinal = 0, .name = "p"}), row.group) << row.what;
  }
}

}  // namespace
}  // namespace capstan::op
