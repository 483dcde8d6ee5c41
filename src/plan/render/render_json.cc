#include <nlohmann/json.hpp>

#include <algorithm>

#include "plan/render/page.h"
#include "plan/render/prerequisites.h"
#include "plan/render/render.h"
#include "plan/result/figures.h"

namespace capstan::plan {

namespace {

using Json = nlohmann::ordered_json;

Json json_seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }
Json json_share(std::int64_t ppm) { return static_cast<double>(ppm) / 1e6; }
Json json_usd(std::int64_t micro_usd) { return static_cast<double>(micro_usd) / 1e6; }

Json trial_json(const Trial& trial) {
  return {{"name", trial.name},
          {"seed", trial.seed},
          {"attainment", json_share(trial.attainment_ppm)},
          {"requests", trial.requests},
          {"ttft_p99_s", json_seconds(trial.ttft_p99)},
          {"tpot_p99_s", json_seconds(trial.tpot_p99)},
          {"usd_per_hour", json_usd(micro_usd_per_hour(trial))},
          {"simulated_s", json_seconds(trial.simulated)}};
}

Json point_json(const FrontierPoint& point) {
  return {{"fleet", point.fleet},
          {"attainment", json_share(point.attainment_ppm)},
          {"usd_per_hour", json_usd(point.micro_usd_per_hour)},
          {"holds_slo", point.holds_slo},
          {"is_efficient", point.is_efficient}};
}

Json role_json(const RoleFleet& role) {
  return {{"role", role.role == model::Role::both ? "both" : role_word(role.role)},
          {"model", role.engine.model},
          {"gpu", role.engine.gpu},
          {"dtype", role.engine.weight_dtype},
          {"gpus_per_replica", role.gpus_per_replica()},
          {"pods_per_replica", role.pods},
          {"machine", role.machine.name},
          {"min_replicas", role.minimum},
          {"max_replicas", role.maximum},
          {"mean_ready_replicas", static_cast<double>(role.mean_ready_milli) / 1000},
          {"peak_ready_replicas", role.peak_ready},
          {"sequences_per_replica", role.batch}};
}

template <typename Range, typename Function>
Json list_json(const Range& range, Function function) {
  Json out = Json::array();
  for (const auto& element : range) out.push_back(function(element));
  return out;
}

Json replicas_json(const RoleReplicas& role) {
  return {{"min_replicas", role.minimum}, {"max_replicas", role.maximum}};
}

Json variant_json(const ScalerVariant& variant) {
  Json out = {{"scaler", scaler_word(variant.kind)},
              {"holds_slo", variant.holds_slo},
              {"attainment_lowest", json_share(lowest_attainment_ppm(variant.seeds))},
              {"usd_per_hour", json_usd(micro_usd_per_hour(variant.seeds))},
              {"roles", list_json(variant.roles, replicas_json)},
              {"seeds", list_json(variant.seeds, trial_json)}};
  if (!variant.refusal_reason.empty()) out["refused"] = variant.refusal_reason;
  return out;
}

Json zone_loss_json(const ServicePlan& service) {
  const ZoneLossMinimum& found = *service.zone_loss;
  return {{"zone", service.lost_zone},
          {"holds_slo", found.holds_slo},
          {"roles", list_json(found.roles, replicas_json)},
          {"attainment_lowest", json_share(found.trial.attainment_ppm)},
          {"usd_per_hour", json_usd(found.micro_usd_per_hour)}};
}

Json spot_base_json(const SpotBase& spot) {
  return {{"share", json_share(spot.share_ppm)},
          {"holds_slo", spot.holds_slo},
          {"roles", list_json(spot.roles, replicas_json)},
          {"attainment_lowest", json_share(lowest_attainment_ppm(spot.seeds))},
          {"attainment_lowest_with_more_reclaims", json_share(spot.reclaims.attainment_ppm)},
          {"replicas_reclaimed", spot.reclaims.reclaimed},
          {"usd_per_hour", json_usd(spot.micro_usd_per_hour)}};
}

Json service_json(const ServicePlan& service) {
  Json out = {{"name", service.service},
              {"holds_slo", service.holds_slo},
              {"attainment_lowest", json_share(lowest_attainment_ppm(service))},
              {"usd_per_hour", json_usd(planned_micro_usd_per_hour(service))},
              {"scaler", scaler_word(service.scaler)},
              {"scalers", list_json(service.variants, variant_json)},
              {"bounded_by", service.bounded_by},
              {"spot_share", json_share(service.spot_ppm)},
              {"spot_base_share", json_share(spot_base_ppm(service))},
              {"roles", list_json(service.roles, role_json)},
              {"seeds", list_json(service.seeds, trial_json)},
              {"robustness", list_json(service.robustness, trial_json)},
              {"frontier", list_json(service.frontier, point_json)}};
  if (service.zone_loss) out["zone_loss"] = zone_loss_json(service);
  if (service.raised) {
    out["raised_limits"] = {{"bounds", service.raised->bounds},
                            {"fleet", service.raised->fleet},
                            {"attainment_lowest", json_share(service.raised->attainment_ppm)},
                            {"seeds", service.raised->seeds}};
  }
  if (service.spot_base) out["spot_base"] = spot_base_json(*service.spot_base);
  if (service.runner_up) out["runner_up"] = point_json(*service.runner_up);
  return out;
}

Json together_service_json(const TogetherService& service) {
  return {{"name", service.service},
          {"holds_slo", service.holds_slo},
          {"attainment_lowest", json_share(service.lowest_ppm())},
          {"ttft_p99_s", json_seconds(service.ttft_p99)},
          {"tpot_p99_s", json_seconds(service.tpot_p99)}};
}

/// Returns the results of a class of jobs. Counts, GPU time and prices are means of the simulations.
Json together_jobs_json(const TogetherJobs& jobs, std::int64_t seeds) {
  const auto mean = [&](std::int64_t sum) { return static_cast<double>(sum) / static_cast<double>(seeds); };
  const auto gpu_hours = [&](GpuNanoseconds time) {
    return static_cast<double>(time) / static_cast<double>(seeds) / 3.6e12;
  };
  return {{"tenant", jobs.tenant},
          {"name", jobs.name},
          {"arrived", mean(jobs.arrived)},
          {"ended", mean(jobs.ended)},
          {"computing", mean(jobs.computing)},
          {"waiting", mean(jobs.waiting)},
          {"wait_p50_s", json_seconds(jobs.wait_p50)},
          {"wait_p99_s", json_seconds(jobs.wait_p99)},
          {"restarts", mean(jobs.restarts)},
          {"preempted", mean(jobs.preempted)},
          {"resized", mean(jobs.resized)},
          {"gpu_hours", gpu_hours(jobs.gpu_ns)},
          {"lost_gpu_hours", gpu_hours(jobs.lost_gpu_ns)},
          {"usd", mean(jobs.micro_usd) / 1e6}};
}

Json together_trials_json(const TogetherTrials& trials) {
  Json out = {{"holds_slo", trials.holds_slo()},
              {"simulations", trials.seeds},
              {"usd_per_hour", json_usd(trials.micro_usd_per_hour)},
              {"services", list_json(trials.services, together_service_json)}};
  if (trials.jobs.empty()) return out;
  out["jobs_usd_per_hour"] = json_usd(trials.jobs_micro_usd_per_hour);
  out["jobs"] =
      list_json(trials.jobs, [&](const TogetherJobs& jobs) { return together_jobs_json(jobs, trials.seeds); });
  return out;
}

Json together_json(const TogetherProof& proof) {
  Json out = together_trials_json(proof.trials);
  if (!proof.remedy) return out;
  out["remedy"] = together_trials_json(proof.remedy->trials);
  for (std::size_t i = 0; i < proof.remedy->minima.size(); ++i) {
    out["remedy"]["services"][i]["roles"] = list_json(proof.remedy->minima[i], replicas_json);
  }
  return out;
}

std::string json_key(std::string name) {
  std::ranges::replace(name, ' ', '_');
  return name;
}

Json command_json(const ApplyCommand& command) {
  return {{"command", command.command},
          {"purpose", command.purpose},
          {"choice", command.alternative.choice},
          {"option", command.alternative.option},
          {"is_chosen", command.alternative.is_chosen},
          {"is_optional", command.is_optional}};
}

Json manifest_json(const Manifest& manifest) {
  // The flow style of YAML is JSON.
  return {{"file", manifest.file},
          {"choice", manifest.alternative.choice},
          {"option", manifest.alternative.option},
          {"is_chosen", manifest.alternative.is_chosen},
          {"is_object", manifest.is_object},
          {"body", Json::parse(manifest.body.flow(), nullptr, false)}};
}

Json prerequisite_json(const Prerequisite& needed) {
  return {{"name", needed.name}, {"part", needed.part}, {"remedy", needed.remedy}};
}

Json section_json(const Section& section) {
  return {{"key", section.key},
          {"title", section.title},
          {"answer", section.answer},
          {"statements", list_json(section.statements,
                                   [](const Statement& statement) {
                                     return Json{{"name", json_key(statement.name)},
                                                 {"value", statement.value},
                                                 {"evidence", words(statement.evidence)},
                                                 {"why", statement.why}};
                                   })},
          {"not_simulated", section.not_simulated},
          {"apply", list_json(section.apply, command_json)},
          {"commands", section.commands},
          {"manifests", list_json(section.manifests, manifest_json)},
          {"files", list_json(section.manifests, [](const Manifest& manifest) { return Json(manifest.file); })}};
}

}  // namespace

std::string render_json(const Plan& plan) {
  Json out = {
      {"format_version", 1},
      {"plan", plan.spec.name},
      {"simulations", plan.simulations},
      {"services", list_json(plan.services, service_json)},
      {"needs", list_json(holds_slo(plan) ? prerequisites(plan) : std::vector<Prerequisite>(), prerequisite_json)},
      {"apply", list_json(page_of(plan).apply, command_json)},
      {"sections", list_json(plan.sections, section_json)},
      {"defaults", list_json(plan.spec.defaults, [](const DefaultUsed& used) {
         return Json{{"path", used.path}, {"value", used.value}, {"why", used.why}};
       })}};
  if (plan.together) out["together"] = together_json(*plan.together);
  return out.dump(2) + '\n';
}

}  // namespace capstan::plan
