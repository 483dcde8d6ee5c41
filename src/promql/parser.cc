#include "promql/parser.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "promql/check.h"
#include "promql/function.h"
#include "promql/lexer.h"
#include "promql/words.h"

namespace capstan::promql {
namespace {

/// The exception that ends parsing at the first error. `parse` catches it.
struct ParseFault {
  Place place;
  std::string message;
};

constexpr std::int64_t kNanosecondsPerMs = 1'000'000;

class Parser {
 public:
  Parser(std::vector<Token> tokens, const ParseLimits& limits) : tokens_(std::move(tokens)), limits_(limits) {}

  ExpressionPtr read() {
    if (peek().kind == Token::Kind::end) fail(peek(), "found no expression");
    ExpressionPtr whole = expression(0);
    if (peek().kind != Token::Kind::end) fail(peek(), "found " + shown(peek()) + ", expected an operator or the end");
    return whole;
  }

 private:
  struct Primary {
    ExpressionPtr expression;
    bool in_parentheses = false;
  };

  /// Counts one level of nesting from its construction to its destruction.
  class Level {
   public:
    explicit Level(Parser& parser) : parser_(parser) {
      if (++parser_.depth_ > parser_.limits_.depth) parser_.fail(parser_.peek(), "the expression is nested too deeply");
    }
    ~Level() { --parser_.depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    Parser& parser_;
  };

  [[noreturn]] void fail(const Token& token, std::string message) {
    throw ParseFault{token.span.begin, std::move(message)};
  }
  static std::string shown(const Token& token) {
    constexpr std::size_t kShown = 40;
    if (token.kind == Token::Kind::end) return "the end";
    return '"' + std::string(token.text.substr(0, kShown)) + '"';
  }

  const Token& peek(std::size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  const Token& take() {
    const Token& token = peek();
    if (at_ + 1 < tokens_.size()) ++at_;
    end_ = token.span.end_offset;
    return token;
  }
  bool take_if(std::string_view symbol) { return peek().is(symbol) && (take(), true); }
  bool take_keyword(std::string_view keyword) { return peek().is_keyword(keyword) && (take(), true); }
  void expect(std::string_view symbol, std::string_view where) {
    if (!take_if(symbol)) {
      fail(peek(), "found " + shown(peek()) + ", expected \"" + std::string(symbol) + "\" " + std::string(where));
    }
  }

  template <typename Node>
  ExpressionPtr make(const Place& begin, Node node) {
    auto made = std::make_unique<Expression>();
    made->span = {begin, end_};
    made->node = std::move(node);
    return made;
  }
  /// Checks types as soon as an expression is complete, so that the error names the innermost mistake.
  ExpressionPtr checked(ExpressionPtr expression) {
    if (std::optional<TypeFault> fault = check_types(*expression))
      throw ParseFault{fault->place, std::move(fault->message)};
    return expression;
  }

  ExpressionPtr expression(int min_precedence) {
    const Level level(*this);
    ExpressionPtr left = unary();
    for (std::size_t operators = 0;; ++operators) {
      const std::optional<Binary::Op> op = binary_operator(peek());
      if (!op || precedence(*op) < min_precedence) return left;
      if (operators >= limits_.depth) fail(peek(), "the chain of operators is too long");
      left = binary(std::move(left), *op);
    }
  }

  ExpressionPtr binary(ExpressionPtr left, Binary::Op op) {
    const Place begin = left->span.begin;
    take();
    Binary node;
    node.op = op;
    if (peek().is_keyword("bool")) {
      if (!is_comparison(op)) fail(peek(), "bool must follow a comparison");
      take();
      node.returns_bool = true;
    }
    matching(node);
    // The right side takes operators that bind tighter. A power's right side may be another power.
    const int level = precedence(op);
    node.right = expression(op == Binary::Op::power ? level : level + 1);
    node.left = std::move(left);
    return checked(make(begin, std::move(node)));
  }

  void matching(Binary& node) {
    if (!peek().is_keyword("on") && !peek().is_keyword("ignoring")) {
      if (peek().is_keyword("group_left") || peek().is_keyword("group_right")) {
        fail(peek(), "found " + shown(peek()) + " without on or ignoring before it");
      }
      return;
    }
    node.on = take().is_keyword("on");
    node.labels = labels();
    if (!peek().is_keyword("group_left") && !peek().is_keyword("group_right")) return;
    const Token& group = peek();
    if (is_set_operator(node.op)) {
      fail(group, "\"" + std::string(text(node.op)) + "\" takes no group_left or group_right");
    }
    node.group = take().is_keyword("group_left") ? Binary::Group::left : Binary::Group::right;
    if (peek().is("(")) node.included = labels();
    for (const std::string& label : node.included) {
      if (node.on && std::ranges::find(node.labels, label) != node.labels.end()) {
        fail(group, "label \"" + label + "\" is both in on and in the group");
      }
    }
  }

  std::vector<std::string> labels() {
    std::vector<std::string> names;
    expect("(", "before the labels");
    while (!take_if(")")) {
      if (peek().kind != Token::Kind::word || peek().text.find(':') != std::string_view::npos) {
        fail(peek(), "found " + shown(peek()) + ", expected a label");
      }
      names.emplace_back(take().text);
      if (!take_if(",") && !peek().is(")")) fail(peek(), "found " + shown(peek()) + ", expected \",\" or \")\"");
    }
    return names;
  }

  ExpressionPtr unary() {
    if (!peek().is("-") && !peek().is("+")) return postfix();
    const Token& sign = take();
    const Level level(*this);
    ExpressionPtr operand = expression(precedence(Binary::Op::power));
    if (operand->type != ValueType::scalar && operand->type != ValueType::vector) {
      fail(sign, "a sign goes before a scalar or an instant vector, found " + std::string(name(operand->type)));
    }
    if (sign.is("+")) return operand;
    if (auto* number = std::get_if<Number>(&operand->node)) {
      number->value = -number->value;
      operand->span.begin = sign.span.begin;
      return operand;
    }
    return checked(make(sign.span.begin, Negation{std::move(operand)}));
  }

  /// Reads a primary and all ranges, subqueries, `offset` and `@` after it.
  ExpressionPtr postfix() {
    Primary left = primary();
    bool offset_given = false;
    for (std::size_t steps = 0;; ++steps) {
      if (steps > limits_.depth) fail(peek(), "the expression is nested too deeply");
      if (peek().is("[")) {
        left = {range(std::move(left)), false};
        if (std::holds_alternative<Subquery>(left.expression->node)) offset_given = false;
      } else if (peek().is_keyword("offset")) {
        Shift& shift = shift_of(left, "offset");
        if (std::exchange(offset_given, true)) fail(peek(), "found a second offset, expected one");
        take();
        const bool negative = peek().is("-");
        if (negative || peek().is("+")) take();
        shift.offset = duration("a duration such as 5m");
        if (negative) shift.offset = -shift.offset;
        left.expression->span.end_offset = end_;
      } else if (peek().is("@")) {
        Shift& shift = shift_of(left, "@");
        if (shift.at != Shift::At::evaluation) fail(peek(), "found a second time (@), expected one");
        take();
        read_at(shift);
        left.expression->span.end_offset = end_;
      } else {
        return std::move(left.expression);
      }
    }
  }

  Shift& shift_of(Primary& operand, std::string_view modifier) {
    if (!operand.in_parentheses) {
      if (auto* selector = std::get_if<Selector>(&operand.expression->node)) return selector->shift;
      if (auto* subquery = std::get_if<Subquery>(&operand.expression->node)) return subquery->shift;
    }
    fail(peek(), std::string(modifier) + " must follow a selector or a subquery");
  }

  void read_at(Shift& shift) {
    if (peek().is_keyword("start") || peek().is_keyword("end")) {
      shift.at = take().is_keyword("start") ? Shift::At::start : Shift::At::end;
      expect("(", "after start or end");
      return expect(")", "after start or end");
    }
    const bool negative = peek().is("-");
    if (negative || peek().is("+")) take();
    const Token& token = peek();
    const double seconds = number("a time in seconds since 1970");
    constexpr double kMaxSeconds = 9'223'372'036'854;
    if (!(std::abs(seconds) <= kMaxSeconds))
      fail(token, "found " + shown(token) + ", expected a time in seconds since 1970");
    shift.at = Shift::At::fixed;
    shift.at_ms = static_cast<std::int64_t>(std::round((negative ? -seconds : seconds) * 1000));
  }

  ExpressionPtr range(Primary operand) {
    const Place begin = operand.expression->span.begin;
    const Token& bracket = take();
    const Duration length = duration("a range such as 5m");
    if (take_if(":")) {
      Subquery node;
      node.range = length;
      if (!peek().is("]")) node.step = duration("a step such as 1m, or \"]\"");
      expect("]", "after the subquery");
      node.operand = std::move(operand.expression);
      return checked(make(begin, std::move(node)));
    }
    expect("]", "after the range");
    auto* selector = std::get_if<Selector>(&operand.expression->node);
    if (selector == nullptr || operand.in_parentheses) {
      fail(bracket, "a range must follow a selector; use a subquery, [5m:], for another expression");
    }
    if (selector->range) fail(bracket, "found a second range, expected one");
    if (selector->shift.offset != Duration{} || selector->shift.at != Shift::At::evaluation) {
      fail(bracket, "the range must come before offset and @");
    }
    selector->range = length;
    operand.expression->type = ValueType::matrix;
    operand.expression->span.end_offset = end_;
    return std::move(operand.expression);
  }

  Duration duration(std::string_view expected) {
    const Token& token = peek();
    std::optional<Duration> value;
    if (token.kind == Token::Kind::duration) value = duration_value(token.text);
    if (token.kind == Token::Kind::number) {
      constexpr double kMaxSeconds = 9'223'372'036;
      const std::optional<double> seconds = number_value(token.text);
      if (seconds && *seconds >= 0 && *seconds <= kMaxSeconds) {
        value = Duration(static_cast<std::int64_t>(std::round(*seconds * 1000)) * kNanosecondsPerMs);
      }
    }
    if (!value) fail(token, "found " + shown(token) + ", expected " + std::string(expected));
    if (*value <= Duration{}) fail(token, "found " + shown(token) + ", expected more than 0");
    take();
    return *value;
  }

  double number(std::string_view expected) {
    const Token& token = peek();
    const bool is_number = token.kind == Token::Kind::number || token.is_keyword("inf") || token.is_keyword("nan");
    const std::optional<double> value = is_number ? number_value(token.text) : std::nullopt;
    if (!value) fail(token, "found " + shown(token) + ", expected " + std::string(expected));
    take();
    return *value;
  }

  Primary primary() {
    const Token& token = peek();
    const Place begin = token.span.begin;
    if (token.is("(")) {
      take();
      ExpressionPtr inside = expression(0);
      expect(")", "after the expression in parentheses");
      return {std::move(inside), true};
    }
    if (token.is("{")) return {selector({}), false};
    if (token.kind == Token::Kind::string) return {make_text(), false};
    if (token.kind == Token::Kind::number || ((token.is_keyword("inf") || token.is_keyword("nan")))) {
      Number node{number("a number")};
      return {checked(make(begin, node)), false};
    }
    if (token.kind == Token::Kind::word) return {word(), false};
    fail(token, "found " + shown(token) + ", expected an expression");
  }

  ExpressionPtr make_text() {
    const Token& token = take();
    std::optional<std::string> value = string_value(token.text);
    if (!value) fail(token, "found an invalid escape in " + shown(token));
    return checked(make(token.span.begin, Text{std::move(*value)}));
  }

  ExpressionPtr word() {
    const Token& token = peek();
    const Token& next = peek(1);
    const std::optional<Aggregation::Op> op = aggregation_operator(token);
    if (op && (next.is("(") || next.is_keyword("by") || next.is_keyword("without"))) return aggregation(*op);
    if (next.is("(")) return call();
    if (is_reserved(token)) fail(token, "found " + shown(token) + ", expected an expression");
    take();
    return selector(token.text);
  }

  void grouping(Aggregation& node) {
    node.without = take().is_keyword("without");
    node.labels = labels();
  }

  ExpressionPtr aggregation(Aggregation::Op op) {
    const Level level(*this);
    const Token& name = take();
    Aggregation node;
    node.op = op;
    const auto is_grouping = [&] { return peek().is_keyword("by") || peek().is_keyword("without"); };
    const bool grouped = is_grouping();
    if (grouped) grouping(node);
    std::vector<ExpressionPtr> arguments = this->arguments();
    if (!grouped && is_grouping()) grouping(node);
    const std::size_t expected = takes_parameter(op) ? 2 : 1;
    if (arguments.size() != expected) {
      fail(name, std::string(text(op)) + " takes " + std::to_string(expected) + " argument" +
                     (expected == 1 ? "" : "s") + ", found " + std::to_string(arguments.size()));
    }
    node.operand = std::move(arguments.back());
    if (expected == 2) node.parameter = std::move(arguments.front());
    return checked(make(name.span.begin, std::move(node)));
  }

  ExpressionPtr call() {
    const Level level(*this);
    const Token& name = take();
    Call node;
    node.function = find_function(name.text);
    if (node.function == nullptr) fail(name, "there is no function " + shown(name) + suggested_function(name.text));
    node.arguments = arguments();
    return checked(make(name.span.begin, std::move(node)));
  }

  std::vector<ExpressionPtr> arguments() {
    std::vector<ExpressionPtr> all;
    expect("(", "before the arguments");
    if (take_if(")")) return all;
    for (;;) {
      all.push_back(expression(0));
      if (take_if(")")) return all;
      if (!take_if(",")) fail(peek(), "found " + shown(peek()) + ", expected \",\" or \")\" after the argument");
    }
  }

  ExpressionPtr selector(std::string_view metric) {
    const Place begin = metric.empty() ? peek().span.begin : tokens_[at_ - 1].span.begin;
    Selector node;
    node.metric = metric;
    if (take_if("{")) {
      while (!take_if("}")) {
        node.matchers.push_back(matcher());
        if (!take_if(",") && !peek().is("}")) fail(peek(), "found " + shown(peek()) + ", expected \",\" or \"}\"");
      }
    }
    return checked(make(begin, std::move(node)));
  }

  LabelMatcher matcher() {
    const Token& label = peek();
    if (label.kind != Token::Kind::word || label.text.find(':') != std::string_view::npos) {
      fail(label, "found " + shown(label) + ", expected a label");
    }
    LabelMatcher made;
    made.name = take().text;
    const std::optional<LabelMatcher::Op> op = match_operator(peek());
    if (!op) fail(peek(), "found " + shown(peek()) + ", expected one of =, !=, =~ or !~");
    made.op = *op;
    take();
    const Token& value = peek();
    if (value.kind != Token::Kind::string) fail(value, "found " + shown(value) + ", expected a value in quotes");
    std::optional<std::string> resolved = string_value(value.text);
    if (!resolved) fail(value, "found an invalid escape in " + shown(value));
    take();
    made.value = std::move(*resolved);
    made.span = {label.span.begin, end_};
    return made;
  }

  std::vector<Token> tokens_;
  ParseLimits limits_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
  std::uint32_t end_ = 0;  ///< end offset of the last token that was read
};

}  // namespace

Result<ExpressionPtr> parse(std::string_view text, const std::string& source, const ParseLimits& limits) {
  if (text.size() > limits.bytes) {
    return std::unexpected(error_at(source, {}, "the text is longer than " + std::to_string(limits.bytes) + " bytes"));
  }
  Result<std::vector<Token>> tokens = read_tokens(text, source);
  if (!tokens) return std::unexpected(std::move(tokens.error()));
  try {
    return Parser(std::move(*tokens), limits).read();
  } catch (ParseFault& fault) {
    return std::unexpected(error_at(source, fault.place, std::move(fault.message)));
  }
}

}  // namespace capstan::promql
