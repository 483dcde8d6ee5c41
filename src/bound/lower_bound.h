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

/// A service's replica and its SLO.
struct ServiceTerms {
  const engine::StepModel* model = nullptr;  ///< must outlive the call
  model::Slo slo;
  Duration front_end{};  ///< time between client and engine, subtracted from a TTFT bound
  std::int64_t max_batched_tokens = 8192;
  std::int64_t max_seqs = 256;
  std::int64_t kv_blocks = 0;
  bool shares_kv = false;  ///< sequences may share parts of a prompt, so that the KV memory does not bound a batch
};

struct BoundSettings {
  Duration bin = std::chrono::seconds(1);  ///< longer if there would be more than `most_bins`
  std::size_t most_bins = 3600;
  /// If that makes bins longer than this, there may be three times as many: a plan in bins of five minutes and more
  /// rises too early and falls too late, and looks cheapest although it is not.
  Duration long_bin = std::chrono::minutes(2);
};

/// Lower bound on the cost of serving these requests within their SLO, even with knowledge of all of them before the
/// first arrives.
struct LowerBound {
  double least_replica_s = 0;  ///< paid replica time, starts and standing replicas included
  double work_replica_s = 0;   ///< part of it: the least work of the requests themselves, before any may be missed
  RequestCount hopeless = 0;   ///< requests that miss the SLO even alone on a warm replica; left out of everything else
  RequestCount may_miss = 0;   ///< of the remaining requests
  StepPrices prices;
  Duration bin{};
  bool solved = false;        ///< false: the solver stopped early, and the bound is looser than it could be
  std::vector<double> level;  ///< paid replicas by bin of the program's plan, without starts
};

/// @param requests  ordered by arrival
/// @param fleet     its `may_miss` is ignored because it follows from the SLO
/// @param end       end of the run: work must be done by then
LowerBound lower_bound(std::vector<KnownRequest> requests, const ServiceTerms& service, FleetTerms fleet, Instant end,
                       const BoundSettings& settings = {});

/// True if the request holds its SLO alone on a warm replica.
bool holds_alone(const KnownRequest& request, const ServiceTerms& service);

}  // namespace capstan::bound
