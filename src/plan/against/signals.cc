#include "plan/against/signals.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "plan/against/existing_object.h"
#include "plan/feasibility/refusal.h"
#include "promql/parser.h"

namespace capstan::plan {

namespace {

std::vector<std::string> metrics_of_query(const std::string& query) {
  std::set<std::string> names;
  if (const auto expression = promql::parse(query)) {
    promql::walk(**expression, [&](const promql::Expression& part) {
      const auto* selector = std::get_if<promql::Selector>(&part.node);
      if (selector != nullptr && !selector->metric.empty()) names.insert(selector->metric);
    });
  }
  if (names.empty()) names.insert(query);
  return {names.begin(), names.end()};
}

/// Returns the name of a metric without separators, so that "vllm:num_requests_waiting" and the adapter's
/// "vllm_num_requests_waiting" are one.
std::string plain_name(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c != ':' && c != '_' && c != '-') out += c;
  }
  return out;
}

bool is_waiting(std::string_view name) { return name.find("waiting") != name.npos || name.find("queue") != name.npos; }

}  // namespace

std::vector<std::string> scaler_metrics(const Yaml& element) {
  static constexpr std::array<std::string_view, 3> kNamed = {"external", "pods", "object"};
  for (const std::string_view type : kNamed) {
    const Yaml* metric = element.find(type);
    if (metric != nullptr && metric->find("metric") != nullptr) return {text_at(*metric, "metric", "name")};
  }
  for (const std::string_view type : {"resource", "containerResource"}) {
    if (const Yaml* metric = element.find(type)) return {text_at(*metric, "name")};
  }
  const Yaml* metadata = element.find("metadata");
  if (metadata != nullptr && metadata->find("query") != nullptr) return metrics_of_query(text_at(*metadata, "query"));
  const std::string type = text_at(element, "type");
  return type.empty() ? std::vector<std::string>{} : std::vector{type};
}

std::string why_remove(const std::vector<std::string>& metrics, const std::vector<std::vector<std::string>>& planned,
                       bool is_alone) {
  const std::string still = "an autoscaler takes the highest answer of its metrics, so this one would still decide";
  for (const std::string& metric : metrics) {
    const std::optional<AskedSignal> signal = asked_signal(metric);
    if (signal == AskedSignal::duty_cycle) {
      return "the duty cycle says whether a kernel ran, not how much work there was; it is near 100 % with one "
             "request, "
             "so the autoscaler stays at its maximum";
    }
    if (signal == AskedSignal::gpu_memory) {
      return "the engine reserves its KV memory at its start, so the memory in use follows no load";
    }
    if (metric == "cpu" || metric == "memory") {
      return fmt::format("the {} of an engine's pod does not follow its load; {}", metric == "cpu" ? "CPU" : "memory",
                         still);
    }
  }
  const auto is_same = [&](const std::vector<std::string>& other) {
    return std::ranges::equal(metrics, other, {}, plain_name, plain_name);
  };
  const std::string waits =
      is_alone && std::ranges::all_of(metrics, is_waiting)
          ? "; on its own it also acts late, because a queue forms only when all replicas are full"
          : "";
  if (std::ranges::any_of(planned, is_same)) {
    return "the plan reads the same signal as a sum over all replicas; with both, the higher answer decides" + waits;
  }
  return fmt::format("the plan does not scale on it; {}{}", still, waits);
}

}  // namespace capstan::plan
