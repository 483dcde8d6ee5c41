#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "engine/table.h"

namespace capstan::experiment {

/// One measured point, and the prediction of the simulated engine for the same load.
struct PredictRow {
  std::uint32_t line = 0;  ///< line in the file of points
  std::string id;
  std::string model;  ///< name of the model in the engine table
  std::string gpu;    ///< "H100"
  std::int64_t tp = 1;
  std::string weight_dtype;
  std::int64_t input_tokens = 0;
  std::int64_t output_tokens = 0;
  std::int64_t concurrency = 0;
  Duration ttft_measured{};
  Duration ttft_predicted{};
  Duration tpot_measured{};
  Duration tpot_predicted{};
  double tpot_error = 0;  ///< predicted / measured - 1
};

struct PredictGroup {
  std::string model;
  std::string gpu;
  std::int64_t rows = 0;
  double tpot_error_median = 0;       ///< median of the absolute errors
  double tpot_error_bias_median = 0;  ///< median of the signed errors; below 0, the model is too fast
};

/// The step model compared with measured points of a real engine. Each quantile is the smallest error that at least
/// this share of the points does not exceed. The errors are fractions.
struct PredictReport {
  std::vector<PredictRow> rows;
  std::vector<PredictGroup> groups;  ///< sorted by model, then by GPU
  double tpot_error_min = 0;         ///< smallest absolute error of all rows
  double tpot_error_median = 0;
  double tpot_error_p90 = 0;
  double tpot_error_max = 0;
  std::int64_t rows_skipped = 0;  ///< rows that `predict` did not simulate
};

/// Reads points in the format of AIConfigurator's silicon sample (columns id, backend, model_path, system, precision,
/// mode, isl, osl, batch_size, tp_size, pp_size, attention_dp_size, silicon_ttft_ms, silicon_tpot_ms). Simulates each
/// point whose `backend` is `engine` and that has a row in `table`. Points that are not aggregated, use pipeline or
/// attention-data parallelism, or have a precision other than BF16 and FP8 are skipped. An empty precision means BF16,
/// and Llama-3.1-70B uses the row of Llama-3.3-70B. The load is a closed loop: `batch_size` clients send the next
/// request as soon as the last one ended.
/// @param progress  is called with the number of rows that are done and of all rows
/// @return an input error with its line for a malformed file, and an infeasible error if no row can be compared
Result<PredictReport> predict(std::string_view points_csv, std::string file, std::string_view engine,
                              const engine::EngineTable& table,
                              const std::function<void(std::size_t done, std::size_t rows)>& progress = {});

/// The mean time to first token and the mean time per output token in a closed loop of `concurrency` clients. The first
/// request of each client is left out, because all first requests arrive at once.
struct ClosedLoop {
  Duration ttft{};
  Duration tpot{};
};
Result<ClosedLoop> run_closed_loop(const engine::EngineRow& row, std::int64_t input_tokens, std::int64_t output_tokens,
                                   std::int64_t concurrency);

}  // namespace capstan::experiment
