#include "kube/scheduling_views.h"

#include "manifest/quantity.h"

namespace capstan::kube {
namespace {

TopologyConstraint read_topology(Json constraint) {
  return {constraint["topology"].string(), constraint["requiredTopologyLevel"].string(),
          constraint["preferredTopologyLevel"].string()};
}

std::int64_t milli_of(Json number) { return manifest::read_quantity_milli(number.scalar()).value_or(0); }

KaiQueue::Share read_share(Json share) {
  return {.quota_milli = milli_of(share["quota"]),
          .limit_milli = milli_of(share["limit"]),
          .weight_milli = milli_of(share["overQuotaWeight"])};
}

}  // namespace

PriorityClass read_priority_class(Json object) {
  return {.meta = read_meta(object),
          .value = object["value"].integer(),
          .global_default = object["globalDefault"].boolean(),
          .preempts = object["preemptionPolicy"].text() != "Never"};
}

KaiPodGroup read_kai_pod_group(Json object) {
  const Json spec = object["spec"];
  KaiPodGroup group;
  group.meta = read_meta(object);
  group.min_member = spec["minMember"].integer();
  group.queue = spec["queue"].text();
  group.priority_class = spec["priorityClassName"].text();
  group.preemptibility = spec["preemptibility"].text();
  group.staleness_grace = read_duration(spec["stalenessGracePeriod"]);
  group.topology = read_topology(spec["topologyConstraint"]);
  spec["subGroups"].for_each([&](Json sub) {
    group.sub_groups.push_back({.name = sub["name"].string(),
                                .parent = sub["parent"].string(),
                                .min_member = sub["minMember"].integer(),
                                .topology = read_topology(sub["topologyConstraint"])});
  });
  return group;
}

KaiQueue read_kai_queue(Json object) {
  const Json spec = object["spec"];
  const Json resources = spec["resources"];
  return {.meta = read_meta(object),
          .parent = spec["parentQueue"].string(),
          .priority = spec["priority"].exists() ? spec["priority"].integer() : KaiQueue::kDefaultPriority,
          .gpu = read_share(resources["gpu"]),
          .cpu = read_share(resources["cpu"]),
          .memory = read_share(resources["memory"]),
          .preempt_min_runtime = read_duration(spec["preemptMinRuntime"]),
          .reclaim_min_runtime = read_duration(spec["reclaimMinRuntime"])};
}

}  // namespace capstan::kube
