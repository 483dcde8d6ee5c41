#include "engine/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/ascii.h"
#include "base/assert.h"
#include "base/random.h"
#include "engine/csv.h"

namespace capstan::engine {
namespace {

constexpr std::int64_t kOverheadBytes = 4'000'000'000;  // activations, CUDA graphs and the runtime's own memory
constexpr std::int64_t kMaxGpus = 1024;                 // GPUs of a replica with pipeline stages
constexpr std::int64_t kUsableMilli = 900;              // default of vLLM's gpu_memory_utilization, times 1000

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), ascii_lower);
  return result;
}

std::string dtype(std::string_view text) {
  std::string name = lower(text);
  return name == "bf16" || name == "fp16" || name == "float16" ? "bfloat16" : name;
}

/// Reads the table of GPU kinds into a list whose elements have the members gpu, name and memory.
template <typename Gpu>
Result<std::vector<Gpu>> parse_gpus(std::string_view text, std::string file) {
  const Result<Csv> csv = Csv::parse(text, std::move(file));
  if (!csv) return std::unexpected(csv.error());
  std::vector<Gpu> gpus;
  std::array<std::size_t, 3> column{};
  constexpr std::array<std::string_view, 3> kNames = {"gpu", "name", "memory_bytes"};
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    const Result<std::size_t> found = csv->column(kNames[i]);
    if (!found) return std::unexpected(found.error());
    column[i] = *found;
  }
  for (std::size_t row = 0; row < csv->rows(); ++row) {
    const Result<std::int64_t> memory = csv->scaled(row, column[2], 0);
    if (!memory) return std::unexpected(memory.error());
    gpus.push_back({std::string(csv->field(row, column[0])), std::string(csv->field(row, column[1])), {*memory}});
  }
  return gpus;
}

/// A number of a row: its column, its target, and the power of ten by which the file's unit is multiplied.
struct Field {
  std::string_view column;
  int decimals;
  std::int64_t& (*target)(EngineRow&);
};

constexpr std::array kFields = {
    Field{"attn_dec_fixed_ms", 9, [](EngineRow& r) -> std::int64_t& { return r.coefficients.decode_fixed_ps; }},
    Field{"attn_dec_per_req_us", 6, [](EngineRow& r) -> std::int64_t& { return r.coefficients.decode_per_request_ps; }},
    Field{"attn_dec_per_kv_token_us", 6,
          [](EngineRow& r) -> std::int64_t& { return r.coefficients.decode_per_kv_token_ps; }},
    Field{"attn_prefill_fixed_ms", 9, [](EngineRow& r) -> std::int64_t& { return r.coefficients.prefill_fixed_ps; }},
    Field{"attn_prefill_per_qk_pair_ns", 6,
          [](EngineRow& r) -> std::int64_t& { return r.coefficients.prefill_per_pair_fs; }},
    Field{"kv_bytes_per_token_per_gpu", 0, [](EngineRow& r) -> std::int64_t& { return r.kv_per_token_per_gpu.count; }},
    Field{"weight_bytes_per_gpu", 0, [](EngineRow& r) -> std::int64_t& { return r.weights_per_gpu.count; }},
    Field{"kappa_milli", 0, [](EngineRow& r) -> std::int64_t& { return r.coefficients.kappa_milli; }},
    Field{"t_req_us", 6, [](EngineRow& r) -> std::int64_t& { return r.coefficients.per_request_ps; }},
    Field{"t0_us", 6, [](EngineRow& r) -> std::int64_t& { return r.coefficients.per_step_ps; }},
    Field{"tp", 0, [](EngineRow& r) -> std::int64_t& { return r.tp; }},
};

/// Reads the numbers of a row. `columns` are the columns of kFields, followed by those of the grid.
Result<void> read_numbers(const Csv& csv, std::size_t row, const std::vector<std::size_t>& columns, EngineRow& out) {
  for (std::size_t i = 0; i < kFields.size(); ++i) {
    const Result<std::int64_t> value = csv.scaled(row, columns[i], kFields[i].decimals);
    if (!value) return std::unexpected(value.error());
    kFields[i].target(out) = *value;
  }
  Picoseconds min_of_larger = INT64_MAX;
  for (std::size_t i = StepCoefficients::kGrid.size(); i-- > 0;) {
    const Result<std::int64_t> value = csv.scaled(row, columns[kFields.size() + i], 9);
    if (!value) return std::unexpected(value.error());
    min_of_larger = std::min(min_of_larger, *value);
    out.coefficients.linear_ps[i] = min_of_larger;
  }
  if (out.coefficients.linear_ps.front() == 0 || out.tp == 0 || out.kv_per_token_per_gpu.count == 0) {
    return std::unexpected(csv.error_at(row, 0, "a step time, tp or the KV size is 0, expected more than 0"));
  }
  return {};
}

/// Returns true if both rows are of one model, GPU kind, parallelism and weight type.
bool is_same_replica(const EngineRow& a, const EngineRow& b) {
  return a.model == b.model && a.gpu == b.gpu && a.tp == b.tp && a.stages == b.stages &&
         a.weight_dtype == b.weight_dtype;
}

std::int64_t scaled_by(std::int64_t value, std::int64_t ppm) {
  return static_cast<std::int64_t>(static_cast<__int128>(value) * ppm / 1'000'000);
}

}  // namespace

/// A GPU kind: the key of the table, the short name, and the memory.
struct EngineTable::GpuMemory {
  std::string gpu;
  std::string name;
  Bytes memory;
};

Result<EngineTable> EngineTable::parse(std::string_view engines_csv, std::string engines_file,
                                       std::string_view gpus_csv, std::string gpus_file) {
  Result<std::vector<GpuMemory>> gpus = parse_gpus<GpuMemory>(gpus_csv, std::move(gpus_file));
  if (!gpus) return std::unexpected(gpus.error());
  return parse_rows(engines_csv, std::move(engines_file), std::move(*gpus));
}

Result<EngineTable> EngineTable::with_rows_of(std::string_view engines_csv, std::string file) const {
  std::vector<GpuMemory> known;
  for (const EngineRow& row : rows_) {
    const bool is_new = std::ranges::find(known, row.gpu, &GpuMemory::gpu) == known.end();
    if (is_new) known.push_back({row.gpu, row.gpu_name, row.gpu_memory});
  }
  Result<EngineTable> table = parse_rows(engines_csv, std::move(file), std::move(known));
  if (!table) return table;
  const std::vector<EngineRow> own = table->rows_;
  for (const EngineRow& row : rows_) {
    const bool is_replaced = std::ranges::any_of(own, [&](const EngineRow& o) { return is_same_replica(o, row); });
    if (!is_replaced) table->rows_.push_back(row);
  }
  return table;
}

EngineTable EngineTable::with_stages(std::int64_t stages) const {
  CAPSTAN_ASSERT(stages >= 1);
  EngineTable table = *this;
  if (stages == 1) return table;
  for (const EngineRow& row : rows_) {
    if (row.stages > 1) continue;
    EngineRow staged = row;
    staged.stages = stages;
    staged.is_derived = true;
    staged.tp *= stages;
    staged.weights_per_gpu = {ceil_div(row.weights_per_gpu.count, stages)};
    staged.kv_per_token_per_gpu = {ceil_div(row.kv_per_token_per_gpu.count, stages)};
    const bool is_known =
        std::ranges::any_of(rows_, [&](const EngineRow& other) { return is_same_replica(other, staged); });
    if (!is_known) table.rows_.push_back(std::move(staged));
  }
  return table;
}

Result<EngineTable> EngineTable::parse_rows(std::string_view engines_csv, std::string file,
                                            std::vector<GpuMemory> known) {
  const Result<Csv> csv = Csv::parse(engines_csv, std::move(file));
  if (!csv) return std::unexpected(csv.error());
  const Result<std::size_t> memory_column = csv->column("gpu_memory_bytes");
  const Result<std::size_t> stages_column = csv->column("pp");

  std::vector<std::size_t> names;
  std::vector<std::size_t> numbers;
  for (const std::string_view name : {"model", "gpu", "weight_dtype"}) {
    const Result<std::size_t> column = csv->column(name);
    if (!column) return std::unexpected(column.error());
    names.push_back(*column);
  }
  for (const Field& field : kFields) {
    const Result<std::size_t> column = csv->column(field.column);
    if (!column) return std::unexpected(column.error());
    numbers.push_back(*column);
  }
  for (const std::int64_t n : StepCoefficients::kGrid) {
    const Result<std::size_t> column = csv->column(fmt::format("t_lin_ms_n{}", n));
    if (!column) return std::unexpected(column.error());
    numbers.push_back(*column);
  }

  EngineTable table;
  for (std::size_t row = 0; row < csv->rows(); ++row) {
    EngineRow out;
    out.model = csv->field(row, names[0]);
    out.gpu = csv->field(row, names[1]);
    out.weight_dtype = csv->field(row, names[2]);
    const auto is_named = [&](const GpuMemory& kind) {
      return lower(kind.gpu) == lower(out.gpu) || lower(kind.name) == lower(out.gpu);
    };
    auto gpu = std::ranges::find(known, out.gpu, &GpuMemory::gpu);
    if (gpu == known.end()) gpu = std::ranges::find_if(known, is_named);
    if (gpu == known.end() && memory_column && !csv->field(row, *memory_column).empty()) {
      const Result<std::int64_t> memory = csv->scaled(row, *memory_column, 0);
      if (!memory) return std::unexpected(memory.error());
      gpu = known.insert(known.end(), {out.gpu, out.gpu, {*memory}});
    }
    if (gpu == known.end()) {
      return std::unexpected(csv->error_at(
          row, names[1],
          fmt::format("gpu is '{}', expected a GPU of the GPU table or a column gpu_memory_bytes", out.gpu)));
    }
    out.gpu = gpu->gpu;  // the file may have the short name: "H100" for "h100_sxm"
    out.gpu_name = gpu->name;
    out.gpu_memory = gpu->memory;
    if (const Result<void> read = read_numbers(*csv, row, numbers, out); !read) return std::unexpected(read.error());
    if (stages_column && !csv->field(row, *stages_column).empty()) {
      const Result<std::int64_t> stages = csv->scaled(row, *stages_column, 0);
      if (!stages) return std::unexpected(stages.error());
      if (*stages < 1 || *stages > kMaxGpus / out.tp) {
        return std::unexpected(
            csv->error_at(row, *stages_column,
                          fmt::format("pp is {}, expected 1 to {}, so that a replica has at most {} GPUs", *stages,
                                      kMaxGpus / out.tp, kMaxGpus)));
      }
      out.stages = *stages;
      out.tp *= *stages;
    }
    table.rows_.push_back(std::move(out));
  }
  return table;
}

const EngineTable& EngineTable::bundled() {
  static const EngineTable table = [] {
    Result<EngineTable> parsed = parse(bundled_engines_csv(), "data/engines.csv", bundled_gpus_csv(), "data/gpus.csv");
    CAPSTAN_ASSERT(parsed.has_value());
    return std::move(*parsed);
  }();
  return table;
}

namespace {

bool is_on(const EngineRow& row, const std::string& wanted_gpu) {
  return lower(row.gpu) == wanted_gpu || lower(row.gpu_name) == wanted_gpu;
}

}  // namespace

Result<std::string> EngineTable::gpu_key(std::string_view gpu) const {
  const std::string lower_name = lower(gpu);
  std::set<std::string> names;
  for (const EngineRow& row : rows_) {
    if (is_on(row, lower_name)) return row.gpu;
    names.insert(row.gpu_name);
  }
  return std::unexpected(
      Error{.file = {},
            .message = fmt::format("found \"{}\", expected a GPU that is known: {}", gpu, fmt::join(names, ", "))});
}

Result<const EngineRow*> EngineTable::find(std::string_view model, std::string_view gpu, std::int64_t tp,
                                           std::string_view weight_dtype, std::int64_t stages) const {
  const std::string wanted_model = lower(model);
  const std::string wanted_gpu = lower(gpu);
  const std::string wanted_dtype = dtype(weight_dtype);
  std::set<std::string> models;
  std::set<std::string> gpus;         // GPUs of this model
  std::vector<std::string> variants;  // variants of this model on this GPU
  for (const EngineRow& row : rows_) {
    models.insert(row.model);
    if (row.stages != stages || lower(row.model) != wanted_model) continue;
    gpus.insert(row.gpu_name);
    if (!is_on(row, wanted_gpu)) continue;
    variants.push_back(fmt::format("tp {} {}", row.tensor_parallel(), row.weight_dtype));
    if (row.tp == tp && row.weight_dtype == wanted_dtype) return &row;
  }
  std::string message = fmt::format("no engine table for {} on {} tp {} {}", model, gpu,
                                    tp / std::max<std::int64_t>(1, stages), weight_dtype);
  if (gpus.empty()) {
    message += fmt::format(", expected one of the models {}", fmt::join(models, ", "));
  } else if (variants.empty()) {
    message += fmt::format(", expected one of the GPUs {}", fmt::join(gpus, ", "));
  } else {
    message += fmt::format(", expected on that GPU one of: {}", fmt::join(variants, "; "));
  }
  return std::unexpected(Error{.kind = ErrorKind::infeasible, .file = {}, .message = std::move(message)});
}

std::string model_words(const EngineRow& row) {
  return row.stages > 1 ? fmt::format("{} with PP {}", row.model, row.stages) : row.model;
}

std::string parallelism_words(const EngineRow& row) {
  const std::string tensor = fmt::format("TP {}", row.tensor_parallel());
  return row.stages > 1 ? fmt::format("{} x PP {}", tensor, row.stages) : tensor;
}

Result<std::int64_t> kv_capacity_blocks(const EngineRow& row) {
  const std::int64_t usable = row.gpu_memory.count / 1000 * kUsableMilli;
  const std::int64_t free_bytes = usable - row.weights_per_gpu.count - kOverheadBytes;
  const std::int64_t blocks = free_bytes > 0 ? free_bytes / row.kv_per_token_per_gpu.count / kKvBlockTokens : 0;
  if (blocks > 0) return blocks;
  return std::unexpected(Error{
      .kind = ErrorKind::infeasible,
      .file = {},
      .message = fmt::format("{} {} does not fit {} x {}: {:.1f} GB of weights and 4 GB of overhead per GPU leave "
                             "no KV memory, expected less than 0.9 x {:.1f} GB",
                             row.model, row.weight_dtype, row.tp, row.gpu_name,
                             static_cast<double>(row.weights_per_gpu.count) / 1e9,
                             static_cast<double>(row.gpu_memory.count) / 1e9)});
}

StepCoefficients perturbed(const StepCoefficients& coefficients, std::uint64_t seed, std::int64_t spread_ppm) {
  CAPSTAN_ASSERT(spread_ppm >= 0 && spread_ppm < 1'000'000);
  RandomStream random(seed, "engine.perturbation");
  StepCoefficients c = coefficients;
  const auto factor = [&] { return random.between(1'000'000 - spread_ppm, 1'000'000 + spread_ppm); };
  const std::int64_t linear = factor();
  for (Picoseconds& f : c.linear_ps) f = std::max<Picoseconds>(1, scaled_by(f, linear));
  for (std::int64_t* value : {&c.decode_fixed_ps, &c.decode_per_request_ps, &c.decode_per_kv_token_ps,
                              &c.prefill_fixed_ps, &c.prefill_per_pair_fs, &c.per_request_ps, &c.per_step_ps}) {
    *value = scaled_by(*value, factor());
  }
  return c;
}

}  // namespace capstan::engine
