#include <fmt/format.h>

#include "lint/rule.h"

namespace capstan::lint {
namespace ec2nodeclass_ami_terms {
namespace {

void check(const Subject& s) {
  const Value& spec = s.object["spec"];
  if (s.object.version != "v1" || !spec.is_mapping() || spec["amiSelectorTerms"].count > 0 || s.object.name.empty())
    return;
  s.report_object(fmt::format("EC2NodeClass {} has no amiSelectorTerms, so the API server refuses it", s.object.name))
      .mark_absence();
}

}  // namespace
}  // namespace ec2nodeclass_ami_terms

extern const Rule rule_ec2nodeclass_ami_terms;
const Rule rule_ec2nodeclass_ami_terms = {
    .id = "ec2nodeclass-ami-terms",
    .severity = Severity::error,
    .kinds = "EC2NodeClass",
    .title = "an EC2NodeClass does not select an image",
    .why = "Version v1 requires amiSelectorTerms, and the API server refuses the object without them.",
    .fix = "add amiSelectorTerms: [{alias: al2023@v20250519}], or bottlerocket@...",
    .source = "Karpenter documentation, EC2NodeClass",
    .bad = R"(apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: a}
spec: {amiFamily: AL2023, role: r}
)",
    .good = R"(apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: a}
spec: {amiSelectorTerms: [{alias: al2023@v20250519}], role: r}
)",
    .check = ec2nodeclass_ami_terms::check,
};

}  // namespace capstan::lint
