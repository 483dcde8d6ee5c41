#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/time.h"
#include "decide/scale/scale.h"

namespace capstan::control {

/// Defines when a service's SLO counts as breached: the slowest replica's 99th percentile of the time to first token
/// has exceeded `bound` for at least `min_duration`.
struct SloBreachRule {
  Duration bound{};
  Duration min_duration = std::chrono::minutes(5);
  friend bool operator==(const SloBreachRule&, const SloBreachRule&) = default;
};

/// The last settings under which the SLO was held for at least `SloBreachRule::min_duration`.
struct GoodSettings {
  decide::scale::Policy settings;
  ReplicaCount replicas = 0;
  Instant at;
  friend bool operator==(const GoodSettings&, const GoodSettings&) = default;
};

/// State of one service's SLO.
struct SloMemory {
  std::optional<GoodSettings> good;
  Instant breached_since = Instant::never();
  Instant rolled_back_at = Instant::never();  ///< never: there is nothing to acknowledge
  // The fields below are not saved: a new leader starts without them and measures again.
  decide::scale::Policy last_settings;  ///< the settings of the last evaluation
  Instant met_since = Instant::never();

  bool rolled_back() const { return !rolled_back_at.is_never(); }
  friend bool operator==(const SloMemory&, const SloMemory&) = default;
};

/// Returns one line of text. It leaves out the settings in `SloMemory::good`; `parse_slo_memory` takes them as `good`.
std::string to_text(const SloMemory& memory);
Result<SloMemory> parse_slo_memory(std::string_view text, const std::optional<decide::scale::Policy>& good);

/// Updates the SLO state of one service. A breach restores the last settings that held the SLO. It also sets the floor
/// of the service's scale memory, so that nothing scales down. The floor is the number of present replicas or the
/// number of replicas under the restored settings, whichever is larger. The restored settings and the floor apply until
/// an operator acknowledges the breach or removes the rule. A missing reading neither starts nor ends a breach. After a
/// missing reading, the time for which the SLO has been held starts again.
///
/// @param rule             null: no rule
/// @param acknowledged_at  breaches up to this time are acknowledged, to the second
/// @param stated           the settings that operators configured
void update_slo(const SloBreachRule* rule, Instant acknowledged_at, const decide::scale::WorkloadView& role,
                const decide::scale::Policy& stated, SloMemory& memory, decide::scale::Memory& scale, Instant now);

/// Returns the settings that scale the service: the stated ones or, after a breach, the last good ones.
const decide::scale::Policy& settings_in_force(const SloMemory& memory, const decide::scale::Policy& stated);

}  // namespace capstan::control
