#include "decide/scale/capstan/backlog.h"

#include <algorithm>
#include <chrono>

namespace capstan::decide::scale {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr Duration kOldestArrivals = seconds(30);  // age of the oldest arrivals in a rate: two scrapes
constexpr Duration kGrowth = minutes(1);           // window for the growth of in-flight requests
constexpr Duration kMinSoon = minutes(1);
constexpr double kSoonPart = 0.25;  // time in which a queue should drain, as a fraction of the lead time
constexpr double kNever_s = 1e9;
constexpr double kMaxInFlight = 1e12;

/// Returns the replicas that would serve all arrivals, estimated from the growth of in-flight requests; 0 without an
/// earlier reading.
double demand_by_growth(Step& step) {
  const double in_flight = std::min(step.load.in_flight(), kMaxInFlight);
  std::int64_t& mean_milli = step.memory.in_flight_mean_milli;
  const bool known = mean_milli > 0;
  double mean = known ? static_cast<double>(mean_milli) / 1000.0 : in_flight;
  // Under steady growth, a mean that fades over a minute lags behind by the growth of one minute, so the lag shows how
  // fast the requests in flight grow.
  mean += std::min(in_seconds(step.since_last) / in_seconds(kGrowth), 1.0) * (in_flight - mean);
  mean_milli = static_cast<std::int64_t>(mean * 1000.0);
  return known ? step.serving() + (in_flight - mean) / in_seconds(kGrowth) / step.requests_per_s() : 0;
}

/// Returns the replica-seconds that the serving and starting replicas will have served when a replica requested now is
/// ready. A replica that is already starting was requested earlier, so it serves for a part of that time.
double serve_until_ready_s(const Step& step, double lead_s) {
  double sum = step.serving() * lead_s;
  for (const WorkloadView::Replica& replica : step.role.replicas) {
    const VariantStep& variant = step.variants[replica.variant];
    const bool is_loading = replica.phase == model::Gang::Phase::starting;
    const bool is_waiting = replica.phase == model::Gang::Phase::pending && !variant.denied;
    if (is_loading || is_waiting)
      sum += variant.relative_capacity * std::clamp(in_seconds(step.now - replica.created_at), 0.0, lead_s);
  }
  return sum;
}

}  // namespace

double backlog(Step& step, double demand) {
  const double arriving = std::max(demand, demand_by_growth(step));
  const double queued = step.queued();
  if (queued < 1) return 0;
  const double served_per_s = step.requests_per_s();
  const double lead_s = std::max(in_seconds(step.lead), 1.0);
  const double growth = served_per_s * (arriving * lead_s - serve_until_ready_s(step, lead_s));
  const double left = std::max(queued + growth, 0.0);
  const double spare = step.counted() - arriving;
  const double left_s = left <= 0 ? 0 : spare > 0 ? left / (spare * served_per_s) : kNever_s;
  const double drains_s = left > 0 ? lead_s + left_s : lead_s * queued / -growth;
  step.need.backlog_drains = std::chrono::milliseconds(static_cast<std::int64_t>(std::min(drains_s, 86'400.0) * 1000));
  const double soon_s = std::max(kSoonPart * lead_s, in_seconds(kMinSoon));
  return left_s <= soon_s ? 0 : left / (served_per_s * soon_s);
}

bool is_queue_draining(Step& step) {
  const double answer_s = std::min(step.shape.output * step.first_variant_capacity().token_s, in_seconds(minutes(60)));
  Instant& until = step.memory.draining_until;
  if (step.queued() >= 1 && step.load.queue_rate < 0) {
    until = step.now + kOldestArrivals + std::chrono::milliseconds(static_cast<std::int64_t>(answer_s * 1000));
  }
  return step.now < until;
}

}  // namespace capstan::decide::scale
