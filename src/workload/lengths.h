#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/random.h"
#include "workload/request.h"

namespace capstan::workload {

/// How long a prompt or an answer is, in tokens.
struct LengthSpec {
  enum class Kind : std::uint8_t { constant, uniform, log_normal };
  Kind kind = Kind::constant;
  std::int32_t tokens = 512;      ///< constant: the length; log_normal: the median
  double sigma = 1;               ///< log_normal: deviation of the logarithm; 0..10
  std::int32_t min = 1;           ///< every draw is clamped to [min, max]; uniform draws from it
  std::int32_t max = kMaxTokens;  ///< at most kMaxTokens
};

std::int32_t draw_length(const LengthSpec& spec, RandomStream& stream);

struct Lengths {
  std::int32_t input = 0;
  std::int32_t output = 0;
};

/// A histogram of (input, output) pairs, drawn from jointly: a long prompt keeps the answers that long prompts get.
/// Drawing both from one uniform variate would make them rank-correlated, drawing each alone would lose what
/// correlation they have.
class LengthTable {
 public:
  /// Requests whose lengths fell into a rectangle, bounds inclusive, and their mean lengths in thousandths of a token.
  struct Cell {
    std::int32_t input_low, input_high;
    std::int32_t output_low, output_high;
    std::int64_t count;
    std::int64_t input_mean_milli, output_mean_milli;
  };

  /// Cells must be well formed (low <= mean <= high, count > 0, sum of counts below 2^40); at least one.
  explicit LengthTable(std::vector<Cell> cells);

  /// Picks a cell by its count, then each length inside it so that the cell's mean is kept.
  Lengths draw(RandomStream& stream) const;

  /// Lengths inside one cell, both means kept.
  Lengths draw_in(const Cell& cell, RandomStream& stream) const;

  const std::vector<Cell>& cells() const { return cells_; }
  std::int64_t total() const { return total_; }

 private:
  std::size_t cell_of(std::uint64_t draw) const;

  std::vector<Cell> cells_;
  std::vector<std::uint64_t> below_;  ///< requests in the cells before each one
  std::vector<std::uint32_t> guide_;  ///< first cell for each of equal slices of the draw: a search of O(1) steps
  std::int64_t total_ = 0;
  std::uint64_t slice_ = 1;
};

/// Draws from a table like cards from a deck: every `total()` draws in a row hold each cell exactly as often as the
/// table counts it, so that a profile's sums do not depend on luck. Tables of more than kMaxCards requests are drawn
/// from independently instead.
class LengthDeck {
 public:
  static constexpr std::int64_t kMaxCards = 1 << 20;

  explicit LengthDeck(std::shared_ptr<const LengthTable> table);
  Lengths draw(RandomStream& stream);

 private:
  std::shared_ptr<const LengthTable> table_;
  std::vector<std::uint32_t> cards_;  ///< cells; those not drawn in this round come first
  std::size_t left_ = 0;
};

/// Where a generated request's lengths come from: a joint table where there is one, else two independent draws.
struct LengthsSpec {
  LengthSpec input;
  LengthSpec output;
  std::shared_ptr<const LengthTable> joint;

  Lengths draw(RandomStream& stream) const {
    if (joint) return joint->draw(stream);
    const std::int32_t drawn = draw_length(input, stream);
    return {drawn, draw_length(output, stream)};
  }
};

}  // namespace capstan::workload
