#pragma once

#include <compare>
#include <cstdint>

namespace capstan {

/// An integer with a unit. Sums, differences and multiples keep the unit; other arithmetic uses `count`.
template <typename Tag>
struct Quantity {
  std::int64_t count = 0;

  friend constexpr auto operator<=>(Quantity, Quantity) = default;
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return {a.count + b.count}; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return {a.count - b.count}; }
  friend constexpr Quantity operator*(Quantity a, std::int64_t n) { return {a.count * n}; }
  constexpr Quantity& operator+=(Quantity other) { return count += other.count, *this; }
  constexpr Quantity& operator-=(Quantity other) { return count -= other.count, *this; }
};

using MilliGpu = Quantity<struct MilliGpuTag>;  ///< 1/1000 of a GPU
using MicroUsd = Quantity<struct MicroUsdTag>;  ///< 1/1,000,000 of a US dollar
using Bytes = Quantity<struct BytesTag>;

constexpr MilliGpu whole_gpus(std::int64_t n) { return {n * 1000}; }

/// GPUs times nanoseconds. 64 bits would overflow at 2.56 million GPU-hours, which a thousand eight-GPU nodes reach in
/// half a month.
using GpuNanoseconds = __int128;

using Tokens = std::int64_t;
using GpuCount = std::int64_t;
using ReplicaCount = std::int64_t;
using RequestCount = std::int64_t;

/// Returns ceil(a / b) for a >= 0, b > 0.
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Returns a number of GPUs >= 0, rounded up to whole GPUs.
constexpr GpuCount gpus_up(MilliGpu gpus) { return ceil_div(gpus.count, 1000); }

}  // namespace capstan
