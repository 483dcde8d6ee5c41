#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "plan/fleet/fleet.h"

// The start of a replica, from its phases in the plan. All sections use these times. A start on a new node begins with
// the launch of the node; a replica that moves to a node that exists starts without it.
namespace capstan::plan {

struct ColdStart {
  Duration typical{};                   ///< sum of the typical times of the phases
  Duration longest{};                   ///< sum of the longest times of the phases
  Duration typical_without_node{};      ///< typical time on a node that exists
  Duration longest_without_node{};      ///< longest time on a node that exists
  std::optional<StartStep> dominant{};  ///< phase with the longest typical time; nothing: no phases are known
  Duration dominant_typical{};
};

ColdStart cold_start_sum(const std::vector<StartPhase>& phases);

/// Returns "node", "image pull", "weights", "engine start" or "warm-up".
std::string_view step_word(StartStep step);

/// Returns "the launch of a node" for `StartStep::node`, and the word of `step_word` for the other steps.
std::string_view slowest_step_words(StartStep step);

/// Returns "node 55 s + image pull 2 min + weights 40 s + engine start 1 min".
std::string phases_words(const std::vector<StartPhase>& phases);

/// Returns the stabilization window for scaling down: twice the longest cold start, at least 10 min and at most 1 h.
std::int64_t scale_down_window_s(const ColdStart& start);

}  // namespace capstan::plan
