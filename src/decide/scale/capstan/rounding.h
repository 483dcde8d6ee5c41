#pragma once

#include <algorithm>
#include <cstdint>

// Whole numbers for explanations and memories, bounded by a billion.
namespace capstan::decide::scale {

inline std::int64_t to_whole(double value) { return static_cast<std::int64_t>(std::clamp(value, -1e9, 1e9)); }
inline std::int64_t to_milli(double value) { return to_whole(value * 1000.0); }
inline std::int64_t to_ppm(double value) { return to_whole(value * 1e6); }

}  // namespace capstan::decide::scale
