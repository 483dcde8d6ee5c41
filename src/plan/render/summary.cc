#include "plan/render/summary.h"

#include <fmt/format.h>

#include <algorithm>

#include "experiment/words.h"
#include "plan/figures.h"

namespace capstan::plan {

namespace {

std::string attainment_words(const ServicePlan& service, const model::Slo& slo) {
  const auto met = static_cast<std::size_t>(std::ranges::count_if(
      service.seeds, [&](const Trial& trial) { return trial.attainment_ppm >= slo.attainment_ppm; }));
  return fmt::format("{} the SLO in {} of {} simulations (at least {} % of requests met, {} % asked)",
                     service.holds_slo ? "holds" : "misses", service.holds_slo ? met : service.seeds.size() - met,
                     service.seeds.size(), experiment::tenths(lowest_attainment_ppm(service), 10'000),
                     experiment::tenths(slo.attainment_ppm, 10'000));
}

/// Adds what a reader must know before the fleet is deployed: a scaler of the plan that holds the SLO for less, and
/// worse days that miss it.
void add_caveats(const ServicePlan& service, const model::Slo& slo, std::vector<std::string>& lines) {
  for (const ThresholdTrial& trial : service.threshold_trials) {
    const bool is_better = trial.refused.empty() && trial.attainment_ppm >= slo.attainment_ppm &&
                           trial.micro_usd_per_hour < micro_usd_per_hour(service);
    if (!is_better) continue;
    lines.push_back(fmt::format("{} with the plan's {}: at least {} % met for {} USD/h, which is less", service.service,
                                trial.kind, experiment::tenths(trial.attainment_ppm, 10'000),
                                experiment::usd(trial.micro_usd_per_hour)));
  }
  std::string missed;
  for (const Trial& trial : service.robustness) {
    if (trial.attainment_ppm >= slo.attainment_ppm) continue;
    missed += fmt::format("{}{} ({} % met)", missed.empty() ? "" : ", ", trial.name,
                          experiment::tenths(trial.attainment_ppm, 10'000));
  }
  if (!missed.empty()) lines.push_back(fmt::format("{} misses the SLO with: {}", service.service, missed));
}

}  // namespace

std::vector<std::string> summary_lines(const Plan& plan) {
  std::vector<std::string> lines;
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < plan.services.size(); ++i) {
    const ServicePlan& service = plan.services[i];
    const std::int64_t per_hour = micro_usd_per_hour(service);
    sum += per_hour;
    lines.push_back(fmt::format("{}: {} for {} USD/h, {} USD/month; {}", service.service, fleet_words(service),
                                experiment::usd(per_hour), experiment::usd(per_hour * kHoursPerMonth),
                                attainment_words(service, plan.spec.services[i].slo)));
    add_caveats(service, plan.spec.services[i].slo, lines);
  }
  if (plan.services.size() > 1) {
    lines.push_back(
        fmt::format("all services: {} USD/h, {} USD/month, each on nodes of its own; shared nodes would cost less",
                    experiment::usd(sum), experiment::usd(sum * kHoursPerMonth)));
  }
  return lines;
}

std::vector<std::string> default_lines(const Plan& plan) {
  std::vector<std::string> lines;
  for (const DefaultUsed& used : plan.spec.defaults) {
    lines.push_back(fmt::format("{} = {}{}{}", used.path, used.value, used.why.empty() ? "" : ": ", used.why));
  }
  return lines;
}

}  // namespace capstan::plan
