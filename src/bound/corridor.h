#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/quantity.h"
#include "base/time.h"
#include "bound/fleet_terms.h"

namespace capstan::bound {

/// Class of jobs that have similar work and are released in one bin. Every dropped job counts with the work of the
/// heaviest job of its class, so that the lower bound stays valid.
struct DropClass {
  std::size_t bin = 0;
  double work_s = 0;      ///< work of the heaviest job
  RequestCount jobs = 0;  ///< number of jobs; all of them may be dropped
};

/// Upper and lower limit on the work that is done by the end of each bin, summed over all jobs. At most the released
/// work and at least the due work is done. Releases are rounded down to the beginning of a bin and deadlines up to its
/// end. Every schedule that meets the deadlines is therefore within the limits, for any bin length.
struct Corridor {
  Duration bin{};
  std::vector<double> released_s;  ///< work released by the end of each bin, in total
  std::vector<double> due_s;       ///< work due by the end of each bin, in total
  std::vector<DropClass> drops;    ///< classes by bin, heaviest first within a bin

  std::size_t bins() const { return due_s.size(); }
};

/// Builds the corridor. Its bins have the length `least`, or are longer if there would be more than `most_bins`.
Corridor corridor(std::span<const Job> jobs, Duration least, std::size_t most_bins);

}  // namespace capstan::bound
