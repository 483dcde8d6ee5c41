#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plan/sections/sections.h"

namespace capstan::plan {

inline constexpr std::string_view kKillSwitchFile = "kill-switch.sh";

/// Returns the script that `--out` writes as kill-switch.sh. It works on the autoscaler that each workload has in the
/// cluster. On a breach it forbids the autoscalers to remove replicas, raises the replicas to the most that were ready
/// at once in the simulations, and brings back the signals that were saved last. It lowers no number of replicas.
std::string kill_switch_script(const PlanFacts& facts);

/// Says when to run the script and what it does, for the page.
std::string kill_switch_words(std::span<const ServicePlan> services);

/// Returns the commands of the kill switch: how to run the script, and for each role the command with which it begins.
std::vector<std::string> kill_switch_commands(const PlanFacts& facts);

/// Returns the command that saves the signals of the autoscalers before apply.sh changes them.
std::string save_signals_command(const PlanFacts& facts);

}  // namespace capstan::plan
