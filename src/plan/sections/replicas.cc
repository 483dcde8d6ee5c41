#include <fmt/format.h>

#include <algorithm>

#include "base/unit_text.h"
#include "experiment/text/words.h"
#include "explain/words.h"
#include "plan/feasibility/refusal.h"
#include "plan/result/figures.h"
#include "plan/scalers/engine_metrics.h"
#include "plan/scalers/scalers.h"
#include "plan/sections/scaler_setup.h"
#include "plan/sections/sections.h"
#include "plan/sections/subject_statements.h"

namespace capstan::plan {

namespace {

/// Says which step time the simulations use for a pipeline whose step times were not measured.
void add_stages(const RoleFleet& role, SubjectStatements& statements) {
  const engine::EngineRow& row = role.engine;
  if (!row.is_derived) return;
  statements.add(
      "step of a pipeline", fmt::format("as long as with TP {} alone", row.tensor_parallel()),
      fmt::format(
          "no step times of {0} stages are known, so a batch passes all stages before the next begins; "
          "the stages only add memory. An engine that overlaps batches serves more, so fewer replicas "
          "may be enough: measure rows with pp = {0} and state them with step_times. Capstan's policy uses the row "
          "of another model until replicas have reported step times, also in the simulations",
          row.stages),
      Evidence::assumed, Visibility::page);
}

void add_signal_statements(const ScalerFacts& facts, const ServicePlan& fleet, Section& out) {
  const SignalChoice& signal = facts.signal;
  SubjectStatements statements(workload_name(facts.service, facts.role.role), out);
  std::string why = fmt::format("{}: {}", kind_word(signal.kind), signal.kind_reason);
  if (!signal.asked_reason.empty()) why = signal.asked_reason + "; " + why;
  statements.add("signal", signal_word(signal.signal), std::move(why),
                 signal.asked_reason.empty() ? Evidence::modelled : Evidence::stated, Visibility::page);
  statements.add("requests that one replica runs at once", fmt::format("{}", signal.batch),
                 fmt::format("the most that one replica runs within the SLO, limited by {}", bound_word(signal.bound)),
                 Evidence::modelled);
  statements.add("target of waiting requests per replica", fmt::format("{}", signal.waiting), signal.waiting_reason,
                 signal.is_waiting_assumed ? Evidence::assumed : Evidence::modelled, Visibility::one_service);
  if (signal.uses_kv()) {
    statements.add("KV memory per replica", fmt::format("{} %", signal.kv_percent), signal.kv_reason,
                   Evidence::modelled, Visibility::one_service);
  }
  if (signal.uses_goodput()) {
    statements.add("target of goodput per replica", fmt::format("{} tokens/s", signal.goodput_tokens),
                   signal.goodput_reason, Evidence::modelled, Visibility::one_service);
  }
  statements.add("target of requests in flight per replica", fmt::format("{}", signal.in_flight),
                 signal.in_flight_reason, Evidence::modelled, Visibility::one_service);
  statements.add("target that is reached first", signal.first_threshold, signal.first_threshold_reason,
                 Evidence::modelled, Visibility::page);
  add_stages(facts.role, statements);
  statements.add("minimum", fmt::format("{}", facts.role.minimum),
                 "the smallest that was simulated and holds the SLO for this cost", Evidence::simulated);
  statements.add(
      "maximum", fmt::format("{}", facts.role.maximum),
      fmt::format(
          "{} x the replicas that the peak needs by the engine table, + 1, within the limits{}{}{}; at most {} were "
          "ready at once in the simulations",
          2 * fleet.peak_factor, fleet.peak_factor > 1 ? ", because half as many missed the SLO or cost more" : "",
          fleet.bounded_by.empty() ? "" : "; lowered by ", fleet.bounded_by.empty() ? "" : fleet.bounded_by.front(),
          facts.role.peak_ready),
      Evidence::modelled);
  statements.add("scale-down window", explain::time_text(std::chrono::seconds(scale_down_window_s(facts.start))),
                 fmt::format("2 x the longest cold start of {}, at least 10 min and at most 1 h",
                             explain::time_text(facts.start.longest)),
                 fleet.start.empty() ? Evidence::assumed : Evidence::modelled);
}

void add_role(const PlanFacts& facts, const ServiceSpec& service, const ServicePlan& fleet, const RoleFleet& role,
              Section& out) {
  add_signal_statements(scaler_facts(facts.spec, service, fleet, role), fleet, out);
  const std::string name = workload_name(service, role.role);
  const bool is_first = out.manifests.empty();
  const auto add_object = [&](ScalerKind kind, Yaml (*make)(const ScalerFacts&), std::string_view folder) {
    const ServicePlan scaled = with_scaler(fleet, kind);
    const auto of_role = std::ranges::find(scaled.roles, role.role, &RoleFleet::role);
    out.manifests.push_back({.file = fmt::format("replicas/{}/{}.yaml", folder, name),
                             .body = make(scaler_facts(facts.spec, service, scaled, *of_role)),
                             .is_on_page = is_first && kind == ScalerKind::scaled_object});
  };
  add_object(ScalerKind::scaled_object, &keda_scaled_object, "keda");
  add_object(ScalerKind::hpa, &external_metrics_hpa, "hpa");
}

/// Returns the size of the constant fleet that the plan chose: "3 replicas".
std::string constant_words(const ServicePlan& fleet) {
  std::vector<RoleReplicas> roles;
  for (const RoleFleet& role : fleet.roles) roles.push_back({.minimum = role.minimum, .maximum = role.minimum});
  return range_words(fleet, roles);
}

/// Adds what each scaler reaches on the plan's load, and with how many replicas.
void add_variants(const ServiceSpec& service, const ServicePlan& fleet, Section& out) {
  for (const ScalerVariant& variant : fleet.variants) {
    const std::string name = fmt::format("{} {}", service.name, scaler_word(variant.kind));
    if (!variant.refusal_reason.empty()) {
      out.not_simulated.push_back(fmt::format("{}: {}", name, variant.refusal_reason));
      continue;
    }
    const bool is_chosen = variant.kind == fleet.scaler;
    out.statements.push_back(
        {.name = name,
         .value = fmt::format("{} met for {} USD/h", experiment::share_text(lowest_attainment_ppm(variant.seeds)),
                              experiment::usd(micro_usd_per_hour(variant.seeds))),
         .why = fmt::format("{}{}; lowest attainment and mean cost of {}, {}{}", is_chosen ? "chosen; " : "",
                            range_words(fleet, variant.roles),
                            count_text(static_cast<std::int64_t>(variant.seeds.size()), "simulation", "simulations"),
                            cost_range_words(variant.seeds), variant.holds_slo ? "" : "; misses the SLO"),
         .evidence = Evidence::simulated});
  }
  if (fleet.scaler != ScalerKind::constant) return;
  out.statements.push_back(
      {.name = service.name + " constant fleet stays the cheapest",
       .value = fmt::format("up to {:.2f} requests/s", fleet.mean_load.peak_per_s),
       .why =
           fmt::format("the size of {} was chosen with hindsight, for the simulated load, whose busiest 5 minutes have "
                       "{:.2f} requests/s of {:.0f} prompt and {:.0f} answer tokens; the scalers with this minimum "
                       "are written, too, so that a higher load can be served",
                       constant_words(fleet), fleet.mean_load.peak_per_s, fleet.mean_load.prompt_tokens,
                       fleet.mean_load.answer_tokens),
       .evidence = Evidence::simulated,
       .subject = service.name});
}

/// Says which signal the InferenceScaler has, and what it cannot state.
void add_own_signal(const PlanFacts& facts, const ServiceSpec& service, Section& out) {
  std::string why =
      "policy Capstan compares the load with what a replica delivers within every bound of the SLO, from the engine "
      "table; so it has no threshold to write down, and prefill and decode each have their own result";
  const std::string& asked = facts.spec.asked.scale_on;
  if (asks_for_another_signal(facts.spec.asked)) {
    why += fmt::format(
        "; it does so although asked.scale_on is {}, which the ScaledObject and the HPA follow, so the plan takes it "
        "only if neither of these nor a constant fleet holds the SLO",
        asked);
  } else if (!asked.empty()) {
    why += "; that is the signal of asked.scale_on";
  }
  if (service.goodput_per_s) {
    why +=
        "; it needs no key for slo.goodput_per_second: replicas for the whole load within every bound deliver all "
        "the goodput that the load has, and the simulations of the plan test that this is enough";
  }
  const bool is_on_page = !facts.spec.asked.scale_on.empty() || service.goodput_per_s.has_value();
  out.statements.push_back({.name = service.name + " signal of the InferenceScaler",
                            .value = "composite goodput",
                            .why = std::move(why),
                            .evidence = Evidence::modelled,
                            .visibility = is_on_page ? Visibility::page : Visibility::details,
                            .subject = service.name});
}

/// Says in one sentence which scaler each service gets.
std::string choice_words(const PlanFacts& facts) {
  std::string words;
  for (const ServicePlan& fleet : facts.services) {
    if (fleet.variants.empty()) continue;
    const std::string cost = experiment::usd(micro_usd_per_hour(fleet.seeds)) + " USD/h";
    std::string equal = equal_cost_words(fleet);
    if (!equal.empty()) equal.insert(0, " ");
    words += fmt::format("{}For {}, ", words.empty() ? "" : " ", fleet.service);
    if (!fleet.holds_slo) {
      words += fmt::format("no scaler holds the SLO; {} meets most, for {}.", scaler_word(fleet.scaler), cost);
    } else if (fleet.scaler == ScalerKind::constant) {
      words += fmt::format("a constant fleet of {} holds the SLO at the lowest cost, {}.{} Autoscaler: {}.",
                           constant_words(fleet), cost, equal, no_scaler_words(fleet));
    } else {
      words += fmt::format(
          "{} holds the SLO at the lowest cost, {}.{}",
          fleet.scaler == ScalerKind::capstan ? "Capstan's policy" : fmt::format("the {}", scaler_word(fleet.scaler)),
          cost, equal);
    }
  }
  return words;
}

void add_forbidden_signals(Section& out) {
  out.statements.push_back(
      {.name = "forbidden signal",
       .value = "DCGM_FI_DEV_GPU_UTIL",
       .why =
           "it is the share of time in which any kernel ran, so it is near 100 % with one request and with a hundred; "
           "with a target of 65 % the HPA adds replicas until its maximum (100 / 65 = 1.54 times as many at each "
           "step) and never removes one",
       .evidence = Evidence::modelled});
  out.statements.push_back(
      {.name = "forbidden signal",
       .value = "DCGM_FI_DEV_FB_USED",
       .why = "the engine reserves its KV memory at its start, so it does not change with the load",
       .evidence = Evidence::modelled});
}

void add_answer(const PlanFacts& facts, Section& out) {
  const bool is_disaggregated = std::ranges::any_of(facts.spec.services, &ServiceSpec::is_disaggregated);
  const std::string choice = choice_words(facts);
  const auto is_constant = [](const ServicePlan& fleet) { return fleet.scaler == ScalerKind::constant; };
  const bool has_constant = std::ranges::any_of(facts.services, is_constant);
  const bool is_all_constant = std::ranges::all_of(facts.services, is_constant);
  out.answer = fmt::format(
      "{}{}{}cale on the load that the engines report, not on the GPU. {}Apply {}one of replicas/keda, replicas/hpa "
      "and "
      "replicas/capstan: two scalers of one target undo each other's changes.",
      choice, choice.empty() ? "" : " ", is_all_constant ? "If you scale, s" : "S",
      is_disaggregated ? "Prefill and decode have scalers of their own, because different work limits them. " : "",
      has_constant ? "at most " : "");
  out.page_answer = fmt::format(
      "{}cale on what the engines report. DCGM_FI_DEV_GPU_UTIL is no signal: it is near 100 % with one request and "
      "with "
      "a hundred.",
      is_all_constant ? "If you scale, s" : "S");
}

}  // namespace

Section replicas_section(const PlanFacts& facts) {
  Section out{.key = "replicas", .title = "Replicas"};
  for (std::size_t i = 0; i < facts.services.size(); ++i) {
    const ServiceSpec& service = facts.spec.services[i];
    const ServicePlan& fleet = facts.services[i];
    for (const RoleFleet& role : fleet.roles) add_role(facts, service, fleet, role, out);
    add_own_signal(facts, service, out);
    add_variants(service, fleet, out);
    out.manifests.push_back({.file = fmt::format("replicas/capstan/{}.yaml", service.name),
                             .body = inference_scaler(facts.spec, service, with_scaler(fleet, ScalerKind::capstan))});
    out.manifests.push_back(
        {.file = fmt::format("replicas/metrics/{}.yaml", service.name), .body = pod_monitor(facts.spec, service)});
  }
  add_forbidden_signals(out);
  add_answer(facts, out);
  add_scaler_setup(facts, out);
  return out;
}

}  // namespace capstan::plan
