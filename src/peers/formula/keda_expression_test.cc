#include "peers/formula/keda_expression.h"

#include <gtest/gtest.h>

namespace capstan::peers::keda {
namespace {

/// Writes the tree with brackets around each operator.
std::string with_brackets(const Expression& part) {
  std::string inner;
  for (std::size_t i = 0; i < part.parts.size(); ++i) {
    const bool compares = part.kind == Expression::Kind::comparison && i > 0;
    const std::string sign(compares ? part.signs[i - 1] : i > 0 ? part.text : "");
    inner += (i > 0 ? " " + sign + " " : "") + with_brackets(part.parts[i]);
  }
  if (part.parts.empty()) return std::string(part.text);
  return part.parts.size() == 1 ? std::string(part.text) + inner : "(" + inner + ")";
}

TEST(KedaExpression, FollowsThePrecedenceOfOperators) {
  const std::pair<const char*, const char*> rows[] = {
      {"a + b * c - d", "((a + (b * c)) - d)"},
      {"a * b ?? c + d", "((a * (b ?? c)) + d)"},
      {"a ?? b ?? c", "((a ?? b) ?? c)"},
      {"-a ** b ** c", "-(a ** (b ** c))"},
      {"a < b == c and d or e", "(((a < b == c) and d) or e)"},
      {"not a && b", "(!a && b)"},
      {"order + android", "(order + android)"},
  };
  for (const auto& [formula, tree] : rows) {
    const Result<Expression> parsed = parse_expression(formula, [](std::string_view) { return true; });
    ASSERT_TRUE(parsed) << formula << ": " << parsed.error().text();
    EXPECT_EQ(with_brackets(*parsed), tree) << formula;
  }
}

TEST(KedaExpression, RejectsUnsupportedParts) {
  for (const char* formula : {"'a'", "{a: 1}", "1..3", "a.b", "a | abs()", "let x = 1; x", "a[0]", "a ?: b"}) {
    EXPECT_FALSE(parse_expression(formula, [](std::string_view) { return true; })) << formula;
  }
}

}  // namespace
}  // namespace capstan::peers::keda
