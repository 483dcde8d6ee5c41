#include "operator/snapshot/pod_index.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include "objects.h"
#include "operator/view/pod_groups.h"

namespace capstan::op {
namespace {

using testing::Object;

RC_GTEST_PROP(PodIndex, FindsTheSameReplicasAsAFullSearch, ()) {
  testing::Cluster cluster;
  const auto letter = [] { return std::string(1, static_cast<char>('a' + *rc::gen::inRange(0, 3))); };
  for (int i = *rc::gen::inRange(0, 30); i > 0; --i) {
    Object pod = testing::pod("p" + std::to_string(i), letter());
    pod["metadata"]["namespace"] = letter();
    pod["metadata"]["labels"]["leaderworkerset.sigs.k8s.io/name"] = letter();
    pod["metadata"]["labels"]["leaderworkerset.sigs.k8s.io/group-index"] = "0";
    pod["metadata"]["labels"]["tier"] = letter();
    if (*rc::gen::inRange(0, 5) == 0) pod["status"]["phase"] = "Failed";
    cluster.pods.put(pod);
  }
  const auto pods = cluster.pods.snapshot();
  const PodIndex index(pods);
  kube::Workload workload;
  workload.kind = *rc::gen::element<std::string>("Deployment", "LeaderWorkerSet");
  workload.meta.ns = letter();
  workload.meta.name = letter();
  workload.selector.present = true;
  workload.selector.labels.set("app", letter());
  if (*rc::gen::arbitrary<bool>()) workload.selector.labels.set("tier", letter());
  PodIndex::List all;
  pods.for_each([&](kube::RowId, const kube::Pod& pod) {
    if (pod.meta.ns == workload.meta.ns) all.push_back(&pod);
  });
  const auto found = replicas_of(workload, index.candidates(workload));
  const auto expected = replicas_of(workload, all);
  RC_ASSERT(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) RC_ASSERT(found[i].pods == expected[i].pods);
  RC_ASSERT(index.candidates(workload).size() <= all.size());
}

}  // namespace
}  // namespace capstan::op
