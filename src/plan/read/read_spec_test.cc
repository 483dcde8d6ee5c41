#include "plan/read/read_spec.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/split.h"

namespace capstan::plan {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kSmallest = R"(services:
- name: chat
  model: meta-llama/Llama-3.3-70B-Instruct
  dtype: fp8
  slo: {ttft_p99: 2s}
)";

const DefaultUsed* find_default(const PlanSpec& spec, std::string_view path) {
  const auto found = std::ranges::find(spec.defaults, path, &DefaultUsed::path);
  return found == spec.defaults.end() ? nullptr : &*found;
}

TEST(ReadSpec, NeedsOnlyAModelAndAnSlo) {
  const SpecResult spec = parse_plan_spec(kSmallest, "chat.yaml");
  ASSERT_TRUE(spec) << spec.error().text();
  EXPECT_EQ(spec->name, "chat");
  EXPECT_EQ(spec->services.front().model, "Llama-3.3-70B");
  EXPECT_EQ(spec->services.front().slo.ttft, 2s);
  EXPECT_EQ(spec->services.front().tenant, "production");
  EXPECT_EQ(spec->cluster.zones.size(), 3u);
  EXPECT_GT(spec->cluster.machines.size(), 3u);
}

TEST(ReadSpec, ListsEveryDefaultThatItUses) {
  const SpecResult spec = parse_plan_spec(kSmallest, "chat.yaml");
  ASSERT_TRUE(spec) << spec.error().text();
  for (const std::string_view path :
       {"name", "namespace", "cluster.cloud", "cluster.zones", "cluster.instances", "tenants", "limits", "staff",
        "services.chat.engine", "services.chat.slo.attainment", "services.chat.load.requests_per_second",
        "services.chat.load.prompt_tokens"}) {
    EXPECT_NE(find_default(*spec, path), nullptr) << path;
  }
  EXPECT_EQ(find_default(*spec, "services.chat.dtype"), nullptr);
}

TEST(ReadSpec, TheExampleUsesOnlyTwoDefaults) {
  const SpecResult spec = parse_plan_spec(example_spec(), "plan-example.yaml");
  ASSERT_TRUE(spec) << spec.error().text();
  std::vector<std::string> used;
  for (const DefaultUsed& one : spec->defaults) used.push_back(one.path);
  // Two defaults remain: no key changes how the simulations place pods, and a tenant without a limit omits the key.
  EXPECT_EQ(used, std::vector<std::string>({"simulations", "tenants.production.gpu_limit"}));
}

TEST(ReadSpec, ListsWhatTheSimulationsAssume) {
  const SpecResult spec = parse_plan_spec(kSmallest, "chat.yaml");
  ASSERT_TRUE(spec) << spec.error().text();
  EXPECT_EQ(find_default(*spec, "cluster.zone_outage")->value, "30 min");
  EXPECT_EQ(find_default(*spec, "simulations")->value, "place gang, provision group");
  EXPECT_EQ(find_default(*spec, "cluster.spot_base"), nullptr) << "no spot nodes are bought";
  const std::vector<std::string> sets = {"cluster={capacity: [on_demand, spot], spot_base: true, zone_outage: 1h}"};
  const SpecResult stated = parse_plan_spec(kSmallest, "chat.yaml", sets);
  ASSERT_TRUE(stated) << stated.error().text();
  EXPECT_TRUE(stated->cluster.may_buy_spot_base);
  EXPECT_EQ(stated->cluster.zone_outage, 1h);
}

TEST(ReadSpec, RefusesServicesWhoseObjectsWouldHaveOneName) {
  struct Row {
    std::string first, second, object;
  };
  for (const Row& row : {Row{"chat, disaggregated: true", "chat-prefill", "chat-prefill"},
                         Row{"chat", "chat-balloon", "chat-balloon"}, Row{"chat", "chat-eu", ""}}) {
    std::string text = "services:\n";
    for (const std::string& name : {row.first, row.second})
      text += "- {name: " + name + ", model: Llama-3.1-8B, slo: {ttft_p99: 2s}}\n";
    const SpecResult spec = parse_plan_spec(text, "two.yaml");
    EXPECT_EQ(spec.has_value(), row.object.empty()) << text;
    if (spec) continue;
    const std::string error = spec.error().text();
    EXPECT_NE(error.find("two.yaml:3:3: "), error.npos) << error;
    EXPECT_NE(error.find("would both have an object named \"" + row.object + "\""), error.npos) << error;
  }
}

TEST(ReadSpec, NamesTheNearestModelBySizeIfNoNameIsSimilar) {
  const auto error_of = [](const std::string& model) {
    const SpecResult spec = parse_plan_spec("services: [{name: a, model: " + model + ", slo: {tpot: 1s}}]", "a.yaml");
    return spec ? std::string() : spec.error().text();
  };
  EXPECT_NE(error_of("zzz-9B").find("the nearest by size is "), std::string::npos) << error_of("zzz-9B");
  EXPECT_NE(error_of("zzz").find("the largest in the table is "), std::string::npos) << error_of("zzz");
}

TEST(ReadSpec, TakesChangesFromTheCommandLine) {
  const std::vector<std::string> sets = {"services.0.slo.ttft_p99=3s", "limits.gpus=32"};
  const SpecResult spec = parse_plan_spec(kSmallest, "chat.yaml", sets);
  ASSERT_TRUE(spec) << spec.error().text();
  EXPECT_EQ(spec->services.front().slo.ttft, 3s);
  EXPECT_EQ(spec->limits.gpus, 32);
}

/// Writes a table with one row, for a model and a GPU slice that the bundled table does not have.
class StepTimes : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(::testing::TempDir()) / "plan_step_times";
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ / "own.csv")
        << "model,gpu,tp,weight_dtype,kv_dtype,t_lin_ms_n1,t_lin_ms_n8,t_lin_ms_n16,t_lin_ms_n32,t_lin_ms_n64,"
           "t_lin_ms_n128,t_lin_ms_n256,t_lin_ms_n512,t_lin_ms_n1024,t_lin_ms_n2048,t_lin_ms_n4096,t_lin_ms_n8192,"
           "attn_dec_fixed_ms,attn_dec_per_req_us,attn_dec_per_kv_token_us,attn_prefill_fixed_ms,"
           "attn_prefill_per_qk_pair_ns,kv_bytes_per_token_per_gpu,weight_bytes_per_gpu,kappa_milli,t_req_us,t0_us,"
           "gpu_memory_bytes\n"
           "Tiny-1B,h100-3g.40gb,1,fp8,fp8,1,1,1,1,1,1,2,3,6,12,24,48,0.1,1,0.01,0.1,0.1,16384,1200000000,1250,40,0,"
           "42949672960\n";
  }
  std::string text() const {
    return R"(step_times: own.csv
cluster: {instances: [{instance: p5.4xlarge, gpu: h100-3g.40gb, gpus: 2}]}
services:
- {name: tiny, model: acme/Tiny-1B, slo: {ttft_p99: 1s}}
)";
  }
  std::filesystem::path folder_;
};

TEST_F(StepTimes, GiveAModelOfTheUserOnASliceOfAGpu) {
  const SpecResult spec = parse_plan_spec(text(), folder_ / "spec.yaml");
  ASSERT_TRUE(spec) << spec.error().text();
  EXPECT_EQ(spec->services.front().model, "Tiny-1B");
  EXPECT_EQ(spec->services.front().dtype, "fp8");  // the only type of its rows
  EXPECT_EQ(spec->cluster.machines.front().gpu, "h100-3g.40gb");
  EXPECT_EQ(spec->engines->rows().size(), 157u);
}

TEST_F(StepTimes, AreRefusedWithTheirOwnPlace) {
  const std::vector<std::string> missing = {"step_times=nowhere.csv"};
  const SpecResult absent = parse_plan_spec(text(), folder_ / "spec.yaml", missing);
  ASSERT_FALSE(absent);
  EXPECT_NE(absent.error().text().find("step_times: cannot read"), std::string::npos) << absent.error().text();
  std::ofstream(folder_ / "own.csv") << "model,gpu\nTiny-1B,h100\n";
  const SpecResult wrong = parse_plan_spec(text(), folder_ / "spec.yaml");
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().text().find("own.csv:1"), std::string::npos) << wrong.error().text();
}

TEST(ReadSpec, ReportsMistakesWithPlaceFoundAndExpected) {
  struct Case {
    std::string text;
    std::string message;
    ErrorKind kind = ErrorKind::input;
  };
  const Case cases[] = {
      {"services: []\n", "expected at least one element"},
      {"services:\n- {name: a, slo: {ttft_p99: 1s}}\n", "s.yaml:2:3: services.a"},
      {"services:\n- {name: a, model: Llama-3.1-9B, slo: {ttft_p99: 1s}}\n", "did you mean Llama-3.1-8B?",
       ErrorKind::infeasible},
      {"services:\n- {name: a, model: Llama-3.1-8B, slo: {}}\n", "states no bound"},
      {"services:\n- {name: a, model: Llama-3.1-8B, slo: {ttft_p99: 0s}}\n", "0 ms is 39.3 ms shorter than a prompt",
       ErrorKind::infeasible},
      {"services:\n- {name: a, model: Llama-3.1-8B, slo: {ttft_p99: 1s}, tenant: x}\n", "no tenant is named \"x\""},
      {"tenants: []\nservices:\n- {name: a, model: Llama-3.1-8B, slo: {ttft_p99: 1s}}\n",
       "the nearest that is possible is one", ErrorKind::infeasible},
      {"limits: {gpus: 8}\ntenants: [{name: t, gpu_quota: 16}]\nservices:\n- {name: a, model: Llama-3.1-8B, slo: "
       "{ttft_p99: 1s}}\n",
       "8 more than limits.gpus of 8; the nearest that is possible is limits.gpus: 16, or quotas of 8 GPUs",
       ErrorKind::infeasible},
      {"cluster: {instances: [p5.49xlarge]}\nservices:\n- {name: a, model: Llama-3.1-8B, slo: {ttft_p99: 1s}}\n",
       "did you mean p5.4xlarge or p5.48xlarge?"},
      {"cluster: {cloud: on_premises}\nservices:\n- {name: a, model: Llama-3.1-8B, slo: {ttft_p99: 1s}}\n",
       "has no machine of on_premises", ErrorKind::infeasible},
      {"services:\n- {name: a, model: Llama-3.1-8B, slo: {ttft_p99: 1s}, load: {concurrency: 1, requests_per_second: "
       "1}}\n",
       "expected one of them"},
      {"tenants: [{name: x, kind: shop}]\nlimits: {gpus: 8}\nservices:\n- {name: a, model: Llama-3.1-8B, slo: "
       "{ttft_p99: 1s}, tenant: y}\n",
       "s.yaml:4:63: services.a.tenant: no tenant is named \"y\", expected x"},
      {"services:\n- {name: a, model: Llama-3.1-8B, slo: {ttft_p99: 1s}, load: {trace: nowhere.csv}}\n", "nowhere.csv"},
      {"servces: []\n", "servces"},
      {"asked: {scale_on: cpu}\nservices:\n- {name: a, model: Llama-3.1-8B, slo: {ttft_p99: 1s}}\n",
       "expected queue, kv, latency or goodput"},
      {"asked: {consolidation: Sometimes}\nservices:\n- {name: a, model: Llama-3.1-8B, slo: {ttft_p99: 1s}}\n",
       "expected WhenEmpty or WhenEmptyOrUnderutilized"},
      {"tenants: [{name: t, gpu_quota: 16, gpu_limit: 8}]\nservices:\n- {name: a, model: Llama-3.1-8B, slo: {ttft_p99: "
       "1s}}\n",
       "gpu_quota 16 is 8 above gpu_limit 8", ErrorKind::infeasible},
      {"services:\n- {name: a, model: Llama-3.1-8B, slo: {ttft_p99: 1s, tpot: 1ms}}\n",
       "s.yaml:2:60: services.a.slo.tpot", ErrorKind::infeasible},
  };
  for (const Case& c : cases) {
    const SpecResult spec = parse_plan_spec(c.text, "s.yaml");
    ASSERT_FALSE(spec) << c.text;
    EXPECT_NE(spec.error().text().find(c.message), std::string::npos) << c.text << spec.error().text();
    EXPECT_EQ(spec.error().kind, c.kind) << spec.error().text();
  }
}

/// Returns the example with a few random changes: lines that are left out, given twice or in another place, and bytes
/// that are replaced.
std::string mutated_example() {
  std::vector<std::string> lines;
  for (const std::string_view line : split(example_spec(), '\n')) lines.emplace_back(line);
  const auto any_line = [&] { return *rc::gen::inRange<std::size_t>(0, lines.size()); };
  const int changes = *rc::gen::inRange(1, 6);
  for (int i = 0; i < changes; ++i) {
    const std::size_t at = any_line();
    switch (*rc::gen::inRange(0, 5)) {
      case 0:
        lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(at));
        break;
      case 1:
        lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(any_line()), lines[at]);
        break;
      case 2:
        std::swap(lines[at], lines[any_line()]);
        break;
      case 3:
        if (!lines[at].empty())
          lines[at][*rc::gen::inRange<std::size_t>(0, lines[at].size())] = *rc::gen::arbitrary<char>();
        break;
      default:
        lines[at] = lines[at].substr(0, lines[at].find(':') + 1) +
                    *rc::gen::element<std::string>(" 0", " -1", " 1e300", " 99999999999999999999", " []", " {}", " ~",
                                                   " 0s", " 100%", " [a, b]", " {a: b}", " '§'", " *x", " !!int x");
    }
  }
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

RC_GTEST_PROP(ReadSpec, EveryErrorOfAMutatedExampleHasAPlaceAndAMessage, ()) {
  const std::string text = mutated_example();
  const SpecResult spec = parse_plan_spec(text, "s.yaml");
  if (spec) {
    RC_ASSERT((!spec->services.empty() && !spec->tenants.empty() && !spec->cluster.machines.empty()));
    return;
  }
  for (const Error& error : spec.error().list) {
    RC_ASSERT(!error.message.empty());
    RC_ASSERT(error.file == "s.yaml");
  }
}

TEST(ReadSpec, ReportsAllMistakesAtOnce) {
  const SpecResult spec =
      parse_plan_spec("cluster: {cloud: aws2}\nservices:\n- {name: a, model: X, slo: {}}\nfoo: 1\n", "s.yaml");
  ASSERT_FALSE(spec);
  EXPECT_GE(spec.error().list.size(), 4u) << spec.error().text();
}

}  // namespace
}  // namespace capstan::plan
