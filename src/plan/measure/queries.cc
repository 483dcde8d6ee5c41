#include "plan/measure/queries.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "engine/names.h"
#include "manifest/fields.h"
#include "plan/objects/names.h"

namespace capstan::plan {

namespace {

using namespace std::chrono_literals;
using manifest::duration_text;
using signals::Matcher;
using Labels = std::vector<std::pair<std::string, std::string>>;

constexpr std::array kEngines = {Engine::vllm, Engine::sglang, Engine::tensorrt_llm, Engine::triton};

std::string selector_of(const Labels& labels) {
  std::string text;
  for (const auto& [label, value] : labels) {
    text += (text.empty() ? "" : ",") + signals::promql({label, Matcher::Op::equal, value});
  }
  return text;
}

/// The metrics that the server has, in the server's spelling, each with the models of its series.
struct Inventory {
  std::map<std::string, std::set<std::string>> models;  ///< models by metric

  /// Returns the first of these metrics of which the server has series of the model, in the server's spelling. An exact
  /// name is preferred.
  std::optional<MeasurableMetric> find(const std::vector<MeasurableMetric>& metrics, std::string_view suffix,
                                       const std::string& model) const {
    for (const MeasurableMetric& metric : metrics) {
      const std::string name = metric.name + std::string(suffix);
      std::optional<std::string> spelling;
      for (const auto& [found, its_models] : models) {
        if (!is_spelling_of(found, name) || !its_models.contains(model)) continue;
        if (!spelling || found == name) spelling = found;
      }
      if (spelling) return MeasurableMetric{spelling->substr(0, spelling->size() - suffix.size()), metric.where};
    }
    return std::nullopt;
  }
};

Inventory inventory_of(const signals::ApiAnswer& answer, const std::string& model_label) {
  Inventory inventory;
  for (const signals::ApiSeries& series : answer.series) {
    inventory.models[std::string(series.label("__name__"))].emplace(series.label(model_label));
  }
  return inventory;
}

std::string list_words(const std::set<std::string>& names) {
  constexpr std::size_t kShown = 8;
  std::string text;
  std::size_t count = 0;
  for (const std::string& name : names) {
    if (++count > kShown) return text + fmt::format(" and {} more", names.size() - kShown);
    text += fmt::format("{}\"{}\"", text.empty() ? "" : ", ", name);
  }
  return text;
}

/// Returns the models whose requests are counted.
std::set<std::string> counted_models(const Inventory& inventory, const MeasurableMetrics& metrics) {
  std::set<std::string> models;
  for (const auto& [found, its_models] : inventory.models) {
    const bool counts = std::ranges::any_of(
        metrics.finished, [&](const MeasurableMetric& metric) { return is_spelling_of(found, metric.name); });
    if (counts) models.insert(its_models.begin(), its_models.end());
  }
  return models;
}

/// Returns the message for a counter that the server does not hold.
std::string missing_counter(const ServiceSpec& service, const MeasurableMetrics& metrics, const Inventory& inventory) {
  std::string others;
  for (const Engine engine : kEngines) {
    const std::set<std::string> models = counted_models(inventory, measurable_metrics(engine));
    if (!models.empty()) others += fmt::format("{}{}", others.empty() ? "" : ", ", engine_key(engine));
  }
  const std::string labels = selector_of(service.load.measure.labels);
  const std::string where = labels.empty() ? "" : fmt::format(" with {}", labels);
  return fmt::format(
      "no series of {}{} in the last {}, expected the counter of finished requests of {}; {}", metrics.finished[0].name,
      where, duration_text(service.load.measure.history_length), engine_key(service.engine),
      others.empty() ? std::string("check load.prometheus.labels and the PodMonitor")
                     : fmt::format("the server has requests of {}: state that as the engine of the service", others));
}

/// Returns the service's model as the series name it. If the series have only one model, returns that one.
Result<std::string> model_of_series(const ServiceSpec& service, const engine::EngineTable& engines,
                                    const std::set<std::string>& models, const std::string& label) {
  if (models.size() == 1) return *models.begin();
  if (models.contains(service.served_model_name)) return service.served_model_name;
  std::set<std::string> same;
  for (const std::string& model : models) {
    const auto known = engine::model_of_name(engines, model);
    if (known && known->model == service.model) same.insert(model);
  }
  if (same.size() == 1) return *same.begin();
  return std::unexpected(measure_error(
      service, inventory_query(service),
      fmt::format("the series are of {} models ({}), {} of them {}, expected one: state it in load.prometheus.labels, "
                  "such as {}: {}",
                  models.size(), list_words(models), same.size(), service.model, label,
                  (same.empty() ? models : same).contains("") ? "..." : *(same.empty() ? models : same).begin())));
}

std::string with_selector(const MeasurableMetric& metric, std::string_view suffix, Labels labels) {
  labels.insert(labels.end(), metric.where.begin(), metric.where.end());
  return fmt::format("{}{}{{{}}}", metric.name, suffix, selector_of(labels));
}

}  // namespace

std::string inventory_query(const ServiceSpec& service) {
  const MeasurableMetrics metrics = measurable_metrics(service.engine);
  std::vector<std::string> names;
  const auto add = [&](const std::vector<MeasurableMetric>& list, std::string_view suffix) {
    for (const MeasurableMetric& metric : list) {
      const std::string pattern = spelling_pattern(metric.name + std::string(suffix));
      if (std::ranges::find(names, pattern) == names.end()) names.push_back(pattern);
    }
  };
  add(metrics.finished, "");
  add(metrics.running, "");
  add(metrics.waiting, "");
  add(metrics.prompt_lengths, "_bucket");
  add(metrics.answer_lengths, "_bucket");
  add(metrics.prompt_tokens, "");
  add(metrics.answer_tokens, "");
  for (const Engine other : kEngines) add(measurable_metrics(other).finished, "");
  std::string selector = signals::promql({"__name__", Matcher::Op::matches, fmt::format("{}", fmt::join(names, "|"))});
  const std::string labels = selector_of(service.load.measure.labels);
  if (!labels.empty()) selector += "," + labels;
  return fmt::format("count by (__name__, {}) (last_over_time({{{}}}[{}]))", metrics.model_label, selector,
                     duration_text(service.load.measure.history_length));
}

const MeasureQuery* MeasureQueries::find(MeasuredPart part) const {
  const auto found = std::ranges::find(queries, part, &MeasureQuery::part);
  return found == queries.end() ? nullptr : &*found;
}

Result<MeasureQueries> measure_queries(const ServiceSpec& service, const engine::EngineTable& engines,
                                       const signals::ApiAnswer& answer) {
  const MeasurableMetrics metrics = measurable_metrics(service.engine);
  const Inventory inventory = inventory_of(answer, metrics.model_label);
  const std::set<std::string> models = counted_models(inventory, metrics);
  if (models.empty()) {
    return std::unexpected(
        measure_error(service, inventory_query(service), missing_counter(service, metrics, inventory)));
  }
  Result<std::string> model = model_of_series(service, engines, models, metrics.model_label);
  if (!model) return std::unexpected(model.error());
  MeasureQueries out{.model = std::move(*model), .queries = {}};
  Labels labels = service.load.measure.labels;
  const bool is_stated = std::ranges::any_of(labels, [&](const auto& l) { return l.first == metrics.model_label; });
  if (!out.model.empty() && !is_stated) labels.emplace_back(metrics.model_label, out.model);
  const std::string over = duration_text(service.load.measure.history_length);
  const auto increase = [&](const MeasurableMetric& metric, std::string_view suffix, std::string_view by) {
    return fmt::format("sum{} (increase({}[{}]))", by, with_selector(metric, suffix, labels), over);
  };

  const auto finished = inventory.find(metrics.finished, "", out.model);
  out.queries.push_back({MeasuredPart::rate,
                         fmt::format("sum (rate({}[{}]))", with_selector(*finished, "", labels),
                                     duration_text(rate_window(service.load.measure.step))),
                         true});
  if (const auto running = inventory.find(metrics.running, "", out.model)) {
    std::string query = fmt::format("sum ({})", with_selector(*running, "", labels));
    if (const auto waiting = inventory.find(metrics.waiting, "", out.model)) {
      query += fmt::format(" + sum ({})", with_selector(*waiting, "", labels));
    }
    out.queries.push_back({MeasuredPart::in_flight, std::move(query), true});
  }
  const auto add_lengths = [&](const std::vector<MeasurableMetric>& histograms, MeasuredPart buckets, MeasuredPart sum,
                               const std::vector<MeasurableMetric>& counters, MeasuredPart tokens) {
    if (const auto histogram = inventory.find(histograms, "_bucket", out.model)) {
      out.queries.push_back({buckets, increase(*histogram, "_bucket", " by (le)"), false});
      out.queries.push_back({sum, increase(*histogram, "_sum", ""), false});
    } else if (const auto counter = inventory.find(counters, "", out.model)) {
      out.queries.push_back({tokens, increase(*counter, "", ""), false});
    }
  };
  add_lengths(metrics.prompt_lengths, MeasuredPart::prompt_lengths, MeasuredPart::prompt_sum, metrics.prompt_tokens,
              MeasuredPart::prompt_tokens);
  add_lengths(metrics.answer_lengths, MeasuredPart::answer_lengths, MeasuredPart::answer_sum, metrics.answer_tokens,
              MeasuredPart::answer_tokens);
  return out;
}

Duration rate_window(Duration step) { return std::max(step, std::min<Duration>(4 * step, 2min)); }

Error measure_error(const ServiceSpec& service, std::string_view query, std::string_view message) {
  return Error::about(service.load.measure.url,
                      fmt::format("services.{}.load.prometheus: {}; query: {}", service.name, message, query));
}

}  // namespace capstan::plan
