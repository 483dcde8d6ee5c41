#include "cli/plan.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/file.h"

namespace capstan::cli {
namespace {

namespace fs = std::filesystem;

/// A folder with a spec. It is removed at the end of the test.
class PlanFolder {
 public:
  PlanFolder() : path_(fs::temp_directory_path() / ("capstan-plan-test-" + std::to_string(::getpid()))) {
    fs::create_directories(path_);
  }
  ~PlanFolder() { fs::remove_all(path_); }
  PlanFolder(const PlanFolder&) = delete;
  PlanFolder& operator=(const PlanFolder&) = delete;

  std::string write(const std::string& name, const std::string& text) const {
    fs::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name) << text;
    return at(name);
  }
  std::string at(const std::string& name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

constexpr const char* kPlannedSpec = R"(cluster: {zones: [a, b], instances: [p5.4xlarge]}
services:
- name: chat
  model: Llama-3.1-8B
  slo: {ttft_p99: 1s}
  load: {requests_per_second: 2, duration: 20m, burst_every: 10m, burst_length: 2m}
)";

struct PlanOutcome {
  ExitCode code;
  std::string out;
  std::string error;
};

PlanOutcome plan_with(const PlanArguments& arguments) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const ExitCode code = make_plan(arguments);
  std::string out = testing::internal::GetCapturedStdout();
  return {code, std::move(out), testing::internal::GetCapturedStderr()};
}

TEST(PlanCommand, WritesThePageAndTheManifests) {
  const PlanFolder folder;
  PlanArguments arguments;
  arguments.spec = folder.write("spec.yaml", kPlannedSpec);
  arguments.out = folder.at("out");
  const PlanOutcome outcome = plan_with(arguments);
  EXPECT_EQ(outcome.code, kOk) << outcome.error;
  EXPECT_TRUE(outcome.out.starts_with("Plan spec\n")) << outcome.out.substr(0, 80);
  for (const char* name : {"out/plan.md", "out/scenario-chat.yaml", "out/nodes/h100.yaml", "out/workload/chat.yaml"}) {
    EXPECT_TRUE(fs::exists(folder.at(name))) << name;
  }
  EXPECT_FALSE(fs::exists(folder.at("out/.unfinished")));

  arguments.out.clear();
  arguments.against = folder.at("out");
  const PlanOutcome same = plan_with(arguments);
  EXPECT_EQ(same.code, kOk) << same.out;
  EXPECT_NE(same.out.find("no change"), same.out.npos) << same.out;
}

TEST(PlanCommand, WritesThePageOfTheProof) {
  const PlanFolder folder;
  PlanArguments arguments;
  arguments.spec = folder.write("spec.yaml", kPlannedSpec);
  arguments.report = folder.at("proof.html");
  const PlanOutcome outcome = plan_with(arguments);
  EXPECT_EQ(outcome.code, kOk) << outcome.error;
  const std::string html = read_file(folder.at("proof.html"), 64 << 20).value();
  EXPECT_NE(html.find(R"("command":"capstan plan )"), html.npos);
  EXPECT_NE(html.find(R"(, the plan")"), html.npos);
  EXPECT_NE(html.find(R"("policy":"HPA")"), html.npos);
  EXPECT_NE(html.find(R"("cold_start_phases":)"), html.npos);
}

TEST(PlanCommand, SaysWhatToChangeInManifestsThatExist) {
  const PlanFolder folder;
  PlanArguments arguments;
  arguments.spec = folder.write("spec.yaml", kPlannedSpec);
  arguments.against = folder.write("deploy/pool.yaml", R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec:
  disruption: {consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 1m}
)");
  const PlanOutcome text = plan_with(arguments);
  EXPECT_EQ(text.code, kFindings);
  EXPECT_NE(text.out.find("pool.yaml:5: "), text.out.npos) << text.out;
  EXPECT_NE(text.out.find("    change   WhenEmptyOrUnderutilized -> WhenEmpty\n"), text.out.npos) << text.out;
  EXPECT_NE(text.out.find("saves "), text.out.npos);
  arguments.output = PlanOutput::markdown;
  EXPECT_TRUE(plan_with(arguments).out.starts_with("# Plan spec against existing manifests\n"));
}

TEST(PlanCommand, WritesNothingIntoAFolderWithFiles) {
  const PlanFolder folder;
  PlanArguments arguments;
  arguments.spec = folder.write("spec.yaml", kPlannedSpec);
  folder.write("out/mine.yaml", "a: 1\n");
  arguments.out = folder.at("out");
  const PlanOutcome outcome = plan_with(arguments);
  EXPECT_EQ(outcome.code, kError);
  EXPECT_NE(outcome.error.find("is not empty, expected a new or an empty folder"), outcome.error.npos);
  EXPECT_EQ(outcome.out, "");
}

TEST(PlanCommand, RefusesWithTheReasonAndTheAlternative) {
  const PlanFolder folder;
  PlanArguments arguments;
  arguments.spec = folder.write("spec.yaml", std::string(kPlannedSpec) + "asked: {scale_on: DCGM_FI_DEV_GPU_UTIL}\n");
  arguments.out = folder.at("out");
  const PlanOutcome outcome = plan_with(arguments);
  EXPECT_EQ(outcome.code, kInfeasible);
  EXPECT_NE(outcome.error.find("refused: "), outcome.error.npos);
  EXPECT_NE(outcome.error.find("instead: "), outcome.error.npos);
  EXPECT_FALSE(fs::exists(folder.at("out")));
}

TEST(PlanCommand, PrintsItsExample) {
  PlanArguments arguments;
  arguments.example = true;
  const PlanOutcome outcome = plan_with(arguments);
  EXPECT_EQ(outcome.code, kOk);
  EXPECT_NE(outcome.out.find("services:"), outcome.out.npos);
}

}  // namespace
}  // namespace capstan::cli
