// Tests GPUs that KAI divides among pods.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fleet/free_gpus.h"
#include "fleet/index.h"
#include "model/consistency.h"
#include "objects.h"
#include "operator/snapshot/snapshot_builder.h"

namespace capstan::op {
namespace {

using testing::Cluster;
using testing::Object;

/// Returns a pod of KAI on the node n that has a share of the GPUs of these groups.
Object sharing(const std::string& name, const std::string& fraction, const std::vector<std::string>& groups) {
  Object pod = testing::pod(name, "work", "n", true, 0);
  pod["spec"]["containers"][0].erase("resources");
  pod["spec"]["schedulerName"] = "kai-scheduler";
  pod["metadata"]["annotations"] = {{"gpu-fraction", fraction}};
  if (groups.size() == 1) pod["metadata"]["labels"]["runai-gpu-group"] = groups.front();
  if (groups.size() > 1) {
    pod["metadata"]["annotations"]["gpu-fraction-num-devices"] = std::to_string(groups.size());
    for (const std::string& group : groups) pod["metadata"]["labels"]["runai-gpu-group/" + group] = group;
  }
  return pod;
}

/// Returns the pod that requests the GPU of a group.
Object reservation(const std::string& group) {
  Object pod = testing::pod("gpu-reservation-" + group, "kai-resource-reservation", "n", true, 1);
  pod["metadata"]["labels"]["runai-gpu-group"] = group;
  return pod;
}

/// Returns the GPUs of each pod in thousandths, and the numbers of its GPUs: "a 500 [0]".
std::vector<std::string> held(const SnapshotBuilder& builder, const model::Snapshot& snapshot) {
  std::vector<std::string> out;
  snapshot.pods.for_each([&](model::PodId id, const model::Pod& pod) {
    out.push_back(fmt::format("{} {} {}", builder.pod(id)->name, pod.gpus.count, pod.devices));
  });
  std::ranges::sort(out);
  return out;
}

struct SharingRow {
  std::string title;
  std::vector<std::string> held;
  std::string free;  ///< free GPUs of the node, thousandths, and how many of them are whole GPUs
  std::function<void(Cluster&)> fill;
};

const SharingRow kSharingRows[] = {
    {"two pods share a GPU",
     {"a 500 [0]", "b 250 [0]"},
     "3250 3",
     [](Cluster& c) {
       c.pods.put(reservation("g"));
       c.pods.put(sharing("a", "0.5", {"g"}));
       c.pods.put(sharing("b", "0.25", {"g"}));
     }},
    {"two halves of different GPUs leave no whole GPU",
     {"a 500 [0]", "b 500 [1]", "c 2000 []"},
     "1000 0",
     [](Cluster& c) {
       c.pods.put(reservation("g"));
       c.pods.put(reservation("h"));
       c.pods.put(sharing("a", "0.5", {"g"}));
       c.pods.put(sharing("b", "0.5", {"h"}));
       c.pods.put(testing::pod("c", "work", "n", true, 2));
     }},
    {"a pod has a share of two GPUs",
     {"a 600 [0, 1]", "b 500 [1]"},
     "2900 2",
     [](Cluster& c) {
       c.pods.put(reservation("g"));
       c.pods.put(reservation("h"));
       c.pods.put(sharing("a", "0.3", {"g", "h"}));
       c.pods.put(sharing("b", "0.5", {"h"}));
     }},
    {"a share that is stated in memory is not known",
     {"gpu-reservation-g 1000 []"},
     "3000 3",
     [](Cluster& c) {
       Object in_memory = sharing("a", "", {"g"});
       in_memory["metadata"]["annotations"] = {{"gpu-memory", "2000"}};
       c.pods.put(reservation("g"));
       c.pods.put(in_memory);
       c.pods.put(sharing("b", "0.5", {"g"}));
     }},
    {"a share that is not a number is not known",
     {"gpu-reservation-g 1000 []"},
     "3000 3",
     [](Cluster& c) {
       c.pods.put(reservation("g"));
       c.pods.put(sharing("a", "half", {"g"}));
       c.pods.put(sharing("b", "1.5", {"g"}));
     }},
    {"a reservation without pods holds its GPU",
     {"gpu-reservation-g 1000 []"},
     "3000 3",
     [](Cluster& c) {
       c.pods.put(reservation("g"));
       Object ended = sharing("a", "0.5", {"g"});
       ended["status"]["phase"] = "Succeeded";
       c.pods.put(ended);
     }},
    {"shares without a reservation hold nothing",
     {},
     "4000 4",
     [](Cluster& c) { c.pods.put(sharing("a", "0.5", {"g"})); }},
};

TEST(SharedGpus, CountEachShareOnItsGpu) {
  for (const SharingRow& row : kSharingRows) {
    Cluster cluster;
    cluster.nodes.put(testing::node("n", 4));
    row.fill(cluster);
    SnapshotBuilder builder;
    const model::Snapshot snapshot = builder.build(cluster.view(), {}, Instant(std::chrono::hours(500'000))).snapshot;
    EXPECT_EQ(held(builder, snapshot), row.held) << row.title;
    const fleet::FreeGpus free = fleet::build(snapshot).rooms.find(model::NodeId{0})->free;
    EXPECT_EQ(fmt::format("{} {}", free.sum.count, free.whole()), row.free) << row.title;
    EXPECT_FALSE(model::find_inconsistency(snapshot)) << row.title;
  }
}

TEST(SharedGpus, APodOfKaiWaitsWithItsShare) {
  Cluster cluster;
  cluster.fleet.put(
      {{"metadata", {{"name", "default"}}},
       {"spec", {{"layers", {{"placement", "Shadow"}}}, {"placement", {{"shadowOf", {"kai-scheduler"}}}}}}});
  cluster.nodes.put(testing::node("n", 4));
  Object pod = sharing("a", "0.5", {});
  pod["spec"].erase("nodeName");
  cluster.pods.put(pod);
  Object own = pod;
  own["metadata"]["name"] = own["metadata"]["uid"] = "own";
  own["spec"]["schedulerName"] = "capstan";
  cluster.pods.put(own);
  SnapshotBuilder builder;
  const model::Snapshot snapshot = builder.build(cluster.view(), {}, {}).snapshot;
  EXPECT_EQ(held(builder, snapshot), (std::vector<std::string>{"a 500 []", "own 0 []"}))
      << "Capstan itself divides no GPU";
}

TEST(SharedGpus, ALookFollowsPodsThatShareAGpu) {
  Cluster cluster;
  cluster.nodes.put(testing::node("n", 4));
  cluster.pods.put(reservation("g"));
  cluster.pods.put(sharing("a", "0.5", {"g"}));
  SnapshotBuilder builder;
  builder.build(cluster.view(), {}, {});
  cluster.pods.put(sharing("b", "0.25", {"g"}));
  EXPECT_EQ(held(builder, builder.build(cluster.view(), {}, {}).snapshot),
            (std::vector<std::string>{"a 500 [0]", "b 250 [0]"}));
  cluster.pods.remove("ns/a");
  cluster.pods.remove("ns/b");
  EXPECT_EQ(held(builder, builder.build(cluster.view(), {}, {}).snapshot),
            std::vector<std::string>{"gpu-reservation-g 1000 []"});
}

}  // namespace
}  // namespace capstan::op
