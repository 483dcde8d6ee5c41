#include <fmt/format.h>

#include <algorithm>

#include "lint/facts.h"
#include "lint/pools.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace instance_family_unknown {
namespace {

/// Returns a GPU family whose name continues this one: g4dn for "g4". Returns null if the name is a family itself, or
/// if it may be a family that the table lacks.
const GpuFamily* intended_family(std::string_view name) {
  if (name.size() < 2 || gpu_family(name) != nullptr || name.find('.') != name.npos) return nullptr;
  const auto families = gpu_families();
  const auto found = std::ranges::find_if(families, [&](const GpuFamily& family) {
    if (family.provider != "aws" || !family.family.starts_with(name)) return false;
    const char next = family.family[name.size()];
    return next < '0' || next > '9';
  });
  return found == families.end() ? nullptr : &*found;
}

/// Returns true for the category of a GPU family, such as p or g, which is no family itself.
bool is_category(std::string_view name) {
  return std::ranges::any_of(gpu_families(), [&](const GpuFamily& family) {
    return family.provider == "aws" && family.family.substr(0, family.family.find_first_of("0123456789")) == name;
  });
}

/// Returns true if the list also has a family whose name continues this one, such as p4d for p4.
bool has_continuation(const Value& families, std::string_view name) {
  return std::ranges::any_of(families.children(), [&](const Value& family) {
    return family.text.starts_with(name) && gpu_family(family.text) != nullptr;
  });
}

void check(const Subject& s) {
  const std::optional<Pool> pool = pool_of(s.object);
  if (!pool) return;
  const Value& entry = requirement(*pool, "instance-family");
  if (!entry["operator"].is("In")) return;
  const auto is_unknown = [](const Value& value) {
    return intended_family(value.text) != nullptr || is_category(value.text);
  };
  const bool has_other = !std::ranges::all_of(entry["values"].children(), is_unknown);
  const bool lists_types = requirement(*pool, "instance-type")["operator"].is("In");
  for (const Value& value : entry["values"].children()) {
    const GpuFamily* family = intended_family(value.text);
    if (!is_unknown(value)) continue;
    Finding& finding =
        family == nullptr
            ? s.report(value, fmt::format("{} is an instance category of AWS, not an instance family", value.text))
            : s.report(value,
                       fmt::format("AWS has no instance family {}; did you mean {}?", value.text, family->family));
    if (has_other) finding.set_severity(Severity::warning);
    if (lists_types || has_continuation(entry["values"], value.text)) finding.set_severity(Severity::info);
  }
}

}  // namespace
}  // namespace instance_family_unknown

extern const Rule rule_instance_family_unknown;
const Rule rule_instance_family_unknown = {
    .id = "instance-family-unknown",
    .severity = Severity::error,
    .kinds = "@pool",
    .title = "a pool names an instance family that does not exist",
    .why =
        "No instance type belongs to the family, so the entry allows nothing. If it is the only entry, the pool "
        "launches no node. With other families the finding is a warning: the pool never uses the intended GPUs. It "
        "is advice if the list also has the full name, and if the pool lists its instance types.",
    .fix = "use the full name of the family, such as p4d or g4dn, or the key instance-category for p and g",
    .source = "AWS EC2 instance types",
    .bad = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec: {template: {spec: {requirements: [{key: karpenter.k8s.aws/instance-family, operator: In, values: [p4]}]}}}
)",
    .good = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec: {template: {spec: {requirements: [{key: karpenter.k8s.aws/instance-family, operator: In, values: [p4d]}]}}}
)",
    .check = instance_family_unknown::check,
};

}  // namespace capstan::lint
