#include <fmt/format.h>

#include <set>

#include <nlohmann/json.hpp>

#include "experiment/report/clairvoyant_words.h"
#include "experiment/report/frontier.h"
#include "experiment/report/history_json.h"
#include "experiment/report/lower_decisions_json.h"
#include "experiment/report/notes.h"
#include "experiment/report/render.h"
#include "experiment/report/result_words.h"
#include "experiment/report/services.h"
#include "experiment/report/verdict.h"
#include "experiment/run/timeline.h"
#include "model/capacity_names.h"
#include "model/role_names.h"

namespace capstan::experiment {

namespace {

using Json = nlohmann::ordered_json;

Json percentiles(const Percentiles& p) {
  return {
      {"mean_us", p.mean_us}, {"p50_us", p.p50_us}, {"p90_us", p.p90_us}, {"p95_us", p.p95_us}, {"p99_us", p.p99_us}};
}

/// Returns an integer. A value beyond 64 bits, more than 2.56 million GPU-hours, becomes the nearest floating-point
/// number.
Json number(__int128 value) {
  if (value >= INT64_MIN && value <= INT64_MAX) return static_cast<std::int64_t>(value);
  return static_cast<double>(value);
}

/// Returns GPU-hours or USD with six decimals, for programs that read every number as a double. The integers of the
/// same object may exceed 2^53, beyond which doubles lose digits.
Json decimal(__int128 value, std::int64_t unit) {
  const auto millionths = static_cast<std::int64_t>((value * 1'000'000 + unit / 2) / unit);
  return static_cast<double>(millionths) / 1'000'000;
}
Json gpu_hours_decimal(__int128 time) { return decimal(time, 3'600'000'000'000); }
Json usd_decimal(std::int64_t micro_usd) { return decimal(micro_usd, 1'000'000); }

template <typename T>
Json by_state(const ByGpuState<T>& values, Json (*convert)(__int128) = number) {
  Json json = Json::object();
  for (std::size_t i = 0; i < kGpuStates; ++i) json[std::string(name(static_cast<GpuState>(i)))] = convert(values[i]);
  return json;
}

Json spending(const RunResult& r) {
  Json json = Json::array();
  for (const Spending& part : r.spending) {
    json.push_back({{"pool", part.pool.empty() ? Json() : Json(part.pool)},
                    {"zone", part.zone},
                    {"instance_type", part.instance_type},
                    {"capacity_type", std::string(model::name(part.capacity).label)},
                    {"gpu_hours", gpu_hours_decimal(part.gpu_ns)},
                    {"cost_usd", usd_decimal(part.micro_usd)},
                    {"cost_micro_usd", part.micro_usd}});
  }
  return json;
}

Json price(std::optional<std::int64_t> micro_usd) { return micro_usd ? usd_decimal(*micro_usd) : Json(); }

Json series(const std::vector<Minute>& minutes) {
  Json json = {{"arrived", Json::array()},     {"met", Json::array()},        {"waiting", Json::array()},
               {"desired", Json::array()},     {"ready", Json::array()},      {"gpus_paid", Json::array()},
               {"ttft_p99_us", Json::array()}, {"tpot_p99_us", Json::array()}};
  for (const Minute& minute : minutes) {
    json["arrived"].push_back(minute.arrived);
    json["met"].push_back(minute.met);
    json["waiting"].push_back(minute.waiting);
    json["desired"].push_back(minute.desired);
    json["ready"].push_back(minute.ready);
    json["gpus_paid"].push_back(minute.gpus_paid);
    json["ttft_p99_us"].push_back(minute.ttft_p99_us);
    json["tpot_p99_us"].push_back(minute.tpot_p99_us);
  }
  return json;
}

Json timeline_json(const RunResult& r, Duration bucket) {
  Json json = {{"bucket_ns", bucket.count()},
               {"arrived", Json::array()},
               {"ready_mean_milli", Json::array()},
               {"late", Json::array()},
               {"unmet", Json::array()}};
  for (const TimelineBucket& part : timeline(r, bucket)) {
    json["arrived"].push_back(part.arrived);
    json["ready_mean_milli"].push_back(part.ready_mean_milli);
    json["late"].push_back(part.late);
    json["unmet"].push_back(part.unmet);
  }
  return json;
}

Json moments(const std::vector<Moment>& all) {
  Json json = Json::array();
  for (const Moment& moment : all) {
    json.push_back({{"at_ns", moment.at.since_start.count()},
                    {"weight", moment.weight},
                    {"reason", moment.reason},
                    {"sentence", moment.sentence}});
  }
  return json;
}

/// Adds the roles or the variants of a service.
void add_roles(const std::vector<RoleFigures>& all, std::size_t minutes, Json& out) {
  if (all.empty()) return;
  const bool has_variants = !all.front().variant.empty();
  Json& rows = out[has_variants ? "variants" : "roles"] = Json::array();
  for (const RoleFigures& figures : all) {
    rows.push_back({{has_variants ? "variant" : "role", figures.name()},
                    {"ready_peak", figures.ready_peak},
                    {"ready_mean_milli", figures.ready_mean_milli(minutes)}});
  }
}

Json cold_starts_json(const ColdStartFigures& starts) {
  return {{"count", starts.count}, {"p50_ns", starts.p50.count()}, {"max_ns", starts.max.count()}};
}

Json requests(const RequestFigures& r) {
  return {{"arrived", r.arrived}, {"completed", r.completed}, {"met", r.met},
          {"unmet", r.unmet()},   {"late", r.late()},         {"rejected", r.rejected},
          {"failed", r.failed},   {"timed_out", r.timed_out}, {"in_flight", r.in_flight},
          {"queued", r.queued},   {"retries", r.retries},     {"kv_preemptions", r.kv_preemptions}};
}

Json slo_json(const model::Slo& slo) {
  Json json = {{"ttft_ns", slo.ttft.count()},
               {"tpot_ns", slo.tpot.count()},
               {"e2e_ns", slo.e2e.count()},
               {"attainment_ppm", slo.attainment_ppm}};
  if (slo.scales_with_prompt()) json["ttft_prefills_milli"] = slo.ttft_prefills_milli;
  return json;
}

/// Returns the name of a team, or null if there is none.
Json team_name(const std::string& name) { return name.empty() ? Json() : Json(name); }

/// @param by_minute  true: with the series by minute
/// @param phases     true: with the phases of latency by minute
Json services(const RunResult& r, bool by_minute, bool phases) {
  Json json = Json::array();
  for (const ServiceFigures& service : r.services) {
    json.push_back({{"name", service.name},
                    {"team", team_name(service.team)},
                    {"slo", slo_json(service.slo)},
                    {"holds_slo", service.holds_slo()},
                    {"requests", requests(service.requests)},
                    {"attainment_ppm", service.attainment_ppm()},
                    {"ttft", percentiles(service.ttft)},
                    {"tpot", percentiles(service.tpot)},
                    {"e2e", percentiles(service.e2e)},
                    {"answer_tokens", service.delivered_tokens},
                    {"ready_peak", service.ready_peak},
                    {"ready_minutes", service.ready_minutes},
                    {"gpu_hours", gpu_hours_decimal(service.gpu_ns)},
                    {"cost_usd", usd_decimal(service.micro_usd)},
                    {"cost_micro_usd", service.micro_usd}});
    Json& row = json.back();
    row["gpu_time_by_state_ns"] = by_state(service.gpu_ns_by_state);
    row["cold_starts"] = cold_starts_json(service.cold_starts);
    row["scale_changes"] = service.scale_changes;
    add_roles(service.roles, r.minutes.size(), row);
    if (by_minute) {
      row["by_minute"] = series(service.minutes);
      row["by_minute"].erase("gpus_paid");
    }
    if (phases) row["latency_phases"] = latency_phases_json(service.minutes);
  }
  return json;
}

Json jobs(const RunResult& r) {
  Json json = Json::array();
  for (const JobFigures& jobs : r.jobs) {
    Json row = {{"name", jobs.name},
                {"team", team_name(jobs.team)},
                {"arrived", jobs.arrived},
                {"ended", jobs.ended},
                {"computing", jobs.computing},
                {"waiting", jobs.waiting},
                {"ended_per_hour_milli", per_hour_milli(jobs.ended, r.simulated)},
                {"wait_p50_ns", jobs.wait_p50.count()},
                {"wait_p99_ns", jobs.wait_p99.count()},
                {"restarts", jobs.restarts},
                {"preempted", jobs.preempted},
                {"resized", jobs.resized},
                {"undersized_starts", jobs.undersized_starts},
                {"lost_gpu_hours", gpu_hours_decimal(jobs.lost_gpu_ns)},
                {"computed_gpu_hours", gpu_hours_decimal(jobs.computed_gpu_ns)},
                {"gpu_hours", gpu_hours_decimal(jobs.gpu_ns)},
                {"cost_usd", usd_decimal(jobs.micro_usd)},
                {"cost_micro_usd", jobs.micro_usd}};
    if (jobs.goal) {
      row["goal"] = {{"finish_within_ns", jobs.goal->finish_within.count()},
                     {"asked_ppm", jobs.goal->attainment_ppm},
                     {"due", jobs.due},
                     {"late", jobs.late},
                     {"is_held", jobs.holds_goal()}};
    }
    json.push_back(std::move(row));
  }
  return json;
}

Json teams(const RunResult& r) {
  Json json = Json::array();
  for (const TeamFigures& team : r.teams) {
    json.push_back({{"name", team_name(team.name)},
                    {"requests", team.arrived},
                    {"met", team.met},
                    {"jobs_arrived", team.jobs_arrived},
                    {"jobs_ended", team.jobs_ended},
                    {"gpu_hours", gpu_hours_decimal(team.gpu_ns)},
                    {"cost_usd", usd_decimal(team.micro_usd)},
                    {"cost_micro_usd", team.micro_usd}});
  }
  return json;
}

Json queue_minutes(const QueueFigures& queue) {
  Json json = {
      {"held_gpus_milli", Json::array()}, {"waiting_gpus_milli", Json::array()}, {"jobs_waiting", Json::array()}};
  for (const QueueMinute& minute : queue.minutes) {
    json["held_gpus_milli"].push_back(minute.held.count);
    json["waiting_gpus_milli"].push_back(minute.waiting.count);
    json["jobs_waiting"].push_back(minute.jobs_waiting);
  }
  return json;
}

/// @param over_time  true: with the series by minute, if the run kept them
Json queues(const RunResult& r, bool over_time) {
  Json json = Json::array();
  for (const QueueFigures& queue : r.queues) {
    json.push_back({{"name", queue.name},
                    {"parent", queue.parent.empty() ? Json() : Json(queue.parent)},
                    {"limit_gpus_milli", queue.limit ? Json(queue.limit->count) : Json()},
                    {"held_gpus_milli_peak", queue.held_peak.count},
                    {"held_gpus_milli_minutes", queue.held_minutes.count},
                    {"waiting_gpus_milli_peak", queue.waiting_peak.count},
                    {"waiting_gpus_milli_minutes", queue.waiting_minutes.count},
                    {"jobs_waiting_peak", queue.jobs_waiting_peak},
                    {"jobs_waiting_minutes", queue.jobs_waiting_minutes},
                    {"gpu_hours", gpu_hours_decimal(queue.gpu_ns)},
                    {"cost_usd", usd_decimal(queue.micro_usd)},
                    {"cost_micro_usd", queue.micro_usd}});
    if (over_time && !queue.minutes.empty()) json.back()["by_minute"] = queue_minutes(queue);
  }
  return json;
}

/// Returns the changes of the wanted replicas. The arithmetic of a change is written if the run has kept it.
Json scale_steps(const std::vector<ScaleStep>& all) {
  Json json = Json::array();
  for (const ScaleStep& step : all) {
    json.push_back(
        {{"at_ns", step.at.since_start.count()}, {"part", step.part()}, {"desired", step.desired}, {"why", step.why}});
    if (!step.arithmetic.empty()) json.back()["arithmetic"] = step.arithmetic;
  }
  return json;
}

/// The series over time that are written with a policy's figures.
struct SeriesChoice {
  bool by_minute = false;
  /// True: also writes the changes of the wanted replicas, the phases of latency, and the history if there is one.
  bool decisions = false;
  Duration bucket{};  ///< length of a bucket of the timeline
};

Json tokens(const RunResult& r) {
  return {{"prompt", r.prompt_tokens},
          {"prompt_cached", r.cached_tokens},
          {"generated", r.tokens.generated},
          {"delivered", r.tokens.delivered},
          {"cut", r.tokens.cut},
          {"abandoned", r.tokens.abandoned},
          {"held", r.tokens.held}};
}

Json invariants_broken(const InvariantFigures& broken) {
  return {{"partial_gang", broken.partial_gang},          {"work_cut", broken.work_cut},
          {"jobs_restarted", broken.jobs_restarted},      {"lowered_blind", broken.scale_downs_without_data},
          {"limit_exceeded", broken.limit_exceeded},      {"not_repeatable", broken.not_repeatable},
          {"group_overheld", broken.expired_group_holds}, {"oracle", broken.unobservable_values},
          {"not_conserved", broken.not_conserved},        {"unsettled", broken.unsettled}};
}

/// Returns the sentences that the table has below a policy, without its warnings.
Json remarks(const RunResult& r) {
  Json json = Json::array();
  const std::string missed = r.is_shared() ? missed_services_words(r) : "";
  if (!missed.empty()) json.push_back("misses " + missed);
  if (const std::string broken = broken_words(r); !broken.empty()) json.push_back(broken);
  return json;
}

Json gpu_cost(GpuNanoseconds time, std::int64_t micro_usd) {
  return {{"gpu_hours", gpu_hours_decimal(time)}, {"cost_usd", usd_decimal(micro_usd)}, {"cost_micro_usd", micro_usd}};
}

Json policy(const RunResult& r, const SeriesChoice& choice) {
  Json json = {{"policy", r.policy}, {"seed", r.seed}, {"simulated_ns", r.simulated.count()}};
  json["requests"] = requests(r.requests);
  json["attainment_ppm"] = r.attainment_ppm();
  json["ttft"] = percentiles(r.ttft);
  json["tpot"] = percentiles(r.tpot);
  json["e2e"] = percentiles(r.e2e);
  json["tokens"] = tokens(r);
  json["gpu_time_by_state_ns"] = by_state(r.gpu_ns);
  json["gpu_hours_by_state"] = by_state(r.gpu_ns, gpu_hours_decimal);
  json["paid_gpu_time_ns"] = number(r.paid_gpu_ns());
  json["paid_gpu_hours"] = gpu_hours_decimal(r.paid_gpu_ns());
  json["useful_gpu_time_ns"] = number(r.useful_gpu_ns);
  json["useful_gpu_hours"] = gpu_hours_decimal(r.useful_gpu_ns);
  json["cost_by_state_micro_usd"] = by_state(r.cost_micro_usd);
  json["cost_micro_usd"] = r.total_micro_usd();
  json["cost_usd"] = usd_decimal(r.total_micro_usd());
  json["cost_per_1000_met_usd"] = price(r.micro_usd_per_1000_met());
  json["cost_per_million_tokens_usd"] = price(r.micro_usd_per_million_tokens());
  json["spending"] = spending(r);
  json["idle_gpu_minutes"] = idle_gpu_minutes(r);
  json["empty_nodes"] = gpu_cost(r.empty_node_gpu_ns, r.empty_node_micro_usd);
  json["empty_nodes"]["gpu_time_ns"] = number(r.empty_node_gpu_ns);
  json["gangs_deferred"] = r.gangs_deferred;
  json["cold_starts"] = cold_starts_json({r.cold_starts, r.cold_start_p50, r.cold_start_max});
  if (r.wakes > 0) json["wakes"] = r.wakes;
  if (r.conversions > 0) json["conversions"] = r.conversions;
  json["nodes"] = {{"launched", r.nodes_launched}, {"refused", r.nodes_refused}, {"released", r.nodes_released}};
  json["replicas_peak"] = r.replicas_peak;
  add_roles(r.roles, r.minutes.size(), json);
  if (r.is_shared()) {
    json["services"] = services(r, choice.by_minute || choice.decisions, choice.decisions);
    json["no_pod"] = gpu_cost(r.idle_node_gpu_ns, r.idle_node_micro_usd);
  }
  if (!r.jobs.empty()) json["jobs"] = jobs(r);
  if (!r.queues.empty()) json["queues"] = queues(r, choice.decisions);
  if (!r.teams.empty()) json["teams"] = teams(r);
  json["decisions"] = r.decisions;
  json["reversals"] = r.reversals;
  json["scale_changes"] = r.scale_changes;
  json["scale_changes_per_hour_milli"] = per_hour_milli(r.scale_changes, r.simulated);
  json["reversals_per_hour_milli"] = per_hour_milli(r.reversals, r.simulated);
  json["swept_from"] = r.swept_from;
  json["warnings"] = r.warnings;
  json["disruptions"] = {
      {"consolidation", r.disruptions.consolidation}, {"scale_down", r.disruptions.scale_down},
      {"eviction", r.disruptions.eviction},           {"spot", r.disruptions.spot},
      {"requests_cut", r.disruptions.requests_cut},   {"requests_cut_forced", r.disruptions.requests_cut_forced}};
  json["invariants_broken"] = invariants_broken(r.invariants);
  json["remarks"] = remarks(r);
  json["moments"] = moments(r.moments);
  json["timeline"] = timeline_json(r, choice.bucket);
  if (choice.by_minute) json["by_minute"] = series(r.minutes);
  if (choice.decisions) {
    json["scale_steps"] = scale_steps(r.scale_steps);
    json["latency_phases"] = latency_phases_json(r.minutes);
    if (r.history) {
      json["cold_start_phases"] = cold_start_phases_json(*r.history);
      json["fleet"] = fleet_json(*r.history);
      json["signals"] = signals_json(*r.history);
      json["actions"] = lower_decisions_json(*r.history);
      json["actions_left_out"] = r.history->decisions_left_out;
    }
  }
  json["state_hash"] = fmt::format("{:016x}", r.state_hash);
  json["score_milli"] = r.score_milli();
  return json;
}

Json names(const std::vector<const RunResult*>& results) {
  Json json = Json::array();
  for (const RunResult* result : results) json.push_back(result->policy);
  return json;
}

/// Returns the name of the policy that has the mark in the table, or null.
Json marked_name(const Comparison& comparison) {
  const RunResult* marked = comparison.results.size() > 1 ? marked_policy(comparison) : nullptr;
  return marked == nullptr ? Json() : Json(marked->policy);
}

Json seed_outcomes(const SeedCheck& check) {
  Json seeds = Json::array();
  for (const SeedOutcome& outcome : check.outcomes) {
    seeds.push_back({{"seed", outcome.seed},
                     {"attainment_ppm", outcome.attainment_ppm},
                     {"holds_slo", outcome.holds_slo},
                     {"cost_usd", usd_decimal(outcome.micro_usd)},
                     {"cost_micro_usd", outcome.micro_usd}});
  }
  return seeds;
}

Json constant_fleet(const Comparison& comparison, Duration bucket) {
  const ConstantFleet& fleet = *comparison.constant_fleet;
  Json json = {{"replicas", fleet.replicas},
               {"fleet", fleet.words},
               {"holds_slo", fleet.holds_slo},
               {"is_smallest", fleet.is_smallest},
               {"limits", fleet.limits},
               {"runs", fleet.runs},
               {"result", policy(fleet.result, {.bucket = bucket})},
               {"seeds", fleet.seeds ? seed_outcomes(*fleet.seeds) : Json()},
               {"steady", Json()}};
  if (fleet.steady) {
    json["steady"] = {{"replicas", fleet.steady->replicas},
                      {"fleet", fleet.steady->words},
                      {"cost_usd", usd_decimal(fleet.steady->result.total_micro_usd())},
                      {"cost_micro_usd", fleet.steady->result.total_micro_usd()}};
  }
  return json;
}

Json raised_minimum(const Comparison& comparison, Duration bucket) {
  const RaisedMinimum& raised = *comparison.raised_minimum;
  return {{"policy", raised.policy},
          {"setting", raised.setting},
          {"min_replicas", raised.min},
          {"helps", raised.result.has_value()},
          {"runs", raised.runs},
          {"seeds", raised.seeds ? seed_outcomes(*raised.seeds) : Json()},
          {"result", raised.result ? policy(*raised.result, {.bucket = bucket}) : Json()}};
}

Json seed_checks(const std::vector<SeedCheck>& checks) {
  Json json = Json::array();
  for (const SeedCheck& check : checks) {
    json.push_back(
        {{"policy", check.policy}, {"holds_with_all", check.holds_with_all()}, {"seeds", seed_outcomes(check)}});
  }
  return json;
}

Json clairvoyant(const Comparison& comparison, Duration bucket) {
  const Clairvoyant& all = *comparison.clairvoyant;
  Json json;
  json["lower_bound"] = {{"attainment_ppm", comparison.slo.attainment_ppm},
                         {"paid_gpu_time_ns", number(all.bound.gpu_ns)},
                         {"cost_micro_usd", all.bound.micro_usd},
                         {"work_gpu_time_ns", number(all.bound.work_gpu_ns)},
                         {"hopeless_requests", all.bound.unattainable_requests},
                         {"bin_ns", all.bound.bin.count()},
                         {"solved", all.bound.solved}};
  json["achievable"] = {{"raised_ppm", all.achievable.raised_ppm},
                        {"holds_slo", all.achievable.holds},
                        {"runs", all.achievable.runs},
                        {"result", policy(all.achievable.result, {.bucket = bucket})}};
  json["loose"] = all.has_wide_gap();
  json["policies"] = Json::array();
  for (const RunResult& result : comparison.results) {
    json["policies"].push_back(
        {{"policy", result.policy}, {"over_achievable_milli", over_achievable_milli(result, all)}});
  }
  return json;
}

Json policies(const Comparison& comparison, const SeriesChoice& choice) {
  Json json = Json::array();
  for (const RunResult& result : comparison.results) {
    Json& row = json.emplace_back(policy(result, choice));
    const std::string by_chance = chance_row_words(comparison, result);
    if (!by_chance.empty()) row["remarks"].insert(row["remarks"].begin(), by_chance);
  }
  return json;
}

constexpr std::size_t kOneLine = 1'000'000;  ///< a width in which no line is wrapped

}  // namespace

std::string render_json(const Comparison& comparison, const JsonParts& parts) {
  Json json = {{"format_version", 1},     {"scenario", comparison.scenario}, {"title", comparison.title},
               {"load", comparison.load}, {"service", comparison.service},   {"seed", comparison.seed}};
  if (comparison.assumed_engine_init) {
    json["assumed_engine_init_ns"] = {comparison.assumed_engine_init->low.count(),
                                      comparison.assumed_engine_init->high.count()};
  }
  const bool has_slo = comparison.results.empty() || !comparison.results.front().has_only_jobs();
  json["slo"] = has_slo ? slo_json(comparison.slo) : Json();
  const Duration bucket = bucket_length(comparison.results);
  json["policies"] = policies(comparison, {parts.minutes, parts.decisions, bucket});
  json["marked"] = marked_name(comparison);
  json["frontier"] = {{"usd", names(frontier(comparison.results, Cost::usd))},
                      {"gpu_hours", names(frontier(comparison.results, Cost::gpu_hours))}};
  if (!comparison.seed_checks.empty()) json["seed_checks"] = seed_checks(comparison.seed_checks);
  if (comparison.constant_fleet) json["constant_fleet"] = constant_fleet(comparison, bucket);
  if (!comparison.advice_left_out.empty()) json["advice_left_out"] = comparison.advice_left_out;
  if (comparison.raised_minimum) json["raised_minimum"] = raised_minimum(comparison, bucket);
  if (comparison.clairvoyant) json["clairvoyant"] = clairvoyant(comparison, bucket);
  if (parts.decisions) {
    json["verdict"] = verdict_words(comparison);
    json["why"] = differences_of_first(comparison);
    json["notes"] = notes_on(comparison);
    if (comparison.clairvoyant) json["clairvoyant"]["words"] = clairvoyant_words(comparison, kOneLine);
  }
  if (parts.decisions && comparison.catalog) {
    json["services"] = services_json(*comparison.catalog, comparison.jobs);
    json["queues"] = queues_json(*comparison.catalog);
  }
  if (!parts.command.empty()) json["command"] = parts.command;
  return json.dump(parts.compact ? -1 : 2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace capstan::experiment
