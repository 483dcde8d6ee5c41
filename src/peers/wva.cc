#include "peers/wva.h"

#include <algorithm>
#include <cmath>

#include "base/known_row.h"
#include "decide/scale/hpa.h"
#include "peers/formula/wva_optimizer.h"

namespace capstan::peers {
namespace {

namespace scale = decide::scale;
using namespace std::chrono_literals;
using Phase = model::Gang::Phase;

constexpr std::string_view kVariant = "variant";
constexpr double kCost = 10;

scale::HpaSettings chart_hpa(Duration window) {
  scale::HpaSettings settings;
  const scale::HpaRules rules{.stabilization = window,
                              .select = scale::HpaRules::Select::max,
                              .policies = {{scale::HpaRatePolicy::Kind::pods, 10, 150s}}};
  settings.behavior = scale::HpaBehavior{rules, rules};
  return settings;
}

}  // namespace

WvaAutoscaler::WvaAutoscaler(WvaSpec spec) : spec_(spec), hpa_(chart_hpa(spec.stabilization_window)) {}

/// Returns a value of a pod, or 0 if there is none, as WVA's collector does.
double WvaAutoscaler::read(const std::string& query, const std::string& pod, const ClusterView& view,
                           Instant now) const {
  const Result<MetricQuery> parsed = MetricQuery::parse(query, "query");
  if (!parsed) return 0;
  const Result<promql::Value> answer = parsed->ask(view.series, series_ms(now));
  if (!answer) return 0;
  for (const promql::Sample& sample : answer->vector) {
    if (promql::get(sample.labels, "pod") == pod) return std::isfinite(sample.value) ? sample.value : 0;
  }
  return 0;
}

ReplicaCount WvaAutoscaler::by_saturation(const ClusterView& view, Instant now) {
  std::vector<wva::ReplicaLoad> loads;
  for (const scale::WorkloadView::Replica& replica : view.role.replicas) {
    if (replica.phase != Phase::ready) continue;
    const std::string pod = pod_name(replica.id);
    loads.push_back({std::string(kVariant),
                     read("max by (pod) (max_over_time(vllm:kv_cache_usage_perc[1m]))", pod, view, now),
                     read("max by (pod) (max_over_time(vllm:num_requests_waiting[1m]))", pod, view, now)});
  }
  const wva::Saturation saturation = wva::analyze_v1(spec_.config, loads);
  const wva::VariantState state{std::string(kVariant), kCost, static_cast<ReplicaCount>(loads.size()),
                                view.role.current, desired_};
  why_ = std::to_string(saturation.total - saturation.non_saturated) + " of " + std::to_string(saturation.total) +
         " replicas are saturated";
  return wva::targets_v1(saturation.scale_up, saturation.scale_down_safe, {{state}}).front();
}

ReplicaCount WvaAutoscaler::by_tokens(const ClusterView& view, Instant now) {
  std::vector<wva::ReplicaTokens> replicas;
  ReplicaCount starting = 0;
  for (const scale::WorkloadView::Replica& replica : view.role.replicas) {
    if (replica.phase == Phase::draining) continue;
    if (replica.phase != Phase::ready) {
      ++starting;
      continue;
    }
    const std::string pod = pod_name(replica.id);
    const auto value = [&](const std::string& query) { return read(query, pod, view, now); };
    const std::string per_request = " / rate(vllm:time_to_first_token_seconds_count[5m])";
    wva::ReplicaTokens tokens;
    tokens.variant = tokens.accelerator = kVariant;
    for (const promql::Series* info : view.series.select("vllm:cache_config_info", {})) {
      if (promql::get(info->labels, "pod") != pod) continue;
      tokens.total_kv_tokens = std::stoll(std::string(promql::get(info->labels, "num_gpu_blocks"))) *
                               std::stoll(std::string(promql::get(info->labels, "block_size")));
    }
    const double kv = value("max by (pod) (max_over_time(vllm:kv_cache_usage_perc[1m]))");
    tokens.tokens_in_use = static_cast<std::int64_t>(kv * static_cast<double>(tokens.total_kv_tokens));
    tokens.queue_length =
        static_cast<std::int64_t>(value("max by (pod) (max_over_time(vllm:num_requests_waiting[1m]))"));
    tokens.avg_input = value("rate(vllm:prompt_tokens_total[5m])" + per_request);
    tokens.avg_output = value("rate(vllm:generation_tokens_total[5m])" + per_request);
    tokens.prefix_hit = value("rate(vllm:prefix_cache_hits_total[5m]) / rate(vllm:prefix_cache_queries_total[5m])");
    replicas.push_back(tokens);
  }
  const wva::VariantReplicas variant{std::string(kVariant), view.role.current, starting};
  const wva::Supply supply = tokens_.analyze(spec_.config, replicas, {{variant}}, std::nullopt);
  const std::int64_t capacity = known_row(supply.per_replica_capacity, std::string(kVariant));
  const wva::VariantCost cost{std::string(kVariant), kCost, static_cast<double>(capacity), view.role.current};
  why_ = std::to_string(static_cast<std::int64_t>(supply.demand)) + " tokens are in demand at a capacity of " +
         std::to_string(capacity) + " per replica";
  return wva::optimize(supply.required, supply.spare, {{cost}}).front();
}

void WvaAutoscaler::run_engine(const ClusterView& view, Instant now) {
  const ReplicaCount target = spec_.analyzer == WvaSpec::Analyzer::v1 ? by_saturation(view, now) : by_tokens(view, now);
  // Without scale to zero the enforcer keeps one replica.
  const auto enforced =
      wva::enforce(std::nullopt, std::nullopt, {{std::string(kVariant), target}}, {{std::string(kVariant), kCost}});
  desired_ = known_row(enforced.targets, std::string(kVariant));
}

Recommendation WvaAutoscaler::recommend(const ClusterView& view, Instant now) {
  if (now >= next_engine_) {
    next_engine_ = now + 30s;
    run_engine(view, now);
  }
  const ReplicaCount current = view.role.current;
  const ReplicaCount max = std::max(spec_.max_replicas > 0 ? spec_.max_replicas : view.role.max, spec_.min_replicas);
  if (!memory_.has_decided) {
    memory_.has_decided = true;
    memory_.recommendations.push_back({now, current});
  }
  if (current < spec_.min_replicas || current > max)
    return {std::clamp(current, spec_.min_replicas, max), "the replicas are outside the bounds"};
  const scale::HpaProposal proposal =
      scale::propose_by_average_value(desired_ * 1000, 1000, existing_replicas(view.role), hpa_);
  if (!proposal.valid) return {current, "no metric has a reading"};
  const ReplicaCount held = scale::stabilize(memory_, hpa_, current, proposal.replicas, now);
  const ReplicaCount desired = scale::limit_rate(memory_, hpa_, current, held, spec_.min_replicas, max, now).replicas;
  scale::record_change(memory_, hpa_, current, desired, now);
  return {desired,
          why_ + ": " + std::to_string(desired_) + " replicas, and the HPA applies " + std::to_string(desired)};
}

}  // namespace capstan::peers
