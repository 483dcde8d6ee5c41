#include "peers/formula/keda_formula.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "base/portable_math.h"

namespace capstan::peers::keda {
namespace {

/// The value of a part of a formula. Lists hold no lists, so that no list has more items than the formula has parts.
struct Item {
  enum class Type : std::uint8_t { nil, truth, number, list };

  static Item make(bool truth) { return {.type = Type::truth, .truth = truth}; }
  static Item make(double number, bool whole) { return {.type = Type::number, .number = number, .whole = whole}; }
  static Item make(std::vector<Item> items) { return {.type = Type::list, .items = std::move(items)}; }

  Type type = Type::nil;
  bool truth = false;
  double number = 0;
  bool whole = false;
  std::vector<Item> items = {};

  bool is_nil() const { return type == Type::nil; }
  friend bool operator==(const Item& a, const Item& b) {
    return a.type == b.type && a.truth == b.truth && a.number == b.number && a.items == b.items;
  }
};

/// Values that a predicate can refer to.
struct Scope {
  Item element, accumulator;
  std::size_t index = 0;
};

/// Returns x to the power of y, where x is finite and above 0; exact for integer powers within double precision.
double positive_power(double x, double y) {
  constexpr double kMaxSteps = 1075, kMaxExponent = 700;  // the least double is 2 to the power of -1074
  if (std::abs(y) <= kMaxSteps && std::floor(y) == y) {
    const double factor = y < 0 ? 1 / x : x;
    double result = 1;
    for (double n = 0; n < std::abs(y); ++n) result *= factor;
    return result;
  }
  // portable_log() takes no subnormal number, so such a number is multiplied by 2 to the power of 54.
  constexpr double kLogOfFactor = 54 * 0.69314718055994530942;
  const bool is_subnormal = x < std::numeric_limits<double>::min();
  const double exponent = y * (is_subnormal ? portable_log(x * 0x1p54) - kLogOfFactor : portable_log(x));
  return std::abs(exponent) <= kMaxExponent ? portable_exp(exponent) : exponent > 0 ? HUGE_VAL : 0;
}

/// Computes a power like Go's math.Pow, whose special cases are those of C.
double power(double x, double y) {
  if (y == 0 || x == 1 || (x == -1 && std::isinf(y))) return 1;
  if (std::isnan(x) || std::isnan(y)) return std::nan("");
  if (x < 0 && std::isfinite(x) && std::floor(y) != y) return std::nan("");
  const bool is_limit = x == 0 || std::isinf(x);
  const double limit = (x == 0) == (y < 0) ? HUGE_VAL : 0;
  const double size = is_limit ? limit : positive_power(std::abs(x), y);
  return std::signbit(x) && std::abs(std::fmod(y, 2)) == 1 ? -size : size;
}

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

/// Evaluates a tree and keeps the first error. Values that are computed after an error have no meaning.
class Evaluation {
 public:
  explicit Evaluation(const Lookup& lookup) : lookup_(lookup) {}

  Result<std::optional<double>> run(const Expression& formula) {
    const Item result = value(formula);
    std::optional<double> number;
    if (!result.is_nil()) number = number_of(result, formula);
    if (error_) return std::unexpected(std::move(*error_));
    return number;
  }

 private:
  using Kind = Expression::Kind;
  static constexpr int kMaxSteps = 100'000;  ///< limit of steps, because nested predicates multiply them

  Item value(const Expression& part) {
    if (++steps_ > kMaxSteps) return fail(part, "takes more than 100000 steps, expected at most 100000");
    if (error_) return {};
    switch (part.kind) {
      case Kind::nil:
        return {};
      case Kind::truth:
        return Item::make(part.truth);
      case Kind::number:
        return Item::make(part.number, part.whole);
      case Kind::trigger: {
        const std::optional<double> stated = lookup_(part.text).value_or(std::nullopt);
        return stated ? Item::make(*stated, false) : Item();
      }
      case Kind::element:
        return scopes_.back().element;
      case Kind::accumulator:
        return scopes_.back().accumulator;
      case Kind::index:
        return Item::make(static_cast<double>(scopes_.back().index), true);
      case Kind::list:
        return list(part);
      case Kind::call:
        return part.predicate ? call_with_predicate(part) : call(part);
      case Kind::sign:
        return part.parts.size() == 1 ? prefix(part) : infix(part);
      case Kind::comparison:
        return comparison(part);
      case Kind::choice:
        return value(part.parts[truth(part.parts[0]) ? 1 : 2]);
    }
    return {};
  }

  std::vector<Item> values(const Expression& part) {
    std::vector<Item> all;
    for (const Expression& child : part.parts) all.push_back(value(child));
    return all;
  }

  Item list(const Expression& part) {
    std::vector<Item> items = values(part);
    for (const Item& item : items) reject_list(item, part);
    return Item::make(std::move(items));
  }

  Item prefix(const Expression& part) {
    if (part.text == "!") return Item::make(!truth(part.parts[0]));
    Item operand = value(part.parts[0]);
    const double number = number_of(operand, part);
    return Item::make(part.text == "-" ? -number : number, operand.whole);
  }

  Item infix(const Expression& part) {
    const Expression &first = part.parts[0], &second = part.parts[1];
    const std::string_view sign = part.text;
    if (sign == "&&" || sign == "and") return Item::make(truth(first) && truth(second));
    if (sign == "||" || sign == "or") return Item::make(truth(first) || truth(second));
    const Item left = value(first);
    if (sign == "??") return left.is_nil() ? value(second) : left;
    const Item right = value(second);
    const double a = number_of(left, first), b = number_of(right, second);
    const bool whole = left.whole && right.whole;
    if (sign == "+") return Item::make(a + b, whole);
    if (sign == "-") return Item::make(a - b, whole);
    if (sign == "*") return Item::make(a * b, whole);
    if (sign == "/") return Item::make(a / b, false);
    if (sign != "%") return Item::make(power(a, b), false);
    if (!whole || b == 0) return fail(part, "% of a number that is not an integer, or by 0; expected int( )");
    return Item::make(std::fmod(a, b), true);
  }

  Item comparison(const Expression& part) {
    Item left = value(part.parts[0]);
    bool holds = true;
    for (std::size_t i = 0; i < part.signs.size() && holds && !error_; ++i) {
      Item right = value(part.parts[i + 1]);
      holds = compare(part.signs[i], left, right, part);
      left = std::move(right);
    }
    return Item::make(holds);
  }

  bool compare(std::string_view sign, const Item& left, const Item& right, const Expression& part) {
    if (sign == "==" || sign == "!=") {
      const bool comparable = left.type == right.type || left.is_nil() || right.is_nil();
      if (!comparable) fail(part, "compares values of different types, expected the same type");
      return (left == right) == (sign == "==");
    }
    const double a = number_of(left, part), b = number_of(right, part);
    return sign == "<=" ? a <= b : sign == ">=" ? a >= b : sign == "<" ? a < b : a > b;
  }

  /// Evaluates a function without a predicate.
  Item call(const Expression& part) {
    const std::vector<Item> all = values(part);
    const Item& only = all.front();
    const std::string_view name = part.text;
    if (name == "min" || name == "max") return extreme(all, name == "max", part);
    if (name == "mean" || name == "median") {
      std::vector<double> numbers;
      gather(all, numbers, part);
      if (name == "median") return Item::make(median_of(std::move(numbers)), false);
      const double sum = std::accumulate(numbers.begin(), numbers.end(), 0.0);
      return Item::make(numbers.empty() ? 0 : sum / static_cast<double>(numbers.size()), false);
    }
    if (name == "len" || name == "first" || name == "last" || name == "count" || name == "sum") {
      const std::vector<Item>& items = items_of(only, part);
      if (name == "len") return Item::make(static_cast<double>(items.size()), true);
      if (name == "sum") return sum_of(items, part);
      if (name == "count") {
        double count = 0;
        for (const Item& item : items) count += truth_of(item, part) ? 1 : 0;
        return Item::make(count, true);
      }
      if (items.empty()) return {};
      return name == "first" ? items.front() : items.back();
    }
    const double number = number_of(only, part);
    if (name == "abs") return Item::make(std::abs(number), only.whole);
    if (name == "int") return Item::make(std::trunc(number), true);
    if (name == "ceil") return Item::make(std::ceil(number), false);
    if (name == "floor") return Item::make(std::floor(number), false);
    if (name == "round") return Item::make(std::round(number), false);
    return Item::make(number, false);  // float
  }

  /// Evaluates a function of a list with a predicate for each of its items.
  Item call_with_predicate(const Expression& part) {
    const Item list = value(part.parts[0]);
    const std::vector<Item>& items = items_of(list, part);
    if (part.text == "reduce") return reduce(part, items);
    const bool of_values = part.text == "map" || part.text == "sum";
    std::vector<Item> results, selected;
    std::vector<std::size_t> indices;
    for (std::size_t i = 0; i < items.size() && !error_; ++i) {
      results.push_back(predicate(part, {items[i], {}, i}));
      if (of_values || !truth_of(results.back(), part)) continue;
      selected.push_back(items[i]);
      indices.push_back(i);
    }
    const std::string_view name = part.text;
    if (name == "map") return Item::make(std::move(results));
    if (name == "sum") return sum_of(results, part);
    if (name == "filter") return Item::make(std::move(selected));
    if (name == "count") return Item::make(static_cast<double>(selected.size()), true);
    if (name == "all") return Item::make(selected.size() == items.size());
    if (name == "any") return Item::make(!selected.empty());
    if (name == "none") return Item::make(selected.empty());
    if (name == "one") return Item::make(selected.size() == 1);
    if (selected.empty()) return {};
    if (name == "find") return selected.front();
    if (name == "findLast") return selected.back();
    return Item::make(static_cast<double>(name == "findIndex" ? indices.front() : indices.back()), true);
  }

  Item reduce(const Expression& part, const std::vector<Item>& items) {
    const bool begun = part.parts.size() > 2;
    if (!begun && items.empty()) return fail(part, "reduces an empty list, expected an initial value");
    Item so_far = begun ? value(part.parts[2]) : items.front();
    reject_list(so_far, part);
    for (std::size_t i = begun ? 0 : 1; i < items.size() && !error_; ++i) {
      so_far = predicate(part, {items[i], so_far, i});
    }
    return so_far;
  }

  Item predicate(const Expression& part, Scope scope) {
    scopes_.push_back(std::move(scope));
    Item result = value(part.parts[1]);
    reject_list(result, part);
    scopes_.pop_back();
    return result;
  }

  /// Collects numbers, including those inside lists.
  void gather(const std::vector<Item>& items, std::vector<double>& numbers, const Expression& part) {
    for (const Item& item : items) {
      if (item.type == Item::Type::list)
        gather(item.items, numbers, part);
      else
        numbers.push_back(number_of(item, part));
    }
  }

  Item extreme(const std::vector<Item>& items, bool most, const Expression& part) {
    Item best;
    for (const Item& item : items) {
      const Item candidate = item.type == Item::Type::list ? extreme(item.items, most, part) : item;
      const double number = number_of(candidate, part);
      if (best.is_nil() || (most ? number > best.number : number < best.number)) best = candidate;
    }
    return best;
  }

  Item sum_of(const std::vector<Item>& items, const Expression& part) {
    Item sum = Item::make(0, true);
    for (const Item& item : items) {
      sum.number += number_of(item, part);
      sum.whole = sum.whole && item.whole;
    }
    return sum;
  }

  bool truth(const Expression& part) { return truth_of(value(part), part); }

  bool truth_of(const Item& item, const Expression& part) {
    if (item.type != Item::Type::truth) fail(part, "not a boolean, expected a comparison");
    return item.truth;
  }

  double number_of(const Item& item, const Expression& part) {
    if (item.is_nil()) fail(part, "arithmetic with nil, expected ?? before it");
    if (item.type != Item::Type::number) fail(part, "not a number, expected a number");
    return item.number;
  }

  void reject_list(const Item& item, const Expression& part) {
    if (item.type == Item::Type::list) fail(part, "a list inside a list, expected a number");
  }

  const std::vector<Item>& items_of(const Item& item, const Expression& part) {
    if (item.type != Item::Type::list) fail(part, "not a list, expected a list");
    return item.items;
  }

  Item fail(const Expression& part, const char* what) {
    if (!error_) error_ = Error{ErrorKind::input, "formula", 1, part.column, what};
    return {};
  }

  const Lookup& lookup_;
  std::vector<Scope> scopes_;
  int steps_ = 0;
  std::optional<Error> error_;
};

}  // namespace

Result<std::optional<double>> evaluate_formula(std::string_view formula, const Lookup& lookup) {
  const Result<Expression> parsed =
      parse_expression(formula, [&](std::string_view name) { return lookup(name).has_value(); });
  if (!parsed) return std::unexpected(parsed.error());
  return evaluate_formula(*parsed, lookup);
}

Result<std::optional<double>> evaluate_formula(const Expression& formula, const Lookup& lookup) {
  return Evaluation(lookup).run(formula);
}

}  // namespace capstan::peers::keda
