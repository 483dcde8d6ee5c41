#include "experiment/report/verdict.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "base/number_text.h"
#include "base/unit_text.h"
#include "experiment/report/frontier.h"
#include "experiment/report/jobs_verdict.h"
#include "experiment/report/result_words.h"
#include "experiment/report/seed_words.h"
#include "experiment/report/services.h"
#include "experiment/run/ranking.h"
#include "experiment/text/words.h"

namespace capstan::experiment {

namespace {

constexpr std::int64_t kPercentagePoint = 10'000;                     // one percentage point, millionths
constexpr std::int64_t kSmallestShownPoints = kPercentagePoint / 20;  // half of the last shown digit, millionths
constexpr std::int64_t kSmallestShownGpuNs = 180'000'000'000;         // half of a tenth of a GPU-hour
constexpr std::size_t kMaxTerms = 3;  // largest number of terms for requests, and for GPU-hours

std::string met_words(const RunResult& r) { return share_text(r.attainment_ppm()) + " met"; }
std::string met_and_cost(const RunResult& r) { return met_words(r) + " for " + cost_words(r); }

/// Returns `met_and_cost` with the length of the run: "99.2 % met for 40.00 USD in 30 min (80.00
/// USD/h, 58,400 USD/month)".
std::string met_and_cost_in_time(const RunResult& r) { return met_and_cost(r) + time_and_price_words(r); }

/// Returns `met_and_cost_in_time(r)`, without the price per hour if a later sentence states the average price over all
/// seeds.
std::string met_and_cost_in_time(const Comparison& c, const RunResult& r) {
  const bool has_average = cheapest_steady(c.seed_checks) != nullptr && r.simulated > Duration{};
  return has_average ? met_and_cost(r) + " in " + time_text(r.simulated) : met_and_cost_in_time(r);
}

/// Returns "the SLO", or "the SLOs" of several services.
const char* slo_noun(const Comparison& c) { return c.results.front().services.empty() ? "the SLO" : "the SLOs"; }

std::string more_or_less(std::int64_t difference, std::int64_t unit, const char* more, const char* less) {
  return fmt::format("{} {}", tenths(std::abs(difference), unit), difference > 0 ? more : less);
}

std::string words_for_one(const Comparison& c) {
  const RunResult& r = c.results.front();
  const bool holds = holds_slo(r, c.slo);
  const std::string rest =
      fmt::format("{} late, {} without a complete answer, score {}", grouped_text(r.requests.late()),
                  grouped_text(r.requests.unmet()), tenths(r.score_milli(), 1000));
  if (!r.services.empty()) {
    return fmt::format("{} {} {}: {}; {}.", r.policy, holds ? "holds" : "misses",
                       holds ? slo_phrase(c) : missed_services_words(r), met_and_cost_in_time(c, r), rest);
  }
  return fmt::format("{} {} the SLO of {}: {}; {}.", r.policy, holds ? "holds" : "misses",
                     share_text(c.slo.attainment_ppm), met_and_cost_in_time(c, r), rest);
}

/// Returns the end of a sentence about a cost: ", less than every policy here". Empty if no policy costs more.
std::string beaten_words(const Comparison& c, const RunResult& cheap) {
  const auto costs_more = [&](const RunResult& r) { return is_cheaper(cheap, r); };
  const auto beaten = std::ranges::count_if(c.results, costs_more);
  if (beaten == 0) return "";
  if (beaten == std::ssize(c.results)) return ", less than every policy here";
  const RunResult* best = marked_policy(c);
  if (best != nullptr && costs_more(*best))
    return fmt::format(", less than every policy here that holds {}", slo_noun(c));
  const bool is_swept = std::ranges::any_of(c.results, [](const RunResult& r) { return !r.swept_from.empty(); });
  if (beaten == 1) return ", less than " + std::ranges::find_if(c.results, costs_more)->policy;
  return fmt::format(" ({} of the {} {} here cost more)", beaten, c.results.size(),
                     is_swept ? "policies and settings" : "policies");
}

/// Returns true if the minimums of the services allow no smaller fleet, although a smaller fleet might hold the SLO.
bool is_at_minimum(const Comparison& c, const ConstantFleet& fleet) {
  if (c.catalog == nullptr || c.catalog->services.size() != fleet.replicas.size()) return false;
  bool is_bounded = false;
  for (std::size_t i = 0; i < fleet.replicas.size(); ++i) {
    const ReplicaCount min = c.catalog->services[i].min_replicas;
    if (fleet.replicas[i] > std::max<ReplicaCount>(min, 1)) return false;
    is_bounded = is_bounded || min > 1;
  }
  return is_bounded;
}

/// Returns ", 22 % less than KEDA", which compares the average price of a fleet with that of the marked policy. Empty
/// if one of the prices is not known.
std::string against_marked_words(const Comparison& c, const SeedCheck& fleet) {
  const SeedCheck* marked = cheapest_steady(c.seed_checks);
  if (marked == nullptr || marked->mean_per_hour().count <= 0 || fleet.mean_per_hour().count <= 0) return "";
  return fmt::format(", {} {}", cost_against(fleet.mean_per_hour(), marked->mean_per_hour()), marked->policy);
}

/// Returns the end of the sentence about a constant fleet that was simulated with other seeds, too, and the larger
/// fleet that takes its place if it misses the SLO with one of them.
std::string fleet_seeds_words(const Comparison& c, const ConstantFleet& fleet) {
  const std::string seeds = seeds_words(*fleet.seeds), cost = cost_words(fleet.result);
  const std::string beaten = beaten_words(c, fleet.result);
  if (fleet.seeds->holds_with_all()) {
    const std::string average = average_words(*fleet.seeds);
    return fmt::format(" with each of the seeds {}{}{}{}. With seed {} it costs {}{}.", seeds,
                       average.empty() ? "" : ", ", average, against_marked_words(c, *fleet.seeds), c.seed, cost,
                       beaten);
  }
  std::string text = fmt::format(" with seed {} for {}{}, but of the seeds {} only {}.", c.seed, cost, beaten, seeds,
                                 held_words(*fleet.seeds));
  if (!fleet.steady) return text;
  const std::string average = average_words(fleet.steady->seeds);
  return text + fmt::format(" {} would hold it with each of them, {}{}.", fleet.steady->words,
                            average.empty() ? "for " + cost_words(fleet.steady->result) : average,
                            against_marked_words(c, fleet.steady->seeds));
}

/// Returns the cost of the best constant fleet, or by how much it misses the SLO.
std::string constant_fleet_words(const Comparison& c) {
  if (!c.constant_fleet) return "";
  const ConstantFleet& fleet = *c.constant_fleet;
  if (!fleet.holds_slo) {
    const bool some_policy_holds = holds_slo(c.results.front(), c.slo);
    const std::string limits = fleet.limits.empty()
                                   ? ""
                                   : fmt::format(" It is as large as {} {}.", fmt::join(fleet.limits, " and "),
                                                 fleet.limits.size() == 1 ? "allows" : "allow");
    return fmt::format(
        " No constant fleet within the limits {} {}{}: the best, {}, meets {}.{}",
        some_policy_holds ? "holds" : "would hold", slo_noun(c), some_policy_holds ? "" : " either", fleet.words,
        fleet.result.requests.met == 0 ? "no request" : share_text(fleet.result.attainment_ppm()), limits);
  }
  const char* bounded = is_at_minimum(c, fleet) ? "the fewest that replicas.min allows, "
                        : fleet.is_smallest     ? ""
                                                : "perhaps not the smallest, ";
  const std::string text =
      fmt::format(" For comparison only: a constant fleet of {}, {}sized with knowledge of this load, would hold {}",
                  fleet.words, bounded, slo_noun(c));
  if (fleet.seeds) return text + fleet_seeds_words(c, fleet);
  const RunResult* best = marked_policy(c);
  const std::string cost = " for " + cost_words(fleet.result) + price_words(fleet.result);
  const std::string beaten = beaten_words(c, fleet.result);
  if (best == nullptr) return text + cost + beaten + ".";
  if (!is_cheaper(fleet.result, *best)) {
    return text + cost + fmt::format(": {} {}{}.", cost_against(fleet.result, *best), best->policy, beaten);
  }
  return text + cost +
         fmt::format("{}. {} costs {} this fleet.", beaten, best->policy, cost_against(*best, fleet.result));
}

/// Returns the check of a policy that holds the SLO with the seed of the table, but not with every other seed; null for
/// other policies.
const SeedCheck* check_by_chance(const Comparison& c, const std::string& policy) {
  const auto check = std::ranges::find(c.seed_checks, policy, &SeedCheck::policy);
  return check == c.seed_checks.end() || check->holds_with_all() ? nullptr : &*check;
}

/// Returns that a policy with the raised minimum costs as much as the constant fleet of that size. Empty if it does
/// not.
std::string like_fleet_words(const Comparison& c, const RaisedMinimum& raised) {
  if (!c.constant_fleet || !c.constant_fleet->seeds) return "";
  const ConstantFleet& fleet = *c.constant_fleet;
  const MicroUsd price = raised.seeds->mean_per_hour();
  const MicroUsd constant = (fleet.steady ? fleet.steady->seeds : *fleet.seeds).mean_per_hour();
  if (constant.count <= 0 || raised.min != (fleet.steady ? fleet.steady->replicas : fleet.replicas)) return "";
  if (std::abs(price.count - constant.count) * 200 > constant.count) return "";  // more than half a percent
  return ", as much as that constant fleet";
}

/// Returns the effect of a higher minimum of replicas on a policy. Empty if a policy holds the SLO anyway and the
/// minimum does not make it cheaper.
std::string minimum_words(const Comparison& c) {
  if (!c.raised_minimum) return "";
  const RaisedMinimum& raised = *c.raised_minimum;
  if (!raised.result) {
    if (marked_policy(c) != nullptr) return "";
    return fmt::format(" A higher minimum, up to {}, was tried and does not make {} hold {}.", raised.setting,
                       raised.policy, slo_noun(c));
  }
  std::string text = fmt::format(" With a higher minimum ({}), {} would", raised.setting, raised.policy);
  const auto stated = std::ranges::find(c.results, raised.policy, &RunResult::policy);
  const bool is_held =
      stated != c.results.end() && holds_slo(*stated, c.slo) && check_by_chance(c, raised.policy) == nullptr;
  if (is_held) {
    text += fmt::format(" cost {} instead of {} and still hold {} ({})", cost_words(*raised.result),
                        cost_words(*stated), slo_noun(c), met_words(*raised.result));
    return text + (raised.seeds ? fmt::format(", with each of the seeds {}.", seeds_words(*raised.seeds)) : ".");
  }
  text += fmt::format(" hold {}", slo_noun(c));
  if (raised.is_steady()) {
    return text + fmt::format(" with each of the seeds {}: {}{}.", seeds_words(*raised.seeds),
                              outcomes_words(*raised.seeds), like_fleet_words(c, raised));
  }
  text += fmt::format(" for {} ({})", cost_words(*raised.result), met_words(*raised.result));
  if (!raised.seeds) return text + ".";
  return text + fmt::format(", but of the seeds {} only {}.", seeds_words(*raised.seeds), held_words(*raised.seeds));
}

/// Returns what became of most requests of a run that met none of them.
std::string most_requests_words(const RunResult& r) {
  const RequestFigures& n = r.requests;
  const std::array<std::pair<RequestCount, const char*>, 5> outcomes = {{{n.late(), "were late"},
                                                                         {n.rejected, "were rejected"},
                                                                         {n.failed, "failed"},
                                                                         {n.timed_out, "timed out"},
                                                                         {n.in_flight + n.queued, "had no answer"}}};
  const auto [count, outcome] = *std::ranges::max_element(outcomes, {}, &std::pair<RequestCount, const char*>::first);
  std::string text =
      fmt::format("{} of {} {}", grouped_text(count), count_text(n.arrived, "request", "requests"), outcome);
  if (count == n.late()) {
    text += fmt::format(" (median TTFT {}, median TPOT {})", seconds(r.ttft.p50_us), milliseconds(r.tpot.p50_us));
  }
  return text;
}

/// Returns by how much the best policy misses the SLO if none holds it.
std::string shortfall_words(const Comparison& c) {
  const RunResult& best = c.results.front();
  if (best.requests.met == 0 && best.services.empty()) {
    return fmt::format("No policy holds the SLO of {}, and none meets a single request. {} costs least, {}{}: {}.",
                       share_text(c.slo.attainment_ppm), best.policy, cost_words(best), time_and_price_words(best),
                       most_requests_words(best));
  }
  if (!best.services.empty()) {
    const RequestCount short_of_slo = requests_short_of_slo(best, c.slo);  // 0: only goals of jobs are missed
    const std::string requests =
        short_of_slo == 0 ? "" : fmt::format(", {} short of the SLOs", count_text(short_of_slo, "request", "requests"));
    return fmt::format("No policy holds {}. {} comes closest: {}{}; it misses {}.", slo_phrase(c), best.policy,
                       met_and_cost_in_time(best), requests, missed_services_words(best));
  }
  const std::int64_t points = c.slo.attainment_ppm - best.attainment_ppm();
  const std::string in_points =
      points < kSmallestShownPoints ? "" : fmt::format(" ({} percentage points)", tenths(points, kPercentagePoint));
  return fmt::format("No policy holds the SLO of {}. {} comes closest: {}, {} short of the SLO{}.",
                     share_text(c.slo.attainment_ppm), best.policy, met_and_cost_in_time(best),
                     count_text(requests_short_of_slo(best, c.slo), "request", "requests"), in_points);
}

/// Returns the policies that hold the SLO with some seeds only.
/// @param below  only policies that cost no more than this one on average; null: all
std::vector<const SeedCheck*> held_by_chance(const Comparison& c, const SeedCheck* below) {
  std::vector<const SeedCheck*> found;
  for (const SeedCheck& check : c.seed_checks) {
    const bool is_counted = below == nullptr || check.mean_per_hour() <= below->mean_per_hour();
    if (!check.holds_with_all() && is_counted) found.push_back(&check);
  }
  return found;
}

/// Returns how often these policies hold the SLO: "a holds the SLO with 2 of them (95.2 to 99.5 % met); b with 1 of
/// them (…)".
std::string by_chance_words(const Comparison& c, const std::vector<const SeedCheck*>& checks) {
  std::string text;
  for (const SeedCheck* check : checks) {
    text += text.empty() ? fmt::format("{} holds {} {}", check->policy, slo_noun(c), held_words(*check))
                         : fmt::format("; {} {}", check->policy, held_words(*check));
  }
  return text;
}

/// Returns that no policy holds the SLO with every seed, although one holds it with the seed of the table.
std::string chance_words(const Comparison& c) {
  const RunResult& best = c.results.front();
  return fmt::format(
      "No policy holds {} with each of the seeds {}: {}. With seed {}, {} is the cheapest that holds {}: {}.",
      slo_phrase(c), seeds_words(c.seed_checks.front()), by_chance_words(c, held_by_chance(c, nullptr)), c.seed,
      best.policy, slo_noun(c), met_and_cost_in_time(best));
}

/// Returns which cheaper policies hold the SLO with some seeds only. Empty if there is none.
std::string cheaper_by_chance_words(const Comparison& c) {
  const std::vector<const SeedCheck*> cheaper = held_by_chance(c, cheapest_steady(c.seed_checks));
  if (cheaper.empty()) return "";
  return fmt::format(" {} on chance: of the seeds {}, {}.",
                     cheaper.size() == 1 ? "A cheaper policy depends" : "Cheaper policies depend",
                     seeds_words(c.seed_checks.front()), by_chance_words(c, cheaper));
}

/// Returns the outcomes with other seeds. Empty if no policy was simulated with them.
std::string seed_words(const Comparison& c) {
  if (c.seed_checks.empty()) return "";
  const SeedCheck* steady = cheapest_steady(c.seed_checks);
  const std::string seeds = seeds_words(c.seed_checks.front());
  if (steady == nullptr) {
    return fmt::format(" The result depends on chance: of the seeds {}, {}.", seeds,
                       by_chance_words(c, held_by_chance(c, nullptr)));
  }
  return fmt::format(" With each of the seeds {}, {} holds {}: {}.", seeds, steady->policy, slo_noun(c),
                     outcomes_words(*steady)) +
         cheaper_by_chance_words(c);
}

/// Returns what a constant fleet would cost, and whether a higher minimum helps, or why neither is known.
std::string advice_words(const Comparison& c) {
  return (c.advice_left_out.empty() ? "" : " " + c.advice_left_out + ".") + constant_fleet_words(c) + minimum_words(c);
}

/// Returns true if all policies meet the same number of requests at the same cost.
bool all_alike(const Comparison& c) {
  const RunResult& best = c.results.front();
  return std::ranges::all_of(c.results, [&](const RunResult& r) {
    return r.requests.met == best.requests.met && !is_cheaper(r, best) && !is_cheaper(best, r);
  });
}

/// Returns the check of the second cheapest of the policies that hold the SLO with every seed; null if there is none.
const SeedCheck* next_steady(const Comparison& c) {
  std::vector<SeedCheck> others = c.seed_checks;
  std::erase_if(others, [&](const SeedCheck& check) { return check.policy == c.results.front().policy; });
  const SeedCheck* next = cheapest_steady(others);
  if (next == nullptr) return nullptr;
  return &*std::ranges::find(c.seed_checks, next->policy, &SeedCheck::policy);
}

/// Returns a sentence about the best policy other than the first: the cheapest one that holds the SLO or, if none does,
/// the one that comes closest to it. Leaves out policies that hold the SLO by chance, because they have a sentence of
/// their own.
std::string runner_up_words(const Comparison& c) {
  const RunResult& best = c.results[0];
  if (const SeedCheck* steady = next_steady(c); steady != nullptr) {
    const MicroUsd price = steady->mean_per_hour(), least = cheapest_steady(c.seed_checks)->mean_per_hour();
    const std::string against = least.count <= 0 ? "" : fmt::format(", {} {}", cost_against(price, least), best.policy);
    return fmt::format(" The next cheapest that holds it with each of them is {}: {}{}.", steady->policy,
                       outcomes_words(*steady), against);
  }
  const auto is_other = [&](const RunResult& r) {  // a policy that holds the SLO by chance has a sentence of its own
    return std::ranges::find(c.seed_checks, r.policy, &SeedCheck::policy) == c.seed_checks.end();
  };
  const bool is_steady = cheapest_steady(c.seed_checks) != nullptr;
  const auto found = is_steady ? std::ranges::find_if(c.results, is_other) : c.results.begin() + 1;
  const bool has_others_by_chance = is_steady && !held_by_chance(c, nullptr).empty();
  if (found == c.results.end() || (has_others_by_chance && !holds_slo(*found, c.slo))) return "";
  const RunResult& next = *found;
  if (!holds_slo(next, c.slo) && next.requests.met == 0) {
    return fmt::format(" No other policy holds {} or meets a single request.", slo_noun(c));
  }
  if (!holds_slo(next, c.slo)) {
    return fmt::format(" No other policy holds {}; {} comes closest: {}.", slo_noun(c), next.policy,
                       met_and_cost(next));
  }
  // The first policy is chosen by its average cost, to which the cost with one seed does not compare.
  const std::string against = is_steady ? "" : fmt::format(", {} {}", cost_against(next, best), best.policy);
  return fmt::format(" The next cheapest policy that holds {} is {}: {}{}.", slo_noun(c), next.policy,
                     met_and_cost(next), against);
}

/// Returns that the first policy is the cheapest that holds the SLO, and compares it with the next one.
std::string cheapest_words(const Comparison& c) {
  const RunResult& best = c.results.front();
  const SeedCheck* steady = cheapest_steady(c.seed_checks);
  if (steady == nullptr) {
    return fmt::format("{} is the cheapest policy that holds {} with seed {}, the only seed that was tried: {}.{}",
                       best.policy, slo_phrase(c), c.seed, met_and_cost_in_time(c, best), runner_up_words(c));
  }
  return fmt::format(
      "{} is the cheapest policy that holds {} with each of the seeds {}: {}. With seed {}, as in the table: {}.{}{}",
      best.policy, slo_phrase(c), seeds_words(*steady), outcomes_words(*steady), c.seed, met_and_cost_in_time(c, best),
      runner_up_words(c), cheaper_by_chance_words(c));
}

struct Term {
  GpuNanoseconds difference;  ///< difference in GPU time or requests
  std::string words;
};

/// Returns the absolute value; std::abs has no overload for 128 bits.
GpuNanoseconds size_of(GpuNanoseconds number) { return number < 0 ? -number : number; }

/// Joins the `kMaxTerms` largest terms with commas, the largest first.
std::string largest(std::vector<Term> terms) {
  std::ranges::stable_sort(terms, std::ranges::greater{}, [](const Term& t) { return size_of(t.difference); });
  if (terms.size() > kMaxTerms) terms.resize(kMaxTerms);
  std::string text;
  for (const Term& term : terms) text += (text.empty() ? "" : ", ") + term.words;
  return text;
}

std::string request_terms(const RunResult& a, const RunResult& b) {
  const std::array<std::pair<const char*, std::int64_t>, 4> kCauses = {
      {{"late", a.requests.late() - b.requests.late()},
       {"rejected", a.requests.rejected - b.requests.rejected},
       {"failed", a.requests.failed - b.requests.failed},
       {"timed out", a.requests.timed_out - b.requests.timed_out}}};
  std::vector<Term> terms;
  for (const auto& [cause, difference] : kCauses) {
    if (difference == 0) continue;
    terms.push_back({difference, fmt::format("{} {} {}", grouped_text(std::abs(difference)),
                                             difference > 0 ? "more" : "fewer", cause)});
  }
  return largest(std::move(terms));
}

std::string gpu_terms(const RunResult& a, const RunResult& b) {
  std::vector<Term> terms;
  for (std::size_t s = 0; s < kGpuStates; ++s) {
    const GpuNanoseconds difference = a.gpu_ns[s] - b.gpu_ns[s];
    if (size_of(difference) < kSmallestShownGpuNs) continue;
    terms.push_back({difference, fmt::format("{} h {} {}", gpu_hours(size_of(difference)),
                                             difference > 0 ? "more" : "less", name(static_cast<GpuState>(s)))});
  }
  return largest(std::move(terms));
}

}  // namespace

const RunResult* marked_policy(const Comparison& c) {
  if (!c.seed_checks.empty()) {
    const SeedCheck* steady = cheapest_steady(c.seed_checks);
    if (steady == nullptr) return nullptr;
    const auto found = std::ranges::find(c.results, steady->policy, &RunResult::policy);
    return found == c.results.end() ? nullptr : &*found;
  }
  const RunResult* cheapest = nullptr;  // with only jobs: the first of the ranking
  for (const RunResult& r : c.results) {
    if (!holds_slo(r, c.slo)) continue;
    if (cheapest == nullptr || (!r.has_only_jobs() && is_cheaper(r, *cheapest))) cheapest = &r;
  }
  return cheapest;
}

std::string chance_row_words(const Comparison& c, const RunResult& result) {
  const SeedCheck* check = check_by_chance(c, result.policy);
  if (check == nullptr) return "";
  return fmt::format("holds {} with only {} of the seeds {}", slo_noun(c), check->held(), seeds_words(*check));
}

std::string difference_words(const RunResult& a, const RunResult& b) {
  std::string text;
  const std::int64_t points = a.has_only_jobs() ? 0 : a.attainment_ppm() - b.attainment_ppm();
  const std::string requests = a.has_only_jobs() ? job_terms(a, b) : request_terms(a, b);
  if (std::abs(points) >= kSmallestShownPoints)
    text += more_or_less(points, kPercentagePoint, "percentage points more met", "percentage points fewer met");
  if (!requests.empty()) text += text.empty() ? requests : " (" + requests + ")";
  const GpuNanoseconds time = a.paid_gpu_ns() - b.paid_gpu_ns();
  const std::string states = gpu_terms(a, b);
  if (states.empty()) return text;
  text += text.empty() ? "" : "; ";
  text += size_of(time) < kSmallestShownGpuNs
              ? "the same number of GPU-hours"
              : gpu_hours(size_of(time)) + (time > 0 ? " GPU-hours more" : " GPU-hours less");
  return text + ": " + states;
}

std::string verdict_words(const Comparison& c) {
  const RunResult& best = c.results.front();
  if (best.has_only_jobs()) return jobs_verdict(c);
  if (best.requests.arrived == 0) return "No request arrived.";
  if (c.results.size() == 1 && !c.constant_fleet) return words_for_one(c) + seed_words(c);
  std::string text;
  if (marked_policy(c) == nullptr) {
    text = holds_slo(best, c.slo) ? chance_words(c) : shortfall_words(c);
  } else if (c.results.size() == 1) {
    text = words_for_one(c);
  } else if (all_alike(c)) {
    const std::size_t number = c.results.size();
    text =
        fmt::format("{} policies hold {}: {} with each of them.", number == 2 ? "Both" : fmt::format("All {}", number),
                    slo_phrase(c), met_and_cost_in_time(c, best));
  } else {
    return cheapest_words(c) + advice_words(c);
  }
  if (marked_policy(c) != nullptr) text += seed_words(c);
  return text + advice_words(c);
}

std::vector<std::string> differences_of_first(const Comparison& comparison) {
  const std::vector<RunResult>& results = comparison.results;
  std::vector<std::string> sentences;
  const auto compare_with = [&](const RunResult& other) {
    const std::string words = difference_words(results.front(), other);
    if (words.empty()) return;
    sentences.push_back(fmt::format("{} compared with {}: {}", results.front().policy, other.policy, words));
  };
  if (results.size() > 1) compare_with(results[1]);
  if (results.size() > 2) compare_with(results.back());
  return sentences;
}

}  // namespace capstan::experiment
