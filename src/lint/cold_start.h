#pragma once

#include <cstdint>

namespace capstan::lint {

/// The start time of a GPU replica that rules assume if nothing states it. To pull and load an image and a model of
/// about 100 GB takes two to eight minutes.
inline constexpr std::int64_t kColdStartS = 300;

/// The start time if the image and the model are on the node: weights are read from a disk, kernels are compiled.
inline constexpr std::int64_t kLoadS = 120;

}  // namespace capstan::lint
