#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "experiment/run/result.h"

namespace capstan::experiment {

/// A property of nodes by which a run's cost can be split.
enum class SpendingKey : std::uint8_t { capacity_type, zone, pool };
inline constexpr std::array kSpendingKeys = {SpendingKey::capacity_type, SpendingKey::zone, SpendingKey::pool};

struct SpendingSum {
  std::string name;  ///< "spot", "zone-a", a pool; "no pool" for nodes that belong to none
  std::int64_t micro_usd = 0;
};

/// Returns the label of the row with this split: "by zone".
const char* spending_label(SpendingKey key);

/// Returns the cost of a run by one key: capacity types in the order on-demand, spot, reserved; zones and pools by
/// name, nodes without a pool last. The sums add up to the run's cost.
std::vector<SpendingSum> spending_by(const RunResult& result, SpendingKey key);

}  // namespace capstan::experiment
