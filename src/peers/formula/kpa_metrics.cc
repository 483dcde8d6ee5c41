#include "peers/formula/kpa_metrics.h"

#include <algorithm>
#include <cmath>

#include "base/portable_math.h"

namespace capstan::peers::kpa {
namespace {

std::int64_t granules(Duration window, Duration granularity) {
  return std::max<std::int64_t>(1, (window + granularity - Duration(1)) / granularity);
}

double cut_to_six_decimals(double value) { return std::floor(value * 1e6) / 1e6; }

}  // namespace

void MaxWindow::record(std::int64_t index, ReplicaCount value) {
  while (!falling_.empty() && falling_.back().value <= value) falling_.pop_back();
  // A smaller value with the index of a stored one is dropped, because both leave the window at the same time.
  if (falling_.empty() || falling_.back().index < index) falling_.push_back({index, value});
  const auto out = [&](const Entry& entry) { return entry.index <= index - length_; };
  falling_.erase(falling_.begin(), std::ranges::find_if_not(falling_, out));
}

MaxTimeWindow::MaxTimeWindow(Duration window, Duration granularity)
    : granule_s_(std::max<std::int64_t>(1, whole_seconds(granularity))), window_(granules(window, granularity)) {}

void MaxTimeWindow::record(Instant now, ReplicaCount value) {
  window_.record(granule_of(std::chrono::floor<std::chrono::seconds>(now.since_start).count(), granule_s_), value);
}

AverageWindow::AverageWindow(Duration window, Duration granularity)
    : granularity_(granularity), window_(granules(window, granularity)), buckets_(static_cast<std::size_t>(window_)) {}

void AverageWindow::record(Instant now, double value) {
  const std::int64_t index = index_of(now);
  if (written_ && index + window_ <= written_->last) return;
  if (!written_ || index - written_->last >= window_) {
    std::ranges::fill(buckets_, 0.0);
    total_ = 0;
    written_ = WrittenRange{index, index};
  }
  written_->first = std::min(written_->first, index);
  for (std::int64_t i = written_->last + 1; i <= index; ++i) {
    total_ -= bucket(i);
    bucket(i) = 0;
  }
  written_->last = std::max(written_->last, index);
  bucket(index) += value;
  total_ += value;
}

double AverageWindow::average(Instant now) const {
  if (!written_) return 0;
  const std::int64_t silent = index_of(now) - written_->last;
  if (silent >= window_) return 0;
  const std::int64_t written = written_->last - written_->first + 1;
  double total = total_;
  for (std::int64_t i = written_->last + 1; i <= written_->last + silent; ++i) total -= bucket(i);
  const std::int64_t divisor = std::min(written, window_ - std::max<std::int64_t>(0, silent));
  return cut_to_six_decimals(total / static_cast<double>(divisor));
}

std::int64_t sample_size(std::int64_t pods) {
  constexpr std::int64_t kAll = 3;
  if (pods <= kAll) return std::max<std::int64_t>(0, pods);
  constexpr double kX = 1.96 * 1.96 * 100.0 / 25.0;
  const auto population = static_cast<double>(pods);
  return static_cast<std::int64_t>(std::ceil(population * kX / (population + kX - 1.0)));
}

double smoothing_coefficient(double buckets) {
  constexpr double kWeightOfAll = 0.9999, kMin = 0.2;
  return std::max(1.0 - portable_pow(1.0 - kWeightOfAll, 1.0 / buckets), kMin);
}

WeightedWindow::WeightedWindow(Duration window, Duration granularity)
    : granularity_(granularity),
      buckets_(
          static_cast<std::size_t>(std::max<std::int64_t>(1, (window + granularity - Duration(1)) / granularity))) {
  coefficient_ = smoothing_coefficient(static_cast<double>(buckets_.size()));
}

std::size_t WeightedWindow::slot(std::int64_t index) const {
  const auto size = static_cast<std::int64_t>(buckets_.size());
  return static_cast<std::size_t>((index % size + size) % size);
}

void WeightedWindow::record(Instant now, double value) {
  const std::int64_t index = index_of(now);
  const auto size = static_cast<std::int64_t>(buckets_.size());
  if (last_ && index <= *last_ - size) return;
  if (!last_ || index > *last_) {
    const std::int64_t first = last_ ? std::max(*last_ + 1, index - size + 1) : index - size + 1;
    for (std::int64_t i = first; i <= index; ++i) buckets_[slot(i)] = 0;
    last_ = index;
  }
  buckets_[slot(index)] += value;
}

double WeightedWindow::average(Instant now) const {
  const auto size = static_cast<std::int64_t>(buckets_.size());
  if (!last_ || index_of(now) - *last_ > size) return 0;
  double weight = coefficient_;
  const std::int64_t silent = std::max<std::int64_t>(0, index_of(now) - *last_);
  for (std::int64_t i = 0; i < silent; ++i) weight *= 1 - coefficient_;
  double sum = 0;
  for (std::int64_t i = 0; i < size - silent; ++i) {
    sum += buckets_[slot(*last_ - i)] * weight;
    weight *= 1 - coefficient_;
  }
  return sum;
}

}  // namespace capstan::peers::kpa
