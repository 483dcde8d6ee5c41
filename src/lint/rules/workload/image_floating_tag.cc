#include <fmt/format.h>

#include <algorithm>

#include "lint/pods.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace image_floating_tag {
namespace {

/// Repositories have no capitals: IMAGE_NAME is filled in later.
bool is_hole(std::string_view image) {
  const std::string_view repository = image.substr(0, image.find_last_of(":@"));
  return std::ranges::any_of(repository, [](char c) { return c == '$' || c == '<' || (c >= 'A' && c <= 'Z'); });
}

bool floats(std::string_view image) {
  if (image.empty() || image.find('@') != image.npos || is_hole(image)) return false;
  const std::string_view last = image.substr(image.rfind('/') + 1);
  const std::size_t colon = last.find(':');
  if (colon == last.npos) return true;
  const std::string_view tag = last.substr(colon + 1);
  return tag == "latest" || tag == "nightly" || tag == "main" || tag == "master";
}

void check(const Subject& s) {
  for (const Pod& pod : pods_of(s.object)) {
    if (!wants_gpu(pod)) continue;
    for (const Value* container : all_containers_of(pod)) {
      const Value& image = (*container)["image"];
      if (!floats(image.text)) continue;
      Finding& finding = s.report(image, fmt::format("{} may be another image at the next start", image.text));
      if (is_surely_scaled(s.object, s.set)) finding.as(Severity::warning);
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
    .title = "the image's tag may mean another image tomorrow",
    .why =
        "Replicas that start later run another engine than those before, with other flags and metrics; and each start "
        "asks the registry.",
    .fix = "a version, better a digest",
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
