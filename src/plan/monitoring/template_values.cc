#include "plan/monitoring/template_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/assert.h"
#include "plan/names.h"
#include "signals/metric_catalog.h"

namespace capstan::plan {

namespace {

using signals::MetricKind;
using signals::MetricRow;
using signals::SignalName;

/// Multiples of the error budget that an hour, or six hours, may use: at these rates a month's budget lasts two, or
/// five, days. Source: Google, The Site Reliability Workbook, chapter 5.
constexpr double kFastBurn = 14.4, kSlowBurn = 6;

/// Returns the newest metric of a signal, or null if the engine has none.
const MetricRow* find_metric(Engine engine, SignalName signal) {
  const signals::MetricCatalog& catalog = signals::MetricCatalog::bundled();
  const auto index = catalog.engine(engine_key(engine));
  CAPSTAN_ASSERT(index.has_value());
  const auto row = std::ranges::find_if(catalog.rows(),
                                        [&](const MetricRow& r) { return r.engine == *index && r.signal == signal; });
  return row == catalog.rows().end() ? nullptr : &*row;
}

std::string with_selector(const MetricRow& row, std::string_view suffix, std::string_view pods) {
  std::string labels;
  for (const auto& [name, value] : row.where) labels += fmt::format("{}=\"{}\", ", name, value);
  return fmt::format("{}{}{{{}{}}}", row.metric, suffix, labels, pods);
}

/// Adds a gauge or a counter.
void add_series(TemplateValues& out, Engine engine, std::string_view name, SignalName signal, std::string_view pods) {
  const MetricRow* row = find_metric(engine, signal);
  if (row != nullptr) out.emplace(name, with_selector(*row, "", pods));
}

/// Adds the buckets of a histogram, and a bound in the unit of its metric.
void add_histogram(TemplateValues& out, Engine engine, std::string_view name, SignalName signal, std::string_view pods,
                   Duration bound) {
  const MetricRow* row = find_metric(engine, signal);
  if (row == nullptr || row->kind != MetricKind::histogram) return;
  out.emplace(name, with_selector(*row, "_bucket", pods));
  const double microseconds = static_cast<double>(bound.count()) / 1000;
  if (bound > Duration{}) out.emplace(fmt::format("{}_bound", name), fmt::format("{}", microseconds / row->scale));
}

/// Adds the quantile that is above the bound when the error budget burns at a rate. A budget so large that it cannot
/// burn at that rate has none.
void add_burn(TemplateValues& out, std::string_view name, double rate, const model::Slo& slo) {
  const double late = rate * (1 - slo.attainment_ppm / 1e6);
  if (late < 1) out.emplace(name, fmt::format("{:.4g}", 1 - late));
}

/// Returns a pattern of the pools on which the replicas run: "h100|h100-spot".
std::string pools_of(const ServicePlan& fleet) {
  std::set<std::string> names;
  for (const RoleFleet& role : fleet.roles) {
    names.insert(pool_name(role.engine.gpu));
    names.insert(spot_pool_name(role.engine.gpu));
  }
  return fmt::format("{}", fmt::join(names, "|"));
}

void add_limits(TemplateValues& out, const PlanSpec& spec, const ServicePlan& fleet) {
  if (fleet.roles.empty()) return;
  out.emplace("pools", pools_of(fleet));
  const MachineSpec& machine = fleet.roles.front().machine;
  if (spec.limits.per_hour && machine.on_demand_per_hour && machine.gpus > 0) {
    out.emplace("usd_per_gpu_hour", fmt::format("{:.4f}", static_cast<double>(machine.on_demand_per_hour->count) / 1e6 /
                                                              static_cast<double>(machine.gpus)));
    out.emplace("usd_per_hour_limit", fmt::format("{:.2f}", static_cast<double>(spec.limits.per_hour->count) / 1e6));
  }
  for (const StartPhase& phase : fleet.start) {
    if (phase.name == "node") {
      out.emplace("node_wait_s", fmt::format("{:.0f}", std::chrono::duration<double>(phase.longest).count()));
    }
  }
}

}  // namespace

std::string_view engine_key(Engine engine) {
  switch (engine) {
    case Engine::vllm:
      return "vllm";
    case Engine::sglang:
      return "sglang";
    case Engine::tensorrt_llm:
      return "tensorrt-llm";
    case Engine::triton:
      return "triton";
  }
  CAPSTAN_ASSERT(false);
  return {};
}

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

TemplateValues template_values(const PlanSpec& spec, const ServiceSpec& service, const ServicePlan& fleet) {
  TemplateValues out;
  const std::string of_pods =
      fmt::format("pod=~\"{}{}-.*\"", service.name, service.is_disaggregated ? "-(prefill|decode)" : "");
  const std::string pods = fmt::format("namespace=\"{}\", {}", spec.namespace_, of_pods);
  out.emplace("pods", pods);
  out.emplace("exported_pods", fmt::format("exported_namespace=\"{}\", exported_{}", spec.namespace_, of_pods));
  add_series(out, service.engine, "waiting", SignalName::waiting, pods);
  add_series(out, service.engine, "running", SignalName::running, pods);
  add_series(out, service.engine, "kv_usage", SignalName::kv_usage_ppm, pods);
  add_series(out, service.engine, "preemptions", SignalName::preemptions_total, pods);
  add_series(out, service.engine, "finished", SignalName::finished_total, pods);
  add_histogram(out, service.engine, "ttft", SignalName::ttft_p99_us, pods, service.slo.ttft);
  add_histogram(out, service.engine, "tpot", SignalName::tpot_p99_us, pods, service.slo.tpot);
  add_histogram(out, service.engine, "queue_time", SignalName::queue_p99_us, pods, {});
  add_burn(out, "fast_burn_quantile", kFastBurn, service.slo);
  add_burn(out, "slow_burn_quantile", kSlowBurn, service.slo);
  if (service.engine == Engine::vllm) {  // its HTTP server counts answers by status
    out.emplace("http_errors", fmt::format("http_requests_total{{{}, status=\"5xx\"}}", pods));
    out.emplace("http_requests", fmt::format("http_requests_total{{{}}}", pods));
  }
  add_limits(out, spec, fleet);
  return out;
}

}  // namespace capstan::plan
