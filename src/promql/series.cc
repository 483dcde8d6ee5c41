#include "promql/series.h"

#include <algorithm>
#include <bit>

namespace capstan::promql {
namespace {

auto find_label(auto& labels, std::string_view name) {
  return std::ranges::lower_bound(labels, name, {}, [](const auto& label) { return std::string_view(label.first); });
}

constexpr std::uint64_t kStaleBits = 0x7ff0000000000002;

}  // namespace

std::string_view get(const Labels& labels, std::string_view name) {
  const auto found = find_label(labels, name);
  return found != labels.end() && found->first == name ? std::string_view(found->second) : std::string_view();
}

void set(Labels& labels, std::string_view name, std::string_view value) {
  if (value.empty()) return remove(labels, name);
  const auto found = find_label(labels, name);
  if (found != labels.end() && found->first == name)
    found->second = value;
  else
    labels.emplace(found, name, value);
}

void remove(Labels& labels, std::string_view name) {
  const auto found = find_label(labels, name);
  if (found != labels.end() && found->first == name) labels.erase(found);
}

std::string text(const Labels& labels) {
  std::string inside;
  for (const auto& [name, value] : labels) {
    if (name != kMetricName) inside += (inside.empty() ? "" : ",") + name + "=\"" + value + "\"";
  }
  const std::string metric(get(labels, kMetricName));
  return inside.empty() && !metric.empty() ? metric : metric + "{" + inside + "}";
}

double stale_marker() { return std::bit_cast<double>(kStaleBits); }
bool is_stale_marker(double value) { return std::bit_cast<std::uint64_t>(value) == kStaleBits; }

void SeriesStore::append(const Labels& labels, Point point) {
  const auto [entry, is_new] = by_labels_.try_emplace(labels, series_.size());
  if (is_new) {
    by_metric_[std::string(get(labels, kMetricName))].push_back(series_.size());
    series_.push_back({labels, {}});
  }
  std::vector<Point>& points = series_[entry->second].points;
  if (points.empty() || points.back().at_ms < point.at_ms) points.push_back(point);
}

void SeriesStore::forget_before(std::int64_t at_ms) {
  std::vector<Series> kept;
  for (Series& series : series_) {
    const auto first = std::ranges::lower_bound(series.points, at_ms, {}, &Point::at_ms);
    series.points.erase(series.points.begin(), first);
    if (!series.points.empty()) kept.push_back(std::move(series));
  }
  series_ = std::move(kept);
  by_labels_.clear();
  by_metric_.clear();
  for (std::size_t i = 0; i < series_.size(); ++i) {
    by_labels_[series_[i].labels] = i;
    by_metric_[std::string(get(series_[i].labels, kMetricName))].push_back(i);
  }
}

std::vector<const Series*> SeriesStore::select(std::string_view metric, const std::vector<LabelTest>& tests) const {
  std::vector<const Series*> out;
  const auto add = [&](const Series& series) {
    if (std::ranges::all_of(tests,
                            [&](const LabelTest& test) { return test.matches(get(series.labels, test.label())); }))
      out.push_back(&series);
  };
  if (metric.empty()) {
    for (const Series& series : series_) add(series);
  } else if (const auto found = by_metric_.find(metric); found != by_metric_.end()) {
    for (const std::size_t index : found->second) add(series_[index]);
  }
  return out;
}

}  // namespace capstan::promql
