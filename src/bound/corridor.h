#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/quantity.h"
#include "base/time.h"
#include "bound/fleet_terms.h"

namespace capstan::bound {

/// Jobs of similar work that are released in one bin. Up to `jobs` of them may be dropped, each counted with `work_s`,
/// the work of the heaviest.
struct DropClass {
  std::size_t bin = 0;
  double work_s = 0;
  RequestCount jobs = 0;
};

/// Bounds on the work done by the end of each bin, over all jobs: at most what is released, at least what is due.
/// Releases are rounded down to the beginning of a bin and deadlines up to its end, so that every schedule that meets
/// the deadlines is inside the bounds for any bin length.
struct Corridor {
  Duration bin{};
  std::vector<double> released_s;  ///< cumulative, up to the end of each bin
  std::vector<double> due_s;       ///< cumulative, up to the end of each bin
  std::vector<DropClass> drops;    ///< by bin, heaviest first within a bin

  std::size_t bins() const { return due_s.size(); }
};

/// Builds the corridor with bins of `least`, or longer ones if that would exceed `most_bins`.
Corridor corridor(std::span<const Job> jobs, Duration least, std::size_t most_bins);

}  // namespace capstan::bound
