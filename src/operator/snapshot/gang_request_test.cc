#include "operator/snapshot/gang_request.h"

#include <gtest/gtest.h>

#include <vector>

namespace capstan::op {
namespace {

kube::Requirement in(std::string key, std::vector<std::string> values) {
  return {.key = std::move(key), .op = "In", .values = std::move(values)};
}

kube::Toleration tolerates(std::string key) {
  kube::Toleration toleration;
  toleration.key = std::move(key);
  return toleration;
}

kube::PodSpec request_of(const std::vector<kube::Pod>& pods) {
  std::vector<const kube::Pod*> all;
  for (const kube::Pod& pod : pods) all.push_back(&pod);
  return request_for_all(all);
}

TEST(GangRequest, EqualPodsGiveTheirOwnRequest) {
  kube::Pod pod;
  pod.spec.requests = {.milli = {{"cpu", 8'000}, {"nvidia.com/gpu", 8'000}}};
  pod.spec.node_selector = {{"pool", "h100"}};
  pod.spec.node_affinity = {{in("zone", {"a"})}, {in("zone", {"b"})}};
  pod.spec.tolerations = {tolerates("nvidia.com/gpu")};
  EXPECT_EQ(request_of({pod, pod, pod}), pod.spec);
}

TEST(GangRequest, TheLargestAmountOfEachResourceCounts) {
  kube::Pod leader, worker;
  leader.spec.requests = {.milli = {{"cpu", 32'000}, {"memory", 64}}};
  worker.spec.requests = {.milli = {{"cpu", 8'000}, {"nvidia.com/gpu", 8'000}}};
  EXPECT_EQ(request_of({leader, worker}).requests,
            (kube::Resources{.milli = {{"cpu", 32'000}, {"memory", 64}, {"nvidia.com/gpu", 8'000}}}));
}

TEST(GangRequest, ANodeMustAdmitEveryPod) {
  kube::Pod leader, worker;
  leader.spec.node_selector = {{"pool", "h100"}};
  leader.spec.tolerations = {tolerates("nvidia.com/gpu"), tolerates("leader")};
  worker.spec.node_affinity = {{in("zone", {"a"})}, {in("zone", {"b"})}};
  worker.spec.tolerations = {tolerates("nvidia.com/gpu")};
  const kube::PodSpec all = request_of({leader, worker});
  EXPECT_EQ(all.node_selector, leader.spec.node_selector);
  EXPECT_EQ(all.node_affinity, worker.spec.node_affinity);
  EXPECT_EQ(all.tolerations, worker.spec.tolerations);
  const kube::PodSpec turned = request_of({worker, leader});
  const std::vector<std::vector<kube::Requirement>> expected = {{in("zone", {"a"}), in("pool", {"h100"})},
                                                                {in("zone", {"b"}), in("pool", {"h100"})}};
  EXPECT_EQ(turned.node_affinity, expected);
  EXPECT_EQ(turned.tolerations, worker.spec.tolerations);
}

TEST(GangRequest, ManyAlternativesAreCut) {
  kube::Pod a, b;
  for (int i = 0; i < 20; ++i) {
    a.spec.node_affinity.push_back({in("rack", {std::to_string(i)})});
    b.spec.node_affinity.push_back({in("host", {std::to_string(i)})});
  }
  EXPECT_EQ(request_of({a, b}).node_affinity.size(), kMaxAlternatives);
}

TEST(GangRequest, PodsWithEqualRequestsFormASetAndTheOneWithMostGpusComesFirst) {
  kube::Pod leader, worker, helper;
  leader.spec.requests = {.milli = {{"cpu", 32'000}}};
  worker.spec.requests = {.milli = {{"cpu", 8'000}, {"nvidia.com/gpu", 8'000}}};
  helper = worker;
  helper.spec.node_selector = {{"pool", "h100"}};
  const kube::Pod* pods[] = {&leader, &helper, &worker, &worker, &helper};
  const MilliGpu gpus[] = {{}, whole_gpus(8), whole_gpus(8), whole_gpus(8), whole_gpus(8)};
  EXPECT_EQ(pod_sets_of(pods, gpus), (std::vector<std::uint8_t>{2, 0, 1, 1, 0}));
}

}  // namespace
}  // namespace capstan::op
