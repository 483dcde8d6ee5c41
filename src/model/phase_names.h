#pragma once

#include <array>
#include <string_view>

#include "model/gang.h"

namespace capstan::model {

/// Names of the phases of a gang in files and reports, in the order of `Gang::Phase`.
inline constexpr std::array<std::string_view, 5> kGangPhaseNames{"pending", "starting", "ready", "draining",
                                                                 "sleeping"};

}  // namespace capstan::model
