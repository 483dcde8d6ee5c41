#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "promql/evaluate.h"

namespace capstan::peers {

/// A peer's query: its text and its parsed PromQL expression.
class MetricQuery {
 public:
  /// @return an error with its place in the text if the query cannot be evaluated
  static Result<MetricQuery> parse(const std::string& text, const std::string& source);

  const std::string& text() const { return text_; }
  /// Returns the answer that a Prometheus server would give at this time, or its error.
  Result<promql::Value> ask(const promql::SeriesStore& series, std::int64_t at_ms) const;

  /// Returns a warning if the query reads the GPU's duty cycle or memory, which say nothing about load.
  std::optional<std::string> bad_signal() const;

  friend bool operator==(const MetricQuery& a, const MetricQuery& b) { return a.text_ == b.text_; }

 private:
  std::string text_;
  std::shared_ptr<const promql::Expression> expression_;
};

/// Returns the query behind an HPA's metric name, as a metrics adapter maps the name: the name itself, the name with
/// its first '_' changed to the ':' that the HPA's API does not allow, or the rate of a counter. Returns none if
/// `exported_metrics` has no such series.
std::optional<std::string> series_of_metric(std::string_view metric, std::string_view matchers);

/// Returns every metric name that simulated engines, their GPUs, the gateway and Kueue export.
const std::vector<std::string_view>& exported_metrics();

}  // namespace capstan::peers
