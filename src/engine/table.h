#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/quantity.h"
#include "engine/step_model.h"

namespace capstan::engine {

/// One row of the table: a model on one GPU kind, tensor parallelism and weight type.
struct EngineRow {
  std::string model;         ///< "Llama-3.3-70B"
  std::string gpu;           ///< "h100_sxm"
  std::string gpu_name;      ///< "H100"
  std::int64_t tp = 1;       ///< GPUs of a replica
  std::string weight_dtype;  ///< "bfloat16" or "fp8"
  StepCoefficients coefficients;
  Bytes kv_per_token_per_gpu;
  Bytes weights_per_gpu;
  Bytes gpu_memory;

  Bytes kv_per_token() const { return kv_per_token_per_gpu * tp; }
  Bytes weights() const { return weights_per_gpu * tp; }
};

/// The KV memory of a replica in blocks of 16 tokens: 0.9 of a GPU's memory, less its weights and 4 GB for activations
/// and the runtime. Error (infeasible) if not one block is left.
Result<std::int64_t> kv_capacity_blocks(const EngineRow& row);

/// Every coefficient but kappa times its own factor within `spread_ppm` millionths of 1, drawn from `seed` (the F table
/// as a whole, so that it stays monotone): the engine that a policy meets is not the one that it was told of. 0 changes
/// nothing.
StepCoefficients perturbed(const StepCoefficients& coefficients, std::uint64_t seed, std::int64_t spread_ppm = 100'000);

/// What the engine model knows, by model, GPU, parallelism and weight type.
class EngineTable {
 public:
  /// From the texts of data/engines.csv and data/gpus.csv. F is made monotone in n: a batch costs at most what any
  /// larger one costs, since an engine can pad it (as vLLM does for its CUDA graphs). Kernels measured one by one now
  /// and then seem slower at n = 1 than at n = 8; a running maximum would carry such an outlier into every larger
  /// batch.
  static Result<EngineTable> parse(std::string_view engines_csv, std::string engines_file, std::string_view gpus_csv,
                                   std::string gpus_file);

  /// The tables compiled into the program.
  static const EngineTable& bundled();

  /// The row, or an Error (infeasible) that says which of the four is unknown and lists what there is for the others.
  /// Names ignore case; "H100" and "h100_sxm", "bf16" and "bfloat16" mean the same. Valid as long as the table.
  Result<const EngineRow*> find(std::string_view model, std::string_view gpu, std::int64_t tp,
                                std::string_view weight_dtype) const;

  /// The key of a GPU kind, "h100_sxm", from its key or its name in any case; an Error (input) that lists the names.
  Result<std::string> gpu_key(std::string_view gpu) const;

  const std::vector<EngineRow>& rows() const { return rows_; }

 private:
  std::vector<EngineRow> rows_;
};

std::string_view bundled_engines_csv();
std::string_view bundled_gpus_csv();

}  // namespace capstan::engine
