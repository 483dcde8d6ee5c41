#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "lint/object.h"
#include "lint/scalers.h"
#include "promql/expression.h"

namespace capstan::lint {

/// A selector of a query, with the name of its metric wherever that is written.
struct MetricUse {
  const promql::Expression* expression = nullptr;
  const promql::Selector* selector = nullptr;
  std::string name;  ///< empty where only a pattern says it
  Span span;         ///< of the name, in the file

  const promql::LabelMatcher* matcher(std::string_view label) const;
};

/// A PromQL query in a manifest.
class Query {
 public:
  Query(const File& file, const Value& text);

  /// Why it is no PromQL, with where; none where it is.
  const std::optional<std::string>& fault() const { return fault_; }
  Span fault_span() const { return fault_span_; }
  const promql::Expression* root() const { return root_.get(); }
  Span span_of(const promql::Span& span) const;
  std::vector<MetricUse> metrics() const;
  const Value& text() const { return *text_; }

 private:
  const File* file_;
  const Value* text_;
  promql::ExpressionPtr root_;
  std::optional<std::string> fault_;
  Span fault_span_;
};

/// The signals of a scaler, their queries parsed: once for all rules.
class ScalerQueries {
 public:
  explicit ScalerQueries(const Object& scaler);

  struct Row {
    ScalingSignal signal;
    std::optional<Query> query;  ///< of a signal that is one
  };
  const std::vector<Row>& rows() const { return rows_; }
  const File& file() const { return *file_; }

 private:
  const File* file_;
  std::vector<Row> rows_;
};

/// Calls `visit` with each query of a scaler that can be parsed, and the signal that it is of.
void each_query(const ScalerQueries& scaler, const std::function<void(const ScalingSignal&, const Query&)>& visit);

/// The labels that an expression's series have; nothing where they are those of its selectors, hence unknown. None at
/// all means that there is one series.
std::optional<std::set<std::string>> labels_of(const promql::Expression& expression);

/// The expression without what only guards it: `x or vector(0)`, `x > 0`.
const promql::Expression& without_guard(const promql::Expression& expression);

/// A name that is used for scaling: of a metric of an HPA, or of a query's selector.
struct NameUse {
  const ScalingSignal* signal = nullptr;
  std::string name;
  Span span;
};
/// Calls `visit` with every metric's name that a scaler uses.
void each_metric_name(const ScalerQueries& scaler, const std::function<void(const NameUse&)>& visit);

/// Is it a share between 0 and 1, as far as its name says?
bool is_ratio_metric(std::string_view name);

}  // namespace capstan::lint
