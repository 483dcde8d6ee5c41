#include <fmt/format.h>

#include "lint/rule.h"

namespace capstan::lint {
namespace ec2nodeclass_incomplete {
namespace {

/// A list of selectors that the API requires, and the field of AWSNodeTemplate that it replaced.
struct Terms {
  std::string_view name, old_name;
};
constexpr Terms kTerms[] = {{"subnetSelectorTerms", "subnetSelector"},
                            {"securityGroupSelectorTerms", "securityGroupSelector"}};

void check_terms(const Subject& s, const Value& spec, const Terms& terms) {
  if (spec[terms.name].count > 0 || spec[terms.name].is_scalar()) return;  // a scalar is a template variable
  const Value& old = spec[terms.old_name];
  if (!old) {
    s.report_object(fmt::format("EC2NodeClass {} has no {}, so the API server refuses it", s.object.name, terms.name))
        .mark_absence();
  } else if (s.object.version != "v1") {  // pool-field-unknown reports the field of a v1 object
    s.report_key(old, fmt::format("{} is a field of AWSNodeTemplate; the API server refuses EC2NodeClass {} without {}",
                                  terms.old_name, s.object.name, terms.name))
        .mark_absence();
  }
}

void check(const Subject& s) {
  const Value& spec = s.object["spec"];
  if (s.object.version != "v1" && s.object.version != "v1beta1") return;
  if (!spec.is_mapping() || s.object.name.empty()) return;
  const bool has_role = spec["role"] || spec["instanceProfile"];
  const bool has_terms = spec["subnetSelectorTerms"] || spec["securityGroupSelectorTerms"] || spec["subnetSelector"];
  if (!has_role && !has_terms) return;  // a patch of another file's object
  if (!has_role) {
    s.report_object(fmt::format("EC2NodeClass {} has neither role nor instanceProfile, so the API server refuses it",
                                s.object.name))
        .mark_absence();
  }
  for (const Terms& terms : kTerms) check_terms(s, spec, terms);
}

}  // namespace
}  // namespace ec2nodeclass_incomplete

extern const Rule rule_ec2nodeclass_incomplete;
const Rule rule_ec2nodeclass_incomplete = {
    .id = "ec2nodeclass-incomplete",
    .severity = Severity::error,
    .kinds = "EC2NodeClass",
    .title = "an EC2NodeClass lacks a required field",
    .why =
        "The API server refuses the object without subnetSelectorTerms, without securityGroupSelectorTerms, and with "
        "neither role nor instanceProfile. Karpenter then launches no node for the pools that name it. "
        "ec2nodeclass-ami-terms reports a missing amiSelectorTerms.",
    .fix = "add the field that the message names",
    .source = "Karpenter's CustomResourceDefinition of EC2NodeClass, v1beta1 and v1",
    .bad = R"(apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: gpu}
spec:
  amiSelectorTerms: [{alias: al2023@v20250519}]
  subnetSelectorTerms: [{tags: {karpenter.sh/discovery: a}}]
  securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: a}}]
)",
    .good = R"(apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: gpu}
spec:
  role: KarpenterNodeRole-a
  amiSelectorTerms: [{alias: al2023@v20250519}]
  subnetSelectorTerms: [{tags: {karpenter.sh/discovery: a}}]
  securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: a}}]
)",
    .check = ec2nodeclass_incomplete::check,
};

}  // namespace capstan::lint
