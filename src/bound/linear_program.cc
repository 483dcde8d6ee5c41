#include "bound/linear_program.h"

#include <Clp_C_Interface.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/assert.h"

namespace capstan::bound {
namespace {

/// Matrix A in column-major order, as the solver expects it.
struct ColumnMajor {
  std::vector<CoinBigIndex> starts;
  std::vector<int> rows;
  std::vector<double> values;
};

/// Rounding error of a term in `certified`, relative to the term.
constexpr double kRounding = 1e-14;

}  // namespace

std::size_t LinearProgram::add_column(double cost, double low, double high) {
  CAPSTAN_ASSERT(std::isfinite(low) && std::isfinite(high) && low <= high);
  cost_.push_back(cost);
  low_.push_back(low);
  high_.push_back(high);
  return cost_.size() - 1;
}

std::size_t LinearProgram::add_row(double low, double high) {
  row_low_.push_back(low);
  row_high_.push_back(high);
  return row_low_.size() - 1;
}

LinearProgram::Solution LinearProgram::minimise(int most_iterations) const {
  ColumnMajor matrix;
  matrix.starts.assign(columns() + 1, 0);
  for (const Entry& entry : entries_) ++matrix.starts[entry.column + 1];
  for (std::size_t i = 0; i < columns(); ++i) matrix.starts[i + 1] += matrix.starts[i];
  matrix.rows.resize(entries_.size());
  matrix.values.resize(entries_.size());
  std::vector<CoinBigIndex> next(matrix.starts.begin(), matrix.starts.end() - 1);
  for (const Entry& entry : entries_) {
    const auto at = static_cast<std::size_t>(next[entry.column]++);
    matrix.rows[at] = static_cast<int>(entry.row);
    matrix.values[at] = entry.value;
  }

  const std::unique_ptr<Clp_Simplex, void (*)(Clp_Simplex*)> solver(Clp_newModel(), Clp_deleteModel);
  Clp_setLogLevel(solver.get(), 0);
  Clp_loadProblem(solver.get(), static_cast<int>(columns()), static_cast<int>(rows()), matrix.starts.data(),
                  matrix.rows.data(), matrix.values.data(), low_.data(), high_.data(), cost_.data(), row_low_.data(),
                  row_high_.data());
  Clp_setMaximumIterations(solver.get(), most_iterations);
  Clp_initialDualSolve(solver.get());

  Solution solution;
  solution.optimal = Clp_status(solver.get()) == 0;
  const double* x = Clp_primalColumnSolution(solver.get());
  const double* prices = Clp_dualRowSolution(solver.get());
  solution.columns.assign(x, x + columns());
  solution.row_prices.assign(prices, prices + rows());
  return solution;
}

double LinearProgram::certified(std::span<const double> row_prices) const {
  CAPSTAN_ASSERT(row_prices.size() == rows());
  double value = 0;
  double size = 0;  // sum of all magnitudes, for the rounding error
  const auto add = [&](double term) {
    value += term;
    size += std::abs(term);
  };
  std::vector<double> prices(row_prices.begin(), row_prices.end());
  for (std::size_t i = 0; i < rows(); ++i) {
    const double bound = prices[i] > 0 ? row_low_[i] : row_high_[i];
    if (!std::isfinite(prices[i]) || !std::isfinite(bound)) prices[i] = 0;
    if (prices[i] != 0) add(prices[i] * bound);
  }
  std::vector<double> reduced = cost_;
  for (const Entry& entry : entries_) {
    const double part = prices[entry.row] * entry.value;
    reduced[entry.column] -= part;
    // Rounding can make a reduced cost of 0 slightly different from 0. It is then multiplied by a bound that may be
    // large.
    size += std::abs(part) * std::max(std::abs(low_[entry.column]), std::abs(high_[entry.column]));
  }
  for (std::size_t i = 0; i < columns(); ++i) add(reduced[i] * (reduced[i] > 0 ? low_[i] : high_[i]));
  return value - kRounding * size;
}

}  // namespace capstan::bound
