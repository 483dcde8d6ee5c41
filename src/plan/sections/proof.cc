#include <fmt/format.h>

#include <algorithm>

#include "base/number_text.h"
#include "base/unit_text.h"
#include "experiment/text/words.h"
#include "plan/objects/scheduling.h"
#include "plan/result/figures.h"
#include "plan/result/file_names.h"
#include "plan/sections/sections.h"
#include "plan/sections/subject_statements.h"

namespace capstan::plan {

namespace {

constexpr std::size_t kMaxFrontierPoints = 8;  ///< largest number of fleets that the page shows

std::string share_words(std::int64_t ppm) { return experiment::share_text(ppm); }

std::string trial_words(const Trial& trial) {
  return fmt::format("{} requests, P99 of TTFT {}, P99 of TPOT {}, {} USD/h", grouped_text(trial.requests),
                     experiment::seconds(trial.ttft_p99 / std::chrono::microseconds(1)),
                     experiment::milliseconds(trial.tpot_p99 / std::chrono::microseconds(1)),
                     experiment::usd(micro_usd_per_hour(trial)));
}

/// Says how many replicas the reclaims of spot nodes ended; empty for a trial that does not test more reclaims than
/// the plan assumes.
std::string reclaimed_words(const Trial& trial) {
  if (trial.condition != TrialCondition::reclaims) return "";
  return fmt::format("; reclaims ended {} in all simulations", count_text(trial.reclaimed, "replica", "replicas"));
}

/// Writes the statements about one service.
class ServiceProof {
 public:
  ServiceProof(const PlanFacts& facts, const ServiceSpec& spec, const ServicePlan& service, Section& out)
      : statements_(facts.services.size() == 1 ? "" : service.service, out),
        spec_(spec),
        service_(service),
        may_buy_spot_base_(facts.spec.cluster.may_buy_spot_base),
        out_(out) {}

  void write() {
    add_seeds();
    add_goodput();
    for (const Trial& trial : service_.robustness) {
      const bool holds = trial.attainment_ppm >= spec_.slo.attainment_ppm;
      add(trial.name, share_words(trial.attainment_ppm) + " met",
          fmt::format("{} the SLO of {}; {}{}", holds ? "holds" : "misses", share_words(spec_.slo.attainment_ppm),
                      trial_words(trial), reclaimed_words(trial)));
    }
    add_zone_loss();
    add_spot_base();
    add_frontier();
    out_.commands.push_back(fmt::format("capstan compare scenario-{}.yaml", service_.service));
    if (!service_.comparison.empty()) {
      out_.commands.push_back(fmt::format("capstan compare {}", comparison_file(service_)));
    }
    const std::string& left_out = service_.not_simulated;
    if (!left_out.empty() && std::ranges::find(out_.not_simulated, left_out) == out_.not_simulated.end()) {
      out_.not_simulated.push_back(left_out);
    }
  }

 private:
  static std::string usd_per_hour(const FrontierPoint& point) {
    return experiment::usd(point.micro_usd_per_hour) + " USD/h";
  }

  void add(std::string_view name, std::string value, std::string why, Visibility visibility = Visibility::details) {
    statements_.add(name, std::move(value), std::move(why), Evidence::simulated, visibility);
  }

  void add_seeds() {
    std::vector<std::string> seeds;
    for (const Trial& trial : service_.seeds) {
      seeds.push_back(fmt::format("{} {}", trial.name, share_words(trial.attainment_ppm)));
    }
    add("lowest attainment", share_words(lowest_attainment_ppm(service_)) + " met",
        fmt::format("{}; the SLO asks for {}", fmt::join(seeds, ", "), share_words(spec_.slo.attainment_ppm)));
    for (const Trial& trial : service_.seeds) {
      add(trial.name, share_words(trial.attainment_ppm) + " met", trial_words(trial));
    }
  }

  void add_zone_loss() {
    if (!service_.zone_loss) return;
    const ZoneLossMinimum& found = *service_.zone_loss;
    add(fmt::format("minimum for the loss of {}", service_.lost_zone), zone_loss_replicas(service_),
        fmt::format("{} the SLO while the zone is lost: {} met; {}; with all zones {} USD/h, mean of the seeds",
                    found.holds_slo ? "the smallest minimum that a bounded search found, which holds"
                                    : "the highest minimum that a bounded search tried, which misses",
                    share_words(found.trial.attainment_ppm), trial_words(found.trial),
                    experiment::usd(found.micro_usd_per_hour)));
  }

  void add_spot_base() {
    if (!service_.spot_base) return;
    const SpotBase& spot = *service_.spot_base;
    const std::string advice = spot_base_advice(service_, may_buy_spot_base_);
    add(spot_base_words(spot), experiment::usd(spot.micro_usd_per_hour) + " USD/h",
        fmt::format("{} {} the SLO: {} met at the reclaims that the plan assumes, {} met with {}{}{}{}",
                    range_words(service_, spot.roles), spot.holds_slo ? "hold" : "miss",
                    share_words(lowest_attainment_ppm(spot.seeds)), share_words(spot.reclaims.attainment_ppm),
                    spot.reclaims.name, reclaimed_words(spot.reclaims), advice.empty() ? "" : "; ", advice));
  }

  /// Adds the rate of requests that met the SLO in the 5 minutes with the most arrivals.
  void add_goodput() {
    if (!spec_.goodput_per_s || service_.seeds.empty()) return;
    std::vector<std::string> seeds;
    std::int64_t lowest = service_.seeds.front().goodput_milli;
    for (const Trial& trial : service_.seeds) {
      lowest = std::min(lowest, trial.goodput_milli);
      seeds.push_back(fmt::format("{} {:.2f}", trial.name, static_cast<double>(trial.goodput_milli) / 1000));
    }
    const double found = static_cast<double>(lowest) / 1000;
    add("goodput", fmt::format("{:.2f} requests/s", found),
        fmt::format("met requests of the 5 minutes with the most arrivals, by their length; {}; {} the {:g} requests/s "
                    "that slo.goodput_per_second asks for",
                    fmt::join(seeds, ", "), found >= *spec_.goodput_per_s ? "holds" : "misses", *spec_.goodput_per_s),
        Visibility::page);
  }

  /// Adds the fleets that no simulated fleet beats in cost and attainment, the cheapest first.
  void add_frontier() {
    std::size_t count = 0;
    for (const FrontierPoint& point : service_.frontier) {
      if (!point.is_efficient || count == kMaxFrontierPoints) continue;
      add(fmt::format("frontier point {}", ++count),
          share_words(point.attainment_ppm) + " met for " + usd_per_hour(point),
          fmt::format("{}; {} the SLO in {}", point.fleet, point.holds_slo ? "holds" : "misses",
                      point.seeds == 1 ? "one simulation" : fmt::format("{} simulations", point.seeds)));
    }
  }

  SubjectStatements statements_;
  const ServiceSpec& spec_;
  const ServicePlan& service_;
  bool may_buy_spot_base_;  ///< true: the spec allows spot nodes in the base
  Section& out_;
};

/// States what the simulations of all services on one cluster showed.
void add_together(const PlanFacts& facts, Section& out) {
  const TogetherTrials& trials = facts.together->trials;
  for (std::size_t i = 0; i < trials.services.size(); ++i) {
    const TogetherService& service = trials.services[i];
    std::vector<std::string> seeds;
    for (std::size_t seed = 0; seed < service.attainment_ppm.size(); ++seed) {
      seeds.push_back(fmt::format("seed {} {}", seed + 1, share_words(service.attainment_ppm[seed])));
    }
    const std::int64_t asked = facts.spec.services[i].slo.attainment_ppm;
    out.statements.push_back(
        {.name = fmt::format("{} on one cluster with {}", service.service, together_subject(trials)),
         .value = share_words(service.lowest_ppm()) + " met",
         .why = fmt::format("{}; {} the SLO of {}; P99 of TTFT {}, P99 of TPOT {}", fmt::join(seeds, ", "),
                            service.holds_slo ? "holds" : "misses", share_words(asked),
                            experiment::seconds(service.ttft_p99 / std::chrono::microseconds(1)),
                            experiment::milliseconds(service.tpot_p99 / std::chrono::microseconds(1))),
         .evidence = Evidence::simulated,
         .subject = service.service});
  }
  for (const TogetherJobs& jobs : trials.jobs) {
    out.statements.push_back({.name = fmt::format("jobs of {} on one cluster", jobs_name(jobs)),
                              .value = fmt::format("{} of {} ended", experiment::tenths(jobs.ended, trials.seeds),
                                                   experiment::tenths(jobs.arrived, trials.seeds)),
                              .why = fmt::format("{}; mean of {}", jobs_words(jobs, trials.seeds),
                                                 count_text(trials.seeds, "simulation", "simulations")),
                              .evidence = Evidence::simulated});
  }
  out.statements.push_back(
      {.name = fmt::format("{} on one cluster", together_subject(trials)),
       .value = experiment::usd(trials.micro_usd_per_hour) + " USD/h",
       .why = fmt::format("all nodes of the plan's pools, mean of {}; together.yaml is the scenario",
                          count_text(trials.seeds, "simulation", "simulations")),
       .evidence = Evidence::simulated});
  out.commands.emplace_back("capstan compare together.yaml");
}

}  // namespace

Section proof_section(const PlanFacts& facts) {
  Section out{.key = "proof", .title = "Proof"};
  if (!facts.services.empty()) {
    const ServicePlan& first = facts.services.front();
    out.notes.push_back(
        {"repeat, in the folder of --out", fmt::format("capstan compare scenario-{}.yaml --seed 2", first.service)});
    if (!first.comparison.empty()) {
      out.notes.push_back(
          {"the files in replicas/ as policies", fmt::format("capstan compare {} --seed 2", comparison_file(first))});
    }
  }
  std::vector<std::string> holds, misses;
  for (std::size_t i = 0; i < facts.services.size(); ++i) {
    ServiceProof(facts, facts.spec.services[i], facts.services[i], out).write();
    const ServicePlan& service = facts.services[i];
    (service.holds_slo ? holds : misses)
        .push_back(fmt::format("{} ({})", service.service, scaler_word(service.scaler)));
  }
  const std::size_t seeds = facts.services.empty() ? 0 : facts.services.front().seeds.size();
  if (!holds.empty()) {
    out.answer = fmt::format("{} held the SLO under {} seeds.", fmt::join(holds, ", "), seeds);
  }
  if (!misses.empty()) {
    out.answer +=
        fmt::format("{}No fleet that was simulated holds the SLO of {}; the plan has the one that meets most.",
                    out.answer.empty() ? "" : " ", fmt::join(misses, ", "));
  }
  if (facts.together != nullptr) {
    add_together(facts, out);
  } else if (facts.services.size() > 1) {
    out.not_simulated.push_back(fmt::format("all services{} on one cluster, because a service misses its SLO alone",
                                            has_jobs(facts.spec) ? " and jobs" : ""));
  } else if (has_jobs(facts.spec) && !misses.empty()) {
    out.not_simulated.emplace_back("the jobs of the tenants, because a service misses its SLO without them");
  }
  out.statements.push_back({.name = "simulations",
                            .value = grouped_text(facts.simulations),
                            .why =
                                "a short part of the load for the candidates whose modelled cost is below that of the "
                                "best fleet, the whole load for the best of them, then every seed, the other scalers "
                                "and the tests of robustness; the search is bounded, so that a cheaper fleet may exist",
                            .evidence = Evidence::simulated});
  return out;
}

}  // namespace capstan::plan
