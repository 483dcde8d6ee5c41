#pragma once

#include <cstdint>

namespace capstan::lint {

/// What rules take a GPU replica's start to last, where nothing says it: an image and a model of some 100 GB are pulled
/// and loaded in two to eight minutes.
inline constexpr std::int64_t kColdStartS = 300;

/// The same without image and download: the weights are read from a disk, kernels are compiled.
inline constexpr std::int64_t kLoadS = 120;

}  // namespace capstan::lint
