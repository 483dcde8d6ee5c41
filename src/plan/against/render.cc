#include "plan/against/render.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

#include "base/number_text.h"
#include "experiment/text/words.h"
#include "plan/against/fold_yaml.h"
#include "plan/against/words.h"
#include "plan/render/text_layout.h"
#include "plan/result/figures.h"

namespace capstan::plan {

namespace {

using AgainstJson = nlohmann::ordered_json;

constexpr std::size_t kChangeIndent = 4;
constexpr std::size_t kChangeWords = 13;  ///< column at which the texts of a change start

std::string row_attainment(const ScalerRow& row) {
  if (row.holds_slo) return experiment::share_text(row.attainment_ppm);
  return experiment::share_text(row.attainment_ppm / 1000 * 1000) + ", misses";  // rounded down: 98.97 % miss 99.0 %
}

std::string row_month(const ScalerRow& row) {
  return grouped_text((row.micro_usd_per_hour * kHoursPerMonth + 500'000) / 1'000'000);
}

std::string scaler_text(const Plan& plan, const ExistingScaler& scaler) {
  const std::string title = fmt::format("{}: {} ({})", scaler.service, scaler.object, scaler.file);
  if (!scaler.refusal_reason.empty())
    return folded("", title + " cannot be simulated: " + scaler.refusal_reason, 2) + '\n';
  const std::vector<ScalerRow> rows = scaler_rows(plan, scaler);
  std::vector<std::string> starts{"  "};
  std::vector<std::vector<std::string>> cells{{"", "", "met, worst seed", "USD/h", "USD/month"}};
  for (const ScalerRow& row : rows) {
    starts.emplace_back("  ");
    cells.push_back({row.name, "", row_attainment(row), experiment::usd(row.micro_usd_per_hour), row_month(row)});
  }
  return folded("", title + ", simulated on the plan's load, machines and seeds", 2) + aligned(starts, cells) +
         folded("  ", scaler_conclusion(rows), 2) + '\n';
}

/// Returns one text of a change under its name: "    why      moving a replica costs a cold start".
std::string change_line(std::string_view name, const std::string& text) {
  const std::string start = fmt::format("{:{}}{:<{}}", "", kChangeIndent, name, kChangeWords - kChangeIndent);
  return folded(start, text, kChangeWords);
}

/// Returns what to change: "WhenEmptyOrUnderutilized -> WhenEmpty", or values of several lines as YAML.
std::string change_values(const Difference& change) {
  const auto value = [](std::string_view name, const Yaml& yaml) {
    if (is_short_value(yaml)) return change_line(name, value_words(yaml));
    const std::size_t indent = kChangeIndent + 2;
    return fmt::format("{:{}}{}\n", "", kChangeIndent, name) +
           indented(folded_yaml(yaml.document(), kTextColumns - indent), indent);
  };
  if (change.kind == Difference::Kind::remove) return value("remove", *change.found);
  if (!change.found) return value("add", *change.planned);
  if (is_short_value(*change.found) && is_short_value(*change.planned)) {
    return change_line("change", value_words(*change.found) + " -> " + value_words(*change.planned));
  }
  return value("from", *change.found) + value("to", *change.planned);
}

std::string change_text(const Difference& change, std::size_t number) {
  const std::string start = fmt::format("{:>2}  ", number);
  std::string out;
  if (change.kind == Difference::Kind::add) {
    out = folded(start, fmt::format("missing: {}, as in {}", change.object, change.file), kChangeIndent);
  } else if (change.path.empty()) {
    out = folded(start, fmt::format("{}: delete {}", place_words(change), change.object), kChangeIndent);
  } else {
    out = folded(start, fmt::format("{}: {}: {}", place_words(change), change.object, change.path), kChangeIndent);
    out += change_values(change);
  }
  if (!change.why.empty()) out += change_line("why", change.why);
  if (const auto money = money_words(change.saving)) out += change_line(money->first, money->second);
  if (!change.saving.removed_risk.empty()) out += change_line("avoids", change.saving.removed_risk);
  if (!change.caution.empty()) out += change_line("caution", change.caution);
  return out;
}

std::string scaler_markdown(const Plan& plan, const ExistingScaler& scaler) {
  const std::string title = fmt::format("**{}**: {} (`{}`)", scaler.service, scaler.object, scaler.file);
  if (!scaler.refusal_reason.empty())
    return fmt::format("{} cannot be simulated: {}\n\n", title, scaler.refusal_reason);
  std::string out = title + ", simulated on the plan's load, machines and seeds\n\n";
  out += "| | met, worst seed | USD/h | USD/month |\n|---|---:|---:|---:|\n";
  const std::vector<ScalerRow> rows = scaler_rows(plan, scaler);
  for (const ScalerRow& row : rows) {
    out += fmt::format("| {} | {} | {} | {} |\n", row.name, row_attainment(row),
                       experiment::usd(row.micro_usd_per_hour), row_month(row));
  }
  return out + fmt::format("\n{}.\n\n", scaler_conclusion(rows));
}

std::string change_markdown(const Difference& change) {
  std::string out;
  const auto value = [&](std::string_view name, const Yaml& yaml) {
    out += is_short_value(yaml)
               ? fmt::format("   - {}: `{}`\n", name, value_words(yaml))
               : fmt::format("   - {}:\n\n     ```yaml\n{}     ```\n", name, indented(yaml.document(), 5));
  };
  if (change.kind == Difference::Kind::add) {
    out = fmt::format("1. missing: {}, as in `{}`\n", change.object, change.file);
  } else if (change.path.empty()) {
    out = fmt::format("1. `{}`: delete {}\n", place_words(change), change.object);
  } else {
    out = fmt::format("1. `{}`: {}: `{}`\n", place_words(change), change.object, change.path);
    if (change.found) value(change.planned ? "from" : "remove", *change.found);
    if (change.planned) value(change.found ? "to" : "add", *change.planned);
  }
  if (!change.why.empty()) out += fmt::format("   - why: {}\n", change.why);
  if (const auto money = money_words(change.saving)) out += fmt::format("   - {}: {}\n", money->first, money->second);
  if (!change.saving.removed_risk.empty()) out += fmt::format("   - avoids: {}\n", change.saving.removed_risk);
  if (!change.caution.empty()) out += fmt::format("   - caution: {}\n", change.caution);
  return out;
}

/// Returns a value as JSON; null if there is none.
AgainstJson value_json(const std::optional<Yaml>& value) {
  if (!value) return {};
  // The flow style of YAML is JSON, unless a text has control characters.
  AgainstJson parsed = AgainstJson::parse(value->flow(), nullptr, false);
  return parsed.is_discarded() ? AgainstJson(value->flow()) : parsed;
}

AgainstJson change_json(const Difference& change) {
  AgainstJson out = {{"kind", change.kind == Difference::Kind::set      ? "set"
                              : change.kind == Difference::Kind::remove ? "remove"
                                                                        : "add"},
                     {"file", change.file},
                     {"line", change.line},
                     {"object", change.object},
                     {"path", change.path},
                     {"found", value_json(change.found)},
                     {"planned", value_json(change.planned)},
                     {"why", change.why},
                     {"caution", change.caution},
                     {"removes", change.saving.removed_risk},
                     {"saves", change.saving.formula}};
  out["saves_usd_per_month"] = change.saving.micro_usd_per_month
                                   ? AgainstJson(static_cast<double>(*change.saving.micro_usd_per_month) / 1e6)
                                   : AgainstJson();
  out["saves_evidence"] = change.saving.micro_usd_per_month ? std::string(words(change.saving.evidence)) : "";
  return out;
}

}  // namespace

std::string render_against_text(const Plan& plan, const std::vector<Difference>& differences,
                                const std::vector<ExistingScaler>& scalers, const std::vector<std::string>& notes) {
  std::string out;
  for (const ExistingScaler& scaler : scalers) out += scaler_text(plan, scaler);
  for (const std::string& note : notes) out += folded("note: ", note, 2) + '\n';
  out += count_words(differences) + '\n';
  std::size_t number = 0;
  for (const Difference& change : differences) out += '\n' + change_text(change, ++number);
  return out;
}

std::string render_against_markdown(const Plan& plan, const std::vector<Difference>& differences,
                                    const std::vector<ExistingScaler>& scalers, const std::vector<std::string>& notes) {
  std::string out = fmt::format("# Plan {} against existing manifests\n\n", plan.spec.name);
  for (const ExistingScaler& scaler : scalers) out += scaler_markdown(plan, scaler);
  for (const std::string& note : notes) out += fmt::format("**Note**: {}.\n\n", note);
  out += count_words(differences) + ".\n\n";
  for (const Difference& change : differences) out += change_markdown(change);
  return out;
}

std::string render_against_json(const Plan& plan, const std::vector<Difference>& differences,
                                const std::vector<ExistingScaler>& scalers, const std::vector<std::string>& notes) {
  AgainstJson changes = AgainstJson::array(), simulated = AgainstJson::array();
  for (const Difference& change : differences) changes.push_back(change_json(change));
  for (const ExistingScaler& scaler : scalers) {
    AgainstJson row = {{"service", scaler.service}, {"object", scaler.object}, {"file", scaler.file}};
    if (!scaler.refusal_reason.empty()) {
      row["refused"] = scaler.refusal_reason;
    } else {
      row["attainment"] = static_cast<double>(scaler.attainment_ppm) / 1e6;
      row["usd_per_hour"] = static_cast<double>(scaler.micro_usd_per_hour) / 1e6;
      row["planned_usd_per_hour"] = static_cast<double>(scaler_rows(plan, scaler)[1].micro_usd_per_hour) / 1e6;
    }
    simulated.push_back(std::move(row));
  }
  return AgainstJson{{"format_version", 1},
                     {"plan", plan.spec.name},
                     {"notes", notes},
                     {"changes", changes},
                     {"existing_scalers", simulated}}
             .dump(2) +
         '\n';
}

}  // namespace capstan::plan
