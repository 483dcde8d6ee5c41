#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace capstan::bound {

/// minimise cost · x  where  low <= A x <= high  in every row and  low <= x <= high  in every column.
///
/// Every column is bounded on both sides, so that any vector of row prices, however it was found, is a proof: see
/// `certified`. The solver only supplies good prices; the result depends neither on its tolerances nor on whether it
/// finished.
class LinearProgram {
 public:
  static constexpr double kFree = std::numeric_limits<double>::infinity();  ///< for a row: no bound on that side

  std::size_t add_column(double cost, double low, double high);
  std::size_t add_row(double low, double high);
  /// Sets an entry of A. Call it at most once for each place.
  void set(std::size_t row, std::size_t column, double value) { entries_.push_back({row, column, value}); }

  std::size_t columns() const { return cost_.size(); }
  std::size_t rows() const { return row_low_.size(); }

  struct Solution {
    bool optimal = false;            ///< false: infeasible, or the solver stopped early
    std::vector<double> columns;     ///< by column, as far as the solver got; rows hold only within its tolerance
    std::vector<double> row_prices;  ///< by row
  };
  /// @param most_iterations  of the simplex; a count instead of a time, so that a program always gives the same answer
  Solution minimise(int most_iterations) const;

  /// Returns a lower bound on the cost of every feasible x, by weak duality: the value of the rows' bounds at the
  /// prices, plus for each column its reduced cost at the better of its bounds. Prices of the wrong sign on a one-sided
  /// row count as 0.
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
