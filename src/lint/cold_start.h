#pragma once

#include <cstdint>

namespace capstan::lint {

/// Seconds that rules assume for the start of a GPU replica if the manifest states no time. Pulling and loading an
/// image and a model of about 100 GB takes two to eight minutes.
inline constexpr std::int64_t kColdStartS = 300;

/// Seconds to start if image and model are on the node already: the engine reads weights from disk and compiles
/// kernels.
inline constexpr std::int64_t kLoadS = 120;

}  // namespace capstan::lint
