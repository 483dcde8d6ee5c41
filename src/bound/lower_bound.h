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

/// What a replica is, and what is promised of it.
struct ServiceTerms {
  const engine::StepModel* model = nullptr;  ///< outlives the call
  model::Slo slo;
  Duration front_end{};  ///< between client and engine: of a TTFT bound, the engine has what is left
  std::int64_t max_batched_tokens = 8192;
  std::int64_t max_seqs = 256;
  std::int64_t kv_blocks = 0;
  bool shares_kv = false;  ///< sequences may hold parts of a prompt together, so that the KV memory bounds no batch
};

struct BoundSettings {
  Duration bin = std::chrono::seconds(1);  ///< longer where there would be more than `most_bins`
  std::size_t most_bins = 3600;
  /// Where that makes them longer than this, there may be three times as many: a plan in bins of five minutes and more
  /// rises too early and falls too late, and passes for the cheapest though it is not.
  Duration long_bin = std::chrono::minutes(2);
};

/// What nobody undercuts who serves these requests within their SLO, though he may know them all before the first
/// arrives.
struct LowerBound {
  double least_replica_s = 0;  ///< paid replica time, starts and standing replicas included
  double work_replica_s = 0;   ///< of it, the least that the requests themselves take, before any may be missed
  RequestCount hopeless = 0;   ///< requests that miss the SLO alone on a warm replica; left out of all else
  RequestCount may_miss = 0;   ///< of the others
  StepPrices prices;
  Duration bin{};
  bool solved = false;        ///< false: the solver gave up, and the bound is looser than it could be
  std::vector<double> level;  ///< paid replicas by bin in which the program could do it, starts apart
};

/// @param requests  by arrival
/// @param fleet     its `may_miss` is not read: it follows from the SLO
/// @param end       what is not done by then is done by nobody: the end of the run
LowerBound lower_bound(std::vector<KnownRequest> requests, const ServiceTerms& service, FleetTerms fleet, Instant end,
                       const BoundSettings& settings = {});

/// Does the request hold its SLO alone on a warm replica?
bool holds_alone(const KnownRequest& request, const ServiceTerms& service);

}  // namespace capstan::bound
