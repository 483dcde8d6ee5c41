#include "scenario/nearest_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include "base/ascii.h"
#include "engine/names.h"
#include "manifest/fields.h"

namespace capstan::scenario {
namespace {

/// Returns the most similar model of the table: one within a few edits, else the one with the longest common beginning.
std::string_view nearest_model(std::string_view name, std::span<const std::string_view> models) {
  const std::string_view meant = manifest::did_you_mean(name, models);
  if (!meant.empty()) return meant;
  std::size_t longest = 4;  // names with a shorter common beginning are not similar
  std::string_view nearest;
  for (const std::string_view model : models) {
    const auto same =
        static_cast<std::size_t>(std::ranges::mismatch(name, model, {}, ascii_lower, ascii_lower).in1 - name.begin());
    if (same <= longest) continue;
    longest = same;
    nearest = model;
  }
  return nearest;
}

/// Returns the parameters of a model that its name states, in billions: 8 for "Llama-3.1-8B".
std::optional<double> billions_of(std::string_view name) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  for (std::size_t at = 0; at < name.size(); ++at) {
    const bool is_start = is_digit(name[at]) && (at == 0 || (!is_digit(name[at - 1]) && name[at - 1] != '.'));
    if (!is_start) continue;
    double value = 0;
    const auto [end, error] = std::from_chars(name.data() + at, name.data() + name.size(), value);
    const std::size_t after = static_cast<std::size_t>(end - name.data());
    if (error == std::errc{} && after < name.size() && (name[after] == 'B' || name[after] == 'b')) return value;
  }
  return std::nullopt;
}

/// Names the model of the table whose size is the nearest, for a name that resembles none: "; the nearest by size is
/// Llama-3.3-70B". A name without a size is compared with the largest model, because most such models are large.
std::string nearest_size_words(std::string_view name, std::span<const std::string_view> models) {
  const std::optional<double> asked = billions_of(name);
  std::string_view nearest;
  double least = 0;
  for (const std::string_view model : models) {
    const std::optional<double> size = billions_of(model);
    if (!size) continue;
    const double distance = asked ? std::max(*size / *asked, *asked / *size) : -*size;
    if (nearest.empty() || distance < least) {
      nearest = model;
      least = distance;
    }
  }
  if (nearest.empty()) return "";
  return asked ? fmt::format("; the nearest by size is {}", nearest)
               : fmt::format("; its name states no size, and the largest in the table is {}", nearest);
}

}  // namespace

std::string nearest_model_words(std::string_view name, std::span<const std::string_view> models) {
  const std::string_view nearest = nearest_model(name.substr(name.rfind('/') + 1), models);
  return nearest.empty() ? nearest_size_words(name, models) : fmt::format(" (did you mean {}?)", nearest);
}

std::string unknown_model_hint(const engine::EngineTable& table, std::string_view name) {
  const auto served = engine::model_of_name(table, name);
  const std::string_view model = served ? std::string_view(served->model) : name;
  std::vector<std::string_view> models;
  for (const engine::EngineRow& row : table.rows()) {
    if (std::ranges::equal(row.model, model, {}, ascii_lower, ascii_lower)) return "";
    if (std::ranges::find(models, row.model) == models.end()) models.push_back(row.model);
  }
  return nearest_model_words(name, models) +
         "; for another model, state a table of your own step times with step_times";
}

}  // namespace capstan::scenario
