#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "plan/read/read_spec.h"
#include "plan/spec/candidates.h"

namespace capstan::plan {
namespace {

constexpr std::string_view kServiceSpecText = R"(services:
- name: chat
  model: meta-llama/Llama-3.3-70B-Instruct
  dtype: fp8
  slo: {ttft_p99: 2s, tpot: 40ms}
)";

/// Returns the errors of the spec with these changes; nothing if it is valid.
std::string service_errors(const std::vector<std::string>& sets) {
  const SpecResult spec = parse_plan_spec(kServiceSpecText, "s.yaml", sets);
  return spec ? "" : spec.error().text();
}

TEST(ReadSpecService, TakesTheWeightTypeFromTheNameOfTheModel) {
  const std::vector<std::string> sets = {"services.0.dtype=~", "services.0.model=RedHatAI/Llama-3.3-70B-Instruct-FP8"};
  const SpecResult spec = parse_plan_spec(kServiceSpecText, "s.yaml", sets);
  ASSERT_TRUE(spec) << spec.error().text();
  EXPECT_EQ(spec->services.front().model, "Llama-3.3-70B");
  EXPECT_EQ(spec->services.front().dtype, "fp8");
}

TEST(ReadSpecService, AcceptsTheUsualNamesOfSixteenBits) {
  for (const char* name : {"bf16", "fp16", "float16", "bfloat16"}) {
    const std::vector<std::string> sets = {std::string("services.0.dtype=") + name};
    const SpecResult spec = parse_plan_spec(kServiceSpecText, "s.yaml", sets);
    ASSERT_TRUE(spec) << spec.error().text();
    EXPECT_EQ(spec->services.front().dtype, "bfloat16");
  }
}

TEST(ReadSpecService, APipelineHasTheGpusOfAllStages) {
  const std::vector<std::string> sets = {"services.0.tensor_parallel=4", "services.0.pipeline_parallel=2",
                                         "services.0.pods_per_replica=2"};
  const SpecResult spec = parse_plan_spec(kServiceSpecText, "s.yaml", sets);
  ASSERT_TRUE(spec) << spec.error().text();
  const std::vector<SpecCandidate> candidates = fitting_candidates(spec->services.front(), *spec);
  ASSERT_FALSE(candidates.empty());
  for (const SpecCandidate& candidate : candidates) {
    EXPECT_EQ(candidate.row->tp, 8);
    EXPECT_EQ(candidate.row->stages, 2);
  }
  EXPECT_NE(service_errors(
                {"services.0.tensor_parallel=1", "services.0.pipeline_parallel=2", "services.0.pods_per_replica=3"})
                .find("tensor_parallel x pipeline_parallel 2 cannot be divided over 3 pods"),
            std::string::npos);
  EXPECT_NE(service_errors({"services.0.pipeline_parallel=3", "services.0.tensor_parallel=3"})
                .find("with tensor parallelism 3 in 3 pipeline stages, expected a machine for one of: 6 x L40S"),
            std::string::npos)
      << service_errors({"services.0.pipeline_parallel=3", "services.0.tensor_parallel=3"});
}

TEST(ReadSpecService, ReportsMistakes) {
  const struct {
    const char* set;
    const char* message;
  } cases[] = {
      {"services.0.model=meta-llama/Llama-3.1-9B", "did you mean Llama-3.1-8B?"},
      {"services.0.model=meta-llama/Llama-3.3-72B-Instruct", "did you mean Llama-3.3-70B?"},
      {"services.0.model=unheard-of", "state a table of your own step times with step_times"},
      {"services.0.dtype=int4", "has no row of Llama-3.3-70B in int4"},
      {"services.0.engine=llama.cpp", "expected vllm, sglang, tensorrt-llm or triton"},
      {"services.0.pods_per_replica=3", ""},
      {"services.0.min_replicas=65",
       "min_replicas 65 is 1 above max_replicas 64; the nearest that is possible is min_replicas: 64 or max_replicas: "
       "65"},
      {"services.0.min_replicas=0", "services.chat.min_replicas"},
      {"services.0.min_decode_replicas=2",
       "min_decode_replicas is stated for replicas that both prefill and decode, expected min_replicas, or "
       "disaggregated: true"},
      {"services.0.name=A b",
       "services.A b.name is \"A b\", expected a name that Kubernetes accepts: at most 40 lower-case letters, "
       "digits "
       "and dashes, first a letter, last no dash; the nearest is \"a-b\""},
      {"services.0.name=8b-chat-", "the nearest is \"n8b-chat\""},
      {"services.0.name=_", "services._.name is \"_\", expected a name that Kubernetes accepts"},
      {"services.0.may_share_gpu=true", "may_share_gpu needs memory_gib"},
      {"services.0.slo.attainment=0", "services.chat.slo.attainment"},
      {"services.0.slo=~", "services.chat lacks \"slo\""},
      {"services.0.tenant=producton", "(did you mean production?); add it to `tenants`, or leave `tenant` out"},
  };
  for (const auto& c : cases) {
    const std::string found = service_errors({c.set});
    EXPECT_FALSE(found.empty()) << c.set;
    EXPECT_NE(found.find(c.message), std::string::npos) << c.set << found;
  }
  EXPECT_NE(service_errors({"services.0.disaggregated=true", "services.0.min_prefill_replicas=70"})
                .find("min_prefill_replicas 70 is 6 above max_replicas 64; the nearest that is possible is "
                      "min_prefill_replicas: 64 or max_replicas: 70"),
            std::string::npos);
  EXPECT_NE(service_errors({"services.0.tensor_parallel=2", "services.0.may_share_gpu=true", "services.0.memory_gib=9"})
                .find("a part of one GPU cannot be 2 GPUs, 1 more than it has"),
            std::string::npos);
  EXPECT_NE(service_errors({"services.0.tensor_parallel=4", "services.0.pods_per_replica=3"})
                .find("tensor_parallel 4 cannot be divided over 3 pods, the remainder is 1; the nearest "
                      "that is possible is pods_per_replica: 2"),
            std::string::npos);
}

}  // namespace
}  // namespace capstan::plan
