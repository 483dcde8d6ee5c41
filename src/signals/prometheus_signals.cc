#include "signals/prometheus_signals.h"

#include <algorithm>
#include <set>

namespace capstan::signals {

std::string PrometheusSignals::expression() const {
  const MetricCatalog& catalog = *query_.reader.catalog;
  std::set<std::string> names = {"process_start_time_seconds"};
  for (const MetricRow& row : catalog.rows()) {
    if (query_.reader.engine && row.engine != *query_.reader.engine) continue;
    std::string name = row.metric + (row.kind == MetricKind::histogram ? "_bucket" : "");
    const std::size_t colon = name.find(':');
    if (colon != std::string::npos) name.replace(colon, 1, "[:_]");  // adapters replace ':' with '_'
    names.insert(std::move(name));
  }
  std::string alternatives;
  for (const std::string& name : names) alternatives += (alternatives.empty() ? "" : "|") + name;
  std::string text = "{" + promql({"__name__", Matcher::Op::matches, "(kserve_)?(" + alternatives + ")"});
  for (const Matcher& matcher : query_.matchers) text += "," + promql(matcher);
  return text + "}[" + std::to_string(query_.lookback / std::chrono::milliseconds(1)) + "ms]";
}

void PrometheusSignals::take(const ApiAnswer& answer, Instant now, std::int64_t unix_ms) {
  warnings_ = answer.warnings;
  std::map<std::string, Moments> by_target;
  for (const ApiSeries& series : answer.series) {
    Moments& moments = by_target[std::string(series.label(query_.target_label))];
    for (const ApiPoint& point : series.points) moments[point.unix_ms].emplace_back(&series, point.value);
  }
  for (const auto& [name, moments] : by_target) {
    auto found = targets_.find(name);
    if (found == targets_.end()) {
      if (targets_.size() >= query_.targets_max) continue;
      found = targets_.emplace(name, Target{TargetReader(query_.reader), std::nullopt}).first;
    }
    take_target(found->second, moments, now, unix_ms);
  }
  std::erase_if(targets_, [&](auto& entry) {
    if (by_target.contains(entry.first)) return false;
    return entry.second.last_ms &&
           unix_ms - *entry.second.last_ms > 10 * (query_.lookback / std::chrono::milliseconds(1));
  });
  for (auto& [name, target] : targets_) {
    if (!by_target.contains(name)) target.reader.failed(MissingReason::no_metric);
  }
}

/// Reads the samples of each time as one page, because a scrape stores all its samples with one time.
void PrometheusSignals::take_target(Target& target, const Moments& moments, Instant now, std::int64_t unix_ms) const {
  for (const auto& [at_ms, values] : moments) {
    if (target.last_ms && at_ms <= *target.last_ms) continue;
    target.last_ms = at_ms;
    CellCollector collected = target.reader.collector();
    std::vector<Label> labels;
    for (const auto& [series, value] : values) {
      labels.clear();
      Sample sample;
      for (const auto& [name, text] : series->labels) {
        if (name == "__name__") {
          sample.name = text;
        } else {
          labels.push_back({name, text});
        }
      }
      sample.labels = labels;
      sample.value = value;
      collected.take(sample);
    }
    const Duration age = std::chrono::milliseconds(std::max<std::int64_t>(0, unix_ms - at_ms));
    target.reader.read(collected, {now - std::min(age, now.since_start), 0});
  }
}

void PrometheusSignals::failed(const Error& error) {
  for (auto& [name, target] : targets_) target.reader.failed(MissingReason::scrape_failed, error);
}

std::vector<std::string> PrometheusSignals::targets() const {
  std::vector<std::string> names;
  for (const auto& [name, target] : targets_) names.push_back(name);
  return names;
}

TargetReadings PrometheusSignals::readings(const std::string& target, Instant now) const {
  const auto found = targets_.find(target);
  return found == targets_.end() ? TargetReadings() : found->second.reader.readings(now);
}

}  // namespace capstan::signals
