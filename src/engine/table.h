#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/quantity.h"
#include "engine/step_model.h"

namespace capstan::engine {

/// A row of the table: a model on one GPU kind with one parallelism and weight type.
struct EngineRow {
  std::string model;         ///< "Llama-3.3-70B"
  std::string gpu;           ///< "h100_sxm"
  std::string gpu_name;      ///< "H100"
  std::int64_t tp = 1;       ///< GPUs of a replica: tensor parallelism x pipeline stages
  std::int64_t stages = 1;   ///< pipeline parallelism: stages that hold equal parts of the layers
  std::string weight_dtype;  ///< "bfloat16" or "fp8"
  bool is_derived = false;   ///< true: computed by `EngineTable::with_stages`, not measured
  StepCoefficients coefficients;
  Bytes kv_per_token_per_gpu;
  Bytes weights_per_gpu;
  Bytes gpu_memory;

  std::int64_t tensor_parallel() const { return tp / stages; }
  Bytes kv_per_token() const { return kv_per_token_per_gpu * tp; }
  Bytes weights() const { return weights_per_gpu * tp; }
};

/// Returns "Llama-3.3-70B", or with pipeline stages "Llama-3.3-70B with PP 2".
std::string model_words(const EngineRow& row);

/// Returns "TP 4", or with pipeline stages "TP 4 x PP 2".
std::string parallelism_words(const EngineRow& row);

/// Returns the KV memory of a replica in blocks of 16 tokens: 90 % of a GPU's memory, minus the weights and 4 GB for
/// activations and the runtime. Returns an Error (infeasible) if there is no room for a single block.
Result<std::int64_t> kv_capacity_blocks(const EngineRow& row);

/// Multiplies every coefficient except kappa by its own random factor within `spread_ppm` millionths of 1, drawn from
/// `seed`. The F table has one factor, so that it stays monotone. The simulated engine then differs from the table that
/// a policy was given. A spread of 0 changes nothing.
StepCoefficients perturbed(const StepCoefficients& coefficients, std::uint64_t seed, std::int64_t spread_ppm = 100'000);

/// The coefficients of all measured engines, by model, GPU, tensor parallelism and weight type.
class EngineTable {
 public:
  /// Reads the texts of data/engines.csv and data/gpus.csv. Makes `linear_ps` monotone: each entry becomes the minimum
  /// of itself and all larger batches, because an engine can pad a batch (as vLLM does for its CUDA graphs). Kernels
  /// measured in isolation sometimes seem slower with one token than with eight. A running maximum would carry such an
  /// outlier into every larger batch.
  static Result<EngineTable> parse(std::string_view engines_csv, std::string engines_file, std::string_view gpus_csv,
                                   std::string gpus_file);

  /// Returns this table with the rows of a user's own measurements. The file has the columns of data/engines.csv. A GPU
  /// kind that this table lacks, such as another GPU or the slice "h100-3g.40gb", also needs the column
  /// `gpu_memory_bytes`. A row of a pipeline has its number of stages in the column `pp`; its `tp` is the parallelism
  /// of one stage. A row replaces the row of the same model, GPU kind, parallelism and weight type.
  Result<EngineTable> with_rows_of(std::string_view engines_csv, std::string file) const;

  /// Returns this table with rows for replicas that divide the layers over this many pipeline stages. A new row is
  /// computed from a row without stages, and has `stages` times its GPUs. A stage has its part of the weights and of
  /// the KV memory. A step takes as long as without stages, because one batch passes all stages before the next
  /// begins. Engines overlap several batches, so the rows understate the throughput. A measured row of the same
  /// pipeline stays.
  EngineTable with_stages(std::int64_t stages) const;

  /// Returns the table compiled into the program.
  static const EngineTable& bundled();

  /// Returns the row, or an Error (infeasible) that names what is unknown and lists the alternatives. Case does not
  /// matter; "H100" and "h100_sxm", "bf16" and "bfloat16" mean the same. The row is valid as long as the table.
  /// @param tp  GPUs of a replica
  Result<const EngineRow*> find(std::string_view model, std::string_view gpu, std::int64_t tp,
                                std::string_view weight_dtype, std::int64_t stages = 1) const;

  /// Returns the key of a GPU kind, such as "h100_sxm", for its key or its name in any case, or an Error (input) that
  /// lists the known names.
  Result<std::string> gpu_key(std::string_view gpu) const;

  const std::vector<EngineRow>& rows() const { return rows_; }

 private:
  struct GpuMemory;

  /// Reads the rows of a file. A GPU kind that is not in `known` needs the column `gpu_memory_bytes`.
  static Result<EngineTable> parse_rows(std::string_view engines_csv, std::string file, std::vector<GpuMemory> known);

  std::vector<EngineRow> rows_;
};

std::string_view bundled_engines_csv();
std::string_view bundled_gpus_csv();

}  // namespace capstan::engine
