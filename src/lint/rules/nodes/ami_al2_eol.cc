#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <string>

#include "lint/facts.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace ami_al2_eol {
namespace {

Finding& check_value(const Subject& s, const Value& value) {
  const std::string_view ended = since_version("eks-amazon-linux-2-ended");
  if (s.settings.kube.minor >= minor_of(ended)) {
    return s.report(value, fmt::format("EKS has no images of Amazon Linux 2 from Kubernetes {} on", ended));
  }
  return s
      .report(value,
              fmt::format("EKS no longer updates Amazon Linux 2 and has no images of it from Kubernetes {} on", ended))
      .set_severity(Severity::warning);
}

/// Returns true if the file names a distribution that the owner installs without EKS.
bool is_self_managed(const File& file) {
  std::string text(file.text);
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::ranges::any_of(std::initializer_list<std::string_view>{"k3s", "kubeadm", "rke2"},
                             [&](std::string_view word) { return text.find(word) != std::string::npos; });
}

void check(const Subject& s) {
  const Value& family = s.object["spec"]["amiFamily"];
  const Value& terms = s.object["spec"]["amiSelectorTerms"];
  if (family.is("AL2")) {
    Finding& finding = check_value(s, family);
    // A selector without an alias chooses custom images, and the family is then only the format of the user data.
    const bool chooses_images = (terms.count > 0 && !terms[0]["alias"]) || s.object["spec"]["amiSelector"].count > 0;
    if (chooses_images || is_self_managed(*s.object.file)) finding.set_severity(Severity::info);
    return;
  }
  for (const Value& term : terms.children()) {
    if (!term["alias"].text.starts_with("al2@")) continue;
    Finding& finding = check_value(s, term["alias"]);
    if (is_self_managed(*s.object.file)) finding.set_severity(Severity::info);
    return;
  }
}

}  // namespace
}  // namespace ami_al2_eol

extern const Rule rule_ami_al2_eol;
const Rule rule_ami_al2_eol = {
    .id = "ami-al2-eol",
    .severity = Severity::error,
    .kinds = "EC2NodeClass AWSNodeTemplate",
    .title = "the nodes use Amazon Linux 2, which has no new images",
    .why =
        "The last images for EKS are those of Kubernetes 1.32, from November 2025. Later clusters have no image, and "
        "running nodes get no drivers and no security fixes. Up to --kube-version 1.32 the finding is a warning. It is "
        "advice if amiSelectorTerms or amiSelector choose other images, and if the file names K3s, kubeadm or RKE2, "
        "because the versions of EKS then do not matter.",
    .fix = "use al2023 or bottlerocket",
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
