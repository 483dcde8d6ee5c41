#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "lint/pods.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace resource_name_invalid {
namespace {

bool is_alphanumeric(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

/// Returns true for letters, digits and some signs, with a letter or a digit at both ends.
bool is_label(std::string_view text, std::string_view signs) {
  const auto fits = [&](char c) { return is_alphanumeric(c) || signs.find(c) != signs.npos; };
  return !text.empty() && is_alphanumeric(text.front()) && is_alphanumeric(text.back()) &&
         std::ranges::all_of(text, fits);
}

/// Returns true for a qualified name: "cpu", "nvidia.com/gpu".
/// https://kubernetes.io/docs/concepts/overview/working-with-objects/names/
bool is_qualified_name(std::string_view name) {
  const std::size_t slash = name.find('/');
  if (slash == name.npos) return is_label(name, "-_.");
  return is_label(name.substr(0, slash), "-.") && is_label(name.substr(slash + 1), "-_.");
}

void check(const Subject& s) {
  for (const Pod& pod : pods_of(s.object)) {
    for (const Value* container : all_containers_of(pod)) {
      for (const Value* amount : resource_amounts(*container)) {
        if (is_qualified_name(amount->key) || is_template_variable(amount->key)) continue;
        s.report_key(*amount, fmt::format("\"{}\" is no name of a resource, expected one like nvidia.com/gpu, so the "
                                          "API server refuses the object",
                                          amount->key));
      }
    }
  }
}

}  // namespace
}  // namespace resource_name_invalid

extern const Rule rule_resource_name_invalid;
const Rule rule_resource_name_invalid = {
    .id = "resource-name-invalid",
    .severity = Severity::error,
    .kinds = "@pods",
    .title = "a container asks for a resource whose name is not valid",
    .why = "The API server refuses the object, or the pods that its controller makes from it.",
    .fix = "write the name of the resource: nvidia.com/gpu, amd.com/gpu, cpu, memory",
    .source = "Kubernetes documentation, object names",
    .bad = R"(apiVersion: v1
kind: Pod
metadata: {name: a}
spec: {containers: [{name: a, image: "a:1", resources: {limits: {"://amd.com": 1}}}]}
)",
    .good = R"(apiVersion: v1
kind: Pod
metadata: {name: a}
spec: {containers: [{name: a, image: "a:1", resources: {limits: {amd.com/gpu: 1}}}]}
)",
    .check = resource_name_invalid::check,
};

}  // namespace capstan::lint
