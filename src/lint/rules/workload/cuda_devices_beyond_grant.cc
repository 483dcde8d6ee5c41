#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/split.h"
#include "lint/container_start.h"
#include "lint/pods.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace cuda_devices_beyond_grant {
namespace {

constexpr std::string_view kVariable = "CUDA_VISIBLE_DEVICES";

/// Returns the indices of "0,1"; none if the text has anything else, such as device names.
std::vector<std::int64_t> indices_of(std::string_view text) {
  std::vector<std::int64_t> indices;
  for (std::string_view part : split(text, ',')) {
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    std::int64_t index = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), index);
    if (error != std::errc() || end != part.data() + part.size() || index < 0) return {};
    indices.push_back(index);
  }
  return indices;
}

/// Returns the number of GPUs or slices that the device plugin gives the container; 0 if it asks for none, or if a
/// number is invalid.
std::int64_t granted_to(const Value& container) {
  std::int64_t sum = 0;
  for (const GpuResource& resource : gpu_resources(container)) {
    const auto count = resource.count();
    if (!count || *count < 0 || *count > 1024) return 0;
    sum += *count;
  }
  return sum;
}

/// Reports an index that the container does not have. Runtimes number the GPUs of a container from 0, and CUDA ignores
/// the list from the first invalid number on.
void check_list(const Subject& s, std::string_view list, std::int64_t granted, Span place) {
  const std::vector<std::int64_t> indices = indices_of(list);
  const auto invalid = std::ranges::find_if(indices, [&](std::int64_t index) { return index >= granted; });
  if (invalid == indices.end()) return;
  const auto usable = invalid - indices.begin();
  Finding& finding = s.report_span(
      place, fmt::format("{}={} names GPU {}, but the container has {}, numbered from 0; CUDA uses {}", kVariable, list,
                         *invalid, granted, usable == 0 ? "none" : std::to_string(usable)));
  if (usable == granted) finding.set_severity(Severity::warning);  // CUDA still uses all GPUs of the container
}

/// Returns true if the container may see more GPUs than the device plugin gave it: it is privileged, or it sets
/// NVIDIA_VISIBLE_DEVICES.
bool may_see_other_gpus(const Value& container) {
  if (at(container, "securityContext.privileged").is("true")) return true;
  return std::ranges::any_of(container["env"].children(), [](const Value& variable) {
    return variable["name"].is("NVIDIA_VISIBLE_DEVICES") && !variable["value"].is("void");
  });
}

void check(const Subject& s) {
  for (const Pod& pod : pods_of(s.object)) {
    if ((*pod.spec)["resourceClaims"].count > 0) continue;
    for (const Value* container : all_containers_of(pod)) {
      const std::int64_t granted = granted_to(*container);
      if (granted == 0 || may_see_other_gpus(*container)) continue;
      for (const Value& variable : (*container)["env"].children()) {
        const Value& value = variable["value"];
        if (variable["name"].is(kVariable) && value) check_list(s, value.text, granted, value.span);
      }
      for (const std::vector<CommandWord>& command : commands_of(start_of(*container))) {
        for (const CommandWord& word : command) {
          if (!word.text.starts_with(kVariable) || word.text.size() <= kVariable.size()) continue;
          if (word.text[kVariable.size()] != '=') continue;
          check_list(s, std::string_view(word.text).substr(kVariable.size() + 1), granted,
                     span_of(*s.object.file, *container, word));
        }
      }
    }
  }
}

}  // namespace
}  // namespace cuda_devices_beyond_grant

extern const Rule rule_cuda_devices_beyond_grant;
const Rule rule_cuda_devices_beyond_grant = {
    .id = "cuda-devices-beyond-grant",
    .severity = Severity::error,
    .kinds = "@gpu",
    .title = "CUDA_VISIBLE_DEVICES names GPUs that the container does not have",
    .why =
        "A container sees only the GPUs that it was given, numbered from 0. CUDA ignores the list from the first "
        "number that does not exist. The engine then finds too few GPUs or none and does not start.",
    .fix = "delete the variable, or use the numbers from 0 to the limit minus one",
    .source = "CUDA programming guide, environment variables",
    .bad = R"(apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  containers:
    - name: a
      image: "a:1"
      env: [{name: CUDA_VISIBLE_DEVICES, value: "2,3"}]
      resources: {limits: {nvidia.com/gpu: 2}}
)",
    .good = R"(apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  containers:
    - name: a
      image: "a:1"
      env: [{name: CUDA_VISIBLE_DEVICES, value: "0,1"}]
      resources: {limits: {nvidia.com/gpu: 2}}
)",
    .check = cuda_devices_beyond_grant::check,
};

}  // namespace capstan::lint
