#include "bound/linear_program.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace capstan::bound {
namespace {

constexpr double kFree = LinearProgram::kFree;

/// Makes a textbook program with two goods and a known optimum.
LinearProgram two_goods() {
  LinearProgram program;
  const std::size_t bread = program.add_column(-3, 0, 100);
  const std::size_t cake = program.add_column(-5, 0, 100);
  program.set(program.add_row(-kFree, 4), bread, 1);
  program.set(program.add_row(-kFree, 12), cake, 2);
  const std::size_t oven = program.add_row(-kFree, 18);
  program.set(oven, bread, 3);
  program.set(oven, cake, 2);
  return program;
}

TEST(LinearProgram, FindsTheOptimumAndProvesIt) {
  const LinearProgram program = two_goods();
  const LinearProgram::Solution solution = program.minimise(100);
  ASSERT_TRUE(solution.optimal);
  EXPECT_NEAR(solution.columns[0], 2, 1e-9);
  EXPECT_NEAR(solution.columns[1], 6, 1e-9);
  EXPECT_NEAR(program.certified(solution.row_prices), -36, 1e-9);
  EXPECT_LE(program.certified(solution.row_prices), -36);
}

TEST(LinearProgram, ReportsAnInfeasibleProgram) {
  LinearProgram program;
  const std::size_t x = program.add_column(1, 0, 1);
  program.set(program.add_row(2, kFree), x, 1);
  EXPECT_FALSE(program.minimise(100).optimal);
}

RC_GTEST_PROP(LinearProgram, AnyPricesProveALowerBound, (int a, int b, int c)) {
  const LinearProgram program = two_goods();
  const std::vector<double> prices = {a / 1000.0, b / 1000.0, c / 1000.0};
  RC_ASSERT(program.certified(prices) <= -36.0);
}

}  // namespace
}  // namespace capstan::bound
