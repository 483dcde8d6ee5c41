#include "lint/pods.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

#include "lint/scalers.h"
#include "lint/value_path.h"
#include "manifest/shell.h"

namespace capstan::lint {
namespace {

using manifest::ShellWord;

/// Returns the value at a path, where "." is the value itself; a missing value if there is none.
const Value& value_at(const Value& value, std::string_view path) { return path == "." ? value : at(value, path); }

void add_listed(const Object& object, const PodShape& shape, Pods& out) {
  for_each_at(*object.root, shape.unit, [&](const Value& unit) {
    const Value& spec = value_at(unit, shape.spec);
    const Value& metadata = shape.metadata.empty() ? object["metadata"] : value_at(unit, shape.metadata);
    if (!shape.container.empty()) {
      const Value& container = value_at(unit, shape.container);
      if (container.is_mapping()) out.add({&metadata, &spec, &container});
    } else if (shape.metadata.empty() ? spec["containers"].is_sequence() : spec.is_mapping()) {
      out.add({&metadata, &spec});
    }
  });
}

}  // namespace

Pods pods_of(const Object& object) {
  Pods out;
  for (const PodShape& shape : object.shapes) add_listed(object, shape, out);
  if (object.has_unlisted_pods) {
    search_pods(*object.root, [&](const Value& metadata, const Value& spec) {
      out.add({metadata ? &metadata : &object["metadata"], &spec});
    });
  }
  return out;
}

std::optional<PodMaker> pod_maker(const Object& object) {
  if (!object.shapes.empty()) return object.shapes.front().maker;
  return object.has_unlisted_pods ? std::optional(PodMaker::grouped) : std::nullopt;
}

bool is_operated(const Object& object) {
  const std::optional<PodMaker> maker = pod_maker(object);
  return maker && *maker != PodMaker::serving && *maker != PodMaker::plain;
}

bool serves(const Object& object) { return pod_maker(object) == PodMaker::serving; }

namespace {

/// Returns the items of a list. Items that are no mappings have no entries.
std::span<const Value> items_of(const Value& list) {
  return list.is_sequence() ? list.children() : std::span<const Value>();
}

}  // namespace

Containers containers_of(const Pod& pod) {
  if (pod.container != nullptr) return Containers({pod.container, 1});
  return Containers(items_of((*pod.spec)["containers"]));
}

Containers init_containers_of(const Pod& pod) { return Containers(items_of((*pod.spec)["initContainers"])); }

Containers all_containers_of(const Pod& pod) {
  if (pod.container != nullptr) return containers_of(pod);
  return Containers(items_of((*pod.spec)["containers"]), items_of((*pod.spec)["initContainers"]));
}

bool is_sidecar(const Value& init_container) { return init_container["restartPolicy"].is("Always"); }

bool is_partial(const Object& object) {
  if (is_operated(object)) return false;  // the operator adds what is missing
  for (const Pod& pod : pods_of(object)) {
    for (const Value* container : containers_of(pod)) {
      if ((*container)["image"]) return false;
    }
  }
  return !at(object, "spec.selector") && !at(object, "spec.leaderWorkerTemplate.size");
}

std::optional<std::int64_t> GpuResource::count() const { return quantity().integer(); }

bool is_whole_gpu(std::string_view name) { return name == "nvidia.com/gpu" || name == "gpu"; }

bool is_gpu_resource(std::string_view name) {
  return is_whole_gpu(name) || name == "nvidia.com/gpu.shared" || name.starts_with("nvidia.com/mig-");
}

std::vector<GpuResource> gpu_resources(const Value& container) {
  std::vector<GpuResource> out;
  const Value& resources = container["resources"] ? container["resources"] : container["resourcesPerNode"];
  for (const Value& limit : resources["limits"].children()) {
    if (is_gpu_resource(limit.key) && limit) out.push_back({limit.key, &limit, nullptr});
  }
  for (const Value& request : resources["requests"].children()) {
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

namespace {

constexpr std::int64_t kMaxGpus = 1'000'000;  // bound that prevents overflow in later arithmetic

std::int64_t whole_gpus_of(const Value& container) {
  std::int64_t sum = 0;
  for (const GpuResource& resource : gpu_resources(container)) {
    if (is_whole_gpu(resource.name)) sum += std::clamp<std::int64_t>(resource.count().value_or(0), 0, kMaxGpus);
  }
  return std::min(sum, kMaxGpus);
}

bool wants_any_gpu(const Value& container) {
  return std::ranges::any_of(gpu_resources(container),
                             [](const GpuResource& resource) { return !resource.quantity().is("0"); });
}

}  // namespace

std::vector<const Value*> resource_amounts(const Value& container) {
  std::vector<const Value*> amounts;
  for (const std::string_view list : {"limits", "requests"}) {
    for (const Value& amount : container["resources"][list].children()) amounts.push_back(&amount);
  }
  return amounts;
}

std::int64_t scheduled_amount(const Pod& pod, std::int64_t (*amount_of)(const Value& container)) {
  std::int64_t running = 0;   // containers and sidecars, which run at the same time
  std::int64_t starting = 0;  // the largest init container, with the sidecars before it
  if (pod.container == nullptr) {
    std::int64_t sidecars = 0;
    for (const Value* container : init_containers_of(pod)) {
      const std::int64_t amount = amount_of(*container);
      starting = std::max(starting, sidecars + amount);
      if (is_sidecar(*container)) sidecars += amount;
    }
    running = sidecars;
  }
  for (const Value* container : containers_of(pod)) running += amount_of(*container);
  return std::max(running, starting);
}

std::int64_t gpus_of(const Pod& pod) { return std::min(kMaxGpus, scheduled_amount(pod, whole_gpus_of)); }

bool wants_gpu(const Pod& pod) {
  return (*pod.spec)["resourceClaims"].count > 0 ||
         std::ranges::any_of(all_containers_of(pod), [](const Value* container) { return wants_any_gpu(*container); });
}

bool wants_gpu(const Object& object) {
  return std::ranges::any_of(pods_of(object), [](const Pod& pod) { return wants_gpu(pod); });
}

bool asks_for_gpu(const Object& object) {
  const auto names_gpu = [](const Value* container) { return !gpu_resources(*container).empty(); };
  return std::ranges::any_of(pods_of(object), [&](const Pod& pod) {
    return (*pod.spec)["resourceClaims"].count > 0 || std::ranges::any_of(all_containers_of(pod), names_gpu);
  });
}

bool serves_on_gpu(const Object& object) { return serves(object) && wants_gpu(object); }

const Value& gpu_container(const Pod& pod) {
  for (const Value* container : containers_of(pod)) {
    if (wants_any_gpu(*container)) return *container;
  }
  for (const Value* container : init_containers_of(pod)) {
    if (is_sidecar(*container) && wants_any_gpu(*container)) return *container;
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
  std::int64_t max = 0;
  for (const Pod& pod : pods_of(object)) max = std::max(max, gpus_of(pod));
  return max;
}

namespace {

/// Returns the commands of an `exec`: its own command, and those of the shell scripts in its arguments.
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

/// Returns the seconds of an argument of `sleep`: "5", "5s", "1m". Returns none for a fraction and for a shell
/// variable.
std::optional<std::int64_t> slept_s(std::string_view text) {
  constexpr std::int64_t kMax = 1'000'000;
  std::int64_t amount = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), amount);
  if (error != std::errc() || amount < 0 || amount > kMax) return std::nullopt;
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
    if (command.front().text == "done") return std::nullopt;  // a loop may sleep any number of times
    for (std::size_t i = 0; i + 1 < command.size() && !slept; ++i) {
      if (command[i].text == "sleep") slept = slept_s(command[i + 1].text);
    }
  }
  return slept;
}

bool selects(const Value& match_labels, const Value& labels) {
  if (match_labels.count == 0) return false;
  return std::ranges::all_of(match_labels.children(),
                             [&](const Value& label) { return labels[label.key].is(label.text); });
}

std::vector<const Object*> scalers_of(const Object& object, const Set& set) {
  std::vector<const Object*> out;
  for (const Object* scaler : set.scalers_of_target(object.kind, object.name, object)) {
    const bool known = scaler->kind == "HorizontalPodAutoscaler" || scaler->kind == "ScaledObject";
    if (known && may_share_namespace(*scaler, object)) out.push_back(scaler);
  }
  return out;
}

namespace {

std::vector<const Object*> sure_scalers_of(const Object& object, const Set& set) {
  std::vector<const Object*> scalers = scalers_of(object, set);
  std::erase_if(scalers, [&](const Object* scaler) { return !set.belong_together(object, *scaler, object.name); });
  return scalers;
}

}  // namespace

bool is_surely_scaled(const Object& object, const Set& set) { return !sure_scalers_of(object, set).empty(); }

bool is_surely_scaled_down(const Object& object, const Set& set) {
  return std::ranges::any_of(sure_scalers_of(object, set), [](const Object* scaler) {
    return !(*scaler_of(*scaler)->behavior)["scaleDown"]["selectPolicy"].is("Disabled");
  });
}

}  // namespace capstan::lint
