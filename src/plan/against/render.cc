#include "plan/against/render.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

#include "experiment/words.h"
#include "plan/figures.h"

namespace capstan::plan {

namespace {

using Json = nlohmann::ordered_json;

std::string difference_line(const Difference& change) {
  if (change.line == 0) {
    return fmt::format("{} is missing; add it {}\n", change.object, change.planned);
  }
  return fmt::format("{}:{}: {}: {} {}, planned {}{}\n", change.file, change.line, change.object, change.path,
                     change.found.empty() ? "is not set" : "is " + change.found, change.planned,
                     change.why.empty() ? "" : ": " + change.why);
}

const ServicePlan& service_of(const Plan& plan, const std::string& name) {
  return *std::ranges::find(plan.services, name, &ServicePlan::service);
}

std::string scaler_line(const Plan& plan, const ExistingScaler& scaler) {
  if (!scaler.refused.empty()) {
    return fmt::format("{} cannot be simulated: {}\n", scaler.object, scaler.refused);
  }
  const ServicePlan& service = service_of(plan, scaler.service);
  const std::int64_t planned = micro_usd_per_hour(service);
  const std::int64_t less = scaler.micro_usd_per_hour - planned;
  return fmt::format(
      "{} on this load: at least {} % of requests met for {} USD/h; the plan: {} % for {} USD/h, {} USD/month "
      "{}\n",
      scaler.object, experiment::tenths(scaler.attainment_ppm, 10'000), experiment::usd(scaler.micro_usd_per_hour),
      experiment::tenths(lowest_attainment_ppm(service), 10'000), experiment::usd(planned),
      experiment::usd(std::abs(less) * kHoursPerMonth), less >= 0 ? "less" : "more");
}

}  // namespace

std::string render_against_text(const Plan& plan, const std::vector<Difference>& differences,
                                const std::vector<ExistingScaler>& scalers) {
  std::string out;
  for (const Difference& change : differences) out += difference_line(change);
  for (const ExistingScaler& scaler : scalers) out += scaler_line(plan, scaler);
  out += differences.empty()
             ? "no change\n"
             : experiment::counted(static_cast<std::int64_t>(differences.size()), "change\n", "changes\n");
  return out;
}

std::string render_against_json(const Plan& plan, const std::vector<Difference>& differences,
                                const std::vector<ExistingScaler>& scalers) {
  Json changes = Json::array(), simulated = Json::array();
  for (const Difference& change : differences) {
    changes.push_back({{"file", change.file},
                       {"line", change.line},
                       {"object", change.object},
                       {"path", change.path},
                       {"found", change.found},
                       {"planned", change.planned},
                       {"why", change.why}});
  }
  for (const ExistingScaler& scaler : scalers) {
    Json row = {{"service", scaler.service}, {"object", scaler.object}, {"file", scaler.file}};
    if (!scaler.refused.empty()) {
      row["refused"] = scaler.refused;
    } else {
      row["attainment"] = static_cast<double>(scaler.attainment_ppm) / 1e6;
      row["usd_per_hour"] = static_cast<double>(scaler.micro_usd_per_hour) / 1e6;
      row["planned_usd_per_hour"] = static_cast<double>(micro_usd_per_hour(service_of(plan, scaler.service))) / 1e6;
    }
    simulated.push_back(std::move(row));
  }
  return Json{{"format_version", 1}, {"plan", plan.spec.name}, {"changes", changes}, {"existing_scalers", simulated}}
             .dump(2) +
         '\n';
}

}  // namespace capstan::plan
