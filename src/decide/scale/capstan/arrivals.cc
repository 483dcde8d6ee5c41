#include "decide/scale/capstan/arrivals.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace capstan::decide::scale {
namespace {

constexpr Duration kBlock = std::chrono::seconds(15);
constexpr Duration kNoiseMemory = std::chrono::minutes(10);
constexpr Duration kArrivalMemory = std::chrono::seconds(45);
constexpr Duration kMaxArrivalMemory = std::chrono::seconds(60);
// Target for the relative noise of the mean. The noisier the arrivals, the longer the time over which the mean is
// taken.
constexpr double kNoiseTarget = 0.06;
constexpr double kArrivalsJump = 1.25;  // a jump differs from the mean by more than this factor and four deviations
constexpr double kLengthVariation =
    2.0;  // 1 + squared coefficient of variation of prompt lengths; assumed, never measured
constexpr double kMaxArriving = 1e12;

/// Returns the relative standard deviation of the prompt tokens that arrive in `kBlock`, if the number and the lengths
/// of the prompts vary only by chance.
double counted_noise(double tokens_per_s, const Shape& shape) {
  return std::sqrt(kLengthVariation / std::max(tokens_per_s / shape.prompt * in_seconds(kBlock), 1.0));
}

/// Adds arrivals to the current block. If the block is then long enough, ends it, updates the measured variance by its
/// difference from the previous block, and returns its mean rate. Otherwise returns no value.
std::optional<double> learn_noise(double tokens_per_s, Duration since_last, CapstanMemory& memory) {
  const double in_block = std::min(in_seconds(memory.block), in_seconds(kBlock));
  const double s = in_seconds(since_last);
  if (in_block + s <= 0) return std::nullopt;
  double mean = static_cast<double>(memory.block_milli) / 1000.0;
  mean += s / (in_block + s) * (tokens_per_s - mean);
  memory.block += since_last;
  memory.block_milli = static_cast<std::int64_t>(std::min(mean, kMaxArriving) * 1000.0);
  if (memory.block < kBlock) return std::nullopt;
  const double last = static_cast<double>(memory.last_block_milli) / 1000.0;
  if (last > 0) {
    const double difference = 2 * (mean - last) / (mean + last);
    const double square = std::min(difference * difference / 2, 1.0);
    const double part = in_seconds(memory.block) / (in_seconds(kNoiseMemory) + in_seconds(memory.block));
    const double before = static_cast<double>(memory.arrivals_variance_ppm) / 1e6;
    memory.arrivals_variance_ppm = static_cast<std::int64_t>((before + part * (square - before)) * 1e6);
  }
  memory.last_block_milli = memory.block_milli;
  memory.block = {};
  memory.block_milli = 0;
  return mean;
}

}  // namespace

Arrivals learn_arrivals(const Load& load, const Shape& shape, Duration since_last, CapstanMemory& memory) {
  const double raw = std::max(0.0, load.prompt_rate + load.queue_rate * shape.prompt);
  const double seen_before = std::sqrt(static_cast<double>(memory.arrivals_variance_ppm) / 1e6);
  const std::optional<double> block = learn_noise(raw, since_last, memory);
  const double seen = std::sqrt(static_cast<double>(memory.arrivals_variance_ppm) / 1e6);
  const double noise = std::max(counted_noise(raw, shape), seen);
  const double fold = noise / kNoiseTarget;
  const double time_constant_s =
      std::clamp(in_seconds(kBlock) / 2 * fold * fold, in_seconds(kArrivalMemory), in_seconds(kMaxArrivalMemory));
  const double part = in_seconds(since_last) / (time_constant_s + in_seconds(since_last));
  double mean = static_cast<double>(memory.arrivals_milli) / 1000.0;
  const double usual = std::max(counted_noise(mean, shape), seen_before);
  // The mean rises as soon as a reading shows a jump, and falls only after a full block, because a late rise costs more
  // than a late fall.
  if (mean <= 0 || raw > mean * (kArrivalsJump + 4 * noise)) {
    mean = raw;
  } else if (block && *block * kArrivalsJump < mean * (1 - 4 * usual)) {
    mean = *block;
  } else {
    mean += part * (raw - mean);
  }
  memory.arrivals_milli = static_cast<std::int64_t>(std::min(mean, kMaxArriving) * 1000.0);
  return {mean, noise};
}

}  // namespace capstan::decide::scale
