#pragma once

#include <array>
#include <string_view>

#include "model/gang.h"
#include "model/node.h"
#include "model/signal.h"

// Names of phases and states in files and reports, in the order of their enums.
namespace capstan::model {

inline constexpr std::array<std::string_view, 5> kGangPhaseNames{"pending", "starting", "ready", "draining",
                                                                 "sleeping"};
inline constexpr std::array<std::string_view, 4> kPodPhaseNames{"pending", "starting", "ready", "terminating"};
inline constexpr std::array<std::string_view, 3> kNodePhaseNames{"ready", "cordoned", "terminating"};
inline constexpr std::array<std::string_view, 4> kClaimPhaseNames{"requested", "launched", "registered", "failed"};
inline constexpr std::array<std::string_view, 3> kSignalStateNames{"missing", "stale", "value"};

}  // namespace capstan::model
