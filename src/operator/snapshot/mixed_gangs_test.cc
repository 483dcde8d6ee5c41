#include "operator/snapshot/mixed_gangs.h"

#include <gtest/gtest.h>

namespace capstan::op {
namespace {

kube::Pod pod_of(const char* gang, int gpus) {
  kube::Pod pod;
  pod.meta.ns = "team";
  pod.spec.scheduler = "capstan";
  if (*gang != '\0') pod.meta.annotations.set("capstan.dev/gang", gang);
  if (gpus > 0) pod.spec.requests.add("nvidia.com/gpu", gpus * 1'000);
  return pod;
}

struct MixedGangsTest : ::testing::Test {
  MixedGangsTest() { fleet.placement = Mode::active; }
  void add(const kube::Pod& pod) { gangs.add(pod, fleet); }

  FleetPolicy fleet;
  MixedGangs gangs;
};

TEST_F(MixedGangsTest, AGangIsMixedWhileItHasPodsWithAndWithoutGpus) {
  add(pod_of("a", 8));
  add(pod_of("b", 0));
  EXPECT_FALSE(gangs.any());
  add(pod_of("a", 0));
  EXPECT_TRUE(gangs.any());
  gangs.remove(pod_of("a", 8), fleet);
  EXPECT_FALSE(gangs.any());
}

TEST_F(MixedGangsTest, PodsThatCapstanDoesNotPlaceOrThatBelongToNoGangDoNotCount) {
  kube::Pod other = pod_of("a", 0);
  other.spec.scheduler = "default-scheduler";
  kube::Pod ended = pod_of("a", 0);
  ended.phase = "Succeeded";
  for (const kube::Pod& pod : {pod_of("a", 8), other, ended, pod_of("", 8), pod_of("", 0)}) add(pod);
  EXPECT_FALSE(gangs.any());
}

TEST_F(MixedGangsTest, APodWhoseClaimsMayHoldGpusCountsAsOneWithGpus) {
  kube::Pod claims = pod_of("a", 0);
  claims.spec.has_resource_claims = true;
  add(claims);
  add(pod_of("a", 8));
  EXPECT_FALSE(gangs.any());
}

}  // namespace
}  // namespace capstan::op
