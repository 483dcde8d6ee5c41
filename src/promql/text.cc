#include <charconv>
#include <cmath>

#include "promql/expression.h"
#include "promql/function.h"

namespace capstan::promql {
namespace {

std::string text(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Inf" : "-Inf";
  char digits[32];
  const auto written = std::to_chars(digits, digits + sizeof digits, value);
  return {digits, written.ptr};
}

std::string text(Duration duration) { return std::to_string(duration / std::chrono::milliseconds(1)) + "ms"; }

std::string quoted(std::string_view value) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\', out += c;
    } else if (byte < 0x20 || byte >= 0x7f) {
      out += "\\x", out += kHex[byte >> 4], out += kHex[byte & 15];
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string label_list(const std::vector<std::string>& labels) {
  std::string out = "(";
  for (const std::string& label : labels) out += (out.size() > 1 ? "," : "") + label;
  return out + ")";
}

std::string text(const Shift& shift) {
  std::string out;
  if (shift.at == Shift::At::fixed) {
    char digits[64];
    const auto written = std::to_chars(digits, digits + sizeof digits, static_cast<double>(shift.at_ms) / 1000,
                                       std::chars_format::fixed, 3);
    out += " @ " + std::string(digits, written.ptr);
  } else if (shift.at == Shift::At::start) {
    out += " @ start()";
  } else if (shift.at == Shift::At::end) {
    out += " @ end()";
  }
  if (shift.offset > Duration{}) out += " offset " + text(shift.offset);
  if (shift.offset < Duration{}) out += " offset -" + text(-shift.offset);
  return out;
}

/// Formats an operand, in parentheses if an operator around it could bind tighter.
std::string operand(const Expression& expression) {
  const bool is_atomic =
      std::holds_alternative<Selector>(expression.node) || std::holds_alternative<Call>(expression.node) ||
      std::holds_alternative<Aggregation>(expression.node) || std::holds_alternative<Subquery>(expression.node) ||
      std::holds_alternative<Text>(expression.node);
  return is_atomic ? to_text(expression) : "(" + to_text(expression) + ")";
}

std::string write(const Number& node) { return text(node.value); }
std::string write(const Text& node) { return quoted(node.value); }

std::string write(const Selector& node) {
  std::string out = node.metric;
  for (std::size_t i = 0; i < node.matchers.size(); ++i) {
    const LabelMatcher& matcher = node.matchers[i];
    out += (i == 0 ? "{" : ",") + matcher.name + std::string(text(matcher.op)) + quoted(matcher.value);
  }
  if (!node.matchers.empty()) out += "}";
  if (node.range) out += "[" + text(*node.range) + "]";
  return out + text(node.shift);
}

std::string write(const Subquery& node) {
  const std::string step = node.step ? text(*node.step) : std::string();
  return "(" + to_text(*node.operand) + ")[" + text(node.range) + ":" + step + "]" + text(node.shift);
}

std::string write(const Aggregation& node) {
  std::string out(text(node.op));
  if (node.without || !node.labels.empty())
    out += (node.without ? " without " : " by ") + label_list(node.labels) + " ";
  return out + "(" + (node.parameter ? to_text(*node.parameter) + ", " : "") + to_text(*node.operand) + ")";
}

std::string write(const Call& node) {
  std::string out(node.function->name);
  out += "(";
  for (std::size_t i = 0; i < node.arguments.size(); ++i) out += (i == 0 ? "" : ", ") + to_text(*node.arguments[i]);
  return out + ")";
}

std::string write(const Binary& node) {
  std::string out = operand(*node.left) + " " + std::string(text(node.op));
  if (node.returns_bool) out += " bool";
  if (node.on || !node.labels.empty() || node.group != Binary::Group::none) {
    out += (node.on ? " on " : " ignoring ") + label_list(node.labels);
  }
  if (node.group == Binary::Group::left) out += " group_left " + label_list(node.included);
  if (node.group == Binary::Group::right) out += " group_right " + label_list(node.included);
  return out + " " + operand(*node.right);
}

std::string write(const Negation& node) { return "-" + operand(*node.operand); }

}  // namespace

std::string to_text(const Expression& expression) {
  return std::visit([](const auto& node) { return write(node); }, expression.node);
}

}  // namespace capstan::promql
