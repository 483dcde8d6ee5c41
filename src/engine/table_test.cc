#include "engine/table.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/csv.h"

namespace capstan::engine {
namespace {

constexpr std::string_view kGpus = "gpu,name,memory_bytes\nh100_sxm,H100,85899345920\n";

std::string engines(std::string_view first_f, std::string_view gpu = "h100_sxm") {
  return std::string(
             "model,gpu,tp,weight_dtype,kv_dtype,t_lin_ms_n1,t_lin_ms_n8,t_lin_ms_n16,t_lin_ms_n32,t_lin_ms_n64,"
             "t_lin_ms_n128,t_lin_ms_n256,t_lin_ms_n512,t_lin_ms_n1024,t_lin_ms_n2048,t_lin_ms_n4096,t_lin_ms_n8192,"
             "attn_dec_fixed_ms,attn_dec_per_req_us,attn_dec_per_kv_token_us,attn_prefill_fixed_ms,"
             "attn_prefill_per_qk_pair_ns,kv_bytes_per_token_per_gpu,weight_bytes_per_gpu,kappa_milli,t_req_us,t0_us\n"
             "M,") +
         std::string(gpu) + ",1,fp8,fp8," + std::string(first_f) +
         ",2,3,4,5,6,7,8,9,10,11,12,0.41,6.3,0.02341,0.59,0.9061,65536,8029995008,1250,40,0\n";
}

TEST(EngineTable, HasMonotoneStepTimesInEveryRow) {
  const EngineTable& table = EngineTable::bundled();
  EXPECT_EQ(table.rows().size(), 156u);
  for (const EngineRow& row : table.rows()) {
    EXPECT_TRUE(std::ranges::is_sorted(row.coefficients.linear_ps)) << row.model << " " << row.gpu << " " << row.tp;
    EXPECT_GT(row.gpu_memory.count, 40'000'000'000);
  }
}

TEST(EngineTable, KeepsAllDigitsOfTheFile) {
  const auto table = EngineTable::parse(engines("1.5"), "e.csv", kGpus, "g.csv");
  ASSERT_TRUE(table.has_value()) << table.error().text();
  const StepCoefficients& c = table->rows().front().coefficients;
  EXPECT_EQ(c.linear_ps[0], 1'500'000'000);
  EXPECT_EQ(c.decode_per_request_ps, 6'300'000);
  EXPECT_EQ(c.decode_per_kv_token_ps, 23'410);
  EXPECT_EQ(c.prefill_per_pair_fs, 906'100);
  EXPECT_EQ(c.per_request_ps, 40'000'000);
}

TEST(EngineTable, AnOutlierAtOneTokenDoesNotRaiseLargerBatches) {
  const auto table = EngineTable::parse(engines("4.5"), "e.csv", kGpus, "g.csv");
  ASSERT_TRUE(table.has_value());
  const StepCoefficients& c = table->rows().front().coefficients;
  EXPECT_EQ(c.linear_ps[0], 2'000'000'000);
  EXPECT_EQ(c.linear_ps[2], 3'000'000'000);
}

TEST(EngineTable, TakesRowsOfAUserForASliceOfAGpu) {
  const auto base = EngineTable::parse(engines("1.5"), "e.csv", kGpus, "g.csv");
  ASSERT_TRUE(base.has_value());
  std::string own = engines("9", "h100-3g.40gb");
  own.insert(own.find('\n'), ",gpu_memory_bytes");
  own.insert(own.size() - 1, ",42949672960");
  const auto table = base->with_rows_of(own, "own.csv");
  ASSERT_TRUE(table.has_value()) << table.error().text();
  EXPECT_EQ(table->rows().size(), 2u);
  const auto slice = table->find("M", "H100-3G.40GB", 1, "fp8");
  ASSERT_TRUE(slice.has_value()) << slice.error().text();
  EXPECT_EQ((*slice)->gpu_memory.count, 42'949'672'960);
}

TEST(EngineTable, StagesDivideTheMemoryAndNotTheTimeOfAStep) {
  const EngineTable table = EngineTable::bundled().with_stages(2);
  const auto whole = table.find("Llama-3.3-70B", "H100", 4, "fp8");
  const auto staged = table.find("Llama-3.3-70B", "H100", 8, "fp8", 2);
  ASSERT_TRUE(whole && staged) << staged.error().text();
  EXPECT_TRUE((*staged)->is_derived);
  EXPECT_EQ((*staged)->tensor_parallel(), 4);
  EXPECT_EQ(model_words(**staged), "Llama-3.3-70B with PP 2");
  EXPECT_EQ(parallelism_words(**staged), "TP 4 x PP 2");
  EXPECT_EQ(parallelism_words(**whole), "TP 4");
  EXPECT_EQ((*staged)->coefficients.linear_ps, (*whole)->coefficients.linear_ps);
  EXPECT_EQ((*staged)->weights_per_gpu.count, ((*whole)->weights_per_gpu.count + 1) / 2);
  EXPECT_EQ((*staged)->kv_per_token(), (*whole)->kv_per_token());
  EXPECT_GT(*kv_capacity_blocks(**staged), 2 * *kv_capacity_blocks(**whole)) << "the weights take half of the memory";
  EXPECT_FALSE((*table.find("Llama-3.3-70B", "H100", 8, "fp8"))->is_derived) << "eight GPUs without stages";
  EXPECT_FALSE(EngineTable::bundled().find("Llama-3.3-70B", "H100", 8, "fp8", 2));
}

TEST(EngineTable, AMeasuredPipelineStays) {
  const auto base = EngineTable::parse(engines("1.5"), "e.csv", kGpus, "g.csv");
  ASSERT_TRUE(base.has_value());
  std::string own = engines("1");
  own.insert(own.find('\n'), ",pp");
  own.insert(own.size() - 1, ",2");
  auto table = base->with_rows_of(own, "own.csv");
  ASSERT_TRUE(table.has_value()) << table.error().text();
  table = table->with_stages(2);
  EXPECT_EQ(table->rows().size(), 2u) << "the row without stages, and the measured one";
  const auto measured = table->find("M", "H100", 2, "fp8", 2);
  ASSERT_TRUE(measured.has_value()) << measured.error().text();
  EXPECT_FALSE((*measured)->is_derived);
  EXPECT_EQ((*measured)->coefficients.linear_ps[0], 1'000'000'000);
  own.replace(own.rfind(",2\n"), 3, ",2000\n");
  EXPECT_NE(base->with_rows_of(own, "own.csv").error().text().find("pp is 2000, expected 1 to 1024"),
            std::string::npos);
}

TEST(EngineTable, ARowOfAUserReplacesTheBundledOne) {
  const auto base = EngineTable::parse(engines("1.5"), "e.csv", kGpus, "g.csv");
  ASSERT_TRUE(base.has_value());
  const auto table = base->with_rows_of(engines("1"), "own.csv");
  ASSERT_TRUE(table.has_value()) << table.error().text();
  ASSERT_EQ(table->rows().size(), 1u);
  EXPECT_EQ(table->rows().front().coefficients.linear_ps[0], 1'000'000'000);
}

TEST(EngineTable, ARowOfAUserMayHaveTheShortNameOfAGpu) {
  const EngineTable& bundled = EngineTable::bundled();
  for (const std::string_view name : {"H100", "h100", "H100_SXM"}) {
    const auto table = bundled.with_rows_of(engines("1", name), "own.csv");
    ASSERT_TRUE(table.has_value()) << table.error().text();
    EXPECT_EQ(table->rows().front().gpu, "h100_sxm") << name;
    EXPECT_EQ(table->rows().front().gpu_name, "H100") << name;
  }
}

TEST(EngineTable, ANewGpuOfAUserNeedsItsMemory) {
  const auto base = EngineTable::parse(engines("1.5"), "e.csv", kGpus, "g.csv");
  ASSERT_TRUE(base.has_value());
  const auto table = base->with_rows_of(engines("1", "h100-1g.10gb"), "own.csv");
  ASSERT_FALSE(table.has_value());
  EXPECT_EQ(table.error().text(),
            "own.csv:2:3: gpu is 'h100-1g.10gb', expected a GPU of the GPU table or a column gpu_memory_bytes");
}

TEST(EngineTable, ErrorsNameFileLineAndColumn) {
  struct Case {
    std::string engines;
    std::string_view expected;
  };
  const Case cases[] = {
      {engines("fast"), "e.csv:2:22: t_lin_ms_n1 is 'fast', expected a number >= 0"},
      {engines("-1"), "e.csv:2:22: t_lin_ms_n1 is '-1', expected a number >= 0"},
      {engines(""), "e.csv:2:22: t_lin_ms_n1 is '', expected a number >= 0"},
      {engines("99999999999999999999"), "e.csv:2:22: t_lin_ms_n1 is '99999999999999999999', expected a number >= 0"},
      {engines("1,1"), "e.csv:2: the row has 28 fields, expected 27 as in the header"},
      {engines("\"1\""), "e.csv:2:22: found a quote or a NUL byte, expected plain fields separated by commas"},
      {engines("1", "tpu"), "e.csv:2:3: gpu is 'tpu', expected a GPU of the GPU table or a column gpu_memory_bytes"},
      {"", "e.csv:1: the file is empty, expected a header line"},
      {"model,gpu\n", "e.csv:1: the header has no column 'weight_dtype'"},
  };
  for (const Case& c : cases) {
    const auto table = EngineTable::parse(c.engines, "e.csv", kGpus, "g.csv");
    ASSERT_FALSE(table.has_value()) << c.expected;
    EXPECT_EQ(table.error().text(), c.expected);
  }
}

TEST(Csv, TheLimitOfANumberDoesNotDependOnItsDecimals) {
  const auto scaled = [](std::string_view number, int decimals) {
    const std::string text = "n\n" + std::string(number) + "\n";
    return Csv::parse(text, "t.csv")->scaled(0, 0, decimals);
  };
  EXPECT_EQ(scaled("899999999999999999", 0).value(), 899'999'999'999'999'999);
  EXPECT_EQ(scaled("89999999.9999999999", 10).value(), 899'999'999'999'999'999);
  EXPECT_FALSE(scaled("900000000000000000", 0).has_value());
  EXPECT_FALSE(scaled("900000000", 9).has_value());
}

TEST(EngineTable, FindsRowsByEitherNameAndListsAlternatives) {
  const EngineTable& table = EngineTable::bundled();
  const auto a = table.find("Llama-3.3-70B", "A100", 4, "bfloat16");
  const auto b = table.find("llama-3.3-70b", "a100_sxm", 4, "BF16");
  ASSERT_TRUE(a.has_value() && b.has_value());
  EXPECT_EQ(*a, *b);
  const auto missing = table.find("Mixtral-8x7B", "L40S", 3, "fp8");
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().kind, ErrorKind::infeasible);
  EXPECT_NE(missing.error().message.find("expected on that GPU one of: tp 4 bfloat16; tp 2 fp8"), std::string::npos)
      << missing.error().message;
  const auto unknown = table.find("GPT-2", "H100", 1, "fp8");
  ASSERT_FALSE(unknown.has_value());
  EXPECT_NE(unknown.error().message.find("Llama-3.1-8B, Llama-3.3-70B"), std::string::npos) << unknown.error().message;
}

TEST(EngineTable, ComputesTheKvCapacity) {
  const EngineTable& table = EngineTable::bundled();
  // 0.9 x 80 GiB - 16.06 GB - 4 GB = 57.2 GB, which are 436,783 tokens of 131,072 bytes.
  EXPECT_EQ(kv_capacity_blocks(**table.find("Llama-3.1-8B", "H100", 1, "bfloat16")), 27'298);
  const auto none = kv_capacity_blocks(**table.find("Llama-3.3-70B", "H100", 1, "fp8"));
  const bool fits = none.has_value() && *none > 2'000;
  EXPECT_FALSE(fits) << "70 GB of weights leave almost no memory";
}

TEST(EngineTable, PerturbationIsSeededAndWithinTenPercent) {
  const StepCoefficients& c = EngineTable::bundled().rows().front().coefficients;
  EXPECT_EQ(perturbed(c, 7), perturbed(c, 7));
  EXPECT_NE(perturbed(c, 7), perturbed(c, 8));
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const StepCoefficients p = perturbed(c, seed);
    EXPECT_TRUE(std::ranges::is_sorted(p.linear_ps));
    EXPECT_NEAR(static_cast<double>(p.linear_ps[5]) / static_cast<double>(c.linear_ps[5]), 1.0, 0.1001);
    EXPECT_NEAR(static_cast<double>(p.decode_per_kv_token_ps) / static_cast<double>(c.decode_per_kv_token_ps), 1.0,
                0.1001);
  }
}

}  // namespace
}  // namespace capstan::engine
