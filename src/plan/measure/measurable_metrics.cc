#include "plan/measure/measurable_metrics.h"

#include <algorithm>
#include <string_view>

#include "base/assert.h"
#include "plan/objects/names.h"
#include "signals/metric_catalog.h"

namespace capstan::plan {

namespace {

using signals::MetricRow;
using signals::SignalName;

constexpr std::string_view kGatewayPrefix = "kserve_";

/// Metrics that schema/metrics.csv lacks, because no controller scales on them: histograms of lengths, or counters of
/// tokens for an engine without such histograms. Sources: vllm/v1/metrics/loggers.py;
/// sglang/srt/observability/metrics_collector.py, with --collect-tokens-histogram; TensorRT-LLM
/// tensorrt_llm/metrics/collector.py; tensorrtllm_backend, TRITONBACKEND metrics reporter.
struct LengthMetrics {
  Engine engine;
  std::string_view prompt_lengths, answer_lengths, prompt_tokens, answer_tokens;
};
constexpr LengthMetrics kLengthMetrics[] = {
    {Engine::vllm, "vllm:request_prompt_tokens", "vllm:request_generation_tokens", "", ""},
    {Engine::sglang, "sglang:prompt_tokens_histogram", "sglang:generation_tokens_histogram", "", ""},
    {Engine::tensorrt_llm, "", "", "trtllm_prompt_tokens_total", "trtllm_generation_tokens_total"},
    {Engine::triton, "nv_llm_input_token_len", "nv_llm_output_token_len", "", ""},
};

void add_name(std::string_view name, std::vector<MeasurableMetric>& out) {
  if (!name.empty()) out.push_back({std::string(name), {}});
}

/// Removes rows that count only a part of a queue (rows with `where`) if another row counts the whole queue. Otherwise
/// that part would be counted twice.
void keep_whole_queues(std::vector<MeasurableMetric>& rows) {
  const auto is_whole = [](const MeasurableMetric& metric) { return metric.where.empty(); };
  if (std::ranges::any_of(rows, is_whole)) std::erase_if(rows, [&](const MeasurableMetric& m) { return !is_whole(m); });
}

char plain(char c) { return c == ':' ? '_' : c; }

}  // namespace

MeasurableMetrics measurable_metrics(Engine engine) {
  const signals::MetricCatalog& catalog = signals::MetricCatalog::bundled();
  const auto index = catalog.engine(engine_key(engine));
  CAPSTAN_ASSERT(index.has_value());
  MeasurableMetrics out;
  for (const MetricRow& row : catalog.rows()) {
    if (row.engine != *index) continue;
    const MeasurableMetric metric{row.metric, row.where};
    if (row.signal == SignalName::finished_total) {
      out.finished.push_back(metric);
      out.model_label = row.subject;
    }
    if (row.signal == SignalName::running) out.running.push_back(metric);
    if (row.signal == SignalName::waiting) out.waiting.push_back(metric);
    if (row.signal == SignalName::prompt_tokens_total) out.prompt_tokens.push_back(metric);
    if (row.signal == SignalName::generated_tokens_total) out.answer_tokens.push_back(metric);
  }
  CAPSTAN_ASSERT(!out.finished.empty());
  keep_whole_queues(out.waiting);
  for (const LengthMetrics& lengths : kLengthMetrics) {
    if (lengths.engine != engine) continue;
    add_name(lengths.prompt_lengths, out.prompt_lengths);
    add_name(lengths.answer_lengths, out.answer_lengths);
    add_name(lengths.prompt_tokens, out.prompt_tokens);
    add_name(lengths.answer_tokens, out.answer_tokens);
  }
  return out;
}

std::string spelling_pattern(const std::string& metric) {
  std::string pattern = "(" + std::string(kGatewayPrefix) + ")?";
  for (const char c : metric) pattern += c == ':' ? "[:_]" : std::string(1, c);
  return pattern;
}

bool is_spelling_of(std::string_view found, std::string_view metric) {
  if (found.starts_with(kGatewayPrefix)) found.remove_prefix(kGatewayPrefix.size());
  return std::ranges::equal(found, metric, {}, plain, plain);
}

}  // namespace capstan::plan
