#include "plan/cost/answers.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "base/number_text.h"
#include "base/unit_text.h"
#include "experiment/text/words.h"
#include "plan/result/figures.h"

namespace capstan::plan {

namespace {

using experiment::tenths;
using experiment::usd;

constexpr std::int64_t kMicrosecondsPerHour = 3'600'000'000;
constexpr std::int64_t kDaysPerYear = 365;
constexpr std::int64_t kMonthsPerYear = 12;

/// Returns the amount in 64 bits. An amount that does not fit becomes the largest 64-bit number.
std::int64_t bounded(__int128 micro_usd) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  return micro_usd > kMax ? kMax : static_cast<std::int64_t>(micro_usd);
}

std::int64_t staff_micro_usd_per_month(const StaffSpec& staff) {
  return static_cast<std::int64_t>(static_cast<__int128>(staff.per_year.count) * staff.share_ppm / 1'000'000 /
                                   kMonthsPerYear);
}

/// The costs of the own cluster and of a serverless offer, micro-dollars a month.
struct OwnAndServerless {
  std::int64_t machines = 0;
  std::int64_t staff = 0;
  std::int64_t break_even = 0;  ///< price of a GPU-hour of useful work; 0 without work
  std::int64_t serverless = 0;

  std::int64_t own() const { return machines + staff; }
};

OwnAndServerless compare(const ServerlessInput& input) {
  OwnAndServerless cost{.machines = bounded(static_cast<__int128>(input.gpu_micro_usd_per_hour) * kHoursPerMonth),
                        .staff = staff_micro_usd_per_month(input.staff)};
  if (input.gpu_milli <= 0) return cost;
  const __int128 gpu_hours_milli = static_cast<__int128>(input.gpu_milli) * kHoursPerMonth;
  cost.break_even = static_cast<std::int64_t>(static_cast<__int128>(cost.own()) * 1000 / gpu_hours_milli);
  cost.serverless = bounded(gpu_hours_milli * input.staff.serverless_per_gpu_hour.count / 1000);
  return cost;
}

}  // namespace

std::string usd_sum(std::int64_t micro_usd) {
  constexpr std::int64_t kMicroUsd = 1'000'000;
  const bool has_cents = micro_usd < 1'000 * kMicroUsd || micro_usd == std::numeric_limits<std::int64_t>::max();
  return has_cents ? usd(micro_usd) : grouped_text(micro_usd / kMicroUsd + micro_usd % kMicroUsd / (kMicroUsd / 2));
}

Statement warm_pool_cost(const WarmPoolInput& input) {
  const __int128 per_hour = static_cast<__int128>(input.replicas) * input.gpus_per_replica * input.price.per_hour.count;
  return {.name = "warm pool",
          .value = usd_sum(bounded(per_hour * kHoursPerMonth)) + " USD/month",
          .why = fmt::format(
              "{} x {} x {} USD for a GPU-hour x {} h", count_text(input.replicas, "replica", "replicas"),
              count_text(input.gpus_per_replica, "GPU", "GPUs"), usd(input.price.per_hour.count), kHoursPerMonth),
          .evidence = input.price.evidence};
}

std::vector<Statement> token_cost(const TokenInput& input) {
  const __int128 per_month = static_cast<__int128>(input.micro_usd_per_hour) * kHoursPerMonth;
  std::vector<Statement> out;
  out.push_back({.name = "machines",
                 .value = usd_sum(bounded(per_month)) + " USD/month",
                 .why = fmt::format("{} USD/h x {} h", usd(input.micro_usd_per_hour), kHoursPerMonth),
                 .evidence = Evidence::stated});
  if (input.tokens_per_s <= 0) return out;
  const double per_million = static_cast<double>(input.micro_usd_per_hour) * 1e6 / (input.tokens_per_s * 3600);
  out.push_back({.name = "million answer tokens",
                 .value = usd(std::llround(per_million)) + " USD",
                 .why = fmt::format("{} USD/h / ({:g} tokens/s x 3,600 s) x 1,000,000", usd(input.micro_usd_per_hour),
                                    input.tokens_per_s),
                 .evidence = Evidence::stated});
  return out;
}

Statement idle_cost(const IdleInput& input) {
  const auto idle =
      static_cast<std::int64_t>(static_cast<__int128>(input.paid_micro_usd_per_hour) * input.idle_ppm / 1'000'000);
  return {.name = "idle GPUs",
          .value = usd_sum(bounded(static_cast<__int128>(idle) * kHoursPerMonth)) + " USD/month",
          .why = fmt::format("{} % of the paid GPU time does no work: {} USD/h x {} % x {} h",
                             tenths(input.idle_ppm, 10'000), usd(input.paid_micro_usd_per_hour),
                             tenths(input.idle_ppm, 10'000), kHoursPerMonth),
          .evidence = input.evidence,
          .visibility = Visibility::page};
}

std::vector<Statement> consolidation_cost(const ConsolidationInput& input) {
  const double start_s = std::chrono::duration<double>(input.cold_start).count();
  const bool is_assumed = !input.replicas_ended_per_day;
  const std::int64_t ended_per_day = input.replicas_ended_per_day.value_or(ConsolidationInput::kAssumedPerDay);
  // The divisions come last, so that the result is that of the printed formula.
  const __int128 per_hour = static_cast<__int128>(input.gpus_per_replica) * input.price.per_hour.count;
  const __int128 started_ns_per_year = static_cast<__int128>(input.cold_start.count()) * ended_per_day * kDaysPerYear;
  const std::int64_t per_year = bounded(per_hour * (started_ns_per_year / 1000) / kMicrosecondsPerHour);
  std::vector<Statement> out;
  out.push_back({.name = "consolidation trap",
                 .value = usd_sum(per_year) + " USD/year of GPU time",
                 .why = fmt::format("WhenEmptyOrUnderutilized ends {}{} a day x {} of start x {} x {} USD/h x {} days",
                                    is_assumed ? "an assumed " : "",
                                    count_text(ended_per_day, "running replica", "running replicas"),
                                    time_text(input.cold_start), count_text(input.gpus_per_replica, "GPU", "GPUs"),
                                    usd(input.price.per_hour.count), kDaysPerYear),
                 .evidence = is_assumed ? Evidence::assumed : Evidence::modelled,
                 .trap_micro_usd_per_year = per_year,
                 .visibility = Visibility::one_service});
  if (input.requests_per_s <= 0 || input.replicas <= 0) return out;
  const double share = input.requests_per_s / static_cast<double>(input.replicas);
  const auto lost = static_cast<std::int64_t>(std::llround(share * start_s * static_cast<double>(ended_per_day)));
  const __int128 value = input.per_lost_request ? static_cast<__int128>(lost) * input.per_lost_request->count : 0;
  out.push_back(
      {.name = "requests in the trap",
       .value = fmt::format(
           "up to {} a day{}", grouped_text(lost),
           input.per_lost_request ? fmt::format(", {} USD/year", usd_sum(bounded(value * kDaysPerYear))) : ""),
       .why = fmt::format("{:.2f} requests/s of the ended replica x {} until another serves x {} a day; fewer if the "
                          "other replicas have headroom",
                          share, time_text(input.cold_start), ended_per_day),
       .evidence = Evidence::modelled});
  return out;
}

std::vector<Statement> serverless_cost(const ServerlessInput& input) {
  const OwnAndServerless cost = compare(input);
  std::vector<Statement> out;
  out.push_back({.name = "staff",
                 .value = usd_sum(cost.staff) + " USD/month",
                 .why = fmt::format("{} % of an engineer who costs {} USD a year",
                                    tenths(input.staff.share_ppm, 10'000), usd_sum(input.staff.per_year.count)),
                 .evidence = input.staff_evidence});
  out.push_back(
      {.name = "own cluster",
       .value = usd_sum(cost.own()) + " USD/month",
       .why = fmt::format("{} USD for machines + {} USD for staff", usd_sum(cost.machines), usd_sum(cost.staff)),
       .evidence = input.fleet_evidence});
  if (input.gpu_milli <= 0) return out;
  const std::string work = tenths(input.gpu_milli, 1000) + " GPUs of useful work on average";
  out.push_back({.name = "break-even with serverless",
                 .value = usd(cost.break_even) + " USD for a GPU-hour of useful work",
                 .why = fmt::format("{} USD/month / ({} x {} h): below this price serverless costs less",
                                    usd_sum(cost.own()), work, kHoursPerMonth),
                 .evidence = Evidence::modelled});
  if (input.staff.serverless_per_gpu_hour.count == 0) return out;
  out.push_back({.name = "serverless",
                 .value = usd_sum(cost.serverless) + " USD/month",
                 .why = fmt::format("{} x {} h x {} USD for a GPU-hour of useful work", work, kHoursPerMonth,
                                    usd(input.staff.serverless_per_gpu_hour.count)),
                 .evidence = Evidence::modelled,
                 .visibility = Visibility::one_service});
  return out;
}

std::string serverless_words(const ServerlessInput& input) {
  if (input.gpu_milli <= 0) return "";
  const OwnAndServerless cost = compare(input);
  if (input.staff.serverless_per_gpu_hour.count == 0) {
    return fmt::format(
        " With staff costs included, serverless inference is cheaper if it costs less than {} USD for each hour in "
        "which one GPU would run full batches; this load needs {} such GPUs on average.",
        usd(cost.break_even), tenths(input.gpu_milli, 1000));
  }
  const std::int64_t saved = cost.own() - cost.serverless;
  return fmt::format(" With staff costs included, serverless would cost {} USD/month {} than your own cluster.",
                     usd_sum(std::abs(saved)), saved >= 0 ? "less" : "more");
}

}  // namespace capstan::plan
