#include "operator/facts/metrics_api.h"

#include <fmt/format.h>

#include <utility>

#include <nlohmann/json.hpp>

#include "net/url.h"

namespace capstan::op {
namespace {

using nlohmann::json;

/// Returns the member of an object if it has the wanted type; otherwise an empty value of that type.
json member(const json& object, const char* name, json::value_t type) {
  if (!object.is_object() || !object.contains(name) || object[name].type() != type) return json(type);
  return object[name];
}

std::string text_member(const json& object, const char* name) {
  return member(object, name, json::value_t::string).get<std::string>();
}

json parsed(const std::string& text) { return json::parse(text, nullptr, false); }

std::string selector_text(const kube::StringMap& labels) {
  std::string text;
  for (const auto& [key, value] : labels.entries()) text += fmt::format("{}{}={}", text.empty() ? "" : ",", key, value);
  return text;
}

/// Returns true if the adapter lists a rule for the metric. KEDA lists no metrics; with KEDA, only a request for the
/// metric's value shows that its rule is missing.
bool lists(const std::string& resources, const HpaMetric& metric) {
  for (const json& row : member(parsed(resources), "resources", json::value_t::array)) {
    const std::string name = text_member(row, "name");
    if (name == metric.name || name == "pods/" + metric.name) return true;
  }
  return false;
}

/// Returns true if the metric remains unknown, because the API server refused the request or did not answer it.
bool is_unread(const kube::Outcome& outcome) {
  return !outcome.ok() && (outcome.error.code == 0 || outcome.error.code == 401 || outcome.error.code == 403);
}

}  // namespace

std::vector<HpaMetric> hpa_metrics(const std::string& hpa) {
  std::vector<HpaMetric> metrics;
  const json spec = member(parsed(hpa), "spec", json::value_t::object);
  for (const json& row : member(spec, "metrics", json::value_t::array)) {
    const std::string type = text_member(row, "type");
    if (type != "Pods" && type != "External") continue;
    const json source = member(row, type == "Pods" ? "pods" : "external", json::value_t::object);
    const json metric = member(source, "metric", json::value_t::object);
    HpaMetric read{.name = text_member(metric, "name"), .external = type == "External"};
    const json selector = member(metric, "selector", json::value_t::object);
    const json labels = member(selector, "matchLabels", json::value_t::object);
    for (const auto& label : labels.items()) {
      if (label.value().is_string()) read.labels.set(label.key(), label.value().get<std::string>());
    }
    if (!read.name.empty()) metrics.push_back(std::move(read));
  }
  return metrics;
}

std::string preferred_version(const std::string& group) {
  return text_member(member(parsed(group), "preferredVersion", json::value_t::object), "groupVersion");
}

std::string values_path(const HpaMetric& metric, const std::string& version, std::string_view ns,
                        const kube::StringMap& pods) {
  const std::string name = net::percent_encode(metric.name);
  std::string path = fmt::format("/apis/{}/namespaces/{}/{}{}", version, ns, metric.external ? "" : "pods/*/", name);
  if (metric.external) {
    if (!metric.labels.empty()) net::add_query(path, "labelSelector", selector_text(metric.labels));
    return path;
  }
  if (!pods.empty()) net::add_query(path, "labelSelector", selector_text(pods));
  if (!metric.labels.empty()) net::add_query(path, "metricLabelSelector", selector_text(metric.labels));
  return path;
}

explain::AdapterFacts adapter_facts(const HpaMetric& metric, const MetricAnswers& answers) {
  explain::AdapterFacts facts;
  facts.metric = metric.name;
  for (const kube::Outcome* outcome : {&answers.group, &answers.resources, &answers.values}) {
    if (outcome->ok()) continue;
    facts.error = outcome->error.text();
    if (is_unread(*outcome)) {
      facts.unread = facts.error;
      return facts;
    }
    break;
  }
  facts.api_registered = answers.group.ok() && !preferred_version(answers.group.body).empty() && answers.resources.ok();
  if (!facts.api_registered) return facts;
  const bool listed = lists(answers.resources.body, metric);
  const json items = member(parsed(answers.values.body), "items", json::value_t::array);
  facts.has_value = answers.values.ok() && !items.empty();
  facts.metric_served = listed || answers.values.ok();
  return facts;
}

}  // namespace capstan::op
