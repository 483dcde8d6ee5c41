#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/service.h"
#include "plan/fleet/fleet.h"
#include "plan/objects/yaml.h"
#include "plan/spec/spec.h"

// Names that the manifests of several sections share, so that they fit together. explain/words.h and
// experiment/text/words.h have the words for prices, shares and times.
namespace capstan::plan {

inline constexpr std::string_view kPoolLabel = "capstan.dev/pool";  ///< label of nodes; the value is `pool_name`
inline constexpr std::string_view kKaiNodePoolLabel = "kai.scheduler/node-pool";
inline constexpr std::string_view kServiceLabel = "app.kubernetes.io/name";
inline constexpr std::string_view kRoleLabel = "capstan.dev/role";  ///< label of the pods of disaggregated services
inline constexpr std::string_view kGpuResource = "nvidia.com/gpu";
/// Key of the taint with the value "present" and the effect NoSchedule.
inline constexpr std::string_view kGpuTaint = "nvidia.com/gpu";
inline constexpr std::string_view kContainer = "engine";
inline constexpr std::string_view kPort = "http";
inline constexpr std::int64_t kPortNumber = 8000;
/// The drain of a node ends after this time, whatever its pods do.
inline constexpr std::int64_t kNodeGraceMinutes = 60;

/// Returns "h100" for "h100_sxm", "a100-40g" for "a100_sxm_40g", and "h100-3g.40gb" for "h100-3g.40gb".
std::string gpu_short_name(std::string_view gpu);

/// Returns the MIG profile of a GPU kind that is a slice: "3g.40gb" for "h100-3g.40gb"; nothing for a whole GPU.
std::optional<std::string> mig_profile_of(std::string_view gpu);
/// Returns the GPU kind without its MIG profile: "h100" for "h100-3g.40gb", "h100_sxm" for "h100_sxm".
std::string whole_gpu_of(std::string_view gpu);

/// Returns the name of the pool of a GPU kind, which is also the value of `kPoolLabel`: "h100". The slices of each MIG
/// profile have a pool of their own, "h100-3g-40gb", because all nodes of a pool have one geometry.
std::string pool_name(std::string_view gpu);
/// Returns the name of the pool of spot nodes: "h100-spot". Its nodes have the same `kPoolLabel` as those of
/// `pool_name`, so that one node selector fits both.
std::string spot_pool_name(std::string_view gpu);

/// The pool whose nodes a pod needs, and the number of GPUs or slices that it asks for.
struct Device {
  std::string pool{};  ///< value of `kPoolLabel`
  GpuCount per_pod = 1;
};
Device device_of(const RoleFleet& role);

/// Returns the resource by which a pod asks for a GPU kind: "nvidia.com/gpu", or "nvidia.com/mig-3g.40gb" for a slice.
/// GKE offers slices as nvidia.com/gpu, on nodes of one slice size.
std::string gpu_resource(Cloud cloud, std::string_view gpu);
/// Returns the node selector of the pods of a role: `pool_selector`, and on GKE also the size of the slices.
Yaml device_selector(Cloud cloud, const RoleFleet& role);

/// Returns the labels of the nodes of a pool: `kPoolLabel`, by which pods select them, and the label of KAI's node pool
/// if the spec names one.
std::vector<std::pair<std::string, std::string>> node_labels(const ClusterSpec& cluster, std::string_view pool);

/// Returns the name of an engine in schema/metrics.csv and in an InferenceScaler: "tensorrt-llm".
std::string_view engine_key(Engine engine);

/// Returns the name of a role's workload: "chat", or "chat-prefill" and "chat-decode" for a disaggregated service.
std::string workload_name(const ServiceSpec& service, model::Role role);
/// Returns a name for pods that belong to a workload and do not serve, such as "chat-balloon". It differs from the
/// names of all services and workloads of the spec. Otherwise a Service would select these pods, because it selects
/// pods by the name in their labels.
/// @param suffix  "balloon"
std::string helper_name(const PlanSpec& spec, std::string_view workload, std::string_view suffix);
/// Returns the labels by which a selector finds the pods of a role.
Yaml pod_labels(const ServiceSpec& service, model::Role role);
/// Returns the same labels as a selector in text: "app.kubernetes.io/name=chat,capstan.dev/role=prefill".
std::string pod_selector(const ServiceSpec& service, model::Role role);

/// Returns true if the engine must quantize the weights to FP8, because the served model is stored in another type.
bool quantizes_weights(const ServiceSpec& service, std::string_view weight_dtype);

/// Returns the kind of the workload: "LeaderWorkerSet" for replicas of several pods, otherwise "Deployment".
std::string_view workload_kind(const ServiceSpec& service);
std::string_view workload_api_version(const ServiceSpec& service);

/// Returns true if the spec leaves the value at a path out: "cluster.capacity".
bool is_default(const PlanSpec& spec, std::string_view path);

/// Returns `{key: nvidia.com/gpu, operator: Exists}` with the effect NoSchedule.
Yaml gpu_toleration();
/// Returns the tolerations of pods on GPU nodes. AKS gives the spot nodes of its node pools a taint of their own.
Yaml gpu_node_tolerations(const ClusterSpec& cluster);
/// Returns `{capstan.dev/pool: h100}`.
Yaml pool_selector(std::string_view pool);

/// Returns an object with its apiVersion, kind and name, and with its namespace if that is not empty.
Yaml kube_object(std::string_view api_version, std::string_view kind, std::string_view name,
                 std::string_view namespace_name = {});

}  // namespace capstan::plan
