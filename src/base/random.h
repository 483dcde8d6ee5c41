#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace capstan {

/// A stream of random draws. Equal (seed, name, index) always give the same stream, so that an additional draw in one
/// part of a simulation does not change the draws in another part. The generator is xoshiro256** (Blackman and Vigna
/// 2018), seeded by SplitMix64. All draws use only integer and exactly rounded operations and are equal on every
/// machine.
class RandomStream {
 public:
  RandomStream(std::uint64_t seed, std::string_view name, std::uint64_t index = 0);

  std::uint64_t bits();
  std::uint64_t below(std::uint64_t bound);                              ///< uniform in [0, bound), unbiased; bound > 0
  std::int64_t between(std::int64_t low, std::int64_t high);             ///< uniform in [low, high]
  double unit();                                                         ///< uniform in (0, 1), 52 bits, never 0 or 1
  bool chance_ppm(std::uint32_t ppm) { return below(1'000'000) < ppm; }  ///< true with probability ppm / 1e6

  double exponential();                            ///< mean 1
  double normal();                                 ///< mean 0, standard deviation 1 (polar method, Marsaglia 1964)
  double gamma(double shape);                      ///< mean = shape, scale 1 (Marsaglia and Tsang 2000); shape > 0
  double weibull(double shape);                    ///< scale 1; shape > 0
  double log_normal(double median, double sigma);  ///< median * exp(sigma * normal)

 private:
  std::array<std::uint64_t, 4> state_;
};

}  // namespace capstan
