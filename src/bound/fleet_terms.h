#pragma once

#include "base/quantity.h"
#include "base/time.h"

namespace capstan::bound {

/// Work of one request, in replica time, and the times between which it may be done.
struct Job {
  Instant release;
  Instant prefill_due;  ///< deadline of the prefill work
  Instant due;          ///< deadline of the decode work; not before `prefill_due`
  double prefill_s = 0;
  double decode_s = 0;

  double work_s() const { return prefill_s + decode_s; }
};

/// Costs of a fleet in addition to the time in which its replicas serve. A number of replicas is a fraction if the GPUs
/// of the existing nodes are not a multiple of the GPUs of one replica.
struct FleetTerms {
  double start_s = 0;               ///< minimum time of a start; it is paid, and the replica does not serve yet
  double standing = 0;              ///< replicas that every plan pays for, even if they are not used
  double initial = 0;               ///< replicas that are paid for and ready at the beginning, standing ones included
  Duration span{};                  ///< minimum time for which standing replicas are paid
  RequestCount allowed_misses = 0;  ///< number of jobs that may be left undone
};

}  // namespace capstan::bound
