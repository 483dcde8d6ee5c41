#include "decide/scale/peers/keda_formula.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <vector>

#include "base/portable_math.h"

namespace capstan::decide::scale::keda {
namespace {

using Number = std::optional<double>;  ///< nothing: nil

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// x to the power of y; exact for whole powers as far as doubles are.
double power(double x, double y) {
  constexpr double kMostSteps = 1024, kMostExponent = 700;
  if (std::abs(y) <= kMostSteps && std::floor(y) == y) {
    double result = 1;
    for (double n = 0; n < std::abs(y); ++n) result *= x;
    return y < 0 ? 1 / result : result;
  }
  if (!(x > 0)) return x == 0 && y > 0 ? 0 : std::nan("");
  const double exponent = y * portable_log(x);
  return std::abs(exponent) <= kMostExponent ? portable_exp(exponent) : exponent > 0 ? HUGE_VAL : 0;
}

/// A parser that computes as it reads, one function a level of precedence; the first error ends it.
class Parser {
 public:
  Parser(std::string_view text, const Lookup& lookup) : text_(text), lookup_(lookup) {}

  Result<Number> run() {
    const Number value = choice();
    skip_spaces();
    if (!error_ && at_ < text_.size()) fail("expected the end");
    if (error_) return std::unexpected(std::move(*error_));
    return value;
  }

 private:
  static constexpr int kMostDeep = 100;

  Number choice() {
    if (++depth_ > kMostDeep) return fail("nested more than 100 deep");
    const Number condition = coalesce();
    if (!take("?")) {
      --depth_;
      return condition;
    }
    const bool chosen = number(condition) != 0;
    const Number yes = unless(!chosen, &Parser::choice);
    if (!take(":")) fail("expected :");
    const Number no = unless(chosen, &Parser::choice);
    --depth_;
    return chosen ? yes : no;
  }

  /// A part that must be read, and where it is unwanted has no say: nil is no error in it.
  Number unless(bool unwanted, Number (Parser::*part)()) {
    unwanted_ += unwanted ? 1 : 0;
    const Number value = (this->*part)();
    unwanted_ -= unwanted ? 1 : 0;
    return value;
  }

  Number coalesce() {
    Number value = comparison();
    while (take("??")) {
      const Number otherwise = unless(value.has_value(), &Parser::comparison);
      if (!value) value = otherwise;
    }
    return value;
  }

  Number comparison() {
    const Number left = sum();
    for (const std::string_view sign : {"<=", ">=", "==", "!=", "<", ">"}) {
      if (!take(sign)) continue;
      const Number right = sum();
      if (sign == "==") return left == right ? 1 : 0;
      if (sign == "!=") return left != right ? 1 : 0;
      const double a = number(left), b = number(right);
      const bool holds = sign == "<=" ? a <= b : sign == ">=" ? a >= b : sign == "<" ? a < b : a > b;
      return holds ? 1 : 0;
    }
    return left;
  }

  Number sum() {
    Number value = product();
    while (!error_) {
      if (take("+"))
        value = number(value) + number(product());
      else if (take("-"))
        value = number(value) - number(product());
      else
        break;
    }
    return value;
  }

  Number product() {
    Number value = negation();
    while (!error_) {
      if (take("*"))
        value = number(value) * number(negation());
      else if (take("/"))
        value = number(value) / number(negation());
      else if (take("%"))
        value = std::fmod(number(value), number(negation()));
      else
        break;
    }
    return value;
  }

  Number negation() {
    bool negative = false;
    while (take("-")) negative = !negative;
    const Number value = raised();
    return negative ? Number(-number(value)) : value;
  }

  Number raised() {
    const Number base = operand();
    if (!take("**") && !take("^")) return base;
    const double exponent = number(negation());
    return power(number(base), exponent);
  }

  Number operand() {
    skip_spaces();
    if (take("(")) {
      const Number value = choice();
      if (!take(")")) return fail("expected )");
      return value;
    }
    if (at_ < text_.size() && (is_digit(text_[at_]) || text_[at_] == '.')) return literal();
    if (at_ < text_.size() && is_letter(text_[at_])) return named();
    return fail("expected a number, a trigger or (");
  }

  Number literal() {
    double value = 0;
    const char* begin = text_.data() + at_;
    const auto [end, fault] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (fault != std::errc()) return fail("expected a number");
    at_ += static_cast<std::size_t>(end - begin);
    return value;
  }

  Number named() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
    const std::string_view name = text_.substr(begin, at_ - begin);
    if (name == "nil") return std::nullopt;
    if (take("(")) return call(name, begin);
    const std::optional<Number> value = lookup_(name);
    if (value) return *value;
    at_ = begin;
    return fail("\"" + std::string(name) + "\" is no trigger, expected one");
  }

  Number call(std::string_view name, std::size_t begin) {
    std::vector<double> values = {number(choice())};
    while (take(",")) values.push_back(number(choice()));
    if (!take(")")) return fail("expected ) or ,");
    if (name == "min") return *std::ranges::min_element(values);
    if (name == "max") return *std::ranges::max_element(values);
    if (values.size() == 1) {
      if (name == "abs") return std::abs(values[0]);
      if (name == "ceil") return std::ceil(values[0]);
      if (name == "floor") return std::floor(values[0]);
      if (name == "round") return std::round(values[0]);
    }
    at_ = begin;
    return fail("\"" + std::string(name) + "\" is not supported here, expected abs, ceil, floor, round, min or max");
  }

  /// The value of a number; nil is an error.
  double number(const Number& value) {
    if (value) return *value;
    if (unwanted_ > 0) return 0;
    fail("arithmetic with nil, expected ?? before it");
    return 0;
  }

  void skip_spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }

  /// Steps over `sign`, unless a longer sign stands there.
  bool take(std::string_view sign) {
    if (error_) return false;
    skip_spaces();
    const std::string_view rest = text_.substr(at_);
    if (!rest.starts_with(sign)) return false;
    if ((sign == "*" && rest.starts_with("**")) || (sign == "?" && rest.starts_with("??"))) return false;
    at_ += sign.size();
    return true;
  }

  Number fail(const std::string& what) {
    if (!error_) {
      const auto column = static_cast<std::uint32_t>(at_ + 1);
      error_ = Error{ErrorKind::input, "formula", 1, column, what};
    }
    return 0;
  }

  std::string_view text_;
  const Lookup& lookup_;
  std::size_t at_ = 0;
  int depth_ = 0;
  int unwanted_ = 0;  ///< parts around this one whose value is not wanted
  std::optional<Error> error_;
};

}  // namespace

Result<std::optional<double>> evaluate_formula(std::string_view formula, const Lookup& lookup) {
  return Parser(formula, lookup).run();
}

}  // namespace capstan::decide::scale::keda
