#pragma once

#include <cstdint>

namespace capstan::lint {

/// Seconds that rules assume for the start of a GPU replica if the manifest states no time. Pulling and loading an
/// image and a model of about 100 GB takes two to eight minutes.
inline constexpr std::int64_t kColdStartS = 300;

/// Seconds to start if image and model are on the node already: the engine reads weights from disk and compiles
/// kernels.
inline constexpr std::int64_t kLoadS = 120;

/// Seconds to start with weights of at most kSmallWeightsGb that are downloaded first.
inline constexpr std::int64_t kSmallStartS = 150;
inline constexpr double kSmallWeightsGb = 8;
/// Seconds to start with weights of at most kTinyWeightsGb.
inline constexpr std::int64_t kTinyStartS = 75;
inline constexpr double kTinyWeightsGb = 1;

}  // namespace capstan::lint
