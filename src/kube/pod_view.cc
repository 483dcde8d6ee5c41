#include "kube/pod_view.h"

#include <algorithm>
#include <optional>
#include <ranges>

#include "base/sort_unique.h"

namespace capstan::kube {
namespace {

void add_all(Resources& to, const Resources& more) {
  for (const auto& [name, amount] : more.milli) to.add(name, amount);
}

void raise_all(Resources& to, const Resources& floor) {
  for (const auto& [name, amount] : floor.milli) to.raise(name, amount);
}

/// Returns the requests of a container. A limit without a request counts as a request.
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
  Resources sidecars;  // sum of the init containers that keep running
  Resources start;     // largest need while the pod starts
  spec["initContainers"].for_each([&](Json container) {
    const Resources own = requests_of(container);
    Resources running = sidecars;
    add_all(running, own);
    raise_all(start, running);
    if (container["restartPolicy"].text() == "Always") sidecars = running;
  });
  Resources all = sidecars;
  spec["containers"].for_each([&](Json container) { add_all(all, requests_of(container)); });
  raise_all(all, start);
  add_all(all, read_resources(spec["overhead"]));
  return all;
}

/// Reads the step limits of an engine from its container. A container with more words or variables than any engine has
/// is skipped, because the cost of resolving variables grows with the product of both numbers.
manifest::StepLimits step_limits_of(Json container) {
  constexpr std::size_t kMaxBytes = 32'768, kMaxVariables = 512;
  manifest::ContainerStart start{.image = container["image"].text()};
  std::size_t bytes = 0;
  const auto add = [&](std::vector<std::string_view>& to, Json word) {
    bytes += word.text().size() + 1;
    if (bytes <= kMaxBytes) to.push_back(word.text());
  };
  container["command"].for_each([&](Json word) { add(start.command, word); });
  container["args"].for_each([&](Json word) { add(start.args, word); });
  container["env"].for_each([&](Json variable) {
    if (start.environment.size() > kMaxVariables) return;
    const Json value = variable["value"];
    start.environment.push_back({variable["name"].text(), std::nullopt});
    if (value.exists()) start.environment.back().value = value.text();
  });
  if (bytes > kMaxBytes || start.environment.size() > kMaxVariables) return {};
  const std::optional<manifest::EngineCommand> engine = engine_of(start);
  return engine ? step_limits(*engine) : manifest::StepLimits{};
}

Container read_container(Json item) {
  Container container{
      .name = item["name"].string(), .image = item["image"].string(), .ports = {}, .step_limits = step_limits_of(item)};
  item["ports"].for_each(
      [&](Json port) { container.ports.push_back({port["name"].string(), port["containerPort"].integer()}); });
  return container;
}

/// Adds the GPUs that a container makes visible to itself.
void add_visible_gpus(Json container, std::vector<std::string>& gpus) {
  container["env"].for_each([&](Json variable) {
    if (variable["name"].text() != "NVIDIA_VISIBLE_DEVICES") return;
    const std::string_view value = variable["valueFrom"].exists() ? "all" : variable["value"].text();
    if (value == "none" || value == "void") return;
    for (const auto part : std::views::split(value, ',')) {
      if (!part.empty()) gpus.emplace_back(part.begin(), part.end());
    }
  });
}

/// Returns true if the containers may use GPUs of the node that no device plugin gave them, and the spec does not say
/// which: a privileged container sees every device, and so does a pod with a volume of the device files. With the
/// runtime class of NVIDIA and no variable in the spec, a container gets the GPUs that a variable of its image lists.
bool may_use_any_gpu(Json spec) {
  bool may = false;
  bool states_gpus = false;
  spec["containers"].for_each([&](Json container) {
    may = may || container["securityContext"]["privileged"].boolean();
    container["env"].for_each(
        [&](Json variable) { states_gpus = states_gpus || variable["name"].text() == "NVIDIA_VISIBLE_DEVICES"; });
  });
  spec["volumes"].for_each([&](Json volume) {
    const std::string_view path = volume["hostPath"]["path"].text();
    may = may || path == "/dev" || path == "/dev/" || path.starts_with("/dev/nvidia");
  });
  return may || (!states_gpus && spec["runtimeClassName"].text().starts_with("nvidia"));
}

/// Reads the required node affinity and the other required rules about nodes.
void read_required_rules(Json spec, PodSpec& out) {
  constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
  const Json affinity = spec["affinity"];
  affinity["nodeAffinity"][kRequired]["nodeSelectorTerms"].for_each([&](Json term) {
    out.node_affinity.push_back(read_requirements(term["matchExpressions"]));
    bool has_fields = false;
    term["matchFields"].for_each([&](Json) { has_fields = true; });
    out.rules.node_fields = out.rules.node_fields || has_fields;
    // A term without requirements matches no node. A requirement without an operator is never met.
    if (out.node_affinity.back().empty() && !has_fields) out.node_affinity.back().emplace_back();
  });
  affinity["podAffinity"][kRequired].for_each([&](Json) { out.rules.pod_affinity = true; });
  affinity["podAntiAffinity"][kRequired].for_each([&](Json term) {
    out.rules.pod_anti_affinity = true;
    out.anti_affinity.push_back({.topology_key = term["topologyKey"].string(),
                                 .pods = read_selector(term["labelSelector"]),
                                 .namespaces = read_texts(term["namespaces"]),
                                 .selects_namespaces = term["namespaceSelector"].exists()});
  });
  spec["topologySpreadConstraints"].for_each([&](Json constraint) {
    if (constraint["whenUnsatisfiable"].text() != "ScheduleAnyway") out.rules.topology_spread = true;
  });
}

}  // namespace

PodSpec read_pod_spec(Json spec) {
  PodSpec out;
  out.node = spec["nodeName"].text();
  out.scheduler = spec["schedulerName"].text();
  out.priority_class = spec["priorityClassName"].text();
  out.priority = spec["priority"].integer();
  out.node_selector = read_string_map(spec["nodeSelector"]);
  read_required_rules(spec, out);
  spec["tolerations"].for_each([&](Json item) {
    out.tolerations.push_back(
        {item["key"].string(), item["operator"].string(), item["value"].string(), item["effect"].string()});
  });
  spec["schedulingGates"].for_each([&](Json gate) { out.scheduling_gates.push_back(gate["name"].string()); });
  spec["readinessGates"].for_each([&](Json gate) { out.readiness_gates.push_back(gate["conditionType"].string()); });
  spec["containers"].for_each([&](Json container) {
    out.containers.push_back(read_container(container));
    add_visible_gpus(container, out.visible_gpus);
  });
  if (may_use_any_gpu(spec)) out.visible_gpus.emplace_back("all");
  sort_unique(out.visible_gpus);
  out.requests = requests_of_pod(spec);
  spec["resourceClaims"].for_each([&](Json) { out.has_resource_claims = true; });
  out.termination_grace_s = spec["terminationGracePeriodSeconds"].integer(30);
  return out;
}

namespace {

/// Returns true if the pod has an init container that has to end. A sidecar (restartPolicy Always) goes on running.
bool has_init_containers(Json spec) {
  bool found = false;
  spec["initContainers"].for_each([&](Json one) { found = found || one["restartPolicy"].text() != "Always"; });
  return found;
}

}  // namespace

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
  const Condition* initialized = find_condition(pod.conditions, "Initialized");
  if (initialized != nullptr && initialized->is_true && has_init_containers(object["spec"])) {
    pod.initialized_at = initialized->since;
  }
  std::size_t running = 0;
  status["containerStatuses"].for_each([&](Json container) {
    pod.restarts += container["restartCount"].integer();
    const auto started = read_wall_time(container["state"]["running"]["startedAt"].text());
    if (!started) return;
    ++running;
    pod.containers_started_at = std::max(pod.containers_started_at, *started);
  });
  if (running < pod.spec.containers.size()) pod.containers_started_at = {};
  return pod;
}

}  // namespace capstan::kube
