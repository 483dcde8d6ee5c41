#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plan/spec/spec.h"

// Choices for which no plan is made. `capstan plan` prints them and ends with exit code 3.
namespace capstan::plan {

/// Paths of the choices that the plan may refuse, for their places in the file.
inline constexpr std::array kRefusablePaths = {
    "asked.scale_on", "asked.consolidation", "asked.gang_scheduling", "cluster.gang_scheduler", "cluster", "limits"};

/// One choice of the spec that the plan refuses.
struct Refusal {
  std::string place{};    ///< "s.yaml:14:3"; the file if the choice has no place
  std::string what{};     ///< the choice: "asked.scale_on: DCGM_FI_DEV_GPU_UTIL (duty cycle of the GPU)"
  std::string why{};      ///< full sentences
  std::string instead{};  ///< full sentences
};

/// Meaning of a word of `asked.scale_on`.
enum class AskedSignal : std::uint8_t { queue, kv, latency, goodput, duty_cycle, gpu_memory };

/// Returns the meaning of a signal as an operator writes it: a short name or a metric of the engine or of DCGM. Case
/// and separators do not matter. Returns nothing for a word that is not known.
std::optional<AskedSignal> asked_signal(std::string_view word);

/// Returns true if the spec asks for a signal that policy Capstan does not scale on: any signal except goodput.
bool asks_for_another_signal(const AskedSpec& asked);

/// Returns the choices of a spec that the plan refuses, each with its reason and what to do instead.
std::vector<Refusal> refusals(const PlanSpec& spec);

}  // namespace capstan::plan
