#include <fmt/format.h>

#include "lint/facts.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace ami_al2_eol {
namespace {

void check_value(const Subject& s, const Value& value) {
  const std::string_view ended = since_version("eks-amazon-linux-2-ended");
  if (s.settings.kube.minor >= minor_of(ended)) {
    s.report(value, fmt::format("there is no Amazon Linux 2 for EKS from Kubernetes {} on", ended));
  } else {
    s.report(value, fmt::format("EKS mends no Amazon Linux 2 any more, and has none from Kubernetes {} on", ended))
        .as(Severity::warning);
  }
}

void check(const Subject& s) {
  const Value& family = s.object["spec"]["amiFamily"];
  if (family.is("AL2")) check_value(s, family);
  for (const Value& term : s.object["spec"]["amiSelectorTerms"].children()) {
    if (term["alias"].text.starts_with("al2@")) check_value(s, term["alias"]);
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
        "gets no drivers and no security fixes: a warning up to --kube-version 1.32.",
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
