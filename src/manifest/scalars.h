#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/quantity.h"
#include "base/time.h"

namespace capstan::manifest {

/// Largest number of replicas that a scenario, an InferenceScaler or an object of another autoscaler may state. It
/// keeps sums over replicas far below 64 bits.
inline constexpr std::int64_t kMaxReplicas = 100'000;

// Parsers for scalars. Except for `read_number`, they are exact, because no binary fraction is involved. They return
// nothing if the text is malformed, is not a whole number of the smallest unit, or does not fit into 64 bits.

std::optional<std::int64_t> read_integer(std::string_view text);           ///< 40, -3, 1_000_000
std::optional<double> read_number(std::string_view text);                  ///< 2.5, 1e-3; finite
std::optional<bool> read_boolean(std::string_view text);                   ///< true, false
std::optional<Duration> read_duration(std::string_view text);              ///< 250ms, 90s, 2m30s, 1.5h, 7d, 0
std::optional<Bytes> read_bytes(std::string_view text);                    ///< 512B, 20GB, 1.5GiB
std::optional<std::int64_t> read_bytes_per_second(std::string_view text);  ///< 2GB/s, 10Gbit/s
std::optional<std::int64_t> read_share_ppm(std::string_view text);         ///< 99%, 0.5%, 0.99: millionths
std::optional<MicroUsd> read_usd(std::string_view text);                   ///< 12.29, $12.29

}  // namespace capstan::manifest
