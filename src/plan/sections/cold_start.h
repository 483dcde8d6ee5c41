#pragma once

#include <string>

#include "plan/fleet.h"

// The start of a replica, from its phases in the plan.
namespace capstan::plan {

struct ColdStart {
  Duration typical{};       ///< sum of the phases
  Duration longest{};       ///< sum of the phases
  Duration without_node{};  ///< longest, on a node that exists
  std::string dominant{};   ///< phase that takes the most of `typical`; empty: no phases are known
  Duration dominant_typical{};
};

ColdStart cold_start_sum(const std::vector<StartPhase>& phases);

/// Returns "node 55 s + image pull 2 min + weights 40 s + engine start 1 min".
std::string phases_words(const std::vector<StartPhase>& phases);

/// Returns the time in which an HPA may lower its recommendation only to the highest one of this time: twice the
/// longest cold start, 10 min to 1 h.
std::int64_t scale_down_window_s(const ColdStart& start);

}  // namespace capstan::plan
