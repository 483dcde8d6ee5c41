#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/random.h"
#include "workload/request.h"

namespace capstan::workload {

/// Distribution of the length of a prompt or an answer, in tokens.
struct LengthSpec {
  enum class Kind : std::uint8_t { constant, uniform, log_normal };
  Kind kind = Kind::constant;
  std::int32_t tokens = 512;      ///< constant: the length; log_normal: the median
  double sigma = 1;               ///< log_normal: standard deviation of the logarithm; 0..10
  std::int32_t min = 1;           ///< every draw is clamped to [min, max]; uniform: draws from [min, max]
  std::int32_t max = kMaxTokens;  ///< upper bound of every draw, at most kMaxTokens
};

std::int32_t draw_length(const LengthSpec& spec, RandomStream& stream);

struct Lengths {
  std::int32_t input = 0;
  std::int32_t output = 0;
};

/// A histogram of (input, output) pairs from which both lengths are drawn jointly, so that they have the correlation of
/// the data. Drawing both from one uniform variate would correlate their ranks fully; drawing them independently would
/// lose the correlation.
class LengthTable {
 public:
  /// The requests whose lengths fall into a rectangle, bounds inclusive. The means are stored as tokens * 1000.
  struct Cell {
    std::int32_t input_low, input_high;
    std::int32_t output_low, output_high;
    std::int64_t count;
    std::int64_t input_mean_milli, output_mean_milli;
  };

  /// Takes at least one cell. Every cell must be well formed: low <= mean <= high, count > 0; the sum of counts must be
  /// below 2^40.
  explicit LengthTable(std::vector<Cell> cells);

  /// Draws a cell with a probability proportional to its count, then both lengths inside it with the cell's means.
  Lengths draw(RandomStream& stream) const;

  /// Draws both lengths inside one cell. Their expected values are the means of the cell.
  Lengths draw_in(const Cell& cell, RandomStream& stream) const;

  const std::vector<Cell>& cells() const { return cells_; }
  std::int64_t total() const { return total_; }

 private:
  std::size_t cell_of(std::uint64_t draw) const;

  std::vector<Cell> cells_;
  std::vector<std::uint64_t> below_;  ///< for each cell, the number of requests in the cells before it
  /// Index for the search of a cell. Draws are divided into slices of `slice_` consecutive values, and entry i is the
  /// cell of the first value in slice i. A search begins there, so it takes constant time on average.
  std::vector<std::uint32_t> guide_;
  std::int64_t total_ = 0;
  std::uint64_t slice_ = 1;
};

/// Draws from a table without replacement, like cards from a deck: in each round of `total()` draws, each cell occurs
/// exactly as often as the table counts it, so that a profile's sums do not depend on chance. From a table of more than
/// kMaxCards requests it draws independently.
class LengthSampler {
 public:
  static constexpr std::int64_t kMaxCards = 1 << 20;

  explicit LengthSampler(std::shared_ptr<const LengthTable> table);
  Lengths draw(RandomStream& stream);

 private:
  std::shared_ptr<const LengthTable> table_;
  std::vector<std::uint32_t> cards_;  ///< cell of each card; cards not drawn in this round come first
  std::size_t undrawn_ = 0;           ///< cards not drawn in this round
};

/// Source of a generated request's lengths: the joint table if there is one, otherwise two independent draws.
struct LengthsSpec {
  LengthSpec input;
  LengthSpec output;
  std::shared_ptr<const LengthTable> joint;

  Lengths draw(RandomStream& stream) const {
    if (joint) return joint->draw(stream);
    const std::int32_t input_tokens = draw_length(input, stream);
    return {input_tokens, draw_length(output, stream)};
  }
};

}  // namespace capstan::workload
