#pragma once

#include <cstdint>
#include <vector>

#include "base/time.h"
#include "bound/fleet_program.h"
#include "bound/fleet_terms.h"
#include "bound/request_price.h"
#include "bound/step_prices.h"
#include "engine/step_model.h"
#include "model/slo.h"

namespace capstan::bound {

/// SLO of a service, and the limits of one of its replicas.
struct ServiceTerms {
  const engine::StepModel* model = nullptr;  ///< must outlive the call
  model::Slo slo;
  Duration front_end{};  ///< time between client and engine, subtracted from the TTFT and end-to-end bounds
  std::int64_t max_batched_tokens = 8192;
  std::int64_t max_seqs = 256;
  std::int64_t kv_blocks = 0;
  bool shares_kv = false;  ///< true: sequences may share KV of equal prompt parts, so KV memory does not limit a batch
};

struct BoundSettings {
  Duration bin = std::chrono::seconds(1);  ///< length of a bin; longer if there would be more than `most_bins`
  std::size_t most_bins = 3600;
  /// If `most_bins` bins would be longer than this, up to three times as many are used. In bins of 5 min or more the
  /// plan would start replicas too early and stop them too late.
  Duration long_bin = std::chrono::minutes(2);
};

/// Lower bound on the cost of serving these requests within their SLO. It holds even for a plan that knows all requests
/// before the first one arrives.
struct LowerBound {
  double least_replica_s = 0;  ///< paid replica time, starts and standing replicas included
  /// Least work of all requests that can meet the SLO, without starts and standing replicas.
  double work_replica_s = 0;
  /// Requests that miss the SLO even alone on a warm replica. They are excluded from all other values.
  RequestCount unattainable_requests = 0;
  RequestCount allowed_misses = 0;  ///< requests that the SLO allows to miss, out of the requests that can meet the SLO
  StepPrices prices;
  Duration bin{};             ///< length of a bin of `level`
  bool solved = false;        ///< false: the solver stopped early; the bound is valid and could be higher
  std::vector<double> level;  ///< paid replicas by bin, without starts: see `FleetBound::level`
};

/// @param requests  ordered by arrival
/// @param fleet     its `allowed_misses` is ignored; the SLO's attainment determines it
/// @param end       end of the run, by which all work must be done
LowerBound lower_bound(std::vector<KnownRequest> requests, const ServiceTerms& service, FleetTerms fleet, Instant end,
                       const BoundSettings& settings = {});

/// Returns true if the request meets its SLO when it runs alone on a warm replica.
bool holds_alone(const KnownRequest& request, const ServiceTerms& service);

}  // namespace capstan::bound
