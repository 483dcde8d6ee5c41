#pragma once

#include <string>
#include <vector>

#include "plan/against/difference.h"
#include "plan/against/existing_scaler.h"

// Words for the comparison of a plan with existing manifests.
namespace capstan::plan {

/// A row of the table of autoscalers.
struct ScalerRow {
  std::string name{};  ///< "HorizontalPodAutoscaler chat as it is"
  std::int64_t attainment_ppm = 0;
  std::int64_t micro_usd_per_hour = 0;
  bool holds_slo = false;
};
/// Returns the existing autoscaler, the plan's object of the same kind, and the plan's choice if that is another one.
std::vector<ScalerRow> scaler_rows(const Plan& plan, const ExistingScaler& scaler);
/// Returns the effect of the changes, for a table with two or more rows: "the plan's HPA: 99.6 % of requests met
/// instead of 98.2 %, for 19,330 USD/month less".
std::string scaler_conclusion(const std::vector<ScalerRow>& rows);

/// Returns "deploy/pool.yaml:7", or for an absent object "missing".
std::string place_words(const Difference& change);
/// Returns the amount as name and text: {"saves", "481 USD/month (modelled): formula"}, or {"costs", ...} for
/// additional cost. Without an amount, the text is the formula alone. Nothing: there is no formula either.
std::optional<std::pair<std::string, std::string>> money_words(const Saving& saving);
/// Returns a value on one line if it is a scalar without line breaks; else its YAML, which ends with a line break.
std::string value_words(const Yaml& value);
bool is_short_value(const Yaml& value);
/// Returns "14 changes: 2 save money, 9 avoid a risk, 3 match the plan; 4 add an object and 1 deletes one". The numbers
/// before the semicolon add up to the first.
std::string count_words(const std::vector<Difference>& differences);

}  // namespace capstan::plan
