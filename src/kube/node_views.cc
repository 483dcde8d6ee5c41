#include "kube/node_views.h"

#include "manifest/quantity.h"

namespace capstan::kube {
namespace {

NodeTemplate read_node_template(Json spec) {
  NodeTemplate out;
  out.requirements = read_requirements(spec["requirements"]);
  out.taints = read_taints(spec["taints"]);
  out.startup_taints = read_taints(spec["startupTaints"]);
  const Json ref = spec["nodeClassRef"];
  out.node_class = {ref["group"].string(), ref["kind"].string(), ref["name"].string()};
  out.expire_after = read_duration(spec["expireAfter"]);
  return out;
}

/// Reads limits, including limits of 0, which people set to stop a pool. `read_resources` leaves out amounts of 0.
Resources read_limits(Json object) {
  Resources limits = read_resources(object);
  object.for_each_field([&](std::string_view name, Json value) {
    if (manifest::read_quantity_milli(value.scalar())) limits.add(name, 0);
  });
  return limits;
}

}  // namespace

Node read_node(Json object) {
  const Json status = object["status"];
  Node node;
  node.meta = read_meta(object);
  node.provider_id = object["spec"]["providerID"].text();
  node.unschedulable = object["spec"]["unschedulable"].boolean();
  node.taints = read_taints(object["spec"]["taints"]);
  node.capacity = read_resources(status["capacity"]);
  node.allocatable = read_resources(status["allocatable"]);
  node.conditions = read_conditions(status["conditions"]);
  return node;
}

NodeClaim read_node_claim(Json object) {
  const Json status = object["status"];
  NodeClaim claim;
  claim.meta = read_meta(object);
  claim.spec = read_node_template(object["spec"]);
  claim.requests = read_resources(object["spec"]["resources"]["requests"]);
  claim.node = status["nodeName"].text();
  claim.provider_id = status["providerID"].text();
  claim.capacity = read_resources(status["capacity"]);
  claim.allocatable = read_resources(status["allocatable"]);
  claim.conditions = read_conditions(status["conditions"]);
  return claim;
}

NodePool read_node_pool(Json object) {
  const Json spec = object["spec"];
  const Json disruption = spec["disruption"];
  NodePool pool;
  pool.meta = read_meta(object);
  pool.labels = read_string_map(spec["template"]["metadata"]["labels"]);
  pool.node = read_node_template(spec["template"]["spec"]);
  pool.weight = spec["weight"].integer();
  if (spec["limits"].exists()) pool.limits = read_limits(spec["limits"]);
  if (spec["replicas"].exists()) pool.replicas = spec["replicas"].integer();
  pool.consolidation_policy = disruption["consolidationPolicy"].text();
  pool.consolidate_after = read_duration(disruption["consolidateAfter"]);
  disruption["budgets"].for_each([&](Json budget) {
    pool.budgets.push_back({.nodes = budget["nodes"].scalar(),
                            .schedule = budget["schedule"].string(),
                            .duration = read_duration(budget["duration"]),
                            .reasons = read_texts(budget["reasons"])});
  });
  pool.in_use = read_resources(object["status"]["resources"]);
  pool.conditions = read_conditions(object["status"]["conditions"]);
  return pool;
}

}  // namespace capstan::kube
