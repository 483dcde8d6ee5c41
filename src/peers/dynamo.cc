#include "peers/dynamo.h"

#include <algorithm>
#include <charconv>

#include "peers/metric_query.h"

namespace capstan::peers {

using Phase = model::Gang::Phase;

namespace {

std::int64_t number_of(std::string_view text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// Returns the last value of a pod's series, or 0.
double last(const promql::SeriesStore& store, std::string_view metric, std::string_view pod) {
  for (const promql::Series* series : store.select(metric, {})) {
    if (promql::get(series->labels, "pod") == pod) return series->points.back().value;
  }
  return 0;
}

std::int64_t kv_tokens(const promql::SeriesStore& store, std::string_view pod) {
  for (const promql::Series* info : store.select("vllm:cache_config_info", {})) {
    if (promql::get(info->labels, "pod") != pod) continue;
    return number_of(promql::get(info->labels, "num_gpu_blocks")) * number_of(promql::get(info->labels, "block_size"));
  }
  return 0;
}

}  // namespace

/// Runs the throughput loop. Once per `throughput_adjustment_interval` it gives the requests of the last interval to
/// the predictor, predicts the requests of the next interval, and sets the lower bound of the load loop.
void DynamoPlanner::run_throughput_loop(const ClusterView& view, Instant now) {
  if (!spec_.throughput_scaling || now < next_plan_) return;
  next_plan_ = now + spec_.throughput_adjustment_interval;
  const double interval_s = static_cast<double>(spec_.throughput_adjustment_interval / std::chrono::seconds(1));
  const std::string window = std::to_string(static_cast<std::int64_t>(interval_s)) + "s";
  const Result<MetricQuery> query =
      MetricQuery::parse("sum(increase(vllm:time_to_first_token_seconds_count[" + window + "]))", "query");
  const Result<promql::Value> requests =
      query ? query->ask(view.series, series_ms(now)) : Result<promql::Value>(std::unexpected(query.error()));
  if (!requests || requests->vector.empty()) return;
  constant_.add(requests->vector.front().value);
  kalman_.add(requests->vector.front().value);
  const double predicted = spec_.predictor == DynamoSpec::Predictor::constant ? constant_.predict() : kalman_.predict();
  lower_bound_ = dynamo::replicas_for_rate(predicted, interval_s, spec_.engine_rps, spec_.load.min_endpoint)
                     .value_or(lower_bound_);
}

Recommendation DynamoPlanner::recommend(const ClusterView& view, Instant now) {
  run_throughput_loop(view, now);
  const ReplicaCount current = view.role.current;
  if (existing_replicas(view.role) != current || ready_replicas(view.role) != current)
    return {current, "scaling is in progress"};
  std::vector<dynamo::Engine> engines;
  double max_kv = 0;
  for (const decide::scale::WorkloadView::Replica& replica : view.role.replicas) {
    if (replica.phase != Phase::ready) continue;
    const std::string pod = pod_name(replica.id);
    const auto tokens = static_cast<double>(kv_tokens(view.series, pod));
    if (tokens <= 0) continue;
    max_kv = tokens;
    const double prompts = last(view.series, "vllm:time_to_first_token_seconds_count", pod);
    const double mean_prompt = prompts > 0 ? last(view.series, "vllm:prompt_tokens_total", pod) / prompts : 0;
    engines.push_back({last(view.series, "vllm:kv_cache_usage_perc", pod) * tokens, 0,
                       last(view.series, "vllm:num_requests_waiting", pod) * mean_prompt});
  }
  if (engines.empty()) return {current, "no engine has reported KV cache metrics"};
  if (static_cast<ReplicaCount>(engines.size()) != current) return {current, "not every engine has reported"};
  const std::optional<ReplicaCount> followed = dynamo::follow_kv(spec_.load, engines, max_kv, true);
  if (!followed && current >= lower_bound_)
    return {current, "no engine's KV cache is full and not all are nearly empty"};
  ReplicaCount wanted = std::max(followed.value_or(current), spec_.load.min_endpoint);
  if (spec_.throughput_scaling) wanted = std::max(wanted, lower_bound_);
  wanted = dynamo::within_budget(wanted, spec_.gpus_per_engine, spec_.max_gpu_budget, spec_.load.min_endpoint);
  return {wanted, wanted > current ? "an engine's KV cache is full, or the plan asks for more"
                                   : "every engine's KV cache is below its bound"};
}

}  // namespace capstan::peers
