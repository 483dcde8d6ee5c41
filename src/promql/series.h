#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "promql/regex.h"

namespace capstan::promql {

/// Labels of a series by name, its metric's name under `__name__`; none has an empty value.
using Labels = std::vector<std::pair<std::string, std::string>>;
inline constexpr std::string_view kMetricName = "__name__";

std::string_view get(const Labels& labels, std::string_view name);  ///< empty where it is not there
void set(Labels& labels, std::string_view name, std::string_view value);
void remove(Labels& labels, std::string_view name);
std::string text(const Labels& labels);  ///< metric{a="b"}

struct Point {
  std::int64_t at_ms = 0;  ///< since 1970, or since whatever the store counts from
  double value = 0;
  friend bool operator==(const Point&, const Point&) = default;
};

struct Series {
  Labels labels;
  std::vector<Point> points;  ///< in the order of time, each moment once
};

/// The value that says that a series has ended, as Prometheus writes it.
double stale_marker();
bool is_stale_marker(double value);

/// Series in memory, as a Prometheus server would hold them. They stand in the order in which they came.
class SeriesStore {
 public:
  /// A point that is not newer than the last one of its series is left out, as Prometheus refuses it.
  void append(const Labels& labels, Point point);
  /// Forgets points before a moment, and series without points. A reader must not look further back.
  void forget_before(std::int64_t at_ms);

  std::vector<const Series*> select(std::string_view metric, const std::vector<LabelTest>& tests) const;
  std::size_t size() const { return series_.size(); }

 private:
  std::vector<Series> series_;
  std::map<Labels, std::size_t> by_labels_;
  std::map<std::string, std::vector<std::size_t>, std::less<>> by_metric_;
};

}  // namespace capstan::promql
