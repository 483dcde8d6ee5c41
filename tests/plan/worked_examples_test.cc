// Plans the specs of docs/guides/plan. The guide must show the page, and the autoscalers that a plan writes must reach
// the attainment that it states. `scripts/golden` updates the guides.

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

#include "plan/figures.h"
#include "plan/files.h"
#include "plan/make_plan.h"
#include "plan/names.h"
#include "plan/render/render.h"
#include "plan/scaler_trial.h"
#include "plan/spec/read_spec.h"
#include "plan/spec/refusal.h"
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
      const auto trial = try_scaler(with_scaler(service, kind), scale, {});
      ASSERT_TRUE(trial) << trial.error().text();
      EXPECT_EQ(trial->refused, "") << service.service << " " << alternative;
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

INSTANTIATE_TEST_SUITE_P(Guides, WorkedExample,
                         testing::Values("llama-70b-h100", "small-models-mig", "disaggregated-70b"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace capstan::plan
