#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "promql/evaluate.h"

namespace capstan::peers {

/// A query of a peer: a PromQL expression, its text, and what its author should know of it.
class MetricQuery {
 public:
  /// @return an error with the place inside the text of what cannot be evaluated
  static Result<MetricQuery> parse(const std::string& text, const std::string& source);

  const std::string& text() const { return text_; }
  /// What a server answers now; an error is one that it would give.
  Result<promql::Value> ask(const promql::SeriesStore& series, std::int64_t at_ms) const;

  /// "DCGM_FI_DEV_GPU_UTIL ..." where it reads the GPU's duty cycle or memory: they say nothing about load.
  std::optional<std::string> bad_signal() const;

  friend bool operator==(const MetricQuery& a, const MetricQuery& b) { return a.text_ == b.text_; }

 private:
  std::string text_;
  std::shared_ptr<const promql::Expression> expression_;
};

/// The series that an HPA's metric of this name stands for, as a metrics adapter has them: the name itself, with the
/// first colon that an engine has and the HPA's API has not, or the rate of a counter. Nothing where no engine exports
/// such a series.
std::optional<std::string> series_of_metric(std::string_view metric, std::string_view matchers);

/// Every name that simulated engines, their GPUs and the gateway export.
const std::vector<std::string_view>& exported_metrics();

}  // namespace capstan::peers
