#include "scenario/missing_trace.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace capstan::scenario {
namespace {

constexpr const char* kTraced = R"(name: traced
load: {trace: nope.csv}
service: {model: Llama-3.1-8B, gpu: H100, slo: {ttft: 1s}, replicas: {min: 1, max: 4}}
cluster: {pools: [{name: h100, offerings: [{instance: p5.4xlarge}]}]}
policies: [{name: a, scale: queue_hpa, place: gang, provision: group}]
)";

TEST(MissingTrace, HasThePlaceThatNamesIt) {
  const std::string folder = ::testing::TempDir() + "missing_trace/";
  std::filesystem::remove_all(folder);  // an earlier run may have left the trace
  std::filesystem::create_directories(folder);
  const std::string file = folder + "s.yaml";
  std::ofstream(file) << kTraced;
  const auto outcome = [&](const ScenarioOverrides& overrides) {
    const ScenarioResult scenario = read_scenario(file, overrides);
    return scenario ? "possible" : scenario.error().text();
  };
  EXPECT_EQ(outcome({}), file + ":2:15: load.trace: " + folder +
                             "nope.csv does not exist, expected a trace; a relative path starts at the scenario's "
                             "folder");
  EXPECT_EQ(outcome({.sets = {"load.trace=other.csv"}, .trace = {}, .seed = {}, .policies = {}}),
            "--set load.trace=other.csv: load.trace: other.csv does not exist, expected a trace; a relative path "
            "starts at the current folder");
  EXPECT_EQ(outcome({.sets = {}, .trace = "other.csv", .seed = {}, .policies = {}}), "possible")
      << "the trace of the file is not used";
  std::ofstream(folder + "nope.csv") << "arrival_s,input_tokens,output_tokens\n";
  EXPECT_EQ(outcome({}), "possible");
}

}  // namespace
}  // namespace capstan::scenario
