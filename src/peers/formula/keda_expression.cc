#include "peers/formula/keda_expression.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

namespace capstan::peers::keda {
namespace {

using Kind = Expression::Kind;

struct Sign {
  std::string_view text;
  int precedence;
  bool to_the_right = false;
};

// The precedences of the expr language. The first match is taken, so an operator comes before every shorter operator
// with which its text begins: "<=" before "<".
constexpr int kComparing = 20, kNot = 50, kNegating = 90, kCoalescing = 500;
constexpr Sign kSigns[] = {
    {"??", kCoalescing}, {"||", 10},         {"or", 10},         {"&&", 15},         {"and", 15},
    {"==", kComparing},  {"!=", kComparing}, {"<=", kComparing}, {">=", kComparing}, {"<", kComparing},
    {">", kComparing},   {"+", 30},          {"-", 30},          {"**", 100, true},  {"*", 60},
    {"/", 60},           {"%", 60},          {"^", 100, true},
};

struct Function {
  std::string_view name;
  std::size_t least, most;  ///< fewest and most parts
  bool predicate = false;
};

constexpr std::size_t kAny = 1000;
constexpr Function kFunctions[] = {
    {"abs", 1, 1},
    {"ceil", 1, 1},
    {"floor", 1, 1},
    {"round", 1, 1},
    {"int", 1, 1},
    {"float", 1, 1},
    {"len", 1, 1},
    {"first", 1, 1},
    {"last", 1, 1},
    {"min", 1, kAny},
    {"max", 1, kAny},
    {"mean", 1, kAny},
    {"median", 1, kAny},
    {"all", 2, 2, true},
    {"any", 2, 2, true},
    {"none", 2, 2, true},
    {"one", 2, 2, true},
    {"map", 2, 2, true},
    {"filter", 2, 2, true},
    {"find", 2, 2, true},
    {"sum", 1, 2, true},
    {"count", 1, 2, true},
    {"findLast", 2, 2, true},
    {"findIndex", 2, 2, true},
    {"reduce", 2, 3, true},
    {"findLastIndex", 2, 2, true},
};

bool starts_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool in_number(char c) { return c >= '0' && c <= '9'; }
bool in_name(char c) { return starts_name(c) || in_number(c); }

/// A parser by recursive descent, with one function for each rule of the grammar. The first error ends the parse.
class ExpressionParser {
 public:
  ExpressionParser(std::string_view text, const std::function<bool(std::string_view)>& is_trigger)
      : text_(text), is_trigger_(is_trigger) {}

  Result<Expression> run() {
    Expression whole = expression(0);
    skip_spaces();
    if (!error_ && at_ < text_.size()) fail("expected the end of the formula");
    if (error_) return std::unexpected(std::move(*error_));
    return whole;
  }

 private:
  static constexpr int kMaxDeep = 100, kMaxParts = 2000;

  /// Parses operators of at least this precedence, left to right.
  Expression expression(int least) {
    if (++depth_ > kMaxDeep) return fail("nested more than 100 levels deep, expected at most 100");
    Expression left = operand();
    std::string_view before;
    while (const Sign* sign = sign_ahead()) {
      if (error_ || sign->precedence < least) break;
      if (before == "??" && sign->text != "??") return fail("expected ( ) around ?? next to another operator");
      left = sign->precedence == kComparing ? comparison(std::move(left)) : pair(std::move(left), *sign);
      before = sign->text;
    }
    if (least == 0) left = choice(std::move(left));
    --depth_;
    return left;
  }

  Expression pair(Expression left, const Sign& sign) {
    Expression both = node(Kind::sign, at_);
    both.text = sign.text;
    at_ += sign.text.size();
    both.parts.push_back(std::move(left));
    both.parts.push_back(expression(sign.to_the_right ? sign.precedence : sign.precedence + 1));
    return both;
  }

  Expression comparison(Expression left) {
    Expression all = node(Kind::comparison, at_);
    all.parts.push_back(std::move(left));
    for (const Sign* sign = sign_ahead(); sign != nullptr && sign->precedence == kComparing; sign = sign_ahead()) {
      all.signs.push_back(sign->text);
      at_ += sign->text.size();
      all.parts.push_back(expression(kComparing + 1));
      if (error_) break;
    }
    return all;
  }

  Expression choice(Expression condition) {
    while (take("?")) {
      Expression chosen = node(Kind::choice, at_);
      chosen.parts.push_back(std::move(condition));
      chosen.parts.push_back(expression(0));
      if (!take(":")) return fail("expected :");
      chosen.parts.push_back(expression(0));
      condition = std::move(chosen);
    }
    return condition;
  }

  Expression operand() {
    skip_spaces();
    const std::size_t begin = at_;
    for (const char* sign : {"-", "+", "!"}) {
      if (take(sign)) return prefix(sign, *sign == '!' ? kNot : kNegating, begin);
    }
    if (take("(")) {
      Expression inner = expression(0);
      if (!take(")")) return fail("expected )");
      return inner;
    }
    if (take("[")) return list(begin);
    if (take("#")) return predicate_name(begin);
    if (at_ < text_.size() && (in_number(text_[at_]) || text_[at_] == '.')) return literal();
    if (at_ < text_.size() && starts_name(text_[at_])) return named();
    return fail("expected a number, a trigger or (");
  }

  Expression prefix(std::string_view sign, int precedence, std::size_t begin) {
    Expression one = node(Kind::sign, begin);
    one.text = sign;
    one.parts.push_back(expression(precedence));
    return one;
  }

  Expression list(std::size_t begin) {
    Expression all = node(Kind::list, begin);
    while (!error_ && !take("]")) {
      if (!all.parts.empty() && !take(",")) return fail("expected ] or ,");
      if (!all.parts.empty() && take("]")) break;
      all.parts.push_back(expression(0));
    }
    return all;
  }

  Expression predicate_name(std::size_t begin) {
    if (predicates_ == 0) return fail("# is used outside a predicate, expected a number, a trigger or (");
    const std::string_view name = word();
    at_ += name.size();
    if (name.empty()) return node(Kind::element, begin);
    if (name == "acc") return node(Kind::accumulator, begin);
    if (name == "index") return node(Kind::index, begin);
    return fail("expected #, #acc or #index");
  }

  Expression literal() {
    Expression number = node(Kind::number, at_);
    const char* begin = text_.data() + at_;
    const auto [end, fault] = std::from_chars(begin, text_.data() + text_.size(), number.number);
    if (fault != std::errc()) return fail("expected a number");
    number.whole = std::string_view(begin, end).find_first_of(".eE") == std::string_view::npos;
    at_ += static_cast<std::size_t>(end - begin);
    return number;
  }

  Expression named() {
    const std::size_t begin = at_;
    const std::string_view name = word();
    at_ += name.size();
    if (name == "not") return prefix("!", kNot, begin);
    if (name == "nil") return node(Kind::nil, begin);
    if (name == "true" || name == "false") {
      Expression truth = node(Kind::truth, begin);
      truth.truth = name == "true";
      return truth;
    }
    const auto function = std::ranges::find(kFunctions, name, &Function::name);
    if (take("(")) {
      if (function != std::end(kFunctions)) return call(*function, begin);
      at_ = begin;
      return fail("\"" + std::string(name) + "\" is not a supported function");
    }
    at_ = begin;
    if (!is_trigger_(name)) return fail("\"" + std::string(name) + "\" is not a trigger of this ScaledObject");
    Expression trigger = node(Kind::trigger, begin);
    trigger.text = name;
    at_ += name.size();
    return trigger;
  }

  /// Parses the arguments after the opening bracket.
  Expression call(const Function& function, std::size_t begin) {
    Expression called = node(Kind::call, begin);
    called.text = function.name;
    while (!error_ && !take(")")) {
      if (!called.parts.empty() && !take(",")) return fail("expected ) or ,");
      if (!called.parts.empty() && take(")")) break;
      const bool predicate = function.predicate && called.parts.size() == 1;
      called.predicate = called.predicate || predicate;
      called.parts.push_back(predicate ? predicate_part() : expression(0));
    }
    if (called.parts.size() < function.least || called.parts.size() > function.most) {
      return fail(std::string(function.name) + " has " + std::to_string(called.parts.size()) + " arguments, expected " +
                  std::to_string(called.parts.size() < function.least ? function.least : function.most));
    }
    return called;
  }

  Expression predicate_part() {
    const bool braces = take("{");
    ++predicates_;
    Expression predicate = expression(0);
    --predicates_;
    if (braces && !take("}")) return fail("expected }");
    return predicate;
  }

  Expression node(Kind kind, std::size_t begin) {
    if (++parts_ > kMaxParts) fail("more than 2000 parts, expected at most 2000");
    Expression made;
    made.kind = kind;
    made.column = static_cast<std::uint32_t>(begin + 1);
    return made;
  }

  /// Returns the next operator without consuming it; null if there is none.
  const Sign* sign_ahead() {
    skip_spaces();
    if (error_) return nullptr;
    const std::string_view rest = text_.substr(at_);
    for (const Sign& sign : kSigns) {
      const bool is_word = starts_name(sign.text.front());
      if (is_word ? word() == sign.text : rest.starts_with(sign.text)) return &sign;
    }
    return nullptr;
  }

  std::string_view word() const {
    std::size_t end = at_;
    while (end < text_.size() && in_name(text_[end])) ++end;
    return text_.substr(at_, end - at_);
  }

  void skip_spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r'))
      ++at_;
  }

  bool take(std::string_view sign) {
    if (error_) return false;
    skip_spaces();
    if (!text_.substr(at_).starts_with(sign)) return false;
    at_ += sign.size();
    return true;
  }

  Expression fail(const std::string& what) {
    if (!error_) error_ = Error{ErrorKind::input, "formula", 1, static_cast<std::uint32_t>(at_ + 1), what};
    return {};
  }

  std::string_view text_;
  const std::function<bool(std::string_view)>& is_trigger_;
  std::size_t at_ = 0;
  int depth_ = 0, parts_ = 0;
  int predicates_ = 0;  ///< nesting depth of predicates at this place
  std::optional<Error> error_;
};

}  // namespace

Result<Expression> parse_expression(std::string_view formula,
                                    const std::function<bool(std::string_view name)>& is_trigger) {
  return ExpressionParser(formula, is_trigger).run();
}

}  // namespace capstan::peers::keda
