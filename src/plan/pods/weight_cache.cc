#include "plan/pods/weight_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "plan/objects/names.h"
#include "plan/pods/pause_container.h"

namespace capstan::plan {

namespace {

constexpr std::string_view kScripts = "/scripts";

std::string script_name(const ServiceSpec& service) { return service.name + "-weights"; }

/// The marker is written last, so that an interrupted download counts as none.
constexpr std::string_view kFetchScript = R"(set -eu
mkdir -p "$MODEL_FOLDER"
exec 9>"$MODEL_FOLDER.lock"
flock 9
if [ -f "$MODEL_FOLDER/.complete" ]; then exit 0; fi
python3 -c '
import os
from huggingface_hub import snapshot_download
snapshot_download(os.environ["MODEL"], local_dir=os.environ["MODEL_FOLDER"])
'
touch "$MODEL_FOLDER/.complete"
)";

Yaml mount(std::string_view name, std::string_view path) { return Yaml::map({{"name", name}, {"mountPath", path}}); }

/// Returns the container that runs the script.
Yaml fetch_container(const ServiceSpec& service) {
  Yaml container = Yaml::map({{"name", "weights"}});
  container.set("image", service.image, "the image of the engine, so that there is one image to pull");
  container.set("command", Yaml::list({"sh", fmt::format("{}/fetch.sh", kScripts)}));
  Yaml environment = Yaml::list();
  environment.add(Yaml::map({{"name", "MODEL"}, {"value", service.served_model_name}}));
  environment.add(Yaml::map({{"name", "MODEL_FOLDER"}, {"value", model_folder(service)}}));
  Yaml& token = environment.add(Yaml::map({{"name", "HF_TOKEN"}}));
  token["valueFrom"].set("secretKeyRef", Yaml::map({{"name", service.model_secret}, {"key", "token"}}));
  if (!needs_model_secret(service)) token["valueFrom"]["secretKeyRef"].set("optional", true);
  container.set("env", std::move(environment));
  // Schedulers count the requests of an init container for the whole life of its pod, so they must fit next to a
  // replica.
  container["resources"] = equal_resources({{"cpu", "500m"}, {"memory", "1Gi"}});
  Yaml mounts = Yaml::list();
  mounts.add(mount("models", kModelsMount));
  mounts.add(mount("scripts", kScripts));
  container.set("volumeMounts", std::move(mounts));
  return container;
}

}  // namespace

bool downloads_weights(const ServiceSpec& service) { return service.engine != Engine::triton; }

bool needs_model_secret(const ServiceSpec& service) {
  // Publishers whose models the hub gives only to accounts that accepted a licence.
  constexpr std::array<std::string_view, 3> kGated = {"meta-llama/", "google/gemma", "mistralai/Mistral-Large"};
  const auto is_prefix = [&](std::string_view prefix) { return service.served_model_name.starts_with(prefix); };
  return downloads_weights(service) && (service.has_stated_secret || std::ranges::any_of(kGated, is_prefix));
}

std::string node_cache_path(const PlanSpec& spec) {
  const bool is_launched_on_aws = spec.cluster.cloud == Cloud::aws && spec.cluster.provisioner != Provisioner::none;
  return is_launched_on_aws ? "/mnt/k8s-disks/0/models" : "/var/lib/models";
}

std::string model_folder(const ServiceSpec& service) {
  std::string folder;
  for (const char c : service.served_model_name) folder += c == '/' ? std::string("--") : std::string(1, c);
  return fmt::format("{}/{}", kModelsMount, folder);
}

std::vector<Yaml> weight_volumes(const PlanSpec& spec, const ServiceSpec& service) {
  if (!downloads_weights(service)) {
    Yaml volume = Yaml::map({{"name", "models"}});
    volume["persistentVolumeClaim"].set("claimName", service.name + "-models",
                                        "a model repository with engines that were built for this GPU");
    volume["persistentVolumeClaim"].set("readOnly", true);
    return {volume};
  }
  Yaml models = Yaml::map({{"name", "models"}});
  models["hostPath"].set("path", node_cache_path(spec), "on the node's own disks; it outlives the pod");
  models["hostPath"].set("type", "DirectoryOrCreate");
  Yaml scripts = Yaml::map({{"name", "scripts"}});
  scripts["configMap"].set("name", script_name(service));
  return {models, scripts};
}

Yaml weight_init_container(const ServiceSpec& service) { return fetch_container(service); }

std::vector<Yaml> weight_cache_objects(const PlanSpec& spec, const ServiceSpec& service,
                                       const std::vector<std::string>& pools) {
  std::vector<Yaml> objects;
  if (downloads_weights(service)) {
    Yaml config = kube_object("v1", "ConfigMap", script_name(service), spec.namespace_);
    config["data"].set("fetch.sh", kFetchScript);
    objects.push_back(std::move(config));
  }
  Yaml daemons = kube_object("apps/v1", "DaemonSet", service.name + "-prepull", spec.namespace_);
  const Yaml labels = Yaml::map({{std::string(kServiceLabel), service.name + "-prepull"}});
  daemons["spec"]["selector"].set("matchLabels", labels);
  Yaml& pod = daemons["spec"]["template"];
  pod["metadata"].set("labels", labels);
  Yaml& body = pod["spec"];
  body.set("automountServiceAccountToken", false);
  body.set("terminationGracePeriodSeconds", 0);
  body["affinity"]["nodeAffinity"].set("requiredDuringSchedulingIgnoredDuringExecution", node_affinity(pools));
  body.set("tolerations", gpu_node_tolerations(spec.cluster));
  Yaml first = downloads_weights(service) ? fetch_container(service) : Yaml::map({{"name", "image"}});
  if (!downloads_weights(service)) {
    first.set("image", service.image);
    first.set("command", Yaml::list({Yaml("true")}));
    first["resources"] = equal_resources({{"cpu", "100m"}, {"memory", "128Mi"}});
  }
  body.set("initContainers", Yaml::list({std::move(first)}));
  body.set("containers", Yaml::list({pause_container()}));
  if (downloads_weights(service)) {
    Yaml volumes = Yaml::list();
    for (Yaml& volume : weight_volumes(spec, service)) volumes.add(std::move(volume));
    body.set("volumes", std::move(volumes));
  }
  objects.push_back(std::move(daemons));
  return objects;
}

}  // namespace capstan::plan
