#include "operator/facts/prometheus_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "net/url.h"

namespace capstan::op {
namespace {

using nlohmann::json;

/// One series of an instant query.
struct Row {
  json labels;  // an object
  std::string value;

  std::string label(const char* name) const {
    return labels.contains(name) && labels[name].is_string() ? labels[name].get<std::string>() : std::string();
  }
  /// Returns the value if it is a finite number that is not negative.
  std::optional<double> number() const {
    double number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc() || end != value.data() + value.size()) return std::nullopt;
    return std::isfinite(number) && number >= 0 ? std::optional(number) : std::nullopt;
  }
};

/// Returns the series of an answer; nothing if it is not an answer of Prometheus' API.
std::optional<std::vector<Row>> rows_of(const std::string& body) {
  const json answer = json::parse(body, nullptr, false);
  if (!answer.is_object() || !answer.contains("status") || answer["status"] != "success" || !answer.contains("data") ||
      !answer["data"].is_object() || !answer["data"].contains("result") || !answer["data"]["result"].is_array()) {
    return std::nullopt;
  }
  std::vector<Row> rows;
  for (const json& series : answer["data"]["result"]) {
    if (!series.is_object() || !series.contains("value") || !series["value"].is_array() ||
        series["value"].size() != 2 || !series["value"][1].is_string()) {
      continue;
    }
    const bool labelled = series.contains("metric") && series["metric"].is_object();
    rows.push_back({labelled ? series["metric"] : json::object(), series["value"][1].get<std::string>()});
  }
  return rows;
}

}  // namespace

std::string query_url(const std::string& server, std::string_view query) {
  std::string url = server + "/api/v1/query";
  net::add_query(url, "query", query);
  return url;
}

std::string targets_query(std::string_view ns) { return fmt::format("up{{namespace=\"{}\"}}", ns); }

std::string series_query(std::string_view matchers) { return fmt::format("count({{{}}})", matchers); }

std::string gateway_query(std::string_view ns) {
  return fmt::format(
      "sum by (model_name, target_model_name) "
      "({{__name__=~\"llm_d_epp_flow_control_queue_size|inference_extension_flow_control_queue_size\","
      "namespace=\"{}\"}})",
      ns);
}

std::string gpu_duty_query(std::string_view ns) {
  const std::string unrenamed = fmt::format("{{namespace=\"{}\",exported_pod=\"\"}}", ns);
  const std::string renamed = fmt::format("{{exported_namespace=\"{}\"}}", ns);
  return fmt::format(
      "max by (exported_pod, pod) (DCGM_FI_DEV_GPU_UTIL{0} or DCGM_FI_DEV_GPU_UTIL{1} or "
      "100 * DCGM_FI_PROF_GR_ENGINE_ACTIVE{0} or 100 * DCGM_FI_PROF_GR_ENGINE_ACTIVE{1})",
      renamed, unrenamed);
}

void count_targets(const std::string& body, explain::PrometheusFacts& server) {
  const auto rows = rows_of(body);
  if (!rows) {
    server.error = "the answer is not one of Prometheus' API";
    return;
  }
  for (const Row& row : *rows) {
    const bool up = row.value == "1";
    ++(up ? server.targets_up : server.targets_down);
    if (!up) server.down_target = row.label("instance");
  }
}

void note_series(const std::string& body, explain::PrometheusFacts& server) {
  if (const auto rows = rows_of(body)) server.has_series = !rows->empty();
}

std::optional<std::int64_t> gateway_waiting(const std::string& body, std::string_view model) {
  std::optional<double> sum;
  for (const Row& row : rows_of(body).value_or(std::vector<Row>())) {
    const std::string target = row.label("target_model_name");
    const std::string asked = row.label("model_name");
    const bool named = !target.empty() || !asked.empty();
    if (named && !model.empty() && target != model && asked != model) continue;
    if (const auto number = row.number()) sum = sum.value_or(0) + *number;
  }
  constexpr double kMaxRequests = 1e9;
  return sum ? std::optional<std::int64_t>(std::llround(std::min(*sum, kMaxRequests))) : std::nullopt;
}

std::map<std::string, std::int64_t> gpu_duty(const std::string& body) {
  constexpr double kMaxPercent = 100;
  std::map<std::string, std::int64_t> duty;
  for (const Row& row : rows_of(body).value_or(std::vector<Row>())) {
    const std::string renamed = row.label("exported_pod");
    const std::string pod = renamed.empty() ? row.label("pod") : renamed;
    const auto number = row.number();
    if (pod.empty() || !number || *number > kMaxPercent) continue;
    std::int64_t& percent = duty[pod];
    percent = std::max<std::int64_t>(percent, std::llround(*number));
  }
  return duty;
}

}  // namespace capstan::op
