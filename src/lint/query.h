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
  /// A query of prometheus-adapter, with what it puts in: this metric for `<<.Series>>`, some labels for the others.
  Query(const File& file, const Value& text, std::string_view series);

  /// Why it is no PromQL, with where; none where it is.
  const std::optional<std::string>& fault() const { return fault_; }
  Span fault_span() const { return fault_span_; }
  const promql::Expression* root() const { return root_.get(); }
  Span span_of(const promql::Span& span) const;
  std::vector<MetricUse> metrics() const;
  const Value& text() const { return *text_; }
  /// What was read as PromQL: the text, or what came of a template.
  std::string_view read() const { return filled_.empty() ? text_->text : std::string_view(filled_); }
  /// What a template was filled with; empty where the query is none.
  std::string_view series() const { return series_; }

 private:
  /// Where something was put in, in what is read, and for what, in what is written.
  struct Hole {
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
  std::vector<Hole> holes_;
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
  void add_rule(const Value& rule);

  const File* file_;
  AdapterRules adapter_;
  std::vector<Row> rows_;
};

/// Calls `visit` with each query of a scaler that can be parsed, and the signal that it is of.
void each_query(const ScalerQueries& scaler, const std::function<void(const ScalingSignal&, const Query&)>& visit);

/// The labels that an expression's series have; nothing where they are those of its selectors, hence unknown. None at
/// all means that there is one series.
std::optional<std::set<std::string>> labels_of(const promql::Expression& expression);

/// The expression without what only guards it: `x or vector(0)`, `x > 0`.
const promql::Expression& without_guard(const promql::Expression& expression);

/// An expression behind its guard, and behind a constant that it is multiplied by: `max(x) * 100`.
struct Scaled {
  const promql::Expression* of = nullptr;
  double factor = 1;
};
Scaled without_factor(const promql::Expression& expression);

/// A name that is used for scaling: of a metric of an HPA, or of a query's selector.
struct NameUse {
  const ScalingSignal* signal = nullptr;
  std::string name;
  Span span;
};
/// Calls `visit` with every metric's name that a scaler uses.
void each_metric_name(const ScalerQueries& scaler, const std::function<void(const NameUse&)>& visit);

/// Returns true if it is a share between 0 and 1 of a known engine.
bool is_ratio_metric(std::string_view name);

}  // namespace capstan::lint
