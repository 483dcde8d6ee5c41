#pragma once

#include "base/quantity.h"
#include "base/time.h"

namespace capstan::bound {

/// The work of a request and when it may be done, in replica time.
struct Job {
  Instant release;
  Instant prefill_due;
  Instant due;  ///< deadline of the decode work; not before `prefill_due`
  double prefill_s = 0;
  double decode_s = 0;

  double work_s() const { return prefill_s + decode_s; }
};

/// Costs of replicas beyond their serving time. All counts are in replicas; fractions if GPUs do not divide evenly.
struct FleetTerms {
  double start_s = 0;         ///< minimum paid time of a start, in which the replica does not serve
  double standing = 0;        ///< replicas whose GPUs are paid for by any plan
  double initial = 0;         ///< replicas paid for and ready at the beginning, standing ones included
  Duration span{};            ///< minimum time for which standing replicas are paid
  RequestCount may_miss = 0;  ///< jobs that need not be done
};

}  // namespace capstan::bound
