#include "plan/measure/measure_loads.h"

#include <gtest/gtest.h>

#include <string>

#include "plan/read/read_spec.h"

namespace capstan::plan {
namespace {

constexpr std::int64_t kNowMs = 1'764'000'000'000;

/// Returns the error of measuring a load on a server that does not exist.
std::string measure_failure(const std::string& more) {
  auto spec = parse_plan_spec(
      "services:\n- {name: chat, model: Llama-3.1-8B, slo: {ttft_p99: 1s}, load: {prometheus: {url: "
      "'http://127.0.0.1:1/prefix/'" +
          more + "}}}\n",
      "s.yaml");
  EXPECT_TRUE(spec) << spec.error().text();
  if (!spec) return "";
  const Result<void> measured = measure_loads(*spec, kNowMs);
  return measured ? "" : measured.error().text();
}

TEST(MeasureLoads, NamesServerAndQueryIfThereIsNoAnswer) {
  const std::string text = measure_failure("");
  EXPECT_TRUE(text.starts_with("http://127.0.0.1:1/prefix/: services.chat.load.prometheus: the query failed (connect"))
      << text;
  EXPECT_NE(text.find("; query: count by (__name__, model_name) (last_over_time("), std::string::npos) << text;
}

TEST(MeasureLoads, NamesAMissingTokenFile) {
  const std::string text = measure_failure(", bearer_token_file: nowhere");
  EXPECT_EQ(text, "nowhere: cannot be read, expected a bearer token");
}

TEST(MeasureLoads, LeavesOtherLoadsAlone) {
  auto spec = parse_plan_spec("services:\n- {name: chat, model: Llama-3.1-8B, slo: {ttft_p99: 1s}}\n", "s.yaml");
  ASSERT_TRUE(spec) << spec.error().text();
  EXPECT_TRUE(measure_loads(*spec, kNowMs));
  EXPECT_EQ(spec->services[0].load.source, LoadSpec::Source::generated);
}

}  // namespace
}  // namespace capstan::plan
