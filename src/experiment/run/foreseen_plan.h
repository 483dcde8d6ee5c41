#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "base/quantity.h"
#include "base/time.h"

namespace capstan::experiment {

/// How many replicas to ask for, by moment, whatever anybody sees.
using Script = std::function<ReplicaCount(Instant)>;

/// A plan by bins as a script: every level raised by a share and rounded up to whole replicas, asked for `lead` before
/// it is needed and kept until it is not, between `least` and `most`. After the last bin, its level.
Script foreseen_plan(std::span<const double> level, Duration bin, std::int64_t raised_ppm, Duration lead,
                     ReplicaCount least, ReplicaCount most);

}  // namespace capstan::experiment
