#include "plan/objects/names.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.h"
#include "base/assert.h"
#include "model/role_names.h"

namespace capstan::plan {

namespace {

/// Returns true for a MIG profile without attributes: "3g.40gb".
bool is_mig_profile(std::string_view text) {
  const std::size_t dot = text.find("g.");
  const auto is_digits = [](std::string_view part) {
    return !part.empty() && std::ranges::all_of(part, [](char c) { return c >= '0' && c <= '9'; });
  };
  return dot != text.npos && text.ends_with("gb") && is_digits(text.substr(0, dot)) &&
         is_digits(text.substr(dot + 2, text.size() - dot - 4));
}

}  // namespace

std::string gpu_short_name(std::string_view gpu) {
  std::string name;
  for (const char c : gpu) name += c == '_' || c == ' ' ? '-' : ascii_lower(c);
  // "H100" usually means the SXM module, so its name has no suffix. A PCIe or NVL card is another kind and keeps its
  // suffix.
  if (const std::size_t at = name.find("-sxm"); at != name.npos) name.erase(at, 4);
  return name;
}

std::optional<std::string> mig_profile_of(std::string_view gpu) {
  const std::size_t dash = gpu.rfind('-');
  if (dash == gpu.npos || !is_mig_profile(gpu.substr(dash + 1))) return std::nullopt;
  return std::string(gpu.substr(dash + 1));
}

std::string whole_gpu_of(std::string_view gpu) {
  return std::string(mig_profile_of(gpu) ? gpu.substr(0, gpu.rfind('-')) : gpu);
}

std::string pool_name(std::string_view gpu) {
  std::string name = gpu_short_name(gpu);
  std::ranges::replace(name, '.', '-');
  return name;
}

std::string spot_pool_name(std::string_view gpu) { return pool_name(gpu) + "-spot"; }

Device device_of(const RoleFleet& role) {
  return {.pool = role.pool.empty() ? pool_name(role.engine.gpu) : role.pool,
          .per_pod = std::max<GpuCount>(1, role.gpus_per_replica() / std::max<std::int64_t>(1, role.pods))};
}

std::string gpu_resource(Cloud cloud, std::string_view gpu) {
  const std::optional<std::string> profile = mig_profile_of(gpu);
  return profile && cloud != Cloud::gcp ? "nvidia.com/mig-" + *profile : std::string(kGpuResource);
}

Yaml device_selector(Cloud cloud, const RoleFleet& role) {
  Yaml selector = pool_selector(device_of(role).pool);
  const std::optional<std::string> profile = mig_profile_of(role.engine.gpu);
  if (profile && cloud == Cloud::gcp) selector.set("cloud.google.com/gke-gpu-partition-size", *profile);
  return selector;
}

std::string_view engine_key(Engine engine) {
  switch (engine) {
    case Engine::vllm:
      return "vllm";
    case Engine::sglang:
      return "sglang";
    case Engine::tensorrt_llm:
      return "tensorrt-llm";
    case Engine::triton:
      return "triton";
  }
  CAPSTAN_ASSERT(false);
  return {};
}

std::string workload_name(const ServiceSpec& service, model::Role role) {
  return role == model::Role::both ? service.name : fmt::format("{}-{}", service.name, model::name(role));
}

std::string helper_name(const PlanSpec& spec, std::string_view workload, std::string_view suffix) {
  const auto is_taken = [&](std::string_view name) {
    return std::ranges::any_of(spec.services, [&](const ServiceSpec& service) {
      return service.name == name || workload_name(service, model::Role::prefill) == name ||
             workload_name(service, model::Role::decode) == name;
    });
  };
  std::string name = fmt::format("{}-{}", workload, suffix);
  while (is_taken(name)) name += "-pods";
  return name;
}

Yaml pod_labels(const ServiceSpec& service, model::Role role) {
  Yaml labels = Yaml::map({{std::string(kServiceLabel), service.name}});
  if (role != model::Role::both) labels.set(kRoleLabel, model::name(role));
  return labels;
}

std::string pod_selector(const ServiceSpec& service, model::Role role) {
  std::string selector = fmt::format("{}={}", kServiceLabel, service.name);
  if (role != model::Role::both) selector += fmt::format(",{}={}", kRoleLabel, model::name(role));
  return selector;
}

bool quantizes_weights(const ServiceSpec& service, std::string_view weight_dtype) {
  std::string name = service.served_model_name;
  std::ranges::transform(name, name.begin(), ascii_lower);
  return weight_dtype == "fp8" && name.find("fp8") == name.npos;
}

std::string_view workload_kind(const ServiceSpec& service) {
  return service.pods_per_replica > 1 ? "LeaderWorkerSet" : "Deployment";
}

std::string_view workload_api_version(const ServiceSpec& service) {
  return service.pods_per_replica > 1 ? "leaderworkerset.x-k8s.io/v1" : "apps/v1";
}

bool is_default(const PlanSpec& spec, std::string_view path) {
  return std::ranges::find(spec.defaults, path, &DefaultUsed::path) != spec.defaults.end();
}

Yaml gpu_toleration() { return Yaml::map({{"key", kGpuTaint}, {"operator", "Exists"}, {"effect", "NoSchedule"}}); }

Yaml gpu_node_tolerations(const ClusterSpec& cluster) {
  Yaml tolerations = Yaml::list({gpu_toleration()});
  const bool may_buy_spot = std::ranges::find(cluster.capacity, model::CapacityType::spot) != cluster.capacity.end();
  if (cluster.cloud == Cloud::azure && cluster.provisioner == Provisioner::cluster_autoscaler && may_buy_spot) {
    tolerations.add(Yaml::map({{"key", "kubernetes.azure.com/scalesetpriority"},
                               {"operator", "Equal"},
                               {"value", "spot"},
                               {"effect", "NoSchedule"}})
                        .with_comment("the taint that AKS sets on spot nodes"));
  }
  return tolerations;
}

std::vector<std::pair<std::string, std::string>> node_labels(const ClusterSpec& cluster, std::string_view pool) {
  std::vector<std::pair<std::string, std::string>> labels = {{std::string(kPoolLabel), std::string(pool)}};
  const bool uses_kai = cluster.gang_scheduler == GangScheduler::kai && !cluster.kai_node_pool.empty();
  if (uses_kai) labels.emplace_back(kKaiNodePoolLabel, cluster.kai_node_pool);
  return labels;
}

Yaml pool_selector(std::string_view pool) { return Yaml::map({{std::string(kPoolLabel), pool}}); }

Yaml kube_object(std::string_view api_version, std::string_view kind, std::string_view name,
                 std::string_view namespace_name) {
  Yaml object = Yaml::map({{"apiVersion", api_version}, {"kind", kind}});
  object["metadata"].set("name", name);
  if (!namespace_name.empty()) object["metadata"].set("namespace", namespace_name);
  return object;
}

}  // namespace capstan::plan
