#include "plan/render/page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/number_text.h"
#include "base/unit_text.h"
#include "experiment/text/words.h"
#include "model/capacity_names.h"
#include "plan/render/apply_script.h"
#include "plan/render/files.h"
#include "plan/render/key_figures.h"
#include "plan/render/prerequisites.h"
#include "plan/result/figures.h"
#include "plan/search/budget.h"
#include "plan/sections/kill_switch.h"
#include "plan/sections/scaler_setup.h"
#include "plan/spec/regions.h"

namespace capstan::plan {

namespace {

using experiment::tenths;
using experiment::usd;

constexpr std::size_t kMaxFrontierRows = 4;            ///< largest number of fleets shown for a plan with one service
constexpr std::size_t kFrontierRowsOfEachService = 2;  ///< fleets of each service for a plan with several services

std::string percent(std::int64_t ppm) { return experiment::share_text(ppm); }

/// Returns USD per month without cents, because the cost of one simulated hour is not that exact.
std::string month(std::int64_t micro_usd_per_hour) {
  return grouped_text((micro_usd_per_hour * kHoursPerMonth + 500'000) / 1'000'000);
}

std::string least_to_most(std::int64_t low, std::int64_t high) {
  return low == high ? fmt::format("{}", low) : fmt::format("{} to {}", low, high);
}

/// @param is_short  true: without the number of seeds, for one of several services
std::string cost_line(const ServicePlan& service, bool is_short) {
  const std::int64_t planned = planned_micro_usd_per_hour(service);
  if (service.shared_micro_usd_per_hour) {
    return fmt::format("{} USD/h, {} USD/month on shared nodes (modelled)", usd(planned), month(planned));
  }
  std::int64_t low = planned, high = planned;
  for (const Trial& seed : service.seeds) {
    low = std::min(low, micro_usd_per_hour(seed));
    high = std::max(high, micro_usd_per_hour(seed));
  }
  const bool is_same = usd(low) == usd(high);
  const std::string hour_range = is_same ? "" : fmt::format(" ({} to {})", usd(low), usd(high));
  const std::string cost = fmt::format("{} USD/h{}, {} USD/month", usd(planned), hour_range, month(planned));
  if (is_short) return cost + " (simulated)";
  return fmt::format("{}, mean{} of {} (simulated)", cost, is_same ? "" : " and range",
                     count_text(static_cast<std::int64_t>(service.seeds.size()), "seed", "seeds"));
}

std::string attainment_line(const ServicePlan& service, const model::Slo& slo) {
  const auto met = static_cast<std::size_t>(std::ranges::count_if(
      service.seeds, [&](const Trial& trial) { return trial.attainment_ppm >= slo.attainment_ppm; }));
  Duration ttft{}, tpot{};
  for (const Trial& trial : service.seeds) {
    ttft = std::max(ttft, trial.ttft_p99);
    tpot = std::max(tpot, trial.tpot_p99);
  }
  return fmt::format("{} in {} of {} simulations, the worst: {}, P99 of TTFT {}, of TPOT {} (simulated)",
                     service.holds_slo ? "holds" : "misses", service.holds_slo ? met : service.seeds.size() - met,
                     service.seeds.size(), percent(lowest_attainment_ppm(service)),
                     experiment::seconds(ttft.count() / 1000), experiment::milliseconds(tpot.count() / 1000));
}

/// Returns an attainment. If it is below the SLO, it has enough digits to differ from it: "98.96 %" and not "99.0 %"
/// for an SLO of 99.0 %.
std::string compared_percent(std::int64_t ppm, std::int64_t slo_ppm) {
  if (ppm >= slo_ppm || percent(ppm) != percent(slo_ppm)) return percent(ppm);
  return fmt::format("{}.{:02} %", ppm / 10'000, ppm % 10'000 / 100);
}

/// Returns a share of met requests for a table, with as many decimals as show that it is below the SLO.
std::string met_cell(const Plan& plan, const ServicePlan& service, std::int64_t ppm, bool holds_slo) {
  if (holds_slo) return percent(ppm);
  const auto index = static_cast<std::size_t>(&service - plan.services.data());
  const std::int64_t slo = index < plan.spec.services.size() ? plan.spec.services[index].slo.attainment_ppm : 0;
  return compared_percent(ppm, slo) + ", misses";
}

/// Returns the worse conditions under which the fleet misses the SLO, or, if `is_missed` is false, the conditions under
/// which the fleet holds the SLO.
std::string worse_conditions(const ServicePlan& service, const model::Slo& slo, bool is_missed) {
  std::string words;
  for (const Trial& trial : service.robustness) {
    if ((trial.attainment_ppm < slo.attainment_ppm) != is_missed) continue;
    const bool has_none = trial.condition == TrialCondition::reclaims && trial.reclaimed == 0;
    words += fmt::format("{}{} ({}{})", words.empty() ? "" : ", ", trial.name,
                         compared_percent(trial.attainment_ppm, slo.attainment_ppm),
                         has_none ? ", none ended a replica" : "");
  }
  return words;
}

/// Names the scaler with which the plan was tested under worse conditions. One condition is also tested with Capstan's
/// policy, and then its name says so.
std::string tested_scaler_words(const ServicePlan& service) {
  const auto is_of_other = [](const Trial& trial) { return trial.name.contains(" under "); };
  const bool has_other = std::ranges::any_of(service.robustness, is_of_other);
  return fmt::format(
      "{}{}: ",
      service.scaler == ScalerKind::capstan ? "under Capstan" : fmt::format("with the {}", scaler_word(service.scaler)),
      has_other ? ", unless a test names another policy" : "");
}

/// Returns the options that set a minimum of a service: "--set services.0.min_replicas=3".
std::string minimum_options(const ServicePlan& service, std::size_t index, const std::vector<RoleReplicas>& roles) {
  std::string options;
  for (std::size_t i = 0; i < roles.size(); ++i) {
    const std::string role = role_word(service.roles[i].role);
    options += fmt::format("{}--set services.{}.min_{}replicas={}", options.empty() ? "" : " ", index,
                           role.empty() ? "" : role + "_", roles[i].minimum);
  }
  return options;
}

/// Says which minimum holds the SLO while a zone is lost, and what it costs. Empty without a `zone_loss`.
std::string zone_loss_line(const Plan& plan, std::size_t index) {
  const ServicePlan& service = plan.services[index];
  if (!service.zone_loss) return {};
  const ZoneLossMinimum& found = *service.zone_loss;
  const std::string replicas = zone_loss_replicas(service), met = percent(found.trial.attainment_ppm);
  const std::string cost = usd(found.micro_usd_per_hour) + " USD/h";
  if (!found.holds_slo) {
    return fmt::format("no minimum that was tried holds the SLO; {} meet {} for {} (simulated)", replicas, met, cost);
  }
  return fmt::format("holds with {}: simulated {}, {}; {}", replicas, met, cost,
                     minimum_options(service, index, found.roles));
}

/// Names the limits that lowered the maximum, and what the simulations showed without them.
std::string limits_line(const ServicePlan& service) {
  std::string line = fmt::format("{}", fmt::join(service.bounded_by, "; "));
  if (!service.raised) return line;
  const RaisedLimits& raised = *service.raised;
  const std::string met = experiment::share_text(raised.attainment_ppm);
  return line + (raised.bounds.empty()
                     ? fmt::format("; without limits the best fleet meets {}", met)
                     : fmt::format("; with {}, {} meet {} (simulated)", raised.bounds, raised.fleet, met));
}

/// Says what the fleet costs and meets if its base or half of it is spot. Empty if that was not simulated.
std::string spot_base_line(const Plan& plan, const ServicePlan& service) {
  if (!service.spot_base) return {};
  const SpotBase& spot = *service.spot_base;
  const std::string advice = spot_base_advice(service, plan.spec.cluster.may_buy_spot_base);
  return fmt::format(
      "the base stays {}; {}: {} for {} USD/h {} the SLO: {} met, and {} with {}, which "
      "ended {} (simulated){}",
      model::name(service.roles.front().base).label, spot_base_words(spot), range_words(service, spot.roles),
      usd(spot.micro_usd_per_hour), spot.holds_slo ? "hold" : "miss", percent(lowest_attainment_ppm(spot.seeds)),
      percent(spot.reclaims.attainment_ppm), spot.reclaims.name,
      count_text(spot.reclaims.reclaimed, "replica", "replicas"),
      advice.empty() || !spot.holds_slo ? "" : "; " + advice);
}

/// Adds warnings about the region of the spec: prices of another region, and a region that is not known.
void add_region_lines(const PlanSpec& spec, PageHeadline& out) {
  const auto prices = std::ranges::find(spec.defaults, "cluster.instances.usd_per_hour", &DefaultUsed::path);
  if (prices != spec.defaults.end()) out.lines.emplace_back("prices", prices->value + ", because " + prices->why);
  if (std::string line = unknown_region_words(spec.cluster.cloud, spec.cluster.region); !line.empty()) {
    out.lines.emplace_back("region", std::move(line));
  }
}

PageHeadline headline_of(const Plan& plan, std::size_t index) {
  const ServicePlan& service = plan.services[index];
  const ServiceSpec& spec = plan.spec.services[index];
  std::set<std::string> machines;
  for (const RoleFleet& role : service.roles) machines.insert(role.machine.name);
  const bool is_constant = service.scaler == ScalerKind::constant;
  PageHeadline out{.service = service.service};
  ServicePlan shown{.service = service.service, .roles = service.roles};
  // The objects of the other scalers have a higher maximum, which a constant fleet never uses.
  for (RoleFleet& role : shown.roles) role.maximum = is_constant ? role.minimum : role.maximum;
  out.fleet = fmt::format("{}, on {}, {}", fleet_words(shown), fmt::join(machines, " and "),
                          is_constant ? "a constant fleet" : fmt::format("scaled by {}", scaler_word(service.scaler)));
  if (plan.services.size() > 1) {
    out.fleet += ": " + cost_line(service, true);
  } else {
    out.lines.emplace_back("cost", cost_line(service, false));
  }
  if (index == 0) add_region_lines(plan.spec, out);
  out.lines.emplace_back("SLO", slo_words(spec.slo) + "; " + attainment_line(service, spec.slo));
  const std::string missed = worse_conditions(service, spec.slo, true);
  const std::string held = worse_conditions(service, spec.slo, false);
  std::string worse;
  if (!missed.empty()) worse = "misses the SLO: " + missed;
  if (!held.empty()) worse += (worse.empty() ? "holds the SLO: " : "; holds the SLO: ") + held;
  if (std::string line = no_scaler_words(service); !line.empty()) out.lines.emplace_back("autoscaler", std::move(line));
  if (!worse.empty()) out.lines.emplace_back("stress tests", tested_scaler_words(service) + worse);
  if (std::string line = zone_loss_line(plan, index); !line.empty())
    out.lines.emplace_back("zone loss", std::move(line));
  if (std::string line = spot_base_line(plan, service); !line.empty())
    out.lines.emplace_back("spot base", std::move(line));
  if (!service.bounded_by.empty()) out.lines.emplace_back("limits", limits_line(service));
  return out;
}

/// Adds the row of a scaler. If the scaler and that of the last row are not chosen and have the same figures, the
/// scaler is added to the last row instead.
void add_scaler_row(PageTable& table, PageTable::Row row) {
  if (!table.rows.empty() && !row.is_chosen && !table.rows.back().is_chosen) {
    PageTable::Row& last = table.rows.back();
    PageTable::Row named = row;
    named.cells[1] = last.cells[1];
    if (named.cells == last.cells) {
      last.cells[1] += ", " + row.cells[1];
      return;
    }
  }
  table.rows.push_back(std::move(row));
}

/// Returns what each service costs under each scaler, one row for each service. The chosen scaler is marked.
PageTable scaler_costs(const Plan& plan) {
  PageTable table{.columns = {"", "service, USD/h alone"}};
  constexpr std::array kKinds = {ScalerKind::capstan, ScalerKind::scaled_object, ScalerKind::hpa, ScalerKind::constant};
  for (const ScalerKind kind : kKinds) table.columns.emplace_back(scaler_word(kind));
  for (const ServicePlan& service : plan.services) {
    PageTable::Row row{.cells = {"", service.service}};
    for (const ScalerKind kind : kKinds) {
      const ScalerVariant* variant = find_variant(service, kind);
      const bool is_simulated = variant != nullptr && variant->refusal_reason.empty() && !variant->seeds.empty();
      std::string cell = is_simulated ? usd(micro_usd_per_hour(variant->seeds)) : "not simulated";
      if (is_simulated && !variant->holds_slo) cell += ", misses";
      row.cells.push_back((kind == service.scaler ? "▶ " : "") + cell);
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

PageTable scaler_table(const Plan& plan) {
  if (plan.services.size() > 1) return scaler_costs(plan);
  PageTable table{.columns = {"", "scaler", "met, worst seed", "USD/h", "USD/month", "replicas"}};
  for (const ServicePlan& service : plan.services) {
    for (const ScalerVariant& variant : service.variants) {
      PageTable::Row row{.is_chosen = variant.kind == service.scaler};
      std::string replicas;
      for (const RoleReplicas& role : variant.roles) {
        replicas += (replicas.empty() ? "" : " + ") + least_to_most(role.minimum, role.maximum);
      }
      row.cells = {"", std::string(scaler_word(variant.kind))};
      if (!variant.refusal_reason.empty() || variant.seeds.empty()) {
        row.cells.insert(row.cells.end(), {"not simulated", "", "", replicas});
      } else {
        const std::int64_t cost = micro_usd_per_hour(variant.seeds);
        row.cells.insert(row.cells.end(),
                         {met_cell(plan, service, lowest_attainment_ppm(variant.seeds), variant.holds_slo), usd(cost),
                          month(cost), replicas});
      }
      add_scaler_row(table, std::move(row));
    }
  }
  return table;
}

/// Returns true for a fleet whose scaler is neither Capstan nor the chosen one. Such a fleet is shown in the table of
/// scalers only.
bool has_other_scaler(const FrontierPoint& point, ScalerKind chosen) {
  return point.scaler != ScalerKind::capstan && point.scaler != chosen;
}

/// Returns at most `most` points, the cheapest first. If there are more, efficient points have precedence, then the
/// runner-up.
std::vector<const FrontierPoint*> shown_points(const ServicePlan& service, std::size_t most) {
  std::vector<const FrontierPoint*> order;
  for (const FrontierPoint& point : service.frontier) {
    if (!has_other_scaler(point, service.scaler)) order.push_back(&point);
  }
  std::ranges::stable_sort(order, [](const FrontierPoint* a, const FrontierPoint* b) {
    const auto rank = [](const FrontierPoint* p) { return (p->is_efficient ? 2 : 0) + (p->is_runner_up ? 1 : 0); };
    return rank(a) > rank(b);
  });
  if (order.size() > most) order.resize(most);
  std::ranges::stable_sort(order, {}, &FrontierPoint::micro_usd_per_hour);
  return order;
}

PageTable frontier_table(const Plan& plan) {
  const bool is_several = plan.services.size() > 1;
  PageTable table{
      .columns = {is_several ? "service" : "", "fleet that the search tried", "met, worst seed", "USD/h", "seeds"}};
  for (const ServicePlan& service : plan.services) {
    for (const FrontierPoint* point :
         shown_points(service, is_several ? kFrontierRowsOfEachService : kMaxFrontierRows)) {
      table.rows.push_back({.cells = {is_several ? service.service : "", point->short_fleet,
                                      met_cell(plan, service, point->attainment_ppm, point->holds_slo),
                                      usd(point->micro_usd_per_hour), fmt::format("{}", point->seeds)},
                            .is_chosen = point->is_chosen});
    }
  }
  // Without another fleet, the table would repeat the first lines of the page.
  const bool has_other = std::ranges::any_of(table.rows, [](const PageTable::Row& row) { return !row.is_chosen; });
  if (is_several && !has_other) table.rows.clear();
  return table;
}

/// Keys of services whose default turns a feature off or leaves a choice to the search. The page does not show such
/// defaults.
constexpr std::array<std::string_view, 7> kNeutralKeys = {"pods_per_replica", "disaggregated",     "may_share_gpu",
                                                          "tensor_parallel",  "pipeline_parallel", "min_replicas",
                                                          "max_replicas"};

/// Returns the defaults on which figures depend, without their reasons, one text for each part of the spec. A default
/// that several services share is listed once.
std::vector<std::string> compact_defaults(const PlanSpec& spec) {
  struct Default {
    std::string rest{}, value{};
    std::vector<std::string> services{};
  };
  std::vector<Default> defaults;
  for (const DefaultUsed& used : spec.defaults) {
    if (used.kind == DefaultKind::name) continue;
    std::string service, rest = used.path;
    for (const ServiceSpec& candidate : spec.services) {
      const std::string prefix = "services." + candidate.name + ".";
      if (!used.path.starts_with(prefix)) continue;
      service = candidate.name;
      rest = used.path.substr(prefix.size());
    }
    if (!service.empty() && std::ranges::find(kNeutralKeys, rest) != kNeutralKeys.end()) continue;
    const auto same = std::ranges::find_if(defaults, [&](const Default& known) {
      return !service.empty() && !known.services.empty() && known.rest == rest && known.value == used.value;
    });
    if (same != defaults.end()) {
      same->services.push_back(service);
    } else {
      defaults.push_back({rest, used.value, service.empty() ? std::vector<std::string>{} : std::vector{service}});
    }
  }
  std::vector<std::pair<std::string, std::string>> parts;  // "cluster" and its defaults
  for (const Default& used : defaults) {
    const bool is_of_all = used.services.size() == spec.services.size() && spec.services.size() > 1;
    std::string part, key = used.rest;
    if (!used.services.empty()) {
      part = is_of_all ? "all services" : fmt::format("services.{}", fmt::join(used.services, "|"));
    } else if (const std::size_t dot = key.find('.'); dot != key.npos) {
      part = key.substr(0, dot);
      key = key.substr(dot + 1);
    }
    const auto known = std::ranges::find(parts, part, &std::pair<std::string, std::string>::first);
    auto& [name, text] = known == parts.end() ? parts.emplace_back(part, "") : *known;
    text += fmt::format("{}{} = {}", text.empty() ? "" : "; ", key, used.value);
  }
  std::vector<std::string> out;
  for (const auto& [part, text] : parts) out.push_back(part.empty() ? text : part + ": " + text);
  return out;
}

/// Returns the folders of `--out` with their number of files, and the files outside of folders.
std::vector<PageFolder> folders_of(const Plan& plan) {
  std::vector<PageFolder> out;
  for (const PlanFile& file : list_plan_files(plan)) {
    const std::size_t slash = file.path.find('/');
    const std::string name = slash == file.path.npos ? file.path : file.path.substr(0, slash + 1);
    const auto known = std::ranges::find(out, name, &PageFolder::name);
    PageFolder& folder = known == out.end() ? out.emplace_back(PageFolder{name, 0}) : *known;
    ++folder.files;
  }
  return out;
}

/// Returns "assistant 99.3 %, router 100.0 %": the lowest attainment of each service that holds its SLO or, if
/// `holds_slo` is false, of each service that misses it.
std::string met_words(const TogetherTrials& trials, bool holds_slo) {
  std::vector<std::string> words;
  for (const TogetherService& service : trials.services) {
    if (service.holds_slo == holds_slo) words.push_back(service.service + " " + percent(service.lowest_ppm()));
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

/// Says which higher minima were tried, and whether they hold the SLO of every service.
std::string remedy_words(const Plan& plan, const TogetherRemedy& remedy) {
  std::string options;
  for (std::size_t i = 0; i < remedy.minima.size(); ++i) {
    if (remedy.minima[i].empty()) continue;
    options += (options.empty() ? "" : " ") + minimum_options(plan.services[i], i, remedy.minima[i]);
  }
  const std::string cost = usd(remedy.trials.micro_usd_per_hour) + " USD/h";
  if (remedy.trials.holds_slo()) return fmt::format("higher minima hold it for {}: {}", cost, options);
  return fmt::format("the highest minima that were tried miss it, too ({}): {}", met_words(remedy.trials, false),
                     options);
}

/// Says what the simulations of all services on one cluster showed.
std::string together_words(const Plan& plan) {
  const TogetherTrials& trials = plan.together->trials;
  const std::string cost =
      fmt::format("{} USD/h, {} USD/month on one cluster, mean of {}", usd(trials.micro_usd_per_hour),
                  month(trials.micro_usd_per_hour), count_text(trials.seeds, "simulation", "simulations")) +
      (trials.seeds < static_cast<std::int64_t>(kSeeds) ? ", fewer than 5 because the load is large" : "") +
      (trials.jobs.empty() ? "" : fmt::format(", {} USD/h of it for the jobs", usd(trials.jobs_micro_usd_per_hour)));
  if (trials.holds_slo()) return fmt::format("{}; every SLO holds: {}", cost, met_words(trials, true));
  return fmt::format("{}; misses the SLO: {}; {}", cost, met_words(trials, false), together_advice(plan));
}

std::string sum_line(const Plan& plan) {
  if (plan.together) return together_words(plan);
  if (plan.services.size() < 2) return {};
  std::int64_t sum = 0;
  bool shares_nodes = false;
  for (const ServicePlan& service : plan.services) {
    sum += planned_micro_usd_per_hour(service);
    shares_nodes = shares_nodes || service.shared_micro_usd_per_hour;
  }
  return fmt::format("{} USD/h, {} USD/month, {}", usd(sum), month(sum),
                     shares_nodes ? "with shared nodes (modelled)" : "the sum of the services");
}

}  // namespace

std::string slo_words(const model::Slo& slo) {
  std::string bounds;
  const auto add = [&](const char* name, Duration bound, const std::string& more = {}) {
    if (bound <= Duration{}) return;
    bounds += fmt::format("{}{} at most {}{}", bounds.empty() ? "" : ", ", name, time_text(bound), more);
  };
  add("TTFT", slo.ttft,
      slo.scales_with_prompt() ? fmt::format(" or {} times its prefill", tenths(slo.ttft_prefills_milli, 1000)) : "");
  add("TPOT", slo.tpot);
  add("end to end", slo.e2e);
  return fmt::format("{} of requests: {}", percent(slo.attainment_ppm), bounds);
}

std::string together_advice(const Plan& plan) {
  const TogetherProof& proof = *plan.together;
  std::string words = proof.remedy ? remedy_words(plan, *proof.remedy) : "no service has room for a higher minimum";
  const bool is_remedied = proof.remedy && proof.remedy->trials.holds_slo();
  for (const TogetherService& service : proof.trials.services) {
    const auto plan_of = std::ranges::find(plan.services, service.service, &ServicePlan::service);
    if (is_remedied || service.holds_slo || plan_of == plan.services.end() || plan_of->bounded_by.empty()) continue;
    words += fmt::format("; the limit that binds is {}", fmt::join(plan_of->bounded_by, "; "));
  }
  return words;
}

std::vector<std::string> default_lines(const Plan& plan) {
  std::vector<std::string> lines;
  for (const DefaultUsed& used : plan.spec.defaults) {
    lines.push_back(fmt::format("{} = {}{}{}", used.path, used.value, used.why.empty() ? "" : ": ", used.why));
  }
  return lines;
}

Page page_of(const Plan& plan) {
  Page page{.title = fmt::format("Plan {}", plan.spec.name)};
  for (std::size_t i = 0; i < plan.services.size(); ++i) {
    page.headlines.push_back(headline_of(plan, i));
  }
  page.sum = sum_line(plan);
  if (plan.together) {
    const TogetherTrials& trials = plan.together->trials;
    for (const TogetherJobs& jobs : trials.jobs) {
      page.jobs.push_back(fmt::format("{}: {}; mean of {} (simulated)", jobs_name(jobs), jobs_words(jobs, trials.seeds),
                                      count_text(trials.seeds, "simulation", "simulations")));
    }
  }
  page.scalers = scaler_table(plan);
  page.frontier = frontier_table(plan);
  for (const Section& section : plan.sections) {
    page.blocks.push_back(block_of(section, plan.spec));
    for (const std::string& part : section.not_simulated) {
      if (std::ranges::find(page.not_simulated, part) == page.not_simulated.end()) page.not_simulated.push_back(part);
    }
  }
  page.defaults = compact_defaults(plan.spec);
  for (const ServicePlan& service : plan.services) {
    if (page.choice.empty()) page.choice = equal_cost_words(service);
  }
  if (holds_slo(plan)) {
    page.folders = folders_of(plan);
    page.needs = needed_components(plan);
    page.kill_switch = kill_switch_words(plan.services);
    page.apply = chosen_commands(plan);
  }
  return page;
}

}  // namespace capstan::plan
