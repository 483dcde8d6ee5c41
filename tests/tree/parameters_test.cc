#include "tree/parameters.h"

#include <gtest/gtest.h>

namespace capstan::tree {
namespace {

struct ParameterRow {
  const char* teaches;
  const char* text;
  std::size_t line;  ///< line of the finding; 0: no finding
};

constexpr ParameterRow kParameterRows[] = {
    {"seven parameters are allowed", "void f(int a, int b, int c, int d, int e, int f, int g);", 0},
    {"eight are too many", "void f(int a, int b, int c, int d, int e, int f, int g, int h);", 1},
    {"over several lines, with types of all forms",
     "namespace n {\nResult<int> f(const Snapshot& s, std::map<int, int> rows, model::Catalog* catalog,\n"
     "              std::string_view name, int e = 2, std::vector<int> f = {1, 2}, RowId g,\n"
     "              std::function<void(int, int)> done) {\n",
     2},
    {"a constructor and a lambda, too",
     "class C {\n  C(int a, int b, int c, int d, int e, int f, int g, std::string h);\n};\n", 2},
    {"a parameter without a name still counts", "void f(int a, int b, int c, int d, int e, int f, Instant, int h);", 1},
    {"the comma of a template separates no parameters",
     "void f(std::map<int, int> a, std::map<int, int> b, std::map<int, int> c, std::map<int, int> d);", 0},
    {"arguments are not parameters", "f(a, b, c + 1, d(1, 2), e * f, -g, h.i, j->k, {l, m}, 2);", 0},
    {"nor are products", "const auto t = sum(a * b, c, d, e, f, g, h, i);", 0},
    {"a list inside a body is found by itself",
     "void f() {\n  auto g = [&](int a, int b, int c, int d, int e, int f, "
     "int g, int h) { return a; };\n}\n",
     2},
    {"fields of a struct are no parameters", "struct S {\n  int a, b, c, d, e, f, g, h;\n};\n", 0},
};

TEST(Parameters, AreFew) {
  for (const ParameterRow& row : kParameterRows) {
    SCOPED_TRACE(row.teaches);
    const std::vector<Finding> found = check_parameters(make_source("src/sim/meter.cc", row.text));
    ASSERT_EQ(found.size(), row.line == 0 ? 0u : 1u);
    if (row.line > 0) {
      EXPECT_EQ(found.front().line, row.line);
    }
  }
}

}  // namespace
}  // namespace capstan::tree
