#pragma once

#include <string>

#include "plan/fleet.h"

// The start of a replica, from its phases in the plan. All sections take the times of a start from here. A start on a
// new node begins with the launch of the node; a replica that moves to a node that exists starts without it.
namespace capstan::plan {

struct ColdStart {
  Duration typical{};               ///< sum of the phases
  Duration longest{};               ///< sum of the phases
  Duration typical_without_node{};  ///< on a node that exists
  Duration without_node{};          ///< longest, on a node that exists
  std::string dominant{};           ///< phase that takes the most of `typical`; empty: no phases are known
  Duration dominant_typical{};
};

ColdStart cold_start_sum(const std::vector<StartPhase>& phases);

/// Returns "the launch of a node" for the phase "node"; the others are named by their phase.
std::string phase_words(const std::string& phase);

/// Returns "node 55 s + image pull 2 min + weights 40 s + engine start 1 min".
std::string phases_words(const std::vector<StartPhase>& phases);

/// Returns the time in which an HPA may lower its recommendation only to the highest one of this time: twice the
/// longest cold start, 10 min to 1 h.
std::int64_t scale_down_window_s(const ColdStart& start);

}  // namespace capstan::plan
