#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace capstan::bound {

/// Linear program: minimise cost · x  where  low <= A x <= high  in every row and  low <= x <= high  in every column.
///
/// Every column has two finite bounds. Any vector of row prices therefore proves a lower bound on the cost (see
/// `certified`). The solver only finds prices that make this bound high. The bound is valid whatever the solver's
/// tolerances are, and also if it stopped early.
class LinearProgram {
 public:
  static constexpr double kFree = std::numeric_limits<double>::infinity();  ///< for a row: no bound on that side

  std::size_t add_column(double cost, double low, double high);
  std::size_t add_row(double low, double high);
  /// Sets an entry of A. Call it at most once for each entry.
  void set(std::size_t row, std::size_t column, double value) { entries_.push_back({row, column, value}); }

  std::size_t columns() const { return cost_.size(); }
  std::size_t rows() const { return row_low_.size(); }

  struct Solution {
    bool optimal = false;            ///< false: infeasible, or the solver stopped early
    std::vector<double> columns;     ///< x by column when the solver ended; the rows hold only within its tolerance
    std::vector<double> row_prices;  ///< prices by row
  };
  /// @param most_iterations  limit of the simplex; not a time limit, so that a program always has the same solution
  Solution minimise(int most_iterations) const;

  /// Returns a lower bound on the cost of every feasible x, by weak duality. It is the sum of two parts: for each row,
  /// its price times its low bound (its high bound if the price is negative); for each column, its reduced cost times
  /// the bound that makes the product smaller. The price of a row that lacks the needed bound counts as 0. The sum is
  /// lowered by its possible rounding error.
  double certified(std::span<const double> row_prices) const;

 private:
  struct Entry {
    std::size_t row;
    std::size_t column;
    double value;
  };
  std::vector<double> cost_, low_, high_;
  std::vector<double> row_low_, row_high_;
  std::vector<Entry> entries_;
};

}  // namespace capstan::bound
