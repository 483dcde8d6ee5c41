#include "plan/against/words.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/number_text.h"
#include "base/unit_text.h"
#include "experiment/text/words.h"
#include "plan/result/figures.h"

namespace capstan::plan {

namespace {

const ServicePlan& service_of(const Plan& plan, const std::string& name) {
  return *std::ranges::find(plan.services, name, &ServicePlan::service);
}

std::string usd_per_month(std::int64_t micro_usd) {
  return grouped_text((std::abs(micro_usd) + 500'000) / 1'000'000) + " USD/month";
}

ScalerRow planned_row(const ServicePlan& service, const std::string& name) {
  return {name, lowest_attainment_ppm(service), micro_usd_per_hour(service), service.holds_slo};
}

}  // namespace

std::vector<ScalerRow> scaler_rows(const Plan& plan, const ExistingScaler& scaler) {
  const ServicePlan& service = service_of(plan, scaler.service);
  const auto index = static_cast<std::size_t>(&service - plan.services.data());
  const std::uint32_t asked = index < plan.spec.services.size() ? plan.spec.services[index].slo.attainment_ppm : 0;
  std::vector<ScalerRow> rows;
  rows.push_back(
      {scaler.object + " as it is", scaler.attainment_ppm, scaler.micro_usd_per_hour, scaler.attainment_ppm >= asked});
  const ScalerVariant* same = find_variant(service, scaler.kind);
  if (same != nullptr && !same->seeds.empty() && scaler.kind != service.scaler) {
    rows.push_back({fmt::format("the plan's {}", scaler_word(scaler.kind)), lowest_attainment_ppm(same->seeds),
                    micro_usd_per_hour(same->seeds), same->holds_slo});
  }
  rows.push_back(
      planned_row(service, fmt::format("the plan, with {}{}", service.scaler == ScalerKind::constant ? "a " : "",
                                       scaler_word(service.scaler))));
  return rows;
}

std::string scaler_conclusion(const std::vector<ScalerRow>& rows) {
  const ScalerRow &now = rows[0], &then = rows[1];
  const std::int64_t less = (now.micro_usd_per_hour - then.micro_usd_per_hour) * kHoursPerMonth;
  const bool costs_the_same = std::abs(less) < 500'000;
  if (costs_the_same && now.attainment_ppm == then.attainment_ppm) return fmt::format("{}: the same", then.name);
  const std::string money = costs_the_same ? "for the same cost"
                            : less > 0     ? "for " + usd_per_month(less) + " less"
                                           : "for " + usd_per_month(less) + " more";
  const std::string met_then = experiment::share_text(then.attainment_ppm),
                    met_now = experiment::share_text(now.attainment_ppm);
  if (met_then == met_now) return fmt::format("{}: as many requests met, {}", then.name, money);
  return fmt::format("{}: {} of requests met instead of {}, {}", then.name, met_then, met_now, money);
}

std::string place_words(const Difference& change) {
  if (change.kind == Difference::Kind::add) return "missing";
  return fmt::format("{}:{}", change.file, change.line);
}

std::optional<std::pair<std::string, std::string>> money_words(const Saving& saving) {
  if (saving.micro_usd_per_month) {
    const std::int64_t amount = *saving.micro_usd_per_month;
    return std::pair<std::string, std::string>(
        amount >= 0 ? "saves" : "costs",
        fmt::format("{}{} ({}){}", saving.is_at_most ? "up to " : "", usd_per_month(amount), words(saving.evidence),
                    saving.formula.empty() ? "" : ": " + saving.formula));
  }
  if (saving.formula.empty()) return std::nullopt;
  return std::pair<std::string, std::string>("saves", saving.formula);
}

bool is_short_value(const Yaml& value) {
  return !value.is_map() && !value.is_list() && value.text().find('\n') == std::string::npos;
}

std::string value_words(const Yaml& value) {
  return is_short_value(value) ? (value.text().empty() ? "\"\"" : value.text()) : value.document();
}

std::string count_words(const std::vector<Difference>& differences) {
  if (differences.empty()) return "no change";
  const auto count = [&](auto is_counted) { return std::ranges::count_if(differences, is_counted); };
  const auto saves = [](const Difference& change) { return change.saving.micro_usd_per_month.value_or(0) > 0; };
  const auto avoids = [](const Difference& change) { return !change.saving.removed_risk.empty(); };
  // Each change is counted once, so that these numbers add up to all changes.
  const auto saving = count(saves);
  const auto risks = count([&](const Difference& change) { return !saves(change) && avoids(change); });
  const auto others = static_cast<std::int64_t>(differences.size()) - saving - risks;
  std::string out = count_text(static_cast<std::int64_t>(differences.size()), "change", "changes");
  std::string parts;
  const auto add = [&](std::int64_t number, const char* one, const char* many, std::string_view first,
                       std::string_view next) {
    if (number > 0) parts += fmt::format("{}{} {}", parts.empty() ? first : next, number, number == 1 ? one : many);
  };
  add(saving, "saves money", "save money", ": ", ", ");
  add(risks, "avoids a risk", "avoid a risk", ": ", ", ");
  add(others, "matches the plan", "match the plan", ": ", ", ");
  const auto absent = count([](const Difference& change) { return change.kind == Difference::Kind::add; });
  const auto deleted =
      count([](const Difference& change) { return change.kind == Difference::Kind::remove && change.path.empty(); });
  out += parts;
  parts.clear();
  add(absent, "adds an object", "add an object", "; ", " and ");
  add(deleted, "deletes one", "delete one", "; ", " and ");
  return out + parts;
}

}  // namespace capstan::plan
