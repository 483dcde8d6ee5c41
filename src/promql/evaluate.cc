#include "promql/evaluate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "promql/aggregate.h"
#include "promql/binary.h"
#include "promql/fault.h"
#include "promql/function.h"
#include "promql/histogram_quantile.h"
#include "promql/instant_function.h"
#include "promql/lexer.h"
#include "promql/range_function.h"
#include "promql/value.h"

namespace capstan::promql {
namespace {

/// The functions that `Evaluator` implements. range_function.h and instant_function.h have the other ones.
constexpr std::string_view kEvaluatorFunctions[] = {
    "absent",     "absent_over_time", "clamp", "clamp_max", "clamp_min", "histogram_quantile",
    "label_join", "label_replace",    "round", "scalar",    "sort",      "sort_desc",
    "time",       "timestamp",        "vector"};

std::int64_t ms(Duration duration) { return duration / std::chrono::milliseconds(1); }

Value make(Vector vector) {
  return {.type = ValueType::vector, .scalar = 0, .text = {}, .vector = std::move(vector), .matrix = {}};
}
Value make(double scalar) {
  return {.type = ValueType::scalar, .scalar = scalar, .text = {}, .vector = {}, .matrix = {}};
}

std::optional<EvaluationFault> find_unsupported(const Expression& expression) {
  if (const auto* binary = std::get_if<Binary>(&expression.node); binary && binary->op == Binary::Op::atan2) {
    return EvaluationFault{expression.span.begin, "Capstan does not evaluate atan2"};
  }
  const auto* call = std::get_if<Call>(&expression.node);
  if (call == nullptr) return std::nullopt;
  const std::string_view name = call->function->name;
  if (find_range_function(name) != nullptr || find_instant_function(name) != nullptr) return std::nullopt;
  if (std::ranges::find(kEvaluatorFunctions, name) != std::end(kEvaluatorFunctions)) return std::nullopt;
  return EvaluationFault{expression.span.begin, "Capstan does not evaluate " + std::string(name)};
}

class Evaluator {
 public:
  Evaluator(const SeriesStore& store, std::int64_t at_ms, const EvaluationOptions& options)
      : store_(store), at_ms_(at_ms), query_ms_(at_ms), options_(options) {}

  Value value(const Expression& expression) {
    if (const std::optional<EvaluationFault> fault = find_unsupported(expression)) throw *fault;
    return std::visit([&](const auto& node) { return value(expression, node); }, expression.node);
  }

 private:
  /// The points of one series inside a range.
  struct Window {
    Labels labels;
    std::vector<Point> points;
  };
  /// A range, and its points by series.
  struct Windows {
    std::int64_t start_ms = 0;
    std::int64_t end_ms = 0;
    std::vector<Window> all;
  };

  void spend(std::int64_t points, const Place& place) {
    if ((spent_ += points) > options_.points_max)
      throw EvaluationFault{place, "the expression would read too many points"};
  }

  std::int64_t time_ms(const Shift& shift) const {
    std::int64_t at = at_ms_;
    if (shift.at == Shift::At::fixed) at = shift.at_ms;
    if (shift.at == Shift::At::start || shift.at == Shift::At::end) at = query_ms_;
    return at - ms(shift.offset);
  }

  Value value(const Expression&, const Number& node) { return make(node.value); }
  Value value(const Expression&, const Text& node) {
    Value out = make(0.0);
    out.type = ValueType::string;
    out.text = node.value;
    return out;
  }

  std::vector<const Series*> select(const Selector& node) const {
    const std::vector<LabelTest> tests(node.matchers.begin(), node.matchers.end());
    return store_.select(node.metric, tests);
  }

  /// Returns the last point that is not older than the lookback, or null if there is none or the series has ended.
  const Point* latest(const Series& series, std::int64_t at) const {
    const auto after = std::ranges::upper_bound(series.points, at, {}, &Point::at_ms);
    if (after == series.points.begin()) return nullptr;
    const Point& point = *std::prev(after);
    return point.at_ms < at - ms(options_.lookback) || is_stale_marker(point.value) ? nullptr : &point;
  }

  Value value(const Expression& expression, const Selector& node) {
    if (node.range) return matrix(expression);
    Vector out;
    const std::int64_t at = time_ms(node.shift);
    for (const Series* series : select(node)) {
      spend(1, expression.span.begin);
      if (const Point* point = latest(*series, at)) out.push_back({series->labels, point->value});
    }
    return make(std::move(out));
  }

  Value value(const Expression& expression, const Subquery&) { return matrix(expression); }

  Value matrix(const Expression& expression) {
    Value out;
    out.type = ValueType::matrix;
    for (Window& window : windows(expression).all)
      out.matrix.push_back({std::move(window.labels), std::move(window.points)});
    return out;
  }

  Windows windows(const Expression& expression) {
    if (const auto* subquery = std::get_if<Subquery>(&expression.node)) return windows(expression, *subquery);
    const auto& node = std::get<Selector>(expression.node);
    Windows out;
    out.end_ms = time_ms(node.shift);
    out.start_ms = out.end_ms - ms(*node.range);
    for (const Series* series : select(node)) {
      const auto first = std::ranges::lower_bound(series->points, out.start_ms, {}, &Point::at_ms);
      const auto last = std::ranges::upper_bound(series->points, out.end_ms, {}, &Point::at_ms);
      if (first >= last) continue;
      spend(last - first, expression.span.begin);
      std::vector<Point> points;
      std::copy_if(first, last, std::back_inserter(points), [](const Point& p) { return !is_stale_marker(p.value); });
      if (!points.empty()) out.all.push_back({series->labels, std::move(points)});
    }
    return out;
  }

  /// Evaluates the parts that do not depend on the time, only to find faults in them. Prometheus evaluates such parts
  /// once in advance and reports their faults even if the range contains no step.
  void evaluate_fixed(const Expression& expression) {
    if (is_fixed(expression)) {
      value(expression);
      return;
    }
    for (const Expression* child : children(expression)) evaluate_fixed(*child);
  }

  /// Evaluates the inner expression at each multiple of the step inside the range.
  Windows windows(const Expression& expression, const Subquery& node) {
    Windows out;
    out.end_ms = time_ms(node.shift);
    out.start_ms = out.end_ms - ms(node.range);
    const std::int64_t step = std::max<std::int64_t>(1, ms(node.step.value_or(options_.subquery_step)));
    std::int64_t at = step * (out.start_ms / step);
    if (at < out.start_ms) at += step;
    std::map<Labels, std::size_t> places;
    const std::int64_t outer_at_ms = at_ms_;
    at_ms_ = at;
    if (at > out.end_ms) evaluate_fixed(*node.operand);
    for (; at <= out.end_ms; at += step) {
      spend(1, expression.span.begin);
      at_ms_ = at;
      for (Sample& sample : value(*node.operand).vector) {
        const auto [place, is_new] = places.try_emplace(sample.labels, out.all.size());
        if (is_new) out.all.push_back({sample.labels, {}});
        out.all[place->second].points.push_back({at, sample.value});
      }
    }
    at_ms_ = outer_at_ms;
    return out;
  }

  Value value(const Expression& expression, const Aggregation& node) {
    double parameter = 0;
    std::string label;
    if (node.parameter) {
      const Value argument = value(*node.parameter);
      parameter = argument.scalar;
      label = argument.text;
    }
    (void)expression;
    return make(aggregate(node, value(*node.operand).vector, parameter, label));
  }

  Value value(const Expression& expression, const Negation& node) {
    Value result = value(*node.operand);
    result.scalar = -result.scalar;
    for (Sample& sample : result.vector) {
      sample.value = -sample.value;
      remove(sample.labels, kMetricName);
    }
    return unique(std::move(result), expression);
  }

  Value value(const Expression& expression, const Binary& node) {
    const Value left = value(*node.left);
    const Value right = value(*node.right);
    const bool left_number = left.type == ValueType::scalar;
    const bool right_number = right.type == ValueType::scalar;
    if (left_number && right_number) return make(combine(node.op, left.scalar, right.scalar));
    if (left_number) return unique(make(combine(node, right.vector, left.scalar, true)), expression);
    if (right_number) return unique(make(combine(node, left.vector, right.scalar, false)), expression);
    return unique(make(combine(node, left.vector, right.vector, expression.span.begin)), expression);
  }

  Value value(const Expression& expression, const Call& node) {
    const std::string_view name = node.function->name;
    if (const RangeFunction function = find_range_function(name)) return over_range(expression, node, function);
    if (const InstantFunction function = find_instant_function(name)) {
      return map_values(expression, node, [&](double x) { return function(x); });
    }
    return evaluate_special(expression, node, name);
  }

  Value over_range(const Expression& expression, const Call& node, RangeFunction function) {
    RangeContext context;
    const Expression* range = nullptr;
    for (const ExpressionPtr& argument : node.arguments) {
      if (argument->type == ValueType::matrix)
        range = argument.get();
      else
        context.parameter = value(*argument).scalar;
    }
    const Windows input = windows(*range);
    context.range_start_ms = input.start_ms;
    context.range_end_ms = input.end_ms;
    context.at_ms = at_ms_;
    Vector out;
    for (const Window& window : input.all) {
      const std::optional<double> result = function(window.points, context);
      if (!result) continue;
      out.push_back({window.labels, *result});
      if (node.function->name != "last_over_time") remove(out.back().labels, kMetricName);
    }
    return unique(make(std::move(out)), expression);
  }

  Value map_values(const Expression& expression, const Call& node, auto&& change) {
    Vector out = value(*node.arguments[0]).vector;
    for (Sample& sample : out) {
      sample.value = change(sample.value);
      remove(sample.labels, kMetricName);
    }
    return unique(make(std::move(out)), expression);
  }

  double number(const Call& node, std::size_t argument) { return value(*node.arguments[argument]).scalar; }

  Value evaluate_special(const Expression& expression, const Call& node, std::string_view name) {
    if (name == "time") return make(static_cast<double>(at_ms_) / 1000);
    if (name == "vector") return make(Vector{{{}, number(node, 0)}});
    if (name == "absent" || name == "absent_over_time") return absent(node);
    if (name == "label_replace") return label_replace(expression, node);
    if (name == "label_join") return label_join(expression, node);
    if (name == "timestamp") return timestamp(expression, node);
    if (name == "histogram_quantile") {
      return unique(make(histogram_quantile(number(node, 0), value(*node.arguments[1]).vector)), expression);
    }
    if (name == "scalar") {
      const Vector argument = value(*node.arguments[0]).vector;
      return make(argument.size() == 1 ? argument[0].value : kNan);
    }
    if (name == "sort" || name == "sort_desc") return sorted(node, name == "sort_desc");
    if (name == "round") {
      const double nearest = node.arguments.size() > 1 ? number(node, 1) : 1;
      return map_values(expression, node, [&](double x) { return round_to(x, nearest); });
    }
    return clamp(expression, node, name);
  }

  Value clamp(const Expression& expression, const Call& node, std::string_view name) {
    const double infinity = std::numeric_limits<double>::infinity();
    const double low = name == "clamp_max" ? -infinity : number(node, 1);
    const double high = name == "clamp_min" ? infinity : number(node, name == "clamp" ? 2 : 1);
    if (high < low) return make(Vector());
    return map_values(expression, node, [&](double x) {
      if (std::isnan(x) || std::isnan(low) || std::isnan(high)) return kNan;
      return std::max(low, std::min(high, x));
    });
  }

  Value sorted(const Call& node, bool down) {
    Vector out = value(*node.arguments[0]).vector;
    std::ranges::stable_sort(out, [&](const Sample& a, const Sample& b) {
      if (std::isnan(a.value) || std::isnan(b.value)) return !std::isnan(a.value) && std::isnan(b.value);
      return down ? a.value > b.value : a.value < b.value;
    });
    return make(std::move(out));
  }

  /// Returns one element if the argument is empty. The element has each label for which the selector has exactly one
  /// matcher, with the operator `=`.
  Value absent(const Call& node) {
    const Expression& argument = *node.arguments[0];
    const Value found = value(argument);
    if (!found.vector.empty() || !found.matrix.empty()) return make(Vector());
    Labels labels;
    std::set<std::string> seen;
    if (const auto* selector = std::get_if<Selector>(&argument.node)) {
      for (const LabelMatcher& matcher : selector->matchers) {
        if (matcher.name == kMetricName) continue;
        const bool first = seen.insert(matcher.name).second;
        if (first && matcher.op == LabelMatcher::Op::equal)
          set(labels, matcher.name, matcher.value);
        else
          remove(labels, matcher.name);
      }
    }
    return make(Vector{{labels, 1}});
  }

  std::string text_of(const Call& node, std::size_t argument) { return value(*node.arguments[argument]).text; }

  static void check_label(const Expression& at, const std::string& name) {
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
    const bool good = !name.empty() && is_letter(name[0]) &&
                      std::ranges::all_of(name, [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
    if (!good) throw EvaluationFault{at.span.begin, "\"" + name.substr(0, 40) + "\" is not a label name"};
  }

  Value label_replace(const Expression& expression, const Call& node) {
    const std::string target = text_of(node, 1), with = text_of(node, 2), from = text_of(node, 3);
    const Regex regex(text_of(node, 4));
    if (const std::optional<std::string> fault = regex.fault()) {
      throw EvaluationFault{node.arguments[4]->span.begin, "the regular expression is invalid: " + *fault};
    }
    check_label(*node.arguments[1], target);
    Vector out = value(*node.arguments[0]).vector;
    for (Sample& sample : out) {
      const std::optional<std::string> replaced = regex.replaced(get(sample.labels, from), with);
      if (replaced) set(sample.labels, target, *replaced);
    }
    return unique(make(std::move(out)), expression);
  }

  Value label_join(const Expression& expression, const Call& node) {
    const std::string target = text_of(node, 1), separator = text_of(node, 2);
    check_label(*node.arguments[1], target);
    Vector out = value(*node.arguments[0]).vector;
    for (Sample& sample : out) {
      std::string joined;
      for (std::size_t i = 3; i < node.arguments.size(); ++i) {
        joined += (i > 3 ? separator : "") + std::string(get(sample.labels, text_of(node, i)));
      }
      set(sample.labels, target, joined);
    }
    return unique(make(std::move(out)), expression);
  }

  /// Returns the times of the points if the argument is a selector, otherwise the evaluation time.
  Value timestamp(const Expression& expression, const Call& node) {
    const auto* selector = std::get_if<Selector>(&node.arguments[0]->node);
    if (selector == nullptr)
      return map_values(expression, node, [&](double) { return static_cast<double>(at_ms_) / 1000; });
    Vector out;
    for (const Series* series : select(*selector)) {
      const Point* point = latest(*series, time_ms(selector->shift));
      if (point == nullptr) continue;
      out.push_back({series->labels, static_cast<double>(point->at_ms) / 1000});
      remove(out.back().labels, kMetricName);
    }
    return unique(make(std::move(out)), expression);
  }

  static Value unique(Value value, const Expression& expression) {
    std::set<Labels> seen;
    for (const Sample& sample : value.vector) {
      if (!seen.insert(sample.labels).second) {
        throw EvaluationFault{expression.span.begin,
                              "two series of the result have the same labels " + text(sample.labels)};
      }
    }
    return value;
  }

  const SeriesStore& store_;
  std::int64_t at_ms_;           ///< evaluation time; a subquery changes it
  const std::int64_t query_ms_;  ///< time of the whole query
  const EvaluationOptions& options_;
  std::int64_t spent_ = 0;
};

}  // namespace

Result<Value> evaluate(const Expression& expression, const SeriesStore& store, std::int64_t at_ms,
                       const EvaluationOptions& options, const std::string& source) {
  try {
    return Evaluator(store, at_ms, options).value(expression);
  } catch (EvaluationFault& fault) {
    return std::unexpected(error_at(source, fault.place, std::move(fault.message)));
  }
}

std::optional<Error> check_evaluable(const Expression& expression, const std::string& source) {
  std::optional<Error> first;
  walk(expression, [&](const Expression& part) {
    if (std::optional<EvaluationFault> fault = first ? std::nullopt : find_unsupported(part)) {
      first = error_at(source, fault->place, std::move(fault->message));
    }
  });
  return first;
}

}  // namespace capstan::promql
