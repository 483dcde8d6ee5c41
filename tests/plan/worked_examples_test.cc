// Plans the specs of docs/guides/plan. The guide must show the page, and the autoscalers that a plan writes must reach
// the attainment that it states. `scripts/golden` updates the guides.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "experiment/run/batch.h"
#include "plan/feasibility/refusal.h"
#include "plan/make_plan.h"
#include "plan/objects/names.h"
#include "plan/read/read_spec.h"
#include "plan/render/files.h"
#include "plan/render/render.h"
#include "plan/result/figures.h"
#include "plan/search/scaler_trial.h"
#include "scenario/blocks.h"

namespace capstan::plan {
namespace {

namespace fs = std::filesystem;

const std::string kGuides = CAPSTAN_SOURCE_DIR "/docs/guides";
constexpr std::int64_t kHalfAPointPpm = 5'000;

bool is_writing_golden() { return std::getenv("CAPSTAN_WRITE_GOLDEN") != nullptr; }

PlanSpec spec_of(const std::string& name) {
  SpecResult spec = read_plan_spec(kGuides + "/plan/" + name + ".yaml");
  EXPECT_TRUE(spec) << spec.error().text();
  EXPECT_TRUE(refusals(*spec).empty());
  return std::move(*spec);
}

const Plan& plan_of(const std::string& name) {
  static std::map<std::string, Plan> cache;
  const auto found = cache.find(name);
  if (found != cache.end()) return found->second;
  Result<Plan> made = make_plan(spec_of(name), {});
  EXPECT_TRUE(made) << made.error().text();
  return cache.emplace(name, std::move(*made)).first->second;
}

/// A folder that is removed with its files at the end of the test.
class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("capstan-plan-" + std::to_string(::getpid()))) {
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  std::string write(const std::string& name, const std::string& text) const {
    const fs::path path = path_ / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return path.string();
  }

 private:
  fs::path path_;
};

class WorkedExample : public testing::TestWithParam<std::string> {};

TEST_P(WorkedExample, IsShownByTheGuide) {
  const std::string path = kGuides + "/plan-" + GetParam() + ".md";
  std::string page = golden::read_text(path).value_or("");
  const std::vector<golden::Block> blocks = golden::blocks(page, "plan");
  ASSERT_EQ(blocks.size(), 1u) << path;
  const std::string shown = "```\n" + render_text(plan_of(GetParam())) + "```\n";
  if (is_writing_golden()) {
    page.replace(blocks[0].from, blocks[0].to - blocks[0].from, shown);
    ASSERT_TRUE(golden::write_text(path, page));
  } else {
    EXPECT_EQ(page.substr(blocks[0].from, blocks[0].to - blocks[0].from), shown) << "run scripts/golden";
  }
}

TEST_P(WorkedExample, IsTheSameOnOneCore) {
  const Result<Plan> again = make_plan(spec_of(GetParam()), {.jobs = 1, .progress = {}});
  ASSERT_TRUE(again);
  EXPECT_EQ(render_json(*again), render_json(plan_of(GetParam())));
}

/// Returns the text of an object that the plan writes.
std::string object_text(const Plan& plan, const std::string& file) {
  for (const Section& section : plan.sections) {
    const auto manifest = std::ranges::find(section.manifests, file, &Manifest::file);
    if (manifest != section.manifests.end()) return manifest->body.document();
  }
  ADD_FAILURE() << "no " << file;
  return "";
}

/// Writes the autoscalers of a service to `folder`. Returns the value of a policy's key `scale` that runs them.
std::string written_scale(const Plan& plan, std::size_t index, const Folder& folder, std::string_view alternative) {
  const ServiceSpec& service = plan.spec.services[index];
  const auto scale = [&](model::Role role) {
    const std::string name = alternative == "capstan" ? service.name : workload_name(service, role);
    const std::string file = "replicas/" + std::string(alternative) + "/" + name + ".yaml";
    return "{manifest: '" + folder.write(file, object_text(plan, file)) +
           "', labels: " + scale_labels(plan.spec, service, role) + "}";
  };
  const std::vector<RoleFleet>& roles = plan.services[index].roles;
  if (roles.size() == 1 || alternative == "capstan") return scale(model::Role::both);
  return "{prefill: " + scale(model::Role::prefill) + ", decode: " + scale(model::Role::decode) + "}";
}

TEST_P(WorkedExample, ItsAutoscalersReachTheStatedAttainment) {
  const Plan& plan = plan_of(GetParam());
  const Folder folder;
  for (std::size_t i = 0; i < plan.services.size(); ++i) {
    const ServicePlan& service = plan.services[i];
    for (const auto& [kind, alternative] :
         {std::pair(ScalerKind::capstan, "capstan"), std::pair(ScalerKind::scaled_object, "keda"),
          std::pair(ScalerKind::hpa, "hpa")}) {
      const std::string scale = written_scale(plan, i, folder, alternative);
      const auto trial = try_scaler(with_scaler(service, kind), {.scale = scale}, {});
      ASSERT_TRUE(trial) << trial.error().text();
      EXPECT_EQ(trial->refusal_reason, "") << service.service << " " << alternative;
      EXPECT_GE(trial->attainment_ppm, lowest_attainment_ppm(service) - kHalfAPointPpm)
          << service.service << " " << alternative;
    }
  }
}

TEST_P(WorkedExample, IsTheCheapestScalerThatHoldsTheSlo) {
  for (const ServicePlan& service : plan_of(GetParam()).services) {
    ASSERT_EQ(service.variants.size(), 4u);
    EXPECT_TRUE(service.holds_slo) << service.service;
    for (const ScalerVariant& variant : service.variants) {
      if (!variant.holds_slo) continue;
      EXPECT_LE(micro_usd_per_hour(service), micro_usd_per_hour(variant.seeds)) << scaler_word(variant.kind);
    }
  }
}

/// Writes all files of a plan to a folder below `folder`. Returns the path of the scenario of its autoscaler files.
std::string write_plan(const Plan& plan, const Folder& folder) {
  for (const auto& [file, text] : plan_files(plan)) folder.write("out/" + file, text);
  return folder.write("out/" + comparison_file(plan.services.at(0)), plan.services[0].comparison);
}

/// Runs the scenario that the plan writes for its first service, under each seed of the plan. The policies of the
/// scenario are the autoscaler files. Expects that every run reaches the attainment that the plan states, with a
/// tolerance of half a percentage point.
void expect_stated_attainment(const Plan& plan, std::size_t files) {
  const Folder folder;
  const std::string path = write_plan(plan, folder);
  const ServicePlan& service = plan.services[0];
  std::vector<scenario::Scenario> scenarios;
  for (const Trial& trial : service.seeds) {
    auto read = scenario::read_scenario(path, {.sets = {}, .trace = {}, .seed = trial.seed, .policies = {}});
    ASSERT_TRUE(read) << read.error().text();
    scenarios.push_back(std::move(*read));
  }
  std::vector<experiment::PlannedRun> runs;
  for (const scenario::Scenario& scenario : scenarios) {
    ASSERT_EQ(scenario.policies.size(), files);
    for (const scenario::PolicySpec& policy : scenario.policies) runs.push_back({&scenario, &policy});
  }
  const auto results = experiment::run_batch(runs, 0, "autoscaler files", {});
  ASSERT_TRUE(results) << results.error().text();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    EXPECT_GE((*results)[i].attainment_ppm(), lowest_attainment_ppm(service) - kHalfAPointPpm)
        << runs[i].policy->policies.name << " seed " << (*results)[i].seed;
    EXPECT_TRUE((*results)[i].warnings.empty()) << (*results)[i].warnings.front();
  }
}

TEST_P(WorkedExample, ItsScenarioOfTheScalersReachesTheStatedAttainment) {
  expect_stated_attainment(plan_of(GetParam()), 3);
}

Plan plan_of_text(const std::string& text, const std::string& path) {
  SpecResult spec = parse_plan_spec(text, path);
  EXPECT_TRUE(spec) << spec.error().text();
  Result<Plan> made = make_plan(std::move(*spec), {});
  EXPECT_TRUE(made) << made.error().text();
  return std::move(*made);
}

TEST(OwnSpec, TheScalersOfATraceReachTheStatedAttainment) {
  const Folder folder;
  std::string trace = "arrival_s,client_id,input_tokens,output_tokens\n";
  for (int second = 0; second < 1200; ++second) {
    const int requests = second / 300 % 2 == 0 ? 4 : 12;
    for (int i = 0; i < requests; ++i) {
      trace += fmt::format("{}.{:02},1,{},{}\n", second, i * 5, 300 + second * 7 % 900, 80 + (second + i * 31) % 240);
    }
  }
  const Plan plan = plan_of_text(
      "cluster: {instances: [{instance: p5.4xlarge, usd_per_hour: 6.88}]}\n"
      "services:\n- {name: chat, model: Llama-3.1-8B, slo: {ttft_p99: 1s, tpot: 50ms}, load: {trace: '" +
          folder.write("trace.csv", trace) + "'}}\n",
      "trace.yaml");
  ASSERT_TRUE(plan.services.at(0).holds_slo);
  expect_stated_attainment(plan, 3);
}

TEST(OwnSpec, TheScalersOfAPipelineReachTheStatedAttainment) {
  const SpecResult spec = read_plan_spec(CAPSTAN_SOURCE_DIR "/tests/plan/specs/gangs-pipeline.yaml");
  ASSERT_TRUE(spec) << spec.error().text();
  const Result<Plan> plan = make_plan(*spec, {});
  ASSERT_TRUE(plan) << plan.error().text();
  ASSERT_TRUE(plan->services.at(0).holds_slo);
  EXPECT_EQ(plan->services[0].roles[0].engine.stages, 2);
  expect_stated_attainment(*plan, 3);
}

INSTANTIATE_TEST_SUITE_P(Guides, WorkedExample,
                         testing::Values("llama-70b-h100", "small-models-mig", "disaggregated-70b"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace capstan::plan
