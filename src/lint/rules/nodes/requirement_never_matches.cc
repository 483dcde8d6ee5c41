#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>

#include "base/ascii.h"
#include "lint/pools.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace requirement_never_matches {
namespace {

constexpr std::string_view kAws = "karpenter.k8s.aws/";
constexpr std::string_view kDigits = "0123456789";

bool is_number(std::string_view text) { return !text.empty() && text.find_first_not_of(kDigits) == text.npos; }

/// Returns true for a label of AWS instances whose values are numbers.
bool is_numeric(std::string_view key) {
  constexpr std::string_view kNumeric[] = {
      "instance-generation",        "instance-cpu",        "instance-memory",
      "instance-gpu-count",         "instance-gpu-memory", "instance-ebs-bandwidth",
      "instance-network-bandwidth", "instance-local-nvme", "instance-accelerator-count"};
  return key.starts_with(kAws) && std::ranges::find(kNumeric, key.substr(kAws.size())) != std::end(kNumeric);
}

/// Returns true if the nodes of the pool are instances of AWS.
bool is_on_aws(const Pool& pool) {
  const auto names_aws = [](const Value& entry) { return entry["key"].text.starts_with(kAws); };
  return (*pool.node)["nodeClassRef"]["kind"].is("EC2NodeClass") ||
         std::ranges::any_of((*pool.node)["requirements"].children(), names_aws);
}

std::string capacity_type_for(std::string_view value) {
  std::string letters;
  for (const char c : value) {
    if (c != '-' && c != '_') letters += ascii_lower(c);
  }
  return letters == "ondemand" ? "on-demand" : letters == "spot" || letters == "reserved" ? letters : "";
}

std::string_view architecture_for(std::string_view value) {
  if (value == "x86_64" || value == "x86-64" || value == "x86") return "amd64";
  return value == "aarch64" || value == "arm64v8" ? "arm64" : std::string_view();
}

/// Returns the reason why no node has this value of a label; empty if a node may have it.
std::string fault_of(std::string_view key, std::string_view value, bool is_on_aws) {
  if (is_numeric(key)) return is_number(value) ? "" : "its values are numbers";
  const bool has_dot = value.find('.') != value.npos;
  if (key == "karpenter.k8s.aws/instance-category" && value.find_first_of(kDigits) != value.npos) {
    const std::string_view category = value.substr(0, value.find_first_of(kDigits));
    return fmt::format("a category has no digits; name category {}, or families with instance-family",
                       category.empty() ? value : category);
  }
  if (key == "karpenter.k8s.aws/instance-family" && has_dot) return "this is an instance type, not a family";
  if (key == "karpenter.k8s.aws/instance-size" && has_dot) return "this is an instance type, not a size";
  if (key == "node.kubernetes.io/instance-type" && is_on_aws && !has_dot)
    return "an instance type of AWS has a family and a size, such as g6e.xlarge";
  if (key == "karpenter.sh/capacity-type") {
    const std::string type = capacity_type_for(value);
    return type.empty() || type == value ? "" : fmt::format("the capacity type is called {}", type);
  }
  if (key == "kubernetes.io/arch") {
    const std::string_view name = architecture_for(value);
    return name.empty() ? "" : fmt::format("the architecture is called {}", name);
  }
  return "";
}

/// Checks an entry with the operator In. Reports each of its values that no node has.
void check_values(const Subject& s, const Value& entry, bool is_on_aws) {
  const Value& values = entry["values"];
  if (values.is_sequence() && values.count == 0) {
    s.report_key(values, fmt::format("the requirement of {} allows no value, so the API server refuses pool {}",
                                     entry["key"].text, s.object.name));
  }
  const auto fault = [&](const Value& value) {
    const bool is_known = value.is_scalar() && !is_template_variable(value.text);
    return is_known ? fault_of(entry["key"].text, value.text, is_on_aws) : std::string();
  };
  const bool has_other =
      std::ranges::any_of(values.children(), [&](const Value& value) { return fault(value).empty(); });
  for (const Value& value : values.children()) {
    const std::string text = fault(value);
    if (text.empty()) continue;
    Finding& finding = s.report(value, fmt::format("no node has {} {}: {}", entry["key"].text, value.text, text));
    if (has_other) finding.set_severity(Severity::warning);
  }
}

/// Checks an entry with an operator such as Gt. Reports its value if that is not a whole number.
void check_bound(const Subject& s, const Value& entry) {
  const Value& value = entry["values"][0];
  if (!value.is_scalar() || is_number(value.text) || is_template_variable(value.text)) return;
  s.report(value, fmt::format("operator {} needs a whole number, so the API server refuses pool {} with the value {}",
                              entry["operator"].text, s.object.name, value.text));
}

void check(const Subject& s) {
  const std::optional<Pool> pool = pool_of(s.object);
  if (!pool || s.object.name.empty()) return;
  for (const Value& entry : (*pool->node)["requirements"].children()) {
    const std::string_view op = entry["operator"].text;
    if (op == "In") check_values(s, entry, is_on_aws(*pool));
    if (op == "Gt" || op == "Lt" || op == "Gte" || op == "Lte") check_bound(s, entry);
  }
}

}  // namespace
}  // namespace requirement_never_matches

extern const Rule rule_requirement_never_matches;
const Rule rule_requirement_never_matches = {
    .id = "requirement-never-matches",
    .severity = Severity::error,
    .kinds = "@pool",
    .title = "a pool requires a value that no node has",
    .why =
        "Karpenter finds no instance type for the pool and launches no node. It takes the category of an instance "
        "type from its first letters (c of c7i.large), the generation from the number after them, and the family from "
        "all before the dot. If the list has other values, the finding is a warning. A bound that is no whole number "
        "is refused.",
    .fix = "use a value of the label: karpenter.k8s.aws/instance-category c with instance-generation 7, for example",
    .source =
        "Karpenter documentation, well-known labels; karpenter-provider-aws, pkg/providers/instancetype/types.go; "
        "Karpenter's CustomResourceDefinition of NodePool",
    .bad = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec: {template: {spec: {requirements: [{key: karpenter.k8s.aws/instance-category, operator: In, values: [c7, m7]}]}}}
)",
    .good = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec: {template: {spec: {requirements: [{key: karpenter.k8s.aws/instance-category, operator: In, values: [c, m]}]}}}
)",
    .check = requirement_never_matches::check,
};

}  // namespace capstan::lint
