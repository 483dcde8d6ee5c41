#include "experiment/run/predict.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "engine/csv.h"
#include "sim/serving/replica.h"

namespace capstan::experiment {
namespace {

constexpr std::int64_t kWaves = 4;                // requests of each client in the closed loop
constexpr std::int64_t kMaxConcurrency = 65'536;  // largest concurrency that a file may state
constexpr std::int64_t kMaxTokens = 10'000'000;
constexpr Duration kFrontEnd{15'000'000};  // time in API server and tokenizer (alpha0 of the simulator BLIS)
constexpr std::int64_t kMaxSmallGpuBytes =
    70'000'000'000;  // vLLM's default token budget is 8192 on larger GPUs, otherwise 2048

/// The model of the table for each `model_path` of the points.
constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kModels = {{
    {"meta-llama/Llama-3.1-8B", "Llama-3.1-8B"},
    {"meta-llama/Llama-3.1-8B-Instruct", "Llama-3.1-8B"},
    {"nvidia/Llama-3.1-8B-Instruct-FP8", "Llama-3.1-8B"},
    {"meta-llama/Llama-3.1-70B", "Llama-3.3-70B"},
    {"meta-llama/Llama-3.1-70B-Instruct", "Llama-3.3-70B"},
    {"meta-llama/Llama-3.3-70B-Instruct", "Llama-3.3-70B"},
    {"Qwen/Qwen3-14B", "Qwen3-14B"},
    {"Qwen/Qwen3-32B", "Qwen3-32B"},
    {"Qwen/Qwen3-30B-A3B", "Qwen3-30B-A3B"},
    {"mistralai/Mixtral-8x7B-v0.1", "Mixtral-8x7B"},
}};

enum Column : std::size_t {
  kId,
  kBackend,
  kModelPath,
  kSystem,
  kPrecision,
  kMode,
  kInput,
  kOutput,
  kBatch,
  kTp,
  kPp,
  kAttentionDp,
  kTtft,
  kTpot,
  kColumns
};
constexpr std::array<std::string_view, kColumns> kColumnNames = {
    "id",      "backend", "model_path",        "system",          "precision",      "mode", "isl", "osl", "batch_size",
    "tp_size", "pp_size", "attention_dp_size", "silicon_ttft_ms", "silicon_tpot_ms"};

/// Returns the percentile by nearest rank: the smallest of the values for which at least `percent` % of all values are
/// equal or smaller. Returns 0 without values.
double quantile(std::vector<double> values, std::size_t percent) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  return values[std::max<std::size_t>(1, (values.size() * percent + 99) / 100) - 1];
}

double median(std::vector<double> values) { return quantile(std::move(values), 50); }

std::string_view table_model(std::string_view model_path) {
  for (const auto& [path, model] : kModels) {
    if (path == model_path) return model;
  }
  return {};
}

void summarize(PredictReport& report) {
  std::vector<double> all;
  std::map<std::pair<std::string, std::string>, std::vector<double>> by_group;
  for (const PredictRow& row : report.rows) {
    all.push_back(std::abs(row.tpot_error));
    by_group[{row.model, row.gpu}].push_back(row.tpot_error);
  }
  report.tpot_error_min = quantile(all, 0);
  report.tpot_error_median = median(all);
  report.tpot_error_p90 = quantile(all, 90);
  report.tpot_error_max = quantile(all, 100);
  for (auto& [name, errors] : by_group) {
    std::vector<double> absolute;
    for (const double error : errors) absolute.push_back(std::abs(error));
    report.groups.push_back({name.first, name.second, static_cast<std::int64_t>(errors.size()),
                             median(std::move(absolute)), median(std::move(errors))});
  }
}

/// Reads a row of the file of points.
/// @return false if the row is not to be simulated
Result<bool> read_row(const engine::Csv& csv, std::size_t row, const std::array<std::size_t, kColumns>& at,
                      std::string_view engine, PredictRow& out) {
  const auto text = [&](Column c) { return csv.field(row, at[c]); };
  if (text(kBackend) != engine || text(kMode) != "agg" || text(kPp) != "1") return false;
  if (!text(kAttentionDp).empty() && text(kAttentionDp) != "1") return false;
  const std::string_view model = table_model(text(kModelPath));
  const std::string_view precision = text(kPrecision);
  if (model.empty() || (!precision.empty() && precision != "bf16" && precision != "bfloat16" && precision != "fp8")) {
    return false;
  }
  std::array<std::int64_t, kColumns> number{};
  for (const Column c : {kInput, kOutput, kBatch, kTp, kTtft, kTpot}) {
    const Result<std::int64_t> value = csv.scaled(row, at[c], c == kTtft || c == kTpot ? 6 : 0);
    if (!value) return std::unexpected(value.error());
    number[c] = *value;
  }
  const auto within = [&](Column c, std::int64_t low, std::int64_t high) -> Result<void> {
    if (number[c] >= low && number[c] <= high) return {};
    return std::unexpected(
        csv.error_at(row, at[c], fmt::format("{} is {}, expected {} to {}", kColumnNames[c], number[c], low, high)));
  };
  for (const Result<void>& check :
       {within(kInput, 1, kMaxTokens), within(kOutput, 2, kMaxTokens), within(kBatch, 1, kMaxConcurrency),
        within(kTp, 1, kMaxTokens), within(kTpot, 1, INT64_MAX)}) {
    if (!check) return std::unexpected(check.error());
  }
  out.line = csv.line(row);
  out.id = text(kId);
  out.model = model;
  out.gpu = text(kSystem);
  out.tp = number[kTp];
  out.weight_dtype = precision == "fp8" ? "fp8" : "bfloat16";
  out.input_tokens = number[kInput];
  out.output_tokens = number[kOutput];
  out.concurrency = number[kBatch];
  out.ttft_measured = Duration{number[kTtft]};
  out.tpot_measured = Duration{number[kTpot]};
  return true;
}

}  // namespace

Result<ClosedLoop> run_closed_loop(const engine::EngineRow& row, std::int64_t input_tokens, std::int64_t output_tokens,
                                   std::int64_t concurrency) {
  const Result<std::int64_t> blocks = engine::kv_capacity_blocks(row);
  if (!blocks) return std::unexpected(blocks.error());
  const engine::StepModel model(row.coefficients);
  sim::Replica replica({.max_batched_tokens = row.gpu_memory.count > kMaxSmallGpuBytes ? 8192 : 2048,
                        .max_waiting = concurrency,
                        .kv_blocks = *blocks,
                        .prefix_cache = false},
                       model);

  const std::int64_t total = kWaves * concurrency;
  std::vector<Instant> sent(static_cast<std::size_t>(total));
  std::vector<Instant> first(static_cast<std::size_t>(total));
  std::int64_t next = 0;
  const auto send = [&](Instant now) {
    const sim::EngineRequest request{.id = static_cast<std::uint32_t>(next),
                                     .input_tokens = static_cast<std::int32_t>(input_tokens),
                                     .output_tokens = static_cast<std::int32_t>(output_tokens)};
    sent[static_cast<std::size_t>(next)] = now;
    ++next;
    return replica.offer(request, now).result == sim::OfferResult::accepted;
  };
  for (std::int64_t i = 0; i < concurrency; ++i) {
    if (!send({})) {
      return std::unexpected(Error{.kind = ErrorKind::infeasible,
                                   .file = {},
                                   .message = fmt::format("a request of {} tokens does not fit the KV memory of {} "
                                                          "blocks of 16, expected a shorter one or more GPUs",
                                                          input_tokens + output_tokens, *blocks)});
    }
  }

  std::int64_t counted = 0;
  Duration ttft{};
  Duration decode{};
  sim::Emissions events;
  while (!replica.idle()) {
    const Instant now = replica.next_event();
    events.clear();
    replica.advance(now, events);
    for (const sim::Emission& event : events) {
      if (event.kind == sim::EmissionKind::first_token) first[event.id] = event.at;
      if (event.kind != sim::EmissionKind::finished) continue;
      if (event.id >= concurrency) {
        ttft += first[event.id] - sent[event.id];
        decode += event.at - first[event.id];
        ++counted;
      }
      if (next < total) send(now);
    }
  }
  return ClosedLoop{kFrontEnd + ttft / counted, decode / (counted * (output_tokens - 1))};
}

Result<PredictReport> predict(std::string_view points_csv, std::string file, std::string_view engine,
                              const engine::EngineTable& table,
                              const std::function<void(std::size_t done, std::size_t rows)>& progress) {
  const Result<engine::Csv> csv = engine::Csv::parse(points_csv, file);
  if (!csv) return std::unexpected(csv.error());
  std::array<std::size_t, kColumns> at{};
  for (std::size_t c = 0; c < kColumns; ++c) {
    const Result<std::size_t> column = csv->column(kColumnNames[c]);
    if (!column) return std::unexpected(column.error());
    at[c] = *column;
  }

  PredictReport report;
  for (std::size_t i = 0; i < csv->rows(); ++i) {
    if (progress) progress(i, csv->rows());
    PredictRow row;
    const Result<bool> wanted = read_row(*csv, i, at, engine, row);
    if (!wanted) return std::unexpected(wanted.error());
    if (*wanted) {
      const Result<const engine::EngineRow*> found = table.find(row.model, row.gpu, row.tp, row.weight_dtype);
      if (found) {
        const Result<ClosedLoop> loop = run_closed_loop(**found, row.input_tokens, row.output_tokens, row.concurrency);
        if (loop) {
          row.gpu = (*found)->gpu_name;
          row.ttft_predicted = loop->ttft;
          row.tpot_predicted = loop->tpot;
          row.tpot_error =
              static_cast<double>(row.tpot_predicted.count()) / static_cast<double>(row.tpot_measured.count()) - 1.0;
          report.rows.push_back(std::move(row));
          continue;
        }
      }
    }
    ++report.rows_skipped;
  }
  if (report.rows.empty()) {
    return std::unexpected(
        Error{.kind = ErrorKind::infeasible,
              .file = std::move(file),
              .message = fmt::format("no row of engine '{}' in mode agg, pp 1, has an engine table", engine)});
  }
  summarize(report);
  return report;
}

}  // namespace capstan::experiment
