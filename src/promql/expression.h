#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/time.h"

/// The syntax tree of PromQL expressions. Source: prometheus promql/parser of 2.42 (Debian 12) and its documentation.
namespace capstan::promql {

/// A position in the text of an expression. Line and column count from 1; the column counts bytes.
struct Place {
  std::uint32_t offset = 0;
  std::uint32_t line = 1;
  std::uint32_t column = 1;
  friend bool operator==(const Place&, const Place&) = default;
};

/// A range of bytes; the end is exclusive.
struct Span {
  Place begin;
  std::uint32_t end_offset = 0;
};

enum class ValueType : std::uint8_t { scalar, string, vector, matrix };
std::string_view name(ValueType type);  ///< "instant vector", as in the messages of Prometheus

struct LabelMatcher {
  enum class Op : std::uint8_t { equal, not_equal, matches, not_matches };
  std::string name;
  Op op = Op::equal;
  std::string value;
  Span span;
};
std::string_view text(LabelMatcher::Op op);

struct Expression;
using ExpressionPtr = std::unique_ptr<Expression>;

struct Number {
  double value = 0;
};
struct Text {
  std::string value;
};

/// The time shift after a selector or a subquery: `offset 5m`, `@ 1700000000`.
struct Shift {
  enum class At : std::uint8_t { evaluation, fixed, start, end };
  Duration offset{};
  At at = At::evaluation;
  std::int64_t at_ms = 0;  ///< milliseconds since 1970, set if `at` is fixed
};

/// A selector, such as `vllm:num_requests_waiting{model_name="m"}[5m] offset 1m`.
struct Selector {
  std::string metric;                  ///< metric name; empty if only the matchers select
  std::vector<LabelMatcher> matchers;  ///< matchers in braces
  std::optional<Duration> range;       ///< range, for a range vector
  Shift shift;
};

/// A subquery, such as `expression[1h:5m]`.
struct Subquery {
  ExpressionPtr operand;
  Duration range{};
  std::optional<Duration> step;  ///< step; by default the server's evaluation interval
  Shift shift;
};

/// An aggregation, such as `sum by (model_name) (...)`.
struct Aggregation {
  enum class Op : std::uint8_t {
    sum,
    avg,
    count,
    min,
    max,
    group,
    stddev,
    stdvar,
    topk,
    bottomk,
    count_values,
    quantile
  };
  Op op = Op::sum;
  ExpressionPtr parameter;  ///< first argument of topk, bottomk, count_values and quantile
  ExpressionPtr operand;
  bool without = false;
  std::vector<std::string> labels;
};
std::string_view text(Aggregation::Op op);

struct Function;  // promql/function.h

struct Call {
  const Function* function = nullptr;
  std::vector<ExpressionPtr> arguments;
};

struct Binary {
  enum class Op : std::uint8_t {
    add,
    subtract,
    multiply,
    divide,
    modulo,
    power,
    atan2,
    equal,
    not_equal,
    less,
    less_equal,
    greater,
    greater_equal,
    and_,
    or_,
    unless
  };
  enum class Group : std::uint8_t { none, left, right };
  Op op = Op::add;
  bool returns_bool = false;
  bool on = false;                    ///< true for `on (labels)`, false for `ignoring (labels)`
  std::vector<std::string> labels;    ///< labels of on or ignoring
  Group group = Group::none;          ///< "many" side: left for group_left
  std::vector<std::string> included;  ///< labels of group_left or group_right
  ExpressionPtr left;
  ExpressionPtr right;
};
std::string_view text(Binary::Op op);
bool is_comparison(Binary::Op op);
bool is_set_operator(Binary::Op op);

/// A negation, `-expression`. A `+` adds no node.
struct Negation {
  ExpressionPtr operand;
};

struct Expression {
  Span span;  ///< place without surrounding parentheses
  ValueType type = ValueType::scalar;
  std::variant<Number, Text, Selector, Subquery, Aggregation, Call, Binary, Negation> node;
};

/// Returns the direct parts of the expression, in the order of the text.
std::vector<const Expression*> children(const Expression& expression);
/// Calls `visit` with the expression and with everything inside it, outer expressions first.
void walk(const Expression& expression, const std::function<void(const Expression&)>& visit);

/// Returns true if the value is the same at every time: all selectors and subqueries have an `@`, and no function
/// depends on the evaluation time. Inside a subquery with an `@`, neither is required. Prometheus calls such an
/// expression step invariant, and evaluates it once (promql/engine.go, PreprocessExpr).
bool is_fixed(const Expression& expression);

/// Formats the expression with all needed parentheses. `parse` reads an equal expression from the text.
std::string to_text(const Expression& expression);

}  // namespace capstan::promql
