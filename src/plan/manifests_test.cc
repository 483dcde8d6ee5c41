#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "lint/run.h"
#include "plan/render/prerequisites.h"
#include "plan/sections/crd_check.h"
#include "plan/sections/sections.h"
#include "plan/sections/test_services.h"
#include "plan/sections/testing.h"

// All manifests of sample plans are right: they pass `capstan lint` with its advice rules, and have the structure that
// the CustomResourceDefinitions give them.
namespace capstan::plan {
namespace {

std::vector<Section> manifest_sections(const PlanFacts& facts) {
  return {nodes_section(facts), gangs_section(facts), sharing_section(facts)};
}

/// Returns the sections of `manifest_sections` and the other sections with manifests. Some of them have alternative
/// folders: a user applies one of replicas/keda, replicas/hpa and replicas/capstan, and one of warm-pool/balloon and
/// warm-pool/capacity-buffer. Lint reads each folder as one deployment, so it never sees two alternatives together.
std::vector<Section> all_manifest_sections(const PlanFacts& facts) {
  std::vector<Section> sections = manifest_sections(facts);
  for (const auto section : {replicas_section, warm_pool_section, workload_section, monitoring_section})
    sections.push_back(section(facts));
  return sections;
}

std::vector<testing::SamplePlan> manifest_plans() {
  std::vector<testing::SamplePlan> plans = testing::sample_plans();
  const auto add = [&](const char* name, testing::PlanSample sample) {
    plans.push_back({.name = name, .spec = std::move(sample.spec), .services = std::move(sample.services)});
  };
  add("whole chat", testing::chat_sample());
  add("whole split", testing::disaggregated_sample());
  add("whole gang", testing::gang_sample());
  for (testing::PlanSample sample : {testing::chat_sample(), testing::gang_sample()}) {
    sample.services.front().scaler = ScalerKind::constant;
    add(plans.back().name == "whole gang" ? "constant chat" : "constant gang", std::move(sample));
  }
  return plans;
}

std::vector<lint::Text> manifest_texts(const std::vector<Section>& sections) {
  std::map<std::string, std::string> files;
  for (const Section& section : sections) {
    for (const Manifest& manifest : section.manifests) {
      std::string& text = files[manifest.file];
      if (!text.empty()) text += "---\n";
      text += manifest.body.document();
    }
  }
  std::vector<lint::Text> texts;
  for (auto& [path, text] : files) {
    texts.push_back({.path = path, .text = text, .scope = path.substr(0, path.rfind('/'))});
  }
  return texts;
}

std::string lint_findings(const lint::Report& report) {
  std::string text;
  for (const lint::Finding& finding : report.findings)
    text += finding.file->path + ": " + std::string(finding.rule->id) + ": " + finding.message + "\n";
  for (const Error& error : report.unreadable) text += error.message + "\n";
  return text;
}

class PlanManifests : public ::testing::TestWithParam<testing::SamplePlan> {};

TEST_P(PlanManifests, PassLintWithItsAdvice) {
  for (const bool is_closed : {false, true}) {
    lint::Options options;
    options.advice = true;
    options.settings.is_complete_cluster = is_closed;
    const PlanFacts facts = GetParam().facts();
    const std::vector<lint::Text> texts =
        manifest_texts(is_closed ? manifest_sections(facts) : all_manifest_sections(facts));
    const lint::Report report = lint::lint_texts(texts, options);
    EXPECT_EQ(lint_findings(report), "") << "closed world: " << is_closed;
    EXPECT_GE(report.summary.objects, 4U);
  }
}

TEST_P(PlanManifests, PassLintAsOneFolder) {
  lint::Options options;
  options.advice = true;
  std::vector<lint::Text> texts = manifest_texts(manifest_sections(GetParam().facts()));
  for (lint::Text& text : texts) text.scope = "plan";
  EXPECT_EQ(lint_findings(lint::lint_texts(texts, options)), "");
}

TEST_P(PlanManifests, HaveTheStructureOfTheirDefinitions) {
  const std::filesystem::path shared = std::filesystem::path(CAPSTAN_SOURCE_DIR) / "../shared/data/crds";
  if (!std::filesystem::exists(shared)) GTEST_SKIP() << "needs " << shared;
  const testing::CrdSchemas others(shared);
  const testing::CrdSchemas own(std::filesystem::path(CAPSTAN_SOURCE_DIR) / "deploy/crds");
  std::set<std::string> checked;
  for (const Section& section : all_manifest_sections(GetParam().facts())) {
    for (const Manifest& manifest : section.manifests) {
      if (!manifest.is_object) continue;
      const std::string text = manifest.body.document();
      const manifest::Documents documents = manifest::Documents::parse(text);
      const manifest::Value& object = documents.all().front().root;
      for (const testing::CrdSchemas* schemas : {&others, &own}) {
        if (!schemas->knows(object)) continue;
        EXPECT_EQ(schemas->faults_of(object), std::vector<std::string>()) << manifest.file << "\n" << text;
        checked.insert(std::string(object["kind"].text));
      }
    }
  }
  EXPECT_TRUE(checked.contains("Queue"));
  EXPECT_TRUE(checked.contains("ClusterQueue"));
}

TEST_P(PlanManifests, NameNoObjectTwice) {
  std::set<std::string> names;
  for (const Section& section : all_manifest_sections(GetParam().facts())) {
    for (const Manifest& manifest : section.manifests) {
      if (!manifest.is_object) continue;
      const std::string text = manifest.body.document();
      const manifest::Documents documents = manifest::Documents::parse(text);
      const manifest::Value& object = documents.all().front().root;
      const std::string name = std::string(object["apiVersion"].text) + " " + std::string(object["kind"].text) + " " +
                               std::string(object["metadata"]["name"].text);
      EXPECT_TRUE(names.insert(name).second) << name;
    }
  }
}

/// Returns the names of the definitions in a folder that has one file for each: "nodepools.karpenter.sh".
std::set<std::string> definition_names(const std::filesystem::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.insert(entry.path().stem().string());
  return names;
}

TEST_P(PlanManifests, NeedDefinitionsByTheNamesThatTheyHave) {
  const std::filesystem::path shared = std::filesystem::path(CAPSTAN_SOURCE_DIR) / "../shared/data/crds";
  if (!std::filesystem::exists(shared)) GTEST_SKIP() << "needs " << shared;
  const std::set<std::string> names = definition_names(shared);
  const auto is_known_group = [&](const std::string& group) {
    return std::ranges::any_of(names, [&](const std::string& name) { return name.ends_with("." + group); });
  };
  Plan plan;
  plan.spec = GetParam().spec;
  plan.services = GetParam().services;
  plan.sections = all_manifest_sections(GetParam().facts());
  for (const Prerequisite& needed : prerequisites(plan)) {
    const std::size_t dot = needed.part.find('.');
    if (dot == std::string::npos || needed.part.find(' ') != std::string::npos) continue;
    if (!is_known_group(needed.part.substr(dot + 1))) continue;
    EXPECT_TRUE(names.contains(needed.part)) << needed.part;
  }
}

/// Returns true if a command applies a manifest: `kubectl apply -f FILE`, `kubectl apply -f FOLDER`, Helm with
/// `--values FILE` or eksctl with `--config-file FILE`.
bool applies(const std::string& command, const Manifest& manifest) {
  const std::size_t slash = manifest.file.rfind('/');
  for (const std::string& path : {manifest.file, manifest.is_object ? manifest.file.substr(0, slash) : manifest.file}) {
    for (const std::string flag : {" -f ", " --values ", " --config-file "}) {
      const std::size_t at = command.find(flag + path);
      if (at == command.npos) continue;
      const std::size_t end = at + flag.size() + path.size();
      if (end == command.size() || command[end] == ' ') return true;
    }
  }
  return false;
}

TEST_P(PlanManifests, AreAppliedByOneCommandEach) {
  const std::vector<Section> sections = all_manifest_sections(GetParam().facts());
  for (const Section& section : sections) {
    for (const Manifest& manifest : section.manifests) {
      std::vector<std::string> commands;
      for (const Section& other : sections) {
        for (const ApplyCommand& command : other.apply) {
          if (!applies(command.command, manifest)) continue;
          commands.push_back(command.command);
          EXPECT_EQ(command.alternative.option, manifest.alternative.option) << manifest.file;
          EXPECT_EQ(command.alternative.is_chosen, manifest.alternative.is_chosen) << manifest.file;
        }
      }
      EXPECT_EQ(commands.size(), 1U) << manifest.file << ": " << ::testing::PrintToString(commands);
    }
  }
}

TEST_P(PlanManifests, AreInFoldersThatKubectlCanApply) {
  // `kubectl apply -f FOLDER` fails on a file that is no object of the API server.
  std::set<std::string> of_objects, of_values;
  for (const Section& section : all_manifest_sections(GetParam().facts())) {
    for (const Manifest& manifest : section.manifests) {
      (manifest.is_object ? of_objects : of_values).insert(manifest.file.substr(0, manifest.file.rfind('/')));
    }
  }
  for (const std::string& folder : of_values) EXPECT_FALSE(of_objects.contains(folder)) << folder;
}

INSTANTIATE_TEST_SUITE_P(Samples, PlanManifests, ::testing::ValuesIn(manifest_plans()), [](const auto& info) {
  std::string name = info.param.name;
  std::ranges::replace_if(name, [](char c) { return c == ' ' || c == '-'; }, '_');
  return name;
});

}  // namespace
}  // namespace capstan::plan
