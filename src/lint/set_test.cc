#include "lint/set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "lint/input/kustomize.h"
#include "lint/run.h"

// Findings about two objects depend on the evidence that both are deployed together.
namespace capstan::lint::set_test {
namespace {

namespace fs = std::filesystem;

std::string deployment(const std::string& name) {
  return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: " + name +
         "}\nspec:\n  replicas: 2\n  selector: {matchLabels: {a: b}}\n  template: {metadata: {labels: {a: b}}, spec: "
         "{containers: [{name: a, image: 'a:1', resources: {limits: {nvidia.com/gpu: 1}}}]}}\n";
}

std::string hpa(const std::string& target, const std::string& name = "hpa") {
  return "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: " + name +
         "}\nspec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: " + target + "}, maxReplicas: 4}\n";
}

std::string scaled_object(const std::string& target, const std::string& name = "so") {
  return "apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: " + name +
         "}\nspec: {scaleTargetRef: {name: " + target + "}, minReplicaCount: 1, maxReplicaCount: 4}\n";
}

/// Returns the findings of one rule: "error b.yaml: message".
std::vector<std::string> findings_of(const Report& report, std::string_view rule) {
  std::vector<std::string> out;
  for (const Finding& finding : report.findings) {
    if (finding.rule->id != rule) continue;
    out.push_back(std::string(name_of(finding.severity)) + " " + fs::path(finding.file->path).filename().string() +
                  ": " + finding.message);
  }
  return out;
}

std::vector<std::string> findings_of(std::vector<Text> texts, std::string_view rule, bool closed = false) {
  Options options;
  options.advice = true;
  options.settings.is_complete_cluster = closed;
  return findings_of(lint_texts(std::move(texts), options), rule);
}

using Messages = std::vector<std::string>;
const std::string kAdvice = "; this is advice, because nothing shows that both objects are deployed together";

TEST(Set, TwoAutoscalersAreOneFindingThatNamesTheOtherFile) {
  const std::string two = "two-autoscalers-one-target";
  const std::string hpa_first = ": Deployment llm is already scaled by HorizontalPodAutoscaler hpa";
  EXPECT_EQ(findings_of({{"d/a.yaml", hpa("llm") + "---\n" + scaled_object("llm")}}, two),
            Messages{"error a.yaml" + hpa_first});
  EXPECT_EQ(findings_of({{"d/a.yaml", hpa("llm")}, {"d/b.yaml", scaled_object("llm")}}, two),
            Messages{"info b.yaml" + hpa_first + " (d/a.yaml)" + kAdvice});
  EXPECT_EQ(findings_of({{"d/a.yaml", hpa("llm")}, {"d/b.yaml", scaled_object("llm")}}, two, true),
            Messages{"error b.yaml" + hpa_first + " (d/a.yaml)"});
  EXPECT_EQ(findings_of({{"d/a.yaml", hpa("llm")}, {"e/b.yaml", scaled_object("llm")}}, two), Messages{});
  // Three autoscalers give one finding, which names all of them. If two are certainly deployed together, the finding is
  // about these two.
  EXPECT_EQ(
      findings_of(
          {{"d/a.yaml", hpa("llm")}, {"d/b.yaml", scaled_object("llm")}, {"d/c.yaml", scaled_object("llm", "so2")}},
          two),
      Messages{"info b.yaml: Deployment llm is already scaled by ScaledObject so2 (d/c.yaml) and "
               "HorizontalPodAutoscaler hpa (d/a.yaml)" +
               kAdvice});
  EXPECT_EQ(
      findings_of(
          {{"d/a.yaml", hpa("llm")}, {"d/b.yaml", scaled_object("llm") + "---\n" + scaled_object("llm", "so2")}}, two),
      Messages{"error b.yaml: Deployment llm is already scaled by ScaledObject so"});
  // A file whose comments offer options shows alternatives.
  EXPECT_EQ(findings_of({{"d/a.yaml", "# Option A\n" + hpa("llm") + "---\n# Option B\n" + scaled_object("llm")}}, two),
            Messages{"info a.yaml" + hpa_first + kAdvice});
}

TEST(Set, AFolderWithOneWorkloadAndBothAutoscalersOfItIsOneApplication) {
  const auto grade = [](std::vector<Text> texts) {
    const Messages words = findings_of(std::move(texts), "two-autoscalers-one-target");
    return words.empty() ? std::string("none") : words[0].substr(0, words[0].find(' '));
  };
  const std::string service = "---\napiVersion: v1\nkind: Service\nmetadata: {name: llm}\nspec: {selector: {a: b}}\n";
  const Text workload{"d/deployment.yaml", deployment("llm") + service}, first{"d/hpa.yaml", hpa("llm")};
  EXPECT_EQ(grade({workload, first, {"d/so.yaml", scaled_object("llm")}}), "error");
  EXPECT_EQ(grade({workload, first, {"d/so.yaml", "# alternative to hpa.yaml\n" + scaled_object("llm")}}), "info");
  EXPECT_EQ(grade({workload, {"d/b.yaml", deployment("b")}, first, {"d/so.yaml", scaled_object("llm")}}), "info")
      << "two workloads may be samples";
  EXPECT_EQ(grade({{"d/b.yaml", deployment("b")}, first, {"d/so.yaml", scaled_object("llm")}}), "info")
      << "the only workload is not the target";
}

TEST(Set, AnInferenceScalerThatActsIsAnAutoscalerToo) {
  const auto scaler = [](const std::string& mode) {
    return "---\napiVersion: capstan.dev/v1alpha1\nkind: InferenceScaler\nmetadata: {name: a}\nspec: {mode: " + mode +
           ", roles: [{variants: [{targetRef: {kind: Deployment, name: llm}}]}]}\n";
  };
  const std::string two = "two-autoscalers-one-target";
  EXPECT_EQ(findings_of({{"d/a.yaml", hpa("llm") + scaler("Active")}}, two),
            Messages{"error a.yaml: Deployment llm is already scaled by HorizontalPodAutoscaler hpa"});
  EXPECT_EQ(findings_of({{"d/a.yaml", hpa("llm") + scaler("Shadow")}}, two), Messages{})
      << "it only recommends, so the HPA may stay";
}

TEST(Set, ReplicasNextToAnAutoscalerNeedEvidenceOrADistinctName) {
  const std::string rule = "deployment-replicas-with-autoscaler";
  const auto grade = [&](std::vector<Text> texts) {
    const Messages words = findings_of(std::move(texts), rule);
    return words.empty() ? std::string("none") : words[0].substr(0, words[0].find(' '));
  };
  EXPECT_EQ(grade({{"d/a.yaml", deployment("vllm") + "---\n" + hpa("vllm")}}), "warning");
  EXPECT_EQ(grade({{"d/a.yaml", deployment("llama-70b")}, {"d/b.yaml", hpa("llama-70b")}}), "warning");
  EXPECT_EQ(grade({{"d/a.yaml", deployment("vllm")}, {"d/b.yaml", hpa("vllm")}}), "info");
  EXPECT_EQ(grade({{"d/a.yaml", deployment("my-app")}, {"d/b.yaml", hpa("my-app")}}), "info");
  EXPECT_EQ(grade({{"d/a.yaml", deployment("llama-70b")}, {"e/b.yaml", hpa("llama-70b")}}), "none");
  const auto in_space = [](std::string yaml, const std::string& space) {
    return yaml.insert(yaml.find("metadata: {") + 11, "namespace: " + space + ", ");
  };
  const auto both_in = [&](const std::string& space, const std::string& other = "a: b\n") {
    return grade({{"d/a.yaml", in_space(deployment("vllm"), space)},
                  {"d/b.yaml", in_space(hpa("vllm"), space)},
                  {"e/c.yaml", other}});
  };
  EXPECT_EQ(both_in("team-search"), "warning");
  EXPECT_EQ(both_in("team-search", deployment("vllm")), "warning");
  EXPECT_EQ(both_in("default"), "warning") << "the input has no other Deployment of this name";
  EXPECT_EQ(both_in("default", deployment("vllm")), "info");
}

TEST(Set, AnUncertainFindingHasNoEdits) {
  const auto edits = [](const std::string& name) {
    Options options;
    options.advice = true;
    const Report report = lint_texts({{"d/a.yaml", deployment(name)}, {"d/b.yaml", hpa(name)}}, options);
    std::size_t count = 0;
    for (const Finding& finding : report.findings) {
      if (finding.rule->id == "deployment-replicas-with-autoscaler") count += finding.fix.edits.size();
    }
    return count;
  };
  EXPECT_EQ(edits("llama-70b"), 1u);
  EXPECT_EQ(edits("vllm"), 0u);
}

TEST(Set, RecognisesGenericNames) {
  for (const char* generic : {"vllm", "my-app", "llm-inference", "vllm-server-2", "app", "model_server", "nginx"}) {
    EXPECT_TRUE(is_generic_name(generic)) << generic;
  }
  for (const char* distinct : {"llama-70b", "qwen3-32b-decode", "checkout", "mistral"}) {
    EXPECT_FALSE(is_generic_name(distinct)) << distinct;
  }
}

class OnDisk : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::path(testing::TempDir()) / ("set_" + std::to_string(::getpid()));
    fs::remove_all(root_);
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const std::string& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }

  /// Returns the severity of the first finding of a rule; "none" if the rule finds nothing.
  std::string graded(std::string_view rule) {
    FoundFiles files = find_files({root_.string()}, {});
    follow_kustomizations(files);
    Options options;
    options.advice = true;
    const Messages words = findings_of(lint_files(files.files, options), rule);
    return words.empty() ? "none" : words[0].substr(0, words[0].find(' '));
  }
  std::string two_autoscalers() { return graded("two-autoscalers-one-target"); }

  fs::path root_;
};

TEST_F(OnDisk, AKustomizationDeploysItsResourcesTogether) {
  write("hpa.yaml", hpa("llm"));
  write("so.yaml", scaled_object("llm"));
  EXPECT_EQ(two_autoscalers(), "info");
  write("kustomization.yaml", "resources: [hpa.yaml]\n");
  EXPECT_EQ(two_autoscalers(), "info") << "it names only one of the two";
  write("kustomization.yaml", "resources: [hpa.yaml, so.yaml]\n");
  EXPECT_EQ(two_autoscalers(), "error");
}

TEST_F(OnDisk, OverlaysOfOneBaseAreAlternatives) {
  write("base/kustomization.yaml", "resources: [hpa.yaml]\n");
  write("base/hpa.yaml", hpa("llm"));
  write("keda/kustomization.yaml", "resources: [../base]\n");
  write("base/so.yaml", scaled_object("llm"));
  EXPECT_EQ(two_autoscalers(), "info");
  write("keda/kustomization.yaml", "resources: [../base, ../base/so.yaml]\n");
  EXPECT_EQ(two_autoscalers(), "error") << "one overlay deploys both";
}

TEST_F(OnDisk, AChartDeploysItsFilesTogether) {
  write("templates/hpa.yaml", hpa("llm"));
  write("templates/so.yaml", scaled_object("llm"));
  EXPECT_EQ(two_autoscalers(), "info");
  write("Chart.yaml", "name: a\n");
  EXPECT_EQ(two_autoscalers(), "error");
}

TEST_F(OnDisk, APatchMayAddWhatIsMissing) {
  write("base/pool.yaml",
        "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: gpu}\nspec: {role: a}\n");
  write("base/kustomization.yaml", "resources: [pool.yaml]\n");
  const auto grade = [&] { return graded("ec2nodeclass-ami-terms"); };
  EXPECT_EQ(grade(), "error");
  const std::string overlay = "resources: [../base]\n";
  const auto with = [&](const std::string& patches) {
    write("prod/kustomization.yaml", overlay + patches);
    return grade();
  };
  EXPECT_EQ(with(""), "error");
  EXPECT_EQ(with("patches: [{target: {kind: EC2NodeClass}, path: terms.yaml}]\n"), "info");
  EXPECT_EQ(with("patches: [{target: {kind: Deployment}, path: terms.yaml}]\n"), "error");
  EXPECT_EQ(with("patches:\n- patch: |-\n    - {op: add, path: /spec/x, value: 1}\n"), "info") << "it changes any kind";
  EXPECT_EQ(with("patches:\n- patch: |-\n    apiVersion: apps/v1\n    kind: Deployment\n    metadata: {name: a}\n"),
            "error");
  write("prod/terms.yaml", "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: gpu}\nspec: {}\n");
  EXPECT_EQ(with("patchesStrategicMerge: [terms.yaml]\n"), "info");
}

}  // namespace
}  // namespace capstan::lint::set_test
