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
  }
  if (plan.services.size() > 1) {
    lines.push_back(fmt::format("all services: {} USD/h, {} USD/month", experiment::usd(sum),
                                experiment::usd(sum * kHoursPerMonth)));
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
