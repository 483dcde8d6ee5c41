#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace capstan::model {

/// Resources of a node other than GPUs: the amounts that a pod needs, or that a node has left.
struct Resources {
  std::int64_t cpu_milli = 0;
  std::int64_t memory_mib = 0;
  std::int64_t storage_mib = 0;  ///< ephemeral storage
  std::int64_t pod_slots = 0;    ///< pods that the kubelet of the node admits; each pod takes one slot
  /// Amounts by position in Catalog::extended_resources. Amounts that are missing at the end are 0.
  std::vector<std::int64_t> extended{};
  friend bool operator==(const Resources&, const Resources&) = default;

  std::int64_t extended_at(std::size_t i) const { return i < extended.size() ? extended[i] : 0; }
};

/// An amount that stands for no limit.
inline constexpr std::int64_t kUnlimited = std::int64_t{1} << 60;

/// Returns how many times `amount` can be taken from `available`, at most `most`.
inline std::int64_t times_in(const Resources& amount, const Resources& available, std::int64_t most) {
  const auto bound = [&most](std::int64_t needed, std::int64_t free) {
    if (needed > 0) most = std::min(most, std::max<std::int64_t>(free, 0) / needed);
  };
  bound(amount.cpu_milli, available.cpu_milli);
  bound(amount.memory_mib, available.memory_mib);
  bound(amount.storage_mib, available.storage_mib);
  bound(amount.pod_slots, available.pod_slots);
  for (std::size_t i = 0; i < amount.extended.size(); ++i) bound(amount.extended[i], available.extended_at(i));
  return most;
}

/// Subtracts `amount` from `available`. The result is negative if more pods were bound to a node than its resources
/// allow.
inline void take_from(Resources& available, const Resources& amount) {
  available.cpu_milli -= amount.cpu_milli;
  available.memory_mib -= amount.memory_mib;
  available.storage_mib -= amount.storage_mib;
  available.pod_slots -= amount.pod_slots;
  available.extended.resize(std::max(available.extended.size(), amount.extended.size()));
  for (std::size_t i = 0; i < amount.extended.size(); ++i) available.extended[i] -= amount.extended[i];
}

/// Adds `amount` to `sum`. No sum becomes larger than `kUnlimited`.
inline void add_to(Resources& sum, const Resources& amount) {
  const auto add = [](std::int64_t& to, std::int64_t more) {
    to = std::min(to + std::min(more, kUnlimited), kUnlimited);
  };
  add(sum.cpu_milli, amount.cpu_milli);
  add(sum.memory_mib, amount.memory_mib);
  add(sum.storage_mib, amount.storage_mib);
  add(sum.pod_slots, amount.pod_slots);
  sum.extended.resize(std::max(sum.extended.size(), amount.extended.size()));
  for (std::size_t i = 0; i < amount.extended.size(); ++i) add(sum.extended[i], amount.extended[i]);
}

}  // namespace capstan::model
