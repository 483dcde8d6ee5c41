#include "lint/serving.h"

#include <algorithm>
#include <string>

#include "base/ascii.h"
#include "lint/container_start.h"

namespace capstan::lint {
namespace {

bool is_pause_image(std::string_view image) {
  const std::string_view name = image.substr(image.rfind('/') + 1);
  return name == "pause" || name.starts_with("pause:") || name.starts_with("pause@") || name.starts_with("pause-");
}

std::string command_of(const Value& container) {
  std::string command;
  for (const Value* list : {&container["command"], &container["args"]}) {
    for (const Value& word : list->children()) command += std::string(word.text) + " ";
  }
  while (command.ends_with(' ') || command.ends_with('\n') || command.ends_with(';')) command.pop_back();
  return command;
}

/// Returns true if a command ends with a sleep of any length: `sleep infinity`, `nvidia-smi; sleep 60`.
bool ends_with_sleep(std::string_view command) {
  const std::size_t at = command.rfind("sleep ");
  return at != command.npos && command.substr(at + 6).find_first_of(" ;&|\n") == command.npos;
}

/// Returns true if the command does nothing or repeats one command forever: `tail -f /dev/null`, `while true; do
/// vectorAdd; done`.
bool is_idle(const Value& container) {
  if (engine_of(start_of(container))) return false;
  const std::string command = command_of(container);
  const auto has = [&](std::string_view part) { return command.find(part) != command.npos; };
  const bool loops = has("while true; do") || has("while :; do") || (has("trap ") && has("sleep"));
  return loops || ends_with_sleep(command) || command.ends_with("tail -f /dev/null") || command.ends_with("/pause") ||
         command == "pause";
}

}  // namespace

bool is_placeholder(const Object& object, const Pod& pod) {
  for (const std::string_view word :
       {"prepull", "pre-pull", "prepuller", "image-pull", "image-cache", "pull-image", "overprovision",
        "over-provision", "balloon", "gpu-burn", "load-generator", "benchmark"}) {
    if (object.name.find(word) != object.name.npos) return true;
  }
  const Containers containers = containers_of(pod);
  return containers.begin() != containers.end() && std::ranges::all_of(containers, [](const Value* container) {
           return is_pause_image((*container)["image"].text) || is_idle(*container);
         });
}

bool has_lasting_volume(const Object& object, const Pod& pod) {
  const auto lasts = [](const Value& volume) {
    return std::ranges::any_of(std::initializer_list<std::string_view>{"persistentVolumeClaim", "hostPath", "csi",
                                                                       "nfs", "image", "ephemeral"},
                               [&](std::string_view kind) { return volume.has(kind); });
  };
  return object["spec"]["volumeClaimTemplates"].count > 0 ||
         std::ranges::any_of((*pod.spec)["volumes"].children(), lasts);
}

bool serves_model(const Object& object) {
  const auto names_model = [](std::string_view text) {
    for (const std::string_view word :
         {"vllm",    "sglang",      "trtllm",    "tensorrt", "triton", "text-generation", "tgi",      "ollama",
          "llm",     "llama",       "mistral",   "qwen",     "gpt",    "deepseek",        "gemma",    "model",
          "whisper", "diffus",      "embed",     "rerank",   "infer",  "predict",         "serving",  "nim",
          "chat",    "transformer", "tokenizer", "bert",     "torch",  "hugging",         "local-ai", "localai"}) {
      if (text.find(word) != text.npos) return true;
    }
    return false;
  };
  if (names_model(object.name)) return true;
  for (const Pod& pod : pods_of(object)) {
    for (const Value* container : containers_of(pod)) {
      const bool has_engine = engine_of(start_of(*container)).has_value();
      if (has_engine || names_model((*container)["image"].text) || names_model(command_of(*container))) return true;
    }
  }
  return false;
}

const Object* service_of(const Object& object, const Pod& pod, const Set& set) {
  for (const Object* service : set.in_folder("Service", object)) {
    if (may_share_namespace(*service, object) && selects(at(*service, "spec.selector"), (*pod.metadata)["labels"]))
      return service;
  }
  return nullptr;
}

namespace {

/// Returns true if the container has ports and all of them serve only metrics, by their names.
bool serves_only_metrics(const Value& container) {
  const auto is_for_metrics = [](const Value& port) {
    return port["name"].text == "metrics" || port["name"].text.ends_with("-metrics");
  };
  const Value& ports = container["ports"];
  return ports.count > 0 && std::ranges::all_of(ports.children(), is_for_metrics);
}

}  // namespace

bool takes_requests(const Object& object, const Pod& pod, const Value& container, const Set& set) {
  if (serves_only_metrics(container)) return false;
  const bool has_probe = container["readinessProbe"] || container["livenessProbe"] || container["startupProbe"];
  if (!container["image"]) return true;  // without an image this is an excerpt, which may leave out the engine
  return container["ports"].count > 0 || has_probe || runs_engine(container) || service_of(object, pod, set) != nullptr;
}

namespace {

/// Returns true if the name of a pool, one of its labels or a label of its nodes contains one of these words.
bool names_any(const Pool& pool, std::initializer_list<std::string_view> words) {
  std::string text(pool.object->name);
  for (const Value* metadata : {&(*pool.object)["metadata"], pool.metadata}) {
    for (const Value& label : (*metadata)["labels"].children()) {
      text += " " + std::string(label.key) + " " + std::string(label.text);
    }
  }
  std::ranges::transform(text, text.begin(), ascii_lower);
  return std::ranges::any_of(words, [&](std::string_view word) { return text.find(word) != text.npos; });
}

}  // namespace

bool is_for_serving(const Pool& pool, const Set& set) {
  if (names_any(pool, {"batch", "train", "test", "dev", "notebook", "jupyter", "sandbox", "research", "build"}))
    return false;
  if (names_any(pool,
                {"inference", "serving", "vllm", "sglang", "llm", "online", "kserve", "llama", "qwen", "mistral"}))
    return true;
  for (const std::string_view kind : {"Deployment", "StatefulSet", "LeaderWorkerSet", "InferenceService"}) {
    const auto workloads = set.in_folder(kind, *pool.object);
    const auto serves_here = [](const Object* workload) { return serves_on_gpu(*workload) && serves_model(*workload); };
    if (std::ranges::any_of(workloads, serves_here)) return true;
  }
  return false;
}

namespace {

bool is_gpu_taint(const Value& taint) { return taint["key"].is("nvidia.com/gpu"); }

/// Returns true if the scheduler may place the pod on the nodes of the pool.
bool may_run_on(const Pod& pod, const Pool& pool) {
  const Value& tolerations = (*pod.spec)["tolerations"];
  for (const Value& taint : (*pool.node)["taints"].children()) {
    if (taint["effect"].is("PreferNoSchedule") || is_gpu_taint(taint)) continue;
    const auto matches = [&](const Value& toleration) { return tolerates(toleration, taint); };
    if (std::ranges::none_of(tolerations.children(), matches)) return false;
  }
  return std::ranges::all_of((*pod.spec)["nodeSelector"].children(), [&](const Value& wanted) {
    if (wanted.key == "karpenter.sh/nodepool") return wanted.is(pool.object->name);
    const Value& label = (*pool.metadata)["labels"][wanted.key];
    return !label || label.is(wanted.text);
  });
}

}  // namespace

bool has_gpu_workload(const Pool& pool, const Set& set) {
  for (const std::string_view kind : {"Deployment", "StatefulSet", "LeaderWorkerSet", "InferenceService"}) {
    for (const Object* workload : set.in_folder(kind, *pool.object)) {
      const auto runs_here = [&](const Pod& pod) { return wants_gpu(pod) && may_run_on(pod, pool); };
      if (std::ranges::any_of(pods_of(*workload), runs_here)) return true;
    }
  }
  return false;
}

bool is_marked_interruptible(const Pool& pool) {
  return allows_spot(pool) || names_any(pool, {"spot", "batch", "preempt", "interruptible"});
}

}  // namespace capstan::lint
