#include "peers/metric_query.h"

#include <algorithm>

#include "promql/parser.h"

namespace capstan::peers {
namespace {

struct BadSignal {
  std::string_view metric;
  std::string_view why;
};

constexpr BadSignal kBadSignals[] = {
    {"DCGM_FI_DEV_GPU_UTIL", "shows how long any kernel ran: one request and a full batch both read about 100 %"},
    {"DCGM_FI_DEV_FB_USED", "shows what the engine allocated when it started, not what requests use"},
    {"DCGM_FI_DEV_FB_USED_PERCENT", "shows what the engine allocated when it started, not what requests use"},
    {"DCGM_FI_DEV_FB_FREE", "shows what the engine left free when it started, not what requests leave free"},
    {"DCGM_FI_DEV_MEM_COPY_UTIL", "shows how long the memory bus was in use, not how much load there is"},
};

bool exported(std::string_view name) { return std::ranges::find(exported_metrics(), name) != exported_metrics().end(); }

}  // namespace

Result<MetricQuery> MetricQuery::parse(const std::string& text, const std::string& source) {
  Result<promql::ExpressionPtr> parsed = promql::parse(text, source);
  if (!parsed) return std::unexpected(std::move(parsed.error()));
  if (std::optional<Error> fault = promql::check_evaluable(**parsed, source)) return std::unexpected(std::move(*fault));
  MetricQuery query;
  query.text_ = text;
  query.expression_ = std::move(*parsed);
  return query;
}

Result<promql::Value> MetricQuery::ask(const promql::SeriesStore& series, std::int64_t at_ms) const {
  return promql::evaluate(*expression_, series, at_ms, {}, "query");
}

std::optional<std::string> MetricQuery::bad_signal() const {
  std::optional<std::string> found;
  promql::walk(*expression_, [&](const promql::Expression& part) {
    const auto* selector = std::get_if<promql::Selector>(&part.node);
    if (selector == nullptr || found) return;
    const auto* bad = std::ranges::find(kBadSignals, selector->metric, &BadSignal::metric);
    if (bad == std::end(kBadSignals)) return;
    found = std::string(bad->metric) + " " + std::string(bad->why) + "; scale on requests waiting and running instead";
  });
  return found;
}

std::optional<std::string> series_of_metric(std::string_view metric, std::string_view matchers) {
  const std::string labels = matchers.empty() ? "" : "{" + std::string(matchers) + "}";
  std::string with_colon(metric);
  if (const std::size_t dash = with_colon.find('_'); dash != std::string::npos) with_colon[dash] = ':';
  for (const std::string& name : {std::string(metric), with_colon}) {
    if (exported(name)) return name + labels;
    if (exported(name + "_total")) return "rate(" + name + "_total" + labels + "[5m])";
  }
  return std::nullopt;
}

const std::vector<std::string_view>& exported_metrics() {
  static const std::vector<std::string_view> names = {
      "DCGM_FI_DEV_FB_USED_PERCENT",
      "DCGM_FI_DEV_GPU_UTIL",
      "inference_extension_flow_control_queue_size",
      "kueue_pending_workloads",
      "vllm:cache_config_info",
      "vllm:generation_tokens_total",
      "vllm:gpu_cache_usage_perc",
      "vllm:kv_cache_usage_perc",
      "vllm:num_preemptions_total",
      "vllm:num_requests_running",
      "vllm:num_requests_waiting",
      "vllm:prefix_cache_hits_total",
      "vllm:prefix_cache_queries_total",
      "vllm:prompt_tokens_total",
      "vllm:time_to_first_token_seconds_bucket",
      "vllm:time_to_first_token_seconds_count",
  };
  return names;
}

}  // namespace capstan::peers
