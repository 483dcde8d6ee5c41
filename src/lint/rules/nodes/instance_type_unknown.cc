#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/similar_names.h"
#include "engine/instances.h"
#include "lint/facts.h"
#include "lint/pools.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace instance_type_unknown {
namespace {

constexpr std::string_view kAmdFamily = "g4ad";  // its GPUs are no NVIDIA GPUs, so the catalogue leaves it out

/// Returns the letters with which a name begins: "p" for "p5.48xlarge".
std::string_view category_of(std::string_view type) { return type.substr(0, type.find_first_of("0123456789")); }

/// Returns true for a type of a GPU category of AWS, such as p or g, or of the N series of Azure.
bool is_gpu_type(std::string_view type) {
  if (type.starts_with("Standard_N")) return true;
  if (type.find('.') == type.npos) return false;
  return std::ranges::any_of(gpu_families(), [&](const GpuFamily& family) {
    return family.provider == "aws" && category_of(family.family) == category_of(type);
  });
}

/// Returns true if the catalogue has other types of this one's family. It leaves out families that are no longer sold,
/// such as p2.
bool is_family_in_catalogue(std::string_view type) {
  const std::string_view family = type.substr(0, type.find('.') + 1);
  return std::ranges::any_of(engine::instances(),
                             [&](const engine::Instance& row) { return row.name.starts_with(family); });
}

/// Returns true if the type should be in the catalogue and is not.
bool is_unknown(std::string_view type) {
  if (!is_gpu_type(type) || engine::find_instance(type) != nullptr) return false;
  if (type.starts_with(std::string(kAmdFamily) + ".")) return false;
  return gpu_family(type) == nullptr || is_family_in_catalogue(type);
}

/// Returns the names of the catalogue, for a comparison with a misspelt one.
std::vector<std::string_view> catalogue_names() {
  std::vector<std::string_view> names;
  for (const engine::Instance& row : engine::instances()) names.emplace_back(row.name);
  return names;
}

void check(const Subject& s) {
  const std::optional<Pool> pool = pool_of(s.object);
  if (!pool) return;
  const Value& entry = requirement(*pool, "instance-type");
  if (!entry["operator"].is("In")) return;
  for (const Value& value : entry["values"].children()) {
    if (!value.is_scalar() || is_template_variable(value.text) || !is_unknown(value.text)) continue;
    s.report(value, fmt::format("the catalogue has no instance type {}{}; if the cloud does not sell it, pool {} never "
                                "launches it",
                                value.text, did_you_mean_words(value.text, catalogue_names()), s.object.name));
  }
}

}  // namespace
}  // namespace instance_type_unknown

extern const Rule rule_instance_type_unknown;
const Rule rule_instance_type_unknown = {
    .id = "instance-type-unknown",
    .severity = Severity::info,
    .kinds = "@pool",
    .title = "a pool names a GPU instance type that the catalogue does not have",
    .why =
        "Karpenter ignores a value that no instance type has: it launches another one of the list, or no node if the "
        "list has no other. The finding is advice, because the type may be newer than the catalogue. The catalogue has "
        "the GPU types of AWS and of the N series of Azure, so other types are not checked.",
    .fix = "correct the name, or leave it if the cloud sells the type",
    .source = "data/instances.csv: karpenter-provider-aws and the price lists of the clouds",
    .bad = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec:
  template:
    spec:
      requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [p5.84xlarge]}]
)",
    .good = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec:
  template:
    spec:
      requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [p5.48xlarge]}]
)",
    .check = instance_type_unknown::check,
};

}  // namespace capstan::lint
