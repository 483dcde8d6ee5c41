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

#include "plan/against/existing_scaler.h"
#include "plan/figures.h"
#include "plan/files.h"
#include "plan/make_plan.h"
#include "plan/render/render.h"
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
  std::string page = scenario::read_text(path).value_or("");
  const std::vector<scenario::Block> blocks = scenario::blocks(page, "plan");
  ASSERT_EQ(blocks.size(), 1u) << path;
  const std::string shown = "```\n" + render_text(plan_of(GetParam())) + "```\n";
  if (is_writing_golden()) {
    page.replace(blocks[0].from, blocks[0].to - blocks[0].from, shown);
    ASSERT_TRUE(scenario::write_text(path, page));
  } else {
    EXPECT_EQ(page.substr(blocks[0].from, blocks[0].to - blocks[0].from), shown) << "run scripts/golden";
  }
}

TEST_P(WorkedExample, IsTheSameOnOneCore) {
  const Result<Plan> again = make_plan(spec_of(GetParam()), {.jobs = 1, .progress = {}});
  ASSERT_TRUE(again);
  EXPECT_EQ(render_json(*again), render_json(plan_of(GetParam())));
}

/// Returns the autoscalers that a plan writes for services whose replicas have one role.
std::vector<ExistingObject> scalers_of(const Plan& plan, const Folder& folder, std::string_view alternative) {
  std::vector<ExistingObject> objects;
  for (const Section& section : plan.sections) {
    for (const Manifest& manifest : section.manifests) {
      if (!manifest.file.starts_with("replicas/" + std::string(alternative) + "/")) continue;
      ExistingObject object{.file = "", .body = manifest::parse(manifest.body.document(), manifest.file).value()};
      object.file = folder.write(std::string(alternative) + "/" + object.kind() + "-" + object.name() + ".yaml",
                                 manifest.body.document());
      objects.push_back(std::move(object));
    }
  }
  return objects;
}

TEST_P(WorkedExample, ItsAutoscalersReachTheStatedAttainment) {
  const Plan& plan = plan_of(GetParam());
  const Folder folder;
  for (const std::string_view alternative : {"keda", "hpa", "capstan"}) {
    const auto simulated = simulate_existing(plan, scalers_of(plan, folder, alternative), {});
    ASSERT_TRUE(simulated) << simulated.error().text();
    EXPECT_EQ(simulated->size(), plan.services.size()) << alternative;
    for (const ExistingScaler& scaler : *simulated) {
      const auto service = std::ranges::find(plan.services, scaler.service, &ServicePlan::service);
      EXPECT_EQ(scaler.refused, "") << scaler.object;
      EXPECT_GE(scaler.attainment_ppm, lowest_attainment_ppm(*service) - kHalfAPointPpm) << scaler.object;
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
