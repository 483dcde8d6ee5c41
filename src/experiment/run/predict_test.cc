#include "experiment/run/predict.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

namespace capstan::experiment {
namespace {

constexpr std::string_view kHeader =
    "id,backend,backend_version,model_path,system,precision,mode,isl,osl,batch_size,tp_size,pp_size,"
    "attention_dp_size,moe_tp_size,moe_ep_size,silicon_ttft_ms,silicon_tpot_ms\n";

Result<PredictReport> predict_rows(const std::string& rows) {
  return predict(std::string(kHeader) + rows, "points.csv", "vllm", engine::EngineTable::bundled());
}

TEST(Predict, ComparesPointsThatHaveAnEngineTable) {
  const auto report = predict_rows(
      "a,vllm,0.12.0,Qwen/Qwen3-32B,h100_sxm,,agg,1024,1024,8,2,1,,1,1,154.0,15.9\n"
      "b,trtllm,1,Qwen/Qwen3-32B,h100_sxm,,agg,1024,1024,8,2,1,,1,1,154.0,15.9\n"
      "c,vllm,1,Qwen/Qwen3-32B,h100_sxm,,disagg,1024,1024,8,2,1,,1,1,154.0,15.9\n"
      "d,vllm,1,meta-llama/Llama-3.1-70B,b200_sxm,fp4,agg,1024,1024,8,2,1,1,1,1,154.0,15.9\n"
      "e,vllm,1,meta-llama/Llama-3.1-70B,h100_sxm,fp8,agg,1024,1024,4,4,1,1,4,1,80.5,11.8\n"
      "f,vllm,1,unknown/model,h100_sxm,fp8,agg,1024,1024,4,4,1,1,4,1,80.5,11.8\n");
  ASSERT_TRUE(report.has_value()) << report.error().text();
  ASSERT_EQ(report->rows.size(), 2u);
  EXPECT_EQ(report->rows_skipped, 4);
  EXPECT_EQ(report->rows[0].weight_dtype, "bfloat16");
  EXPECT_EQ(report->rows[1].model, "Llama-3.3-70B");
  ASSERT_EQ(report->groups.size(), 2u);
  EXPECT_EQ(report->groups[0].model, "Llama-3.3-70B");
  EXPECT_LT(report->tpot_error_median, 0.1);
}

/// Returns the report on `count` points whose measured times per token are 10, 20, 30, ... ms.
PredictReport report_of(int count) {
  std::string rows;
  for (int i = 1; i <= count; ++i) {
    rows += "a,vllm,0.12.0,Qwen/Qwen3-32B,h100_sxm,,agg,1024,64,1,2,1,,1,1,154.0," + std::to_string(10 * i) + "\n";
  }
  return predict_rows(rows).value();
}

TEST(Predict, AQuantileIsTheSmallestErrorThatItsShareDoesNotExceed) {
  for (const int count : {1, 2, 3, 9, 10, 11, 20}) {
    const PredictReport report = report_of(count);
    std::vector<double> errors;
    for (const PredictRow& row : report.rows) errors.push_back(std::abs(row.tpot_error));
    const auto share_within = [&](double error) {
      return static_cast<double>(std::ranges::count_if(errors, [&](double one) { return one <= error; })) / count;
    };
    const auto share_below = [&](double error) {
      return static_cast<double>(std::ranges::count_if(errors, [&](double one) { return one < error; })) / count;
    };
    EXPECT_GE(share_within(report.tpot_error_median), 0.5) << count;
    EXPECT_LT(share_below(report.tpot_error_median), 0.5) << count;
    EXPECT_GE(share_within(report.tpot_error_p90), 0.9) << count;
    EXPECT_LT(share_below(report.tpot_error_p90), 0.9) << count;
    EXPECT_EQ(report.tpot_error_min, std::ranges::min(errors)) << count;
    EXPECT_EQ(report.tpot_error_max, std::ranges::max(errors)) << count;
    EXPECT_LE(report.tpot_error_median, report.tpot_error_p90) << count;
  }
}

TEST(Predict, ErrorsNameTheLine) {
  const auto negative = predict_rows("a,vllm,0,Qwen/Qwen3-32B,h100_sxm,,agg,-5,1024,8,2,1,,1,1,154.0,15.9\n");
  ASSERT_FALSE(negative.has_value());
  EXPECT_EQ(negative.error().text(), "points.csv:2:39: isl is '-5', expected a number >= 0");
  const auto zero = predict_rows("a,vllm,0,Qwen/Qwen3-32B,h100_sxm,,agg,5,1024,0,2,1,,1,1,154.0,15.9\n");
  ASSERT_FALSE(zero.has_value());
  EXPECT_EQ(zero.error().text(), "points.csv:2:46: batch_size is 0, expected 1 to 65536");
  const auto short_row = predict_rows("a,vllm\n");
  ASSERT_FALSE(short_row.has_value());
  EXPECT_EQ(short_row.error().text(), "points.csv:2: the row has 2 fields, expected 17 as in the header");
  const auto nothing = predict_rows("");
  ASSERT_FALSE(nothing.has_value());
  EXPECT_EQ(nothing.error().kind, ErrorKind::infeasible);
}

TEST(Predict, MedianErrorOfTheMeasuredSampleIsWithinSixPercent) {
  std::ifstream file(CAPSTAN_SOURCE_DIR "/../shared/data/measured/silicon_sample.csv");
  if (!file) GTEST_SKIP() << "no measured sample next to the source tree";
  std::stringstream text;
  text << file.rdbuf();
  const auto report = predict(text.str(), "silicon_sample.csv", "vllm", engine::EngineTable::bundled());
  ASSERT_TRUE(report.has_value()) << report.error().text();
  EXPECT_GE(report->rows.size(), 140u);
  EXPECT_LE(report->tpot_error_median, 0.06);
}

}  // namespace
}  // namespace capstan::experiment
