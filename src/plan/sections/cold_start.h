#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "plan/fleet.h"

// The start of a replica, from its phases in the plan. All sections use these times. A start on a new node begins with
// the launch of the node; a replica that moves to a node that exists starts without it.
namespace capstan::plan {

struct ColdStart {
  Duration typical{};                   ///< sum of the phases
  Duration longest{};                   ///< sum of the phases
  Duration typical_without_node{};      ///< on a node that exists
  Duration without_node{};              ///< longest, on a node that exists
  std::optional<StartStep> dominant{};  ///< takes the most of `typical`; nothing: no phases are known
  Duration dominant_typical{};
};

ColdStart cold_start_sum(const std::vector<StartPhase>& phases);

/// Returns "node", "image pull", "weights", "engine start" or "warm-up".
std::string_view step_word(StartStep step);

/// Returns "the launch of a node"; the other steps have their word.
std::string_view dominant_words(StartStep step);

/// Returns "node 55 s + image pull 2 min + weights 40 s + engine start 1 min".
std::string phases_words(const std::vector<StartPhase>& phases);

/// Returns the stabilization window for scaling down: twice the longest cold start, at least 10 min and at most 1 h.
std::int64_t scale_down_window_s(const ColdStart& start);

}  // namespace capstan::plan
