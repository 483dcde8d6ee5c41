#include "kube/pod_view.h"

#include <optional>

namespace capstan::kube {
namespace {

void add_all(Resources& to, const Resources& more) {
  for (const auto& [name, amount] : more.milli) to.add(name, amount);
}

void raise_all(Resources& to, const Resources& least) {
  for (const auto& [name, amount] : least.milli) to.raise(name, amount);
}

/// A container's requests; a limit without a request is one.
Resources requests_of(Json container) {
  Resources requests = read_resources(container["resources"]["requests"]);
  const Json requested = container["resources"]["requests"];
  const Resources limits = read_resources(container["resources"]["limits"]);
  for (const auto& [name, amount] : limits.milli) {
    if (!requested[name].exists()) requests.add(name, amount);
  }
  return requests;
}

Resources requests_of_pod(Json spec) {
  Resources sidecars;  // init containers that keep running
  Resources start;     // the most that any moment of the start needs
  spec["initContainers"].each([&](Json container) {
    const Resources own = requests_of(container);
    Resources moment = sidecars;
    add_all(moment, own);
    raise_all(start, moment);
    if (container["restartPolicy"].text() == "Always") sidecars = moment;
  });
  Resources all = sidecars;
  spec["containers"].each([&](Json container) { add_all(all, requests_of(container)); });
  raise_all(all, start);
  add_all(all, read_resources(spec["overhead"]));
  return all;
}

/// Of a container that says more than an engine's ever does nothing is taken: each word may name any variable.
manifest::StepLimits step_limits_of(Json container) {
  constexpr std::size_t kBytesMost = 32'768, kVariablesMost = 512;
  manifest::ContainerStart start{.image = container["image"].text()};
  std::size_t bytes = 0;
  const auto add = [&](std::vector<std::string_view>& to, Json word) {
    bytes += word.text().size() + 1;
    if (bytes <= kBytesMost) to.push_back(word.text());
  };
  container["command"].each([&](Json word) { add(start.command, word); });
  container["args"].each([&](Json word) { add(start.args, word); });
  container["env"].each([&](Json variable) {
    if (start.environment.size() > kVariablesMost) return;
    const Json value = variable["value"];
    start.environment.push_back({variable["name"].text(), std::nullopt});
    if (value.exists()) start.environment.back().value = value.text();
  });
  if (bytes > kBytesMost || start.environment.size() > kVariablesMost) return {};
  const std::optional<manifest::EngineCommand> engine = engine_of(start);
  return engine ? step_limits(*engine) : manifest::StepLimits{};
}

Container read_container(Json item) {
  Container container{
      .name = item["name"].string(), .image = item["image"].string(), .ports = {}, .step_limits = step_limits_of(item)};
  item["ports"].each(
      [&](Json port) { container.ports.push_back({port["name"].string(), port["containerPort"].integer()}); });
  return container;
}

}  // namespace

PodSpec read_pod_spec(Json spec) {
  PodSpec out;
  out.node = spec["nodeName"].text();
  out.scheduler = spec["schedulerName"].text();
  out.priority_class = spec["priorityClassName"].text();
  out.priority = spec["priority"].integer();
  out.node_selector = read_string_map(spec["nodeSelector"]);
  const Json required = spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"];
  required["nodeSelectorTerms"].each(
      [&](Json term) { out.node_affinity.push_back(read_requirements(term["matchExpressions"])); });
  spec["tolerations"].each([&](Json item) {
    out.tolerations.push_back(
        {item["key"].string(), item["operator"].string(), item["value"].string(), item["effect"].string()});
  });
  spec["schedulingGates"].each([&](Json gate) { out.scheduling_gates.push_back(gate["name"].string()); });
  spec["readinessGates"].each([&](Json gate) { out.readiness_gates.push_back(gate["conditionType"].string()); });
  spec["containers"].each([&](Json container) { out.containers.push_back(read_container(container)); });
  out.requests = requests_of_pod(spec);
  spec["resourceClaims"].each([&](Json) { out.has_resource_claims = true; });
  out.termination_grace_s = spec["terminationGracePeriodSeconds"].integer(30);
  return out;
}

Pod read_pod(Json object) {
  const Json status = object["status"];
  Pod pod;
  pod.meta = read_meta(object);
  pod.spec = read_pod_spec(object["spec"]);
  pod.phase = status["phase"].text();
  pod.reason = status["reason"].text();
  pod.ip = status["podIP"].text();
  pod.nominated_node = status["nominatedNodeName"].text();
  pod.started_at = read_wall_time(status["startTime"].text()).value_or(WallTime{});
  pod.conditions = read_conditions(status["conditions"]);
  status["containerStatuses"].each([&](Json container) { pod.restarts += container["restartCount"].integer(); });
  return pod;
}

}  // namespace capstan::kube
