#include "lint/serving.h"

#include <algorithm>
#include <string>

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
bool serves_metrics_alone(const Value& container) {
  const auto is_for_metrics = [](const Value& port) {
    return port["name"].text == "metrics" || port["name"].text.ends_with("-metrics");
  };
  const Value& ports = container["ports"];
  return ports.count > 0 && std::ranges::all_of(ports.children(), is_for_metrics);
}

}  // namespace

bool takes_requests(const Object& object, const Pod& pod, const Value& container, const Set& set) {
  if (serves_metrics_alone(container)) return false;
  const bool has_probe = container["readinessProbe"] || container["livenessProbe"] || container["startupProbe"];
  if (!container["image"]) return true;  // an excerpt may leave out the engine
  return container["ports"].count > 0 || has_probe || runs_engine(container) || service_of(object, pod, set) != nullptr;
}

}  // namespace capstan::lint
