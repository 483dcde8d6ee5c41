#include "lint/input/kustomize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "lint/run.h"

namespace capstan::lint::kustomize_test {
namespace {

namespace fs = std::filesystem;

class Kustomize : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::path(testing::TempDir()) / ("kustomize_" + std::to_string(::getpid()));
    fs::remove_all(root_);
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const std::string& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }

  std::vector<std::string> followed(const std::string& path) {
    FoundFiles files = find_files({(root_ / path).string()}, {});
    follow_kustomizations(files);
    std::vector<std::string> names;
    for (const Candidate& file : files.files) {
      names.push_back(fs::path(file.path).lexically_relative(root_).string());
    }
    return names;
  }

  fs::path root_;
};

using Names = std::vector<std::string>;

TEST_F(Kustomize, FollowsBasesOutsideThePath) {
  write("base/kustomization.yaml", "resources: [deployment.yaml, https://example.com/x.yaml]\n");
  write("base/deployment.yaml", "a: 1\n");
  write("prod/kustomization.yaml", "bases: [../base]\nresources:\n- hpa.yaml\n- not-there.yaml\n");
  write("prod/hpa.yaml", "a: 1\n");
  const Names all = {"prod/hpa.yaml", "prod/kustomization.yaml", "base/kustomization.yaml", "base/deployment.yaml"};
  EXPECT_EQ(followed("prod"), all);
  const Names named = {"prod/kustomization.yaml", "base/kustomization.yaml", "prod/hpa.yaml", "base/deployment.yaml"};
  Names from_file = followed("prod/kustomization.yaml");
  std::ranges::sort(from_file);
  Names sorted = named;
  std::ranges::sort(sorted);
  EXPECT_EQ(from_file, sorted);
}

TEST_F(Kustomize, CyclesEnd) {
  write("a/kustomization.yaml", "resources: [../b, ., ./kustomization.yaml]\n");
  write("b/Kustomization", "components: [../a]\n");
  EXPECT_EQ(followed("a"), (Names{"a/kustomization.yaml", "b/Kustomization"}));
}

TEST_F(Kustomize, APatchIsNotAnObject) {
  // The patch changes only the role of this class. If it were read as an object, amiSelectorTerms would be missing.
  const std::string role =
      "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: gpu}\nspec: {role: a}\n";
  write("a/role.yaml", role);
  write("a/old.yaml", role);
  write("a/own.yaml",
        "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: gpu}\nspec: {role: a, "
        "subnetSelectorTerms: [{id: subnet-1}], securityGroupSelectorTerms: [{id: sg-1}]}\n");
  write("a/kustomization.yaml",
        "resources: [own.yaml]\npatches: [{path: role.yaml}, {patch: 'x: y'}]\npatchesStrategicMerge: [old.yaml, "
        "missing.yaml]\n");
  FoundFiles files = find_files({(root_ / "a").string()}, {});
  follow_kustomizations(files);
  Options options;
  options.advice = true;  // the finding is advice, because a patch may add the terms to own.yaml
  const Report report = lint_files(files.files, options);
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_TRUE(report.findings[0].file->path.ends_with("own.yaml"));
  EXPECT_EQ(report.summary.patches, 2u);
}

TEST_F(Kustomize, TheObjectsOfABaseBelongToTheOverlay) {
  write("base/kustomization.yaml", "resources: [deployment.yaml]\n");
  write("base/deployment.yaml",
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: vllm}\nspec:\n  replicas: 3\n"
        "  selector: {matchLabels: {a: b}}\n  template:\n    metadata: {labels: {a: b}}\n"
        "    spec: {containers: [{name: vllm, image: \"vllm:1\"}]}\n");
  write("prod/kustomization.yaml", "resources: [../base, hpa.yaml]\n");
  write("prod/hpa.yaml",
        "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: vllm}\n"
        "spec: {scaleTargetRef: {kind: Deployment, name: vllm}, maxReplicas: 4}\n");
  FoundFiles files = find_files({(root_ / "prod").string()}, {});
  follow_kustomizations(files);
  const Report report = lint_files(files.files, {});
  const auto is_expected = [](const Finding& found) { return found.rule->id == "deployment-replicas-with-autoscaler"; };
  EXPECT_EQ(std::ranges::count_if(report.findings, is_expected), 1);
}

}  // namespace
}  // namespace capstan::lint::kustomize_test
