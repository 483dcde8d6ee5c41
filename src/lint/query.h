#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "lint/adapter.h"
#include "lint/object.h"
#include "lint/scalers.h"
#include "promql/expression.h"

namespace capstan::lint {

/// A selector of a query and the name of its metric. The name is written as `name{...}` or as a `__name__` label.
struct MetricUse {
  const promql::Expression* expression = nullptr;
  const promql::Selector* selector = nullptr;
  std::string name;  ///< name; empty if only a pattern names the metric
  Span span;         ///< place of the name in the file

  const promql::LabelMatcher* matcher(std::string_view label) const;
};

/// A PromQL query in a manifest.
class Query {
 public:
  Query(const File& file, const Value& text);
  /// Fills the template of a prometheus-adapter query and parses the result. `<<.Series>>` becomes this series, and the
  /// other variables become labels.
  Query(const File& file, const Value& text, std::string_view series);

  /// Returns the syntax error, whose place is fault_span(); none if the text is valid PromQL.
  const std::optional<std::string>& fault() const { return fault_; }
  Span fault_span() const { return fault_span_; }
  const promql::Expression* root() const { return root_.get(); }
  Span span_of(const promql::Span& span) const;
  std::vector<MetricUse> metrics() const;
  const Value& text() const { return *text_; }
  /// Returns the text that was parsed as PromQL: the text in the file, or the filled template.
  std::string_view read() const { return filled_.empty() ? text_->text : std::string_view(filled_); }
  /// Returns the series that replaced `<<.Series>>`; empty if the query is not a template.
  std::string_view series() const { return series_; }

 private:
  /// The byte range of a variable in the filled text (`begin`, `end`) and in the file's text (`written`,
  /// `written_end`).
  struct TemplateVariable {
    std::size_t begin = 0, end = 0, written = 0, written_end = 0;
  };

  void parse();
  void fill_in();
  std::size_t written(std::size_t offset) const;
  Span place_of(std::size_t begin, std::size_t end) const;

  const File* file_;
  const Value* text_;
  std::string series_;
  std::string filled_;
  std::vector<TemplateVariable> variables_;
  promql::ExpressionPtr root_;
  std::optional<std::string> fault_;
  Span fault_span_;
};

/// The signals of a scaler, a PrometheusRule or the rules of an adapter, with their parsed queries. They are parsed
/// once for all rules.
class ScalerQueries {
 public:
  explicit ScalerQueries(const Object& scaler);

  struct Row {
    ScalingSignal signal;
    std::optional<Query> query;  ///< parsed query, if the signal is a query
  };
  const std::vector<Row>& rows() const { return rows_; }
  const File& file() const { return *file_; }

 private:
  void add_rule(const Value& rule);

  const File* file_;
  AdapterRules adapter_;
  std::vector<Row> rows_;
};

/// Calls `visit` with each query of a scaler that can be parsed, and with the query's signal.
void for_each_query(const ScalerQueries& scaler, const std::function<void(const ScalingSignal&, const Query&)>& visit);

/// Returns the labels of an expression's series. Returns none if the labels come from a selector and are therefore
/// unknown. An empty set means that the expression yields one series.
std::optional<std::set<std::string>> labels_of(const promql::Expression& expression);

/// Returns the expression without guards such as `x or vector(0)` or `x > 0`.
const promql::Expression& without_guard(const promql::Expression& expression);

/// An expression without its guard and its constant factor. For `max(x) * 100` these are `max(x)` and 100.
struct Scaled {
  const promql::Expression* expression = nullptr;
  double factor = 1;
};
Scaled without_factor(const promql::Expression& expression);

/// The name of a metric that a scaler uses, from a metric of an HPA or from a selector of a query.
struct NameUse {
  const ScalingSignal* signal = nullptr;
  std::string name;
  Span span;
};
/// Calls `visit` with the name of every metric that a scaler uses.
void for_each_metric_name(const ScalerQueries& scaler, const std::function<void(const NameUse&)>& visit);

/// Returns true if the metric of a known engine is a ratio between 0 and 1.
bool is_ratio_metric(std::string_view name);

}  // namespace capstan::lint
