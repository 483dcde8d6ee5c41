#include "lint/rule.h"

namespace capstan::lint {
namespace ami_al2_eol {
namespace {

void check(const Subject& s) {
  const Value& family = s.object["spec"]["amiFamily"];
  if (family.is("AL2")) s.report(family, "Amazon Linux 2 has had no images for EKS since November 2025");
  for (const Value& term : s.object["spec"]["amiSelectorTerms"].children()) {
    if (term["alias"].text.starts_with("al2@"))
      s.report(term["alias"], "Amazon Linux 2 has had no images for EKS since November 2025");
  }
}

}  // namespace
}  // namespace ami_al2_eol

extern const Rule rule_ami_al2_eol;
const Rule rule_ami_al2_eol = {
    .id = "ami-al2-eol",
    .severity = Severity::error,
    .kinds = "EC2NodeClass AWSNodeTemplate",
    .title = "nodes with Amazon Linux 2, for which there are no images any more",
    .why =
        "The last images for EKS are of Kubernetes 1.32 and of November 2025; later clusters get none, and what runs "
        "gets no drivers and no security fixes.",
    .fix = "al2023 or bottlerocket",
    .source = "awslabs/amazon-eks-ami #2545",
    .bad = R"(apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: a}
spec: {amiSelectorTerms: [{alias: al2@latest}]}
)",
    .good = R"(apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: a}
spec: {amiSelectorTerms: [{alias: al2023@v20250519}]}
)",
    .check = ami_al2_eol::check,
};

}  // namespace capstan::lint
