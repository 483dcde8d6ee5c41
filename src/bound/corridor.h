#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/quantity.h"
#include "base/time.h"
#include "bound/fleet_terms.h"

namespace capstan::bound {

/// Jobs of about the same work that are released in one bin: as many as `jobs` may be dropped, each for `work_s`, which
/// is what the heaviest of them has.
struct DropClass {
  std::size_t bin = 0;
  double work_s = 0;
  RequestCount jobs = 0;
};

/// Between what the work done by the end of each bin must lie, all jobs together: at most what is released, at least
/// what is due. Releases are rounded down to the beginning of a bin and deadlines up to the end of one, so that whoever
/// meets the deadlines stays inside, whatever the bins.
struct Corridor {
  Duration bin{};
  std::vector<double> released_s;  ///< up to the end of the bin, from the beginning on
  std::vector<double> due_s;
  std::vector<DropClass> drops;  ///< by bin, in each the heaviest first

  std::size_t bins() const { return due_s.size(); }
};

/// Bins of `least`, or as much longer as keeps them within `most_bins`.
Corridor corridor(std::span<const Job> jobs, Duration least, std::size_t most_bins);

}  // namespace capstan::bound
