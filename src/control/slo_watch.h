#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/time.h"
#include "decide/scale/scale.h"

namespace capstan::control {

/// When a service's promise counts as broken: the slowest replica's 99th percentile of the time to first token above
/// the bound for so long.
struct SloBreachRule {
  Duration bound{};
  Duration lasts = std::chrono::minutes(5);
  friend bool operator==(const SloBreachRule&, const SloBreachRule&) = default;
};

/// The last settings under which a promise was kept for as long as it takes to break it.
struct KeptSettings {
  decide::scale::Policy settings;
  ReplicaCount replicas = 0;
  Instant at;
  friend bool operator==(const KeptSettings&, const KeptSettings&) = default;
};

/// What is remembered of one service's promise.
struct SloMemory {
  std::optional<KeptSettings> good;
  Instant broken_since = Instant::never();
  Instant rolled_back_at = Instant::never();  ///< never: there is nothing to acknowledge
  // Begun anew by a successor, who sees for himself.
  decide::scale::Policy tried;  ///< the settings of the last look
  Instant met_since = Instant::never();

  bool rolled_back() const { return !rolled_back_at.is_never(); }
  friend bool operator==(const SloMemory&, const SloMemory&) = default;
};

/// One line of text, the settings of the last good state apart; `parse_slo_memory` turns both back.
std::string to_text(const SloMemory& memory);
Result<SloMemory> parse_slo_memory(std::string_view text, const std::optional<decide::scale::Policy>& good);

/// Follows the promise of one service. A breach puts the last settings under which it was kept in force, and sets the
/// floor of the service's scale memory to the replicas of that time, so that nothing is lowered; both end when a person
/// acknowledges, or takes the rule away. What nobody measured is neither kept nor broken.
///
/// @param rule             null: there is none
/// @param acknowledged_at  until when breaches are acknowledged, to the second
/// @param stated           the settings that people wish
void follow_slo(const SloBreachRule* rule, Instant acknowledged_at, const decide::scale::RoleView& role,
                const decide::scale::Policy& stated, SloMemory& memory, decide::scale::Memory& scale, Instant now);

/// The settings by which the service is scaled: those that are stated, or, after a breach, the last good ones.
const decide::scale::Policy& settings_in_force(const SloMemory& memory, const decide::scale::Policy& stated);

}  // namespace capstan::control
