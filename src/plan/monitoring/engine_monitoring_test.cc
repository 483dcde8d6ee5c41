#include "plan/monitoring/engine_monitoring.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "plan/objects/names.h"

namespace capstan::plan {
namespace {

std::string committed(Engine engine, const char* end) {
  const std::string path = fmt::format("{}/deploy/monitoring/{}{}", CAPSTAN_SOURCE_DIR, engine_key(engine), end);
  return read_file(path, 1u << 20).value_or(path + ": not read");
}

TEST(EngineMonitoring, TheCommittedFilesAreGenerated) {
  for (const Engine engine : {Engine::vllm, Engine::sglang, Engine::tensorrt_llm, Engine::triton}) {
    EXPECT_EQ(committed(engine, "-dashboard.json"), engine_dashboard(engine)) << "run scripts/generate";
    EXPECT_EQ(committed(engine, "-rules.yaml"), engine_rules(engine)) << "run scripts/generate";
  }
}

TEST(EngineMonitoring, AnEngineIsWatchedByItsOwnMetrics) {
  EXPECT_NE(engine_dashboard(Engine::vllm).find("vllm:num_requests_waiting"), std::string::npos);
  EXPECT_EQ(engine_dashboard(Engine::sglang).find("vllm:"), std::string::npos);
  EXPECT_NE(engine_rules(Engine::sglang).find("sglang[:_]num_queue_reqs"), std::string::npos);
}

}  // namespace
}  // namespace capstan::plan
