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

/// PromQL expressions as data. Source: prometheus promql/parser of 2.42 (Debian 12) and its documentation.
namespace capstan::promql {

/// Where something stands in the text of an expression. Line and column count from 1, the column in bytes.
struct Place {
  std::uint32_t offset = 0;
  std::uint32_t line = 1;
  std::uint32_t column = 1;
  friend bool operator==(const Place&, const Place&) = default;
};

/// From the first byte up to, and without, the last one.
struct Span {
  Place begin;
  std::uint32_t end_offset = 0;
};

enum class ValueType : std::uint8_t { scalar, string, vector, matrix };
std::string_view name(ValueType type);  ///< "instant vector", as Prometheus' own messages have it

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

/// `offset 5m` and `@ 1700000000`, behind a selector or a subquery.
struct Shift {
  enum class At : std::uint8_t { evaluation, fixed, start, end };
  Duration offset{};
  At at = At::evaluation;
  std::int64_t at_ms = 0;  ///< where fixed: milliseconds since 1970
};

/// `vllm:num_requests_waiting{model_name="m"}[5m] offset 1m`.
struct Selector {
  std::string metric;                  ///< empty where only the matchers say
  std::vector<LabelMatcher> matchers;  ///< without the one that `metric` stands for
  std::optional<Duration> range;       ///< a range vector
  Shift shift;
};

/// `expression[1h:5m]`.
struct Subquery {
  ExpressionPtr of;
  Duration range{};
  std::optional<Duration> step;  ///< nothing: the server's evaluation interval
  Shift shift;
};

/// `sum by (model_name) (...)`.
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
  ExpressionPtr parameter;  ///< of topk, bottomk, count_values and quantile
  ExpressionPtr of;
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
  bool on = false;                    ///< `on (labels)`; otherwise `ignoring (labels)`, which is also the default
  std::vector<std::string> labels;    ///< of on or ignoring
  Group group = Group::none;          ///< group_left: many on the left
  std::vector<std::string> included;  ///< group_left (included)
  ExpressionPtr left;
  ExpressionPtr right;
};
std::string_view text(Binary::Op op);
bool is_comparison(Binary::Op op);
bool is_set_operator(Binary::Op op);

/// `-expression`; a `+` leaves none.
struct Negation {
  ExpressionPtr of;
};

struct Expression {
  Span span;  ///< without parentheses around it
  ValueType type = ValueType::scalar;
  std::variant<Number, Text, Selector, Subquery, Aggregation, Call, Binary, Negation> node;
};

/// The expressions that this one is made of, in the order of the text.
std::vector<const Expression*> children(const Expression& expression);
/// Calls `visit` with the expression and everything inside it, outer ones first.
void walk(const Expression& expression, const std::function<void(const Expression&)>& visit);

/// Is it the same at every moment: are all its selectors and subqueries at a stated one (`@`)? What Prometheus calls
/// step invariant, which it evaluates once (promql/engine.go, PreprocessExpr).
bool is_fixed(const Expression& expression);

/// The expression written again, with as many parentheses as it needs: `parse` reads an equal one from it.
std::string to_text(const Expression& expression);

}  // namespace capstan::promql
