#include <fmt/format.h>

#include <algorithm>

#include "lint/container_start.h"
#include "lint/pods.h"
#include "lint/rule.h"
#include "lint/serving.h"

namespace capstan::lint {
namespace image_floating_tag {
namespace {

/// Returns true for a name that is filled in later, such as IMAGE_NAME. Repositories have no capital letters.
bool is_template_variable(std::string_view image) {
  const std::string_view repository = image.substr(0, image.find_last_of(":@"));
  return std::ranges::any_of(repository, [](char c) { return c == '$' || c == '<' || (c >= 'A' && c <= 'Z'); });
}

bool has_floating_tag(std::string_view image) {
  if (image.empty() || image.find('@') != image.npos || is_template_variable(image)) return false;
  const std::string_view name = image.substr(image.rfind('/') + 1);
  const std::size_t colon = name.find(':');
  if (colon == name.npos) return true;
  const std::string_view tag = name.substr(colon + 1);
  return tag == "latest" || tag == "nightly" || tag == "main" || tag == "master";
}

/// Returns true for an image that the project of an engine publishes. For any other image, the user's own organization
/// may decide when the tag moves.
bool is_published_engine(std::string_view image) {
  for (const std::string_view name : {"vllm/vllm-openai", "lmsysorg/sglang", "text-generation-inference",
                                      "nvidia/tritonserver", "nvidia/tensorrt-llm", "ollama/ollama", "nvcr.io/nim/"}) {
    if (image.find(name) != image.npos) return true;
  }
  return false;
}

void check(const Subject& s) {
  for (const Pod& pod : pods_of(s.object)) {
    if (!wants_gpu(pod)) continue;
    for (const Value* container : all_containers_of(pod)) {
      const Value& image = (*container)["image"];
      if (!has_floating_tag(image.text)) continue;
      Finding& finding = s.report(image, fmt::format("{} may be a different image at the next start", image.text));
      const bool is_local = (*container)["imagePullPolicy"].is("Never");
      const bool serves_users = takes_requests(s.object, pod, gpu_container(pod), s.set);
      const bool is_engine = is_published_engine(image.text);
      if (is_surely_scaled(s.object, s.set) && is_engine && !is_local && serves_users)
        finding.set_severity(Severity::warning);
    }
  }
}

}  // namespace
}  // namespace image_floating_tag

extern const Rule rule_image_floating_tag;
const Rule rule_image_floating_tag = {
    .id = "image-floating-tag",
    .severity = Severity::info,
    .kinds = "@gpu",
    .title = "the tag may name a different image at the next start",
    .why =
        "Replicas that start later may run another version of the engine, with other flags and metrics. Each start "
        "also contacts the registry.",
    .fix = "use a version tag or, better, a digest",
    .source = "Kubernetes documentation, images",
    .bad = R"(apiVersion: v1
kind: Pod
metadata: {name: a}
spec: {containers: [{name: a, image: "vllm/vllm-openai:latest", resources: {limits: {nvidia.com/gpu: 1}}}]}
)",
    .good = R"(apiVersion: v1
kind: Pod
metadata: {name: a}
spec: {containers: [{name: a, image: "vllm/vllm-openai:v0.11.0", resources: {limits: {nvidia.com/gpu: 1}}}]}
)",
    .check = image_floating_tag::check,
};

}  // namespace capstan::lint
