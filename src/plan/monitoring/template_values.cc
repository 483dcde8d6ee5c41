#include "plan/monitoring/template_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "plan/monitoring/metric_sources.h"
#include "plan/objects/names.h"
#include "plan/pools/pools.h"
#include "plan/scalers/engine_metrics.h"
#include "plan/search/fleet_candidates.h"

namespace capstan::plan {

namespace {

using signals::MetricKind;
using signals::SignalName;

/// Burn rates above which alerts fire, measured over one hour and over six hours. They are multiples of the rate that
/// uses up the error budget in a month: at these rates the budget lasts two days and five days. Source: Google, The
/// Site Reliability Workbook, chapter 5.
constexpr double kFastBurn = 14.4, kSlowBurn = 6;

/// A new node counts as late only after this time, even if the model expects it earlier, because published launch times
/// go up to it.
constexpr std::chrono::minutes kNodeWaitMin{5};

/// Adds a gauge or a counter.
void add_series(TemplateValues& out, Engine engine, std::string_view name, SignalName signal,
                const SeriesLabels& labels) {
  if (const auto metric = find_metric(engine, signal)) out.emplace(name, selector_text(*metric, labels));
}

/// Adds the buckets of a histogram, and a bound in the unit of its metric.
void add_histogram(TemplateValues& out, Engine engine, std::string_view name, SignalName signal,
                   const SeriesLabels& labels, Duration bound) {
  const auto metric = find_metric(engine, signal);
  if (!metric || metric->kind != MetricKind::histogram) return;
  out.emplace(name, selector_text(*metric, labels, "_bucket"));
  const double microseconds = static_cast<double>(bound.count()) / 1000;
  if (bound > Duration{}) out.emplace(fmt::format("{}_bound", name), fmt::format("{}", microseconds / metric->scale));
}

/// Adds a quantile between 0 and 1. While the latency at this quantile is above its bound, the error budget burns
/// faster than `rate`. Adds nothing if the budget is too large to burn at this rate.
void add_burn(TemplateValues& out, std::string_view name, double rate, const model::Slo& slo) {
  const double late = rate * (1 - slo.attainment_ppm / 1e6);
  if (late < 1) out.emplace(name, fmt::format("{:.4g}", 1 - late));
}

/// Returns the price per GPU of a pool: of spot nodes, or of the nodes that hold the minimum replicas. Nothing if the
/// price is unknown.
std::optional<double> usd_per_gpu_hour(const PlanFacts& facts, const GpuPool& pool, bool is_spot) {
  auto base = model::CapacityType::on_demand;
  for (const ServicePlan& service : facts.services) {
    for (const RoleFleet& role : service.roles) {
      if (role.machine.name == pool.machines.front().name) base = role.base;
    }
  }
  const auto price = price_of(pool.machines.front(), is_spot ? model::CapacityType::spot : base);
  if (!price) return std::nullopt;
  return static_cast<double>(price->count) / 1e6 / static_cast<double>(pool.whole_gpus_per_node());
}

/// Returns the cost of the GPUs of all pools as PromQL, USD per hour; empty if a price is unknown.
std::string usd_of_pools(const PlanFacts& facts, const std::vector<GpuPool>& pools) {
  std::string sum;
  for (const GpuPool& pool : pools) {
    for (const bool is_spot : {false, true}) {
      if (is_spot && pool.spot_nodes == 0) continue;
      const std::optional<double> price = usd_per_gpu_hour(facts, pool, is_spot);
      if (!price) return {};
      // A pool without nodes has no series. Karpenter counts each MPS share of a GPU as one GPU.
      sum += fmt::format(
          "{}(sum(karpenter_nodepools_usage{{nodepool=\"{}{}\",resource_type=\"nvidia.com/gpu\"}}) or vector(0)) * "
          "{:.4f}",
          sum.empty() ? "" : " + ", pool.name, is_spot ? "-spot" : "", *price / static_cast<double>(pool.mps_shares));
    }
  }
  return sum;
}

/// Returns the cost of the nodes of all pools as PromQL, USD per hour; empty if a price is unknown.
std::string usd_of_nodes(const PlanFacts& facts, const std::vector<GpuPool>& pools) {
  const SpotLabel spot = spot_label(facts.spec.cluster);
  std::string sum;
  for (const GpuPool& pool : pools) {
    for (const bool is_spot : {false, true}) {
      if (is_spot && pool.spot_nodes == 0) continue;
      const std::optional<double> price = usd_per_gpu_hour(facts, pool, is_spot);
      if (!price) return {};
      const std::string capacity =
          pool.spot_nodes == 0 ? ""
                               : fmt::format(",{}{}\"{}\"", series_label(spot.key), is_spot ? "=" : "!=", spot.value);
      sum += fmt::format("{}(count(kube_node_labels{{{}=\"{}\"{}}}) or vector(0)) * {:.4f}", sum.empty() ? "" : " + ",
                         series_label(kPoolLabel), pool.name, capacity,
                         *price * static_cast<double>(pool.whole_gpus_per_node()));
    }
  }
  return sum;
}

}  // namespace

std::expected<std::string, std::string> expand(std::string_view query, const TemplateValues& values) {
  std::string out;
  for (;;) {
    const std::size_t open = query.find("{{");
    out += query.substr(0, open);
    if (open == query.npos) return out;
    const std::size_t close = query.find("}}", open);
    CAPSTAN_ASSERT(close != query.npos);
    const std::string_view name = query.substr(open + 2, close - open - 2);
    const auto found = values.find(name);
    if (found == values.end()) return std::unexpected(std::string(name));
    out += found->second;
    query.remove_prefix(close + 2);
  }
}

std::string pod_pattern(const ServiceSpec& service) {
  // Kubernetes generates parts of the name of a pod from these characters. They contain no vowels, so hardly any word
  // matches the pattern.
  constexpr std::string_view kGenerated = "[bcdfghjklmnpqrstvwxz2456789]";
  const std::string name = service.name + (service.is_disaggregated ? "-(prefill|decode)" : "");
  if (service.pods_per_replica > 1) return name + "-[0-9]+(-[1-9][0-9]*)?";  // LeaderWorkerSet: replica and worker
  return fmt::format("{}-{}+-{}{{5}}", name, kGenerated, kGenerated);        // Deployment: revision and pod
}

TemplateValues service_values(const PlanSpec& spec, const ServiceSpec& service) {
  TemplateValues out;
  const std::string pods = pod_pattern(service);
  out.emplace("pods", fmt::format("namespace=\"{}\",pod=~\"{}\"", spec.namespace_, pods));
  out.emplace("exported_pods", fmt::format("exported_namespace=\"{}\",exported_pod=~\"{}\"", spec.namespace_, pods));
  const SeriesLabels labels = series_labels(spec, service, model::Role::both);
  add_series(out, service.engine, "waiting", SignalName::waiting, labels);
  add_series(out, service.engine, "running", SignalName::running, labels);
  add_series(out, service.engine, "kv_usage", SignalName::kv_usage_ppm, labels);
  add_series(out, service.engine, "preemptions", SignalName::preemptions_total, labels);
  add_series(out, service.engine, "finished", SignalName::finished_total, labels);
  add_histogram(out, service.engine, "ttft", SignalName::ttft_p99_us, labels, service.slo.ttft);
  add_histogram(out, service.engine, "tpot", SignalName::tpot_p99_us, labels, service.slo.tpot);
  add_histogram(out, service.engine, "queue_time", SignalName::queue_p99_us, labels, {});
  add_burn(out, "fast_burn_quantile", kFastBurn, service.slo);
  add_burn(out, "slow_burn_quantile", kSlowBurn, service.slo);
  if (service.engine == Engine::vllm) {  // its HTTP server counts answers by status
    out.emplace("http_errors", selector_text({.metric = "http_requests_total", .where = {{"status", "5xx"}}}, labels));
    out.emplace("http_requests", selector_text({.metric = "http_requests_total"}, labels));
  }
  return out;
}

TemplateValues cluster_values(const PlanFacts& facts) {
  TemplateValues out;
  const std::vector<GpuPool> pools = gpu_pools(facts);
  std::string names;
  Duration longest{};
  for (const GpuPool& pool : pools) {
    names += (names.empty() ? "" : "|") + pool.name;
    if (pool.spot_nodes > 0) names += fmt::format("|{}-spot", pool.name);
    longest = std::max(longest, pool.node_longest);
  }
  out.emplace("pools", names);
  const Duration late = std::max<Duration>(2 * longest, kNodeWaitMin);
  out.emplace("node_wait_s", fmt::format("{:.0f}", std::chrono::duration<double>(late).count()));
  if (std::string usd = usd_of_pools(facts, pools); !usd.empty()) out.emplace("usd_of_pools", std::move(usd));
  if (std::string usd = usd_of_nodes(facts, pools); !usd.empty()) out.emplace("usd_of_nodes", std::move(usd));
  if (const auto& limit = facts.spec.limits.per_hour) {
    out.emplace("usd_per_hour_limit", fmt::format("{:.2f}", static_cast<double>(limit->count) / 1e6));
  }
  return out;
}

bool is_optional_in_spec(std::string_view variable) {
  static constexpr std::array<std::string_view, 5> kOptional = {"ttft_bound", "tpot_bound", "fast_burn_quantile",
                                                                "slow_burn_quantile", "usd_per_hour_limit"};
  return std::ranges::find(kOptional, variable) != kOptional.end();
}

std::string missing_words(std::string_view variable, std::string_view engine) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kReasons = {
      {{"ttft_bound", "the service has no slo.ttft_p99"},
       {"tpot_bound", "the service has no slo.tpot"},
       {"fast_burn_quantile", "its slo.attainment allows more late requests than this rate of burn"},
       {"slow_burn_quantile", "its slo.attainment allows more late requests than this rate of burn"},
       {"usd_per_hour_limit", "the spec has no limits.usd_per_hour"},
       {"usd_of_pools", "the price of a machine is unknown"},
       {"usd_of_nodes", "the price of a machine is unknown"}}};
  const auto found = std::ranges::find(kReasons, variable, &std::pair<std::string_view, std::string_view>::first);
  if (found != kReasons.end()) return std::string(found->second);
  std::string metric(variable);
  std::ranges::replace(metric, '_', ' ');
  return fmt::format("{} reports no {}", engine, metric);
}

}  // namespace capstan::plan
