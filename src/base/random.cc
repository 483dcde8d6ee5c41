#include "base/random.h"

#include <bit>
#include <cmath>

#include "base/assert.h"
#include "base/hash.h"
#include "base/portable_math.h"

namespace capstan {

RandomStream::RandomStream(std::uint64_t seed, std::string_view name, std::uint64_t index) {
  std::uint64_t counter = mix64(seed) ^ hash_text(name) ^ mix64(index + 0x632be59bd9b4e019ULL);
  for (std::uint64_t& word : state_) word = mix64(counter += 0x9e3779b97f4a7c15ULL);
}

std::uint64_t RandomStream::bits() {
  const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

std::uint64_t RandomStream::below(std::uint64_t bound) {
  CAPSTAN_ASSERT(bound > 0);
  // Multiply-shift (Lemire 2019). It rejects the few low products that would make some results more likely.
  const std::uint64_t threshold = (0 - bound) % bound;
  for (;;) {
    const unsigned __int128 product = static_cast<unsigned __int128>(bits()) * bound;
    if (static_cast<std::uint64_t>(product) >= threshold) return static_cast<std::uint64_t>(product >> 64);
  }
}

std::int64_t RandomStream::between(std::int64_t low, std::int64_t high) {
  CAPSTAN_ASSERT(low <= high && high - low < INT64_MAX);
  return low + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(high - low) + 1));
}

double RandomStream::unit() { return (static_cast<double>(bits() >> 12) + 0.5) * 0x1p-52; }

double RandomStream::exponential() { return -portable_log(unit()); }

double RandomStream::normal() {
  for (;;) {
    const double u = 2 * unit() - 1;
    const double v = 2 * unit() - 1;
    const double s = u * u + v * v;
    if (s > 0 && s < 1) return u * std::sqrt(-2 * portable_log(s) / s);  // IEEE 754 defines the rounding of sqrt
  }
}

double RandomStream::gamma(double shape) {
  CAPSTAN_ASSERT(shape > 0);
  if (shape < 1) return gamma(shape + 1) * portable_pow(unit(), 1 / shape);
  const double d = shape - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = normal();
    const double t = 1 + c * x;
    if (t <= 0) continue;
    const double v = t * t * t;
    if (portable_log(unit()) < 0.5 * x * x + d - d * v + d * portable_log(v)) return d * v;
  }
}

double RandomStream::weibull(double shape) { return portable_pow(exponential(), 1 / shape); }

double RandomStream::log_normal(double median, double sigma) { return median * portable_exp(sigma * normal()); }

}  // namespace capstan
