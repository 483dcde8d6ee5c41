#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "model/resources.h"

// Numbers of resources other than GPUs, as reasons hold them: the standard resources, then the extended resources by
// their position in Catalog::extended_resources.
namespace capstan::model {

/// Names of the standard resources, by number.
inline constexpr std::array<std::string_view, 4> kStandardResources{"CPU", "memory", "ephemeral storage", "pod slots"};

/// Returns the amount of a resource, in the unit of `Resources`.
inline std::int64_t amount_at(const Resources& resources, std::size_t number) {
  switch (number) {
    case 0:
      return resources.cpu_milli;
    case 1:
      return resources.memory_mib;
    case 2:
      return resources.storage_mib;
    case 3:
      return resources.pod_slots;
    default:
      return resources.extended_at(number - kStandardResources.size());
  }
}

/// Returns the number of the scarcest resource: the one that limits most how many times `amount` can be taken from
/// `available`. Returns no value if every resource suffices for `times` times.
inline std::optional<std::size_t> scarcest_resource(const Resources& amount, const Resources& available,
                                                    std::int64_t times) {
  std::optional<std::size_t> scarcest;
  for (std::size_t i = 0; i < kStandardResources.size() + amount.extended.size(); ++i) {
    if (amount_at(amount, i) <= 0) continue;
    const std::int64_t held = std::max<std::int64_t>(amount_at(available, i), 0) / amount_at(amount, i);
    if (held >= times) continue;
    times = held;
    scarcest = i;
  }
  return scarcest;
}

}  // namespace capstan::model
