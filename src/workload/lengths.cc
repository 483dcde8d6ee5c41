#include "workload/lengths.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/quantity.h"

namespace capstan::workload {
namespace {

/// Draws a whole number in [low, high] with the mean `mean_milli` / 1000. `middle` is the mean rounded down. The number
/// is uniform over [low, middle] or over [middle, high]; the weight of the two halves gives the mean. If low == high,
/// no random number is drawn.
std::int32_t draw_within(std::int32_t low, std::int32_t high, std::int64_t mean_milli, RandomStream& stream) {
  if (low == high) return low;
  const std::int64_t middle = mean_milli / 1000;
  // The means of the two halves are (low + middle) / 2 and (middle + high) / 2, which differ by (high - low) / 2. The
  // weight of the upper half makes the mean of the mixture right; because low <= mean <= high, it is within [0, 1].
  const std::int64_t span_milli = static_cast<std::int64_t>(high - low) * 1000;
  const std::int64_t upper_milli = std::clamp<std::int64_t>(2 * mean_milli - (low + middle) * 1000, 0, span_milli);
  const bool upper = stream.below(static_cast<std::uint64_t>(span_milli)) < static_cast<std::uint64_t>(upper_milli);
  return static_cast<std::int32_t>(upper ? stream.between(middle, high) : stream.between(low, middle));
}

}  // namespace

std::int32_t draw_length(const LengthSpec& spec, RandomStream& stream) {
  switch (spec.kind) {
    case LengthSpec::Kind::constant:
      return std::clamp(spec.tokens, spec.min, spec.max);
    case LengthSpec::Kind::uniform:
      return static_cast<std::int32_t>(stream.between(spec.min, spec.max));
    case LengthSpec::Kind::log_normal: {
      // Clamp as a double, because a draw from a wide tail does not fit an integer.
      const double drawn = stream.log_normal(spec.tokens, spec.sigma) + 0.5;
      return static_cast<std::int32_t>(std::clamp(drawn, static_cast<double>(spec.min), static_cast<double>(spec.max)));
    }
  }
  CAPSTAN_ASSERT(false);
  return 1;
}

LengthTable::LengthTable(std::vector<Cell> cells) : cells_(std::move(cells)) {
  CAPSTAN_ASSERT(!cells_.empty());
  below_.reserve(cells_.size());
  for (const Cell& cell : cells_) {
    CAPSTAN_ASSERT(cell.count > 0 && cell.input_low >= 1 && cell.output_low >= 1);
    CAPSTAN_ASSERT(cell.input_low * 1000LL <= cell.input_mean_milli &&
                   cell.input_mean_milli <= cell.input_high * 1000LL);
    CAPSTAN_ASSERT(cell.output_low * 1000LL <= cell.output_mean_milli &&
                   cell.output_mean_milli <= cell.output_high * 1000LL);
    below_.push_back(static_cast<std::uint64_t>(total_));
    total_ += cell.count;
    CAPSTAN_ASSERT(total_ < (1LL << 40));
  }
  const std::uint64_t slices = 4 * cells_.size();
  slice_ = static_cast<std::uint64_t>(ceil_div(total_, static_cast<std::int64_t>(slices)));
  std::uint32_t cell = 0;
  for (std::uint64_t slice = 0; slice < slices; ++slice) {
    while (cell + 1 < cells_.size() && below_[cell + 1] <= slice * slice_) ++cell;
    guide_.push_back(cell);
  }
}

std::size_t LengthTable::cell_of(std::uint64_t draw) const {
  std::size_t cell = guide_[draw / slice_];
  while (cell + 1 < cells_.size() && below_[cell + 1] <= draw) ++cell;
  return cell;
}

Lengths LengthTable::draw(RandomStream& stream) const {
  return draw_in(cells_[cell_of(stream.below(static_cast<std::uint64_t>(total_)))], stream);
}

Lengths LengthTable::draw_in(const Cell& cell, RandomStream& stream) const {
  const std::int32_t input = draw_within(cell.input_low, cell.input_high, cell.input_mean_milli, stream);
  return {input, draw_within(cell.output_low, cell.output_high, cell.output_mean_milli, stream)};
}

LengthSampler::LengthSampler(std::shared_ptr<const LengthTable> table) : table_(std::move(table)) {
  if (table_->total() > kMaxCards) return;
  for (std::uint32_t cell = 0; cell < table_->cells().size(); ++cell) {
    cards_.insert(cards_.end(), static_cast<std::size_t>(table_->cells()[cell].count), cell);
  }
}

Lengths LengthSampler::draw(RandomStream& stream) {
  if (cards_.empty()) return table_->draw(stream);
  if (undrawn_ == 0) undrawn_ = cards_.size();
  std::swap(cards_[stream.below(undrawn_)], cards_[undrawn_ - 1]);
  --undrawn_;
  return table_->draw_in(table_->cells()[cards_[undrawn_]], stream);
}

}  // namespace capstan::workload
