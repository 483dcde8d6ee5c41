#include "fleet/free_gpus.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace capstan::fleet::free_gpus_test {
namespace {

std::vector<HeldGpus> pods_of(std::initializer_list<std::int64_t> gpus_milli) {
  std::vector<HeldGpus> held;
  for (const std::int64_t milli : gpus_milli) held.push_back({.gpus = {milli}});
  return held;
}

TEST(FreeGpus, HalfFreeDevicesHoldNoWholeGpu) {
  const std::uint16_t devices[] = {0, 1, 2, 3};
  std::vector<HeldGpus> halves;
  for (const std::uint16_t& device : devices) halves.push_back({.gpus = {500}, .devices = {&device, 1}});
  const FreeGpus free = free_gpus(whole_gpus(4), halves);
  EXPECT_EQ(free.sum, whole_gpus(2));
  EXPECT_EQ(free.whole(), 0);
  EXPECT_EQ(places(free, whole_gpus(1)), 0);
  EXPECT_EQ(places(free, {500}), 4);
  EXPECT_EQ(places(free, {250}), 8);
  EXPECT_EQ(places(free, {600}), 0);
}

TEST(FreeGpus, PodsWithoutKnownDevicesArePackedWell) {
  struct Row {
    const char* title;
    std::vector<HeldGpus> held;
    MilliGpu per_pod;
    std::int64_t places;
  };
  const Row rows[] = {
      {"an empty node", {}, whole_gpus(2), 2},
      {"four halves share two devices", pods_of({500, 500, 500, 500}), whole_gpus(1), 2},
      {"a share of 0.6 leaves no room for another", pods_of({600, 600, 600}), whole_gpus(1), 1},
      {"the rest of three devices is not one device", pods_of({600, 600, 600, 600}), whole_gpus(1), 0},
      {"the rest of a device holds smaller shares", pods_of({600, 600, 600, 600}), {400}, 4},
      {"the largest is packed first", pods_of({300, 300, 700, 700}), whole_gpus(2), 1},
      {"one and a half GPUs twice need three devices", {}, {1'500}, 2},
      {"one and a half GPUs use the half of a device in use", pods_of({500}), {1'500}, 2},
      {"more is held than the node has", pods_of({2'000, 3'000}), whole_gpus(1), 0},
  };
  for (const Row& row : rows)
    EXPECT_EQ(places(free_gpus(whole_gpus(4), row.held), row.per_pod), row.places) << row.title;
}

TEST(FreeGpus, AVanishedDeviceStillCounts) {
  const std::uint16_t gone[] = {1, 7};
  const FreeGpus free = free_gpus(whole_gpus(3), {{.gpus = whole_gpus(2), .devices = gone}});
  EXPECT_EQ(free, (FreeGpus{whole_gpus(1)})) << "three GPUs are allocatable, and a pod requests two";
  EXPECT_EQ(free_gpus({}, {{.gpus = whole_gpus(2), .devices = gone}}), FreeGpus{});
}

TEST(FreeGpus, ANodeMayHaveAPartOfADevice) {
  const FreeGpus free = free_gpus({2'500}, {});
  EXPECT_EQ(places(free, whole_gpus(1)), 2);
  EXPECT_EQ(places(free, {500}), 5);
}

TEST(FreeGpus, PodsNeedDevices) {
  const auto devices = [](std::initializer_list<std::int64_t> gpus_milli) {
    NeededDevices needed;
    for (const std::int64_t milli : gpus_milli) needed.add({milli});
    return needed.count();
  };
  EXPECT_EQ(devices({600, 600, 600, 400}), 3);
  EXPECT_EQ(devices({4'000, 2'000}), 6);
  EXPECT_EQ(devices({}), 0);
}

RC_GTEST_PROP(FreeGpus, AsManyPodsCanBeTakenAsThereArePlaces, ()) {
  const auto gpus = *rc::gen::inRange<std::int64_t>(0, 9);
  std::vector<HeldGpus> held;
  for (const std::int64_t milli :
       *rc::gen::container<std::vector<std::int64_t>>(rc::gen::inRange<std::int64_t>(1, 3'000))) {
    held.push_back({.gpus = {milli}});
  }
  FreeGpus free = free_gpus(whole_gpus(gpus), held);
  const MilliGpu per_pod{*rc::gen::inRange<std::int64_t>(1, 3'000)};
  for (std::int64_t left = places(free, per_pod); left > 0; --left) {
    RC_ASSERT(places(free, per_pod) == left);
    const MilliGpu before = free.sum;
    take(free, per_pod);
    RC_ASSERT(free.sum == before - per_pod);
    RC_ASSERT(std::ranges::is_sorted(free.partial));
    RC_ASSERT((free.partial.empty() || (free.partial.front() > MilliGpu{} && free.partial.back() < whole_gpus(1))));
  }
  RC_ASSERT(places(free, per_pod) == 0);
}

RC_GTEST_PROP(FreeGpus, WholeGpusAreTheDifference, ()) {
  const auto gpus = *rc::gen::inRange<std::int64_t>(0, 17), used = *rc::gen::inRange<std::int64_t>(0, 20);
  const FreeGpus free = free_gpus(whole_gpus(gpus), {{.gpus = whole_gpus(used)}});
  RC_ASSERT(free == FreeGpus{whole_gpus(std::max<std::int64_t>(gpus - used, 0))});
}

}  // namespace
}  // namespace capstan::fleet::free_gpus_test
