#pragma once

#include <cstdint>
#include <optional>

#include "lint/pods.h"
#include "lint/scalers.h"

// The time that a replica needs to start. All rules that judge a start use these bounds. A rule reports a warning only
// if the shortest possible start proves the defect.
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

/// Least number of seconds in which an engine of language models starts, with any model: it loads its libraries, starts
/// the processes of the GPUs and captures CUDA graphs.
inline constexpr std::int64_t kFastestStartS = 20;

/// Returns the least number of seconds from the start of a container to its first answer. Weights are downloaded with
/// at most 1 GB/s and read from a volume with at most 2.5 GB/s. Returns none if the container runs no known engine of
/// language models.
std::optional<std::int64_t> shortest_start_s(const Object& object, const Pod& pod, const Value& container);

/// Returns the largest number of seconds in which a container downloads and loads its model. The download is assumed to
/// run at 100 MB/s, and everything after it to take two minutes. Returns none if the size of the model is unknown.
std::optional<std::int64_t> longest_start_s(const Value& container);

/// Returns the least number of seconds in which a replica of the scaled workload starts. An initial delay of its
/// readiness or startup probe counts too, because the replica is not ready before the delay is over. If the input lacks
/// the workload, the metrics of the scaler may show that it is an engine. Returns none if the workload is not known to
/// start slowly.
std::optional<std::int64_t> shortest_start_s(const Scaler& scaler, const Set& set);

}  // namespace capstan::lint
