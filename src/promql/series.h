#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "promql/regex.h"

namespace capstan::promql {

/// The labels of a series, sorted by name. The metric name is under `__name__`. No value is empty.
using Labels = std::vector<std::pair<std::string, std::string>>;
inline constexpr std::string_view kMetricName = "__name__";

std::string_view get(const Labels& labels, std::string_view name);  ///< value of a label; empty if missing
void set(Labels& labels, std::string_view name, std::string_view value);
void remove(Labels& labels, std::string_view name);
std::string text(const Labels& labels);  ///< metric{a="b"}

struct Point {
  std::int64_t at_ms = 0;  ///< milliseconds since 1970, or since another origin that the store uses throughout
  double value = 0;
  friend bool operator==(const Point&, const Point&) = default;
};

struct Series {
  Labels labels;
  std::vector<Point> points;  ///< points sorted by time, no two at one time
};

/// Returns the value that Prometheus writes to mark the end of a series.
double stale_marker();
bool is_stale_marker(double value);

/// Series in memory, in the order of their first points.
class SeriesStore {
 public:
  /// Appends a point. Ignores a point that is not newer than the last one of its series, as Prometheus does.
  void append(const Labels& labels, Point point);
  /// Deletes the points before a time, and series without points. Later queries must not look further back.
  void forget_before(std::int64_t at_ms);

  std::vector<const Series*> select(std::string_view metric, const std::vector<LabelTest>& tests) const;
  std::size_t size() const { return series_.size(); }

 private:
  std::vector<Series> series_;
  std::map<Labels, std::size_t> by_labels_;
  std::map<std::string, std::vector<std::size_t>, std::less<>> by_metric_;
};

}  // namespace capstan::promql
