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
  std::string words;
  for (const Value* list : {&container["command"], &container["args"]}) {
    for (const Value& word : list->children()) words += std::string(word.text) + " ";
  }
  while (words.ends_with(' ') || words.ends_with('\n') || words.ends_with(';')) words.pop_back();
  return words;
}

/// Returns true if it ends with a sleep of whatever length: `sleep infinity`, `nvidia-smi; sleep 60`.
bool ends_with_sleep(std::string_view words) {
  const std::size_t at = words.rfind("sleep ");
  return at != words.npos && words.substr(at + 6).find_first_of(" ;&|\n") == words.npos;
}

/// Its command does nothing, or one thing again and again: `tail -f /dev/null`, `while true; do vectorAdd; done`.
bool idles(const Value& container) {
  if (engine_of(start_of(container))) return false;
  const std::string words = command_of(container);
  const auto says = [&](std::string_view part) { return words.find(part) != words.npos; };
  const bool loops = says("while true; do") || says("while :; do") || (says("trap ") && says("sleep"));
  return loops || ends_with_sleep(words) || words.ends_with("tail -f /dev/null") || words.ends_with("/pause") ||
         words == "pause";
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
           return is_pause_image((*container)["image"].text) || idles(*container);
         });
}

const Object* service_of(const Object& object, const Pod& pod, const Set& set) {
  for (const Object* service : set.beside("Service", object)) {
    if (same_space(*service, object) && selects(at(*service, "spec.selector"), (*pod.metadata)["labels"]))
      return service;
  }
  return nullptr;
}

bool takes_requests(const Object& object, const Pod& pod, const Value& container, const Set& set) {
  const bool has_probe = container["readinessProbe"] || container["livenessProbe"] || container["startupProbe"];
  if (!container["image"]) return true;  // a snippet, which leaves out what shows it
  return container["ports"].count > 0 || has_probe || runs_engine(container) || service_of(object, pod, set) != nullptr;
}

}  // namespace capstan::lint
