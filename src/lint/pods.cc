#include "lint/pods.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <utility>

#include "manifest/shell.h"

namespace capstan::lint {
namespace {

using manifest::ShellWord;

constexpr std::array<std::string_view, 6> kTemplated = {"Deployment", "StatefulSet", "DaemonSet",
                                                        "ReplicaSet", "Job",         "ReplicationController"};

/// What others make pods of: operators, which may add to them.
constexpr std::array<std::string_view, 10> kOperated = {
    "Rollout",          "RayCluster",       "RayService",          "RayJob",       "JobSet",
    "InferenceService", "DisaggregatedSet", "LLMInferenceService", "PodCliqueSet", "DynamoGraphDeployment"};

void add_template(const Value& value, Pods& out) {
  if (value["spec"].is_mapping()) out.add(value["metadata"], value["spec"]);
}

/// A bare specification of pods, with what names them elsewhere.
void add_spec(const Value& metadata, const Value& spec, Pods& out) {
  if (spec["containers"].is_sequence()) out.add(metadata, spec);
}

void add_group(const Value& group, Pods& out) {
  add_template(group["leaderTemplate"], out);
  add_template(group["workerTemplate"], out);
}

void add_ray(const Value& cluster, Pods& out) {
  add_template(at(cluster, "headGroupSpec.template"), out);
  for (const Value& group : cluster["workerGroupSpecs"].children()) add_template(group["template"], out);
}

void add_operated(const Object& object, Pods& out) {
  const Value& spec = object["spec"];
  const Value& metadata = object["metadata"];
  if (object.kind == "Rollout") {
    add_template(spec["template"], out);
  } else if (object.kind.starts_with("Ray")) {
    add_ray(object.kind == "RayCluster"   ? spec
            : object.kind == "RayService" ? spec["rayClusterConfig"]
                                          : spec["rayClusterSpec"],
            out);
  } else if (object.kind == "JobSet") {
    for (const Value& job : spec["replicatedJobs"].children()) add_template(at(job, "template.spec.template"), out);
  } else if (object.kind == "InferenceService") {
    add_spec(metadata, spec["predictor"], out);
    add_spec(metadata, at(spec, "predictor.workerSpec"), out);
  } else if (object.kind == "LLMInferenceService") {
    for (const std::string_view path : {"template", "worker", "prefill.template", "prefill.worker"}) {
      add_spec(metadata, at(spec, path), out);
    }
  } else if (object.kind == "DisaggregatedSet") {
    for (const Value& role : spec["roles"].children()) add_group(at(role, "spec.leaderWorkerTemplate"), out);
  } else if (object.kind == "PodCliqueSet") {
    for (const Value& clique : at(spec, "template.cliques").children()) {
      add_spec(clique, at(clique, "spec.podSpec"), out);
    }
  } else if (object.kind == "DynamoGraphDeployment") {
    for (const Value& component : spec["components"].children()) add_template(component["podTemplate"], out);
  }
}

bool is_templated(std::string_view kind) { return std::ranges::find(kTemplated, kind) != kTemplated.end(); }

}  // namespace

bool is_operated(std::string_view kind) { return std::ranges::find(kOperated, kind) != kOperated.end(); }

bool makes_pods(std::string_view kind) {
  return is_templated(kind) || kind == "Pod" || kind == "CronJob" || kind == "LeaderWorkerSet" || is_operated(kind);
}

bool serves(std::string_view kind) {
  return kind == "Deployment" || kind == "StatefulSet" || kind == "LeaderWorkerSet";
}

Pods pods_of(const Object& object) {
  Pods out;
  if (object.kind == "Pod") {
    if (object["spec"].is_mapping()) out.add(object["metadata"], object["spec"]);
  } else if (object.kind == "CronJob") {
    add_template(at(object, "spec.jobTemplate.spec.template"), out);
  } else if (object.kind == "LeaderWorkerSet") {
    add_group(at(object, "spec.leaderWorkerTemplate"), out);
  } else if (is_templated(object.kind)) {
    add_template(at(object, "spec.template"), out);
  } else if (is_operated(object.kind)) {
    add_operated(object, out);
  }
  return out;
}

/// What is no mapping in it is as good as an empty one.
Containers::Containers(const Value& list) : first_(list.first), count_(list.is_sequence() ? list.count : 0) {}

Containers containers_of(const Pod& pod) { return Containers((*pod.spec)["containers"]); }
Containers init_containers_of(const Pod& pod) { return Containers((*pod.spec)["initContainers"]); }

bool is_partial(const Object& object) {
  if (is_operated(object.kind)) return false;  // the operator fills in what is not there
  for (const Pod& pod : pods_of(object)) {
    for (const Value* container : containers_of(pod)) {
      if ((*container)["image"]) return false;
    }
  }
  return !at(object, "spec.selector") && !at(object, "spec.leaderWorkerTemplate.size");
}

std::optional<std::int64_t> GpuResource::count() const { return where().integer(); }

bool is_gpu_resource(std::string_view name) {
  return name == "nvidia.com/gpu" || name == "nvidia.com/gpu.shared" || name.starts_with("nvidia.com/mig-");
}

std::vector<GpuResource> gpu_resources(const Value& container) {
  std::vector<GpuResource> out;
  for (const Value& limit : at(container, "resources.limits").children()) {
    if (is_gpu_resource(limit.key) && limit) out.push_back({limit.key, &limit, nullptr});
  }
  for (const Value& request : at(container, "resources.requests").children()) {
    if (!is_gpu_resource(request.key) || !request) continue;
    const auto same = std::ranges::find(out, request.key, &GpuResource::name);
    if (same == out.end()) {
      out.push_back({request.key, nullptr, &request});
    } else {
      same->request = &request;
    }
  }
  return out;
}

std::int64_t gpus_of(const Pod& pod) {
  constexpr std::int64_t kMost = 1'000'000;  // so that what is made of it stays a number
  std::int64_t sum = 0;
  for (const Value* container : containers_of(pod)) {
    for (const GpuResource& resource : gpu_resources(*container)) {
      if (resource.name == "nvidia.com/gpu")
        sum = std::min(kMost, sum + std::max<std::int64_t>(0, resource.count().value_or(0)));
    }
  }
  return sum;
}

bool wants_gpu(const Pod& pod) {
  return static_cast<bool>(gpu_container(pod)) || (*pod.spec)["resourceClaims"].count > 0;
}

bool wants_gpu(const Object& object) {
  return std::ranges::any_of(pods_of(object), [](const Pod& pod) { return wants_gpu(pod); });
}

bool asks_for_gpu(const Object& object) {
  const auto names_gpu = [](const Value* container) { return !gpu_resources(*container).empty(); };
  return std::ranges::any_of(pods_of(object), [&](const Pod& pod) {
    return (*pod.spec)["resourceClaims"].count > 0 || std::ranges::any_of(containers_of(pod), names_gpu) ||
           std::ranges::any_of(init_containers_of(pod), names_gpu);
  });
}

bool serves_on_gpu(const Object& object) { return serves(object.kind) && wants_gpu(object); }

const Value& gpu_container(const Pod& pod) {
  for (const Value* container : containers_of(pod)) {
    for (const GpuResource& resource : gpu_resources(*container)) {
      if (!resource.where().is("0")) return *container;
    }
  }
  return Value::missing();
}

std::vector<GpuPod> gpu_pods_of(const Object& object) {
  std::vector<GpuPod> out;
  for (const Pod& pod : pods_of(object)) {
    if (const Value& container = gpu_container(pod)) out.push_back({pod, container});
  }
  return out;
}

std::int64_t gpus_of_largest_pod(const Object& object) {
  std::int64_t most = 0;
  for (const Pod& pod : pods_of(object)) most = std::max(most, gpus_of(pod));
  return most;
}

namespace {

/// The commands of an `exec`: its words, and those of a script among them.
std::vector<std::vector<ShellWord>> exec_commands(const Value& exec) {
  std::vector<std::vector<ShellWord>> commands;
  std::vector<ShellWord> plain;
  for (const Value& argument : exec.children()) {
    std::vector<std::vector<ShellWord>> script = manifest::shell_commands(argument.text);
    if (script.size() == 1 && script.front().size() == 1) {
      plain.push_back(std::move(script.front().front()));
    } else {
      std::ranges::move(script, std::back_inserter(commands));
    }
  }
  if (!plain.empty()) commands.push_back(std::move(plain));
  return commands;
}

/// What `sleep` takes: "5", "5s", "1m". None where it is no whole number, or known only when it runs.
std::optional<std::int64_t> slept_s(std::string_view text) {
  constexpr std::int64_t kMost = 1'000'000;
  std::int64_t amount = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), amount);
  if (error != std::errc() || amount < 0 || amount > kMost) return std::nullopt;
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if (unit.empty() || unit == "s") return amount;
  return unit == "m" ? std::optional(amount * 60) : std::nullopt;
}

}  // namespace

std::optional<std::int64_t> pre_stop_sleep_s(const Value& container) {
  const Value& hook = at(container, "lifecycle.preStop");
  if (const auto seconds = at(hook, "sleep.seconds").integer()) return seconds;
  std::optional<std::int64_t> slept;
  for (const std::vector<ShellWord>& command : exec_commands(at(hook, "exec.command"))) {
    if (command.front().text == "done") return std::nullopt;  // a loop: as often as it takes
    for (std::size_t i = 0; i + 1 < command.size() && !slept; ++i) {
      if (command[i].text == "sleep") slept = slept_s(command[i + 1].text);
    }
  }
  return slept;
}

bool selects(const Value& match_labels, const Value& labels) {
  if (match_labels.count == 0) return false;
  return std::ranges::all_of(match_labels.children(),
                             [&](const Value& wanted) { return labels[wanted.key].is(wanted.text); });
}

std::vector<const Object*> scalers_of(const Object& object, const Set& set) {
  std::vector<const Object*> out;
  for (const Object* scaler : set.targeting(object.kind, object.name, object)) {
    const bool known = scaler->kind == "HorizontalPodAutoscaler" || scaler->kind == "ScaledObject";
    if (known && same_space(*scaler, object)) out.push_back(scaler);
  }
  return out;
}

}  // namespace capstan::lint
