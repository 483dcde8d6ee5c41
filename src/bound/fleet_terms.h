#pragma once

#include "base/quantity.h"
#include "base/time.h"

namespace capstan::bound {

/// What a request's work is and when it may be done, in replica time.
struct Job {
  Instant release;
  Instant prefill_due;
  Instant due;  ///< of the rest; not before `prefill_due`
  double prefill_s = 0;
  double decode_s = 0;

  double work_s() const { return prefill_s + decode_s; }
};

/// What replicas cost beside the time that they serve. All in replicas; fractions where GPUs do not divide.
struct FleetTerms {
  double start_s = 0;         ///< paid time of a start, at least, in which the replica does not serve
  double standing = 0;        ///< replicas whose GPUs are paid for whatever anybody decides
  double initial = 0;         ///< replicas that are paid for and ready at the beginning, standing ones included
  Duration span{};            ///< how long standing ones are paid for, at least
  RequestCount may_miss = 0;  ///< jobs that need not be done
};

}  // namespace capstan::bound
