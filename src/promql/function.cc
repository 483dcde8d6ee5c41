#include "promql/function.h"

#include <algorithm>

namespace capstan::promql {
namespace {

using Types = std::vector<ValueType>;
constexpr ValueType kScalar = ValueType::scalar;
constexpr ValueType kString = ValueType::string;
constexpr ValueType kVector = ValueType::vector;
constexpr ValueType kMatrix = ValueType::matrix;

/// Adds functions without optional arguments. One space separates the names.
void add(std::vector<Function>& all, std::string_view names, const Types& arguments, ValueType result = kVector) {
  while (!names.empty()) {
    const std::string_view name = names.substr(0, names.find(' '));
    names.remove_prefix(std::min(names.size(), name.size() + 1));
    all.push_back({.name = name,
                   .arguments = arguments,
                   .required = static_cast<std::uint8_t>(arguments.size()),
                   .is_variadic = false,
                   .result = result});
  }
}

/// Adds the functions with optional or repeated arguments.
void add_variadic(std::vector<Function>& all) {
  for (const std::string_view name :
       {"day_of_month", "day_of_week", "day_of_year", "days_in_month", "hour", "minute", "month", "year"}) {
    all.push_back({.name = name, .arguments = {kVector}, .required = 0, .is_variadic = false, .result = kVector});
  }
  all.push_back(
      {.name = "round", .arguments = {kVector, kScalar}, .required = 1, .is_variadic = false, .result = kVector});
  all.push_back(
      {.name = "info", .arguments = {kVector, kVector}, .required = 1, .is_variadic = false, .result = kVector});
  all.push_back({.name = "label_join",
                 .arguments = {kVector, kString, kString, kString},
                 .required = 3,
                 .is_variadic = true,
                 .result = kVector});
  for (const std::string_view name : {"sort_by_label", "sort_by_label_desc"}) {
    all.push_back(
        {.name = name, .arguments = {kVector, kString}, .required = 1, .is_variadic = true, .result = kVector});
  }
}

std::vector<Function> make() {
  std::vector<Function> all;
  add(all,
      "abs absent acos acosh asin asinh atan atanh ceil cos cosh deg exp floor ln log10 log2 rad sgn "
      "sin sinh sort sqrt tan tanh timestamp sort_desc histogram_avg histogram_count histogram_sum "
      "histogram_stddev histogram_stdvar",
      {kVector});
  add(all,
      "absent_over_time avg_over_time changes count_over_time delta deriv first_over_time idelta "
      "increase irate last_over_time mad_over_time max_over_time min_over_time present_over_time rate "
      "resets stddev_over_time stdvar_over_time sum_over_time ts_of_first_over_time "
      "ts_of_last_over_time ts_of_max_over_time ts_of_min_over_time",
      {kMatrix});
  add(all, "clamp_max clamp_min", {kVector, kScalar});
  add(all, "clamp", {kVector, kScalar, kScalar});
  add(all, "histogram_fraction", {kScalar, kScalar, kVector});
  add(all, "histogram_quantile", {kScalar, kVector});
  add(all, "holt_winters double_exponential_smoothing", {kMatrix, kScalar, kScalar});
  add(all, "label_replace", {kVector, kString, kString, kString, kString});
  add(all, "predict_linear", {kMatrix, kScalar});
  add(all, "quantile_over_time", {kScalar, kMatrix});
  add(all, "pi time", {}, kScalar);
  add(all, "scalar", {kVector}, kScalar);
  add(all, "vector", {kScalar});
  add_variadic(all);
  std::ranges::sort(all, {}, &Function::name);
  return all;
}

}  // namespace

std::span<const Function> functions() {
  static const std::vector<Function> all = make();
  return all;
}

const Function* find_function(std::string_view name) {
  const auto found = std::ranges::lower_bound(functions(), name, {}, &Function::name);
  return found != functions().end() && found->name == name ? &*found : nullptr;
}

}  // namespace capstan::promql
