#include <nlohmann/json.hpp>

#include "explain/explain.h"
#include "explain/object.h"
#include "explain/words.h"
#include "model/reason_sentence.h"
#include "model/topology_names.h"

namespace capstan::explain {
namespace {

using Json = nlohmann::ordered_json;

Json reason_json(const model::Catalog& catalog, const model::Reason& why) {
  Json json = {{"code", model::name(why.code)}, {"numbers", why.numbers}, {"sentence", sentence(why, catalog)}};
  if (const auto subject = subject_of(why, catalog)) {
    json["object"] = {{"kind", subject->kind}, {"name", subject->name}};
  }
  return json;
}

template <typename Tag>
Json id_json(Id<Tag> id) {
  return id.valid() ? Json(id.value) : Json();
}

template <typename Ids>
Json ids_json(const Ids& ids) {
  Json list = Json::array();
  for (const auto& id : ids) list.push_back(id.value);
  return list;
}

struct ActionJson {
  Json operator()(const model::SetReplicas& a) const {
    return {{"action", "set_replicas"},
            {"service", a.service.value},
            {"replicas", a.replicas},
            {"drain", ids_json(a.drain)}};
  }
  Json operator()(const model::BindPods& a) const {
    Json bindings = Json::array();
    for (const auto& b : a.bindings) bindings.push_back({{"pod", b.pod.value}, {"node", b.node.value}});
    return {{"action", "bind_pods"}, {"gang", a.gang.value}, {"bindings", bindings}};
  }
  Json operator()(const model::LaunchNodes& a) const {
    return {{"action", "launch_nodes"},    {"pool", a.pool.value}, {"offering", a.offering.value},
            {"within", id_json(a.domain)}, {"count", a.count},     {"hold_ns", a.hold.count()},
            {"gang", id_json(a.gang)}};
  }
  Json operator()(const model::ReleaseGroup& a) const {
    return {{"action", "release_group"}, {"group", a.group.value}};
  }
  Json operator()(const model::TerminateNode& a) const {
    return {{"action", "terminate_node"}, {"node", a.node.value}};
  }
  Json operator()(const model::EvictPod& a) const { return {{"action", "evict_pod"}, {"pod", a.pod.value}}; }
  Json operator()(const model::ConvertReplica& a) const {
    return {{"action", "convert_replica"}, {"gang", a.gang.value}, {"from", a.from.value}, {"to", a.to.value}};
  }
};

void add_plan(Json& into, const model::Catalog& catalog, const model::Plan& plan) {
  into["actions"] = Json::array();
  for (const model::Action& action : plan.actions) {
    Json row = std::visit(ActionJson{}, action.effect);
    row["why"] = reason_json(catalog, action.why);
    row["line"] = line(catalog, action);
    into["actions"].push_back(std::move(row));
  }
  into["kept"] = Json::array();
  for (const model::Plan::NoAction& kept : plan.no_actions) {
    into["kept"].push_back({{"subject", subject_name(catalog, kept)}, {"why", reason_json(catalog, kept.why)}});
  }
}

constexpr const char* kMetrics[] = {
    "duty_cycle_percent", "memory_used_percent", "waiting", "running", "kv_ppm", "ttft_us", "tpot_us", "goodput_ppm"};

constexpr const char* kBounds[] = {"tpot", "ttft", "kv", "sequences"};

Json sizing_json(const decide::scale::Sizing& s) {
  return {{"running", s.running},
          {"waiting", s.waiting},
          {"held_at_gateway", s.gateway_queued},
          {"prompt_tokens_per_s", s.prompt_tokens_per_s},
          {"generated_tokens_per_s", s.generated_tokens_per_s},
          {"arriving_tokens_per_s", s.arriving_tokens_per_s},
          {"serving", s.serving},
          {"starting", s.starting},
          {"silent", s.silent},
          {"prompt_tokens", s.prompt},
          {"output_tokens", s.output},
          {"context_tokens", s.context},
          {"modelled", s.modelled},
          {"correction_ppm", s.correction_ppm},
          {"batch", s.batch},
          {"token_us", s.token_us},
          {"tokens_per_s", s.tokens_per_s},
          {"bound", kBounds[static_cast<std::size_t>(s.bound)]},
          {"out_of_reach", s.out_of_reach},
          {"served_milli", s.served_milli},
          {"arriving_milli", s.arriving_milli},
          {"demand_milli", s.demand_milli},
          {"in_flight_milli", s.in_flight_milli},
          {"works_off", s.queue_drains},
          {"backlog_milli", s.backlog_milli},
          {"backlog_drains_ns", s.backlog_drains.count()},
          {"lead_ns", s.lead.count()},
          {"forecast_milli", s.forecast_milli},
          {"spread_ppm", s.forecast_error_ppm},
          {"safety_milli", s.safety_milli},
          {"slack_ppm", s.slack_ppm},
          {"missed_ppm", s.missed_ppm},
          {"needed_milli", s.needed_milli},
          {"window_ns", s.window.count()},
          {"window_milli", s.window_milli}};
}

template <typename T>
Json optional_json(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json warm_json(const decide::scale::WarmSizing& w) {
  return {{"replicas", w.replicas},
          {"wakes", w.wakes},
          {"requests", w.requests},
          {"requests_late", w.requests_late},
          {"requests_allowed", w.requests_allowed},
          {"late_for_ns", w.late_for.count()}};
}

Json spread_json(const decide::scale::SpreadSizing& s) {
  return {{"level", model::name(s.level).key},
          {"need", s.need},
          {"domains", s.domains},
          {"fullest", s.fullest},
          {"placed", s.placed},
          {"left", s.left()},
          {"asked", s.required}};
}

Json mix_json(const model::Catalog& catalog, const decide::scale::MixSizing& mix) {
  Json json = {{"priced_in", mix.in_usd ? "micro_usd" : "milli_gpus"},
               {"horizon_ns", mix.horizon.count()},
               {"target_milli", mix.target_milli},
               {"price_per_hour", mix.price},
               {"chosen_price_per_hour", mix.chosen_price},
               {"anew_price_per_hour", mix.from_zero_price},
               {"covers", mix.covers},
               {"exact", mix.exact},
               {"variants", Json::array()}};
  for (const decide::scale::VariantSizing& v : mix.variants) {
    json["variants"].push_back({{"service", service_name(catalog, v.service)},
                                {"serving", v.serving},
                                {"loading", v.loading},
                                {"pending", v.pending},
                                {"modelled", v.modelled},
                                {"correction_ppm", v.correction_ppm},
                                {"batch", v.batch},
                                {"token_us", v.token_us},
                                {"tokens_per_s", v.tokens_per_s},
                                {"bound", kBounds[static_cast<std::size_t>(v.bound)]},
                                {"out_of_reach", v.out_of_reach},
                                {"worth_milli", v.worth_milli},
                                {"lead_ns", v.lead.count()},
                                {"micro_usd_per_hour", v.price_per_hour.count},
                                {"gpus", v.gpus},
                                {"more", optional_json(v.further_replicas)},
                                {"denied_ns", v.denied.count()},
                                {"current", v.current},
                                {"least", v.least},
                                {"most", v.most},
                                {"chosen", v.chosen},
                                {"begun_anew", v.from_zero},
                                {"alone", optional_json(v.replicas_alone)},
                                {"desired", v.desired}});
  }
  return json;
}

/// Serializes JSON. Bytes in names that are not UTF-8 are replaced, because the serializer would throw.
std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace

std::string json(const model::Catalog& catalog, const decide::scale::Decision& d) {
  Json out = {{"layer", "scale"},         {"service", service_name(catalog, d.service)},
              {"current", d.current},     {"counted", d.counted},
              {"wanted", d.proposed},     {"held_to", d.stabilized},
              {"desired", d.desired},     {"why", reason_json(catalog, d.why)},
              {"readings", Json::array()}};
  for (const decide::scale::MetricReading& r : d.readings) {
    out["readings"].push_back({{"metric", kMetrics[static_cast<std::size_t>(r.kind)]},
                               {"valid", r.valid},
                               {"total", r.total},
                               {"mean_milli", r.mean_milli},
                               {"target", r.target},
                               {"ratio_per_mille", r.ratio_per_mille},
                               {"filled_ratio_per_mille", r.filled_ratio_per_mille},
                               {"read", r.read},
                               {"unready", r.unready},
                               {"missing", r.missing},
                               {"within_tolerance", r.within_tolerance},
                               {"wanted", r.proposed}});
  }
  if (d.sizing) out["sizing"] = sizing_json(*d.sizing);
  if (d.sizing && d.sizing->warm) out["sizing"]["warm"] = warm_json(*d.sizing->warm);
  if (d.spread) out["spread"] = spread_json(*d.spread);
  if (d.sizing && d.sizing->mix) out["sizing"]["mix"] = mix_json(catalog, *d.sizing->mix);
  if (d.decided_with.valid()) out["decided_with"] = service_name(catalog, d.decided_with);
  add_plan(out, catalog, d.plan);
  return dump(out);
}

std::string json(const model::Catalog& catalog, const decide::place::Decision& d) {
  Json out = {{"layer", "place"}, {"verdicts", Json::array()}, {"shortfalls", Json::array()}};
  for (const decide::place::PlacementResult& v : d.verdicts) {
    Json verdict = {{"gang", id_json(v.gang)},
                    {"verdict", std::string(decide::place::name(v.kind))},
                    {"why", reason_json(catalog, v.why)}};
    if (v.waiting_before > 0) verdict["waiting_before"] = v.waiting_before;
    out["verdicts"].push_back(std::move(verdict));
  }
  for (const decide::place::Shortfall& s : d.shortfalls) {
    Json shortfall = {{"gang", id_json(s.gang)},
                      {"service", s.service.valid() ? Json(service_name(catalog, s.service)) : Json()},
                      {"ordinal", s.ordinal},
                      {"gpu", gpu_name(catalog, s.spec.pods.gpu)},
                      {"level", catalog.level_key(s.spec.required_level)},
                      {"pods", s.spec.pods.count},
                      {"needed_milli_gpu", s.needed.count},
                      {"short_by_milli_gpu", s.short_by.count},
                      {"best_domain", s.best_domain.valid() ? Json(domain_name(catalog, s.best_domain)) : Json()},
                      {"best_node", id_json(s.best_node)},
                      {"best_free_milli_gpu", s.best_free.count}};
    for (const model::PodSet& set : s.spec.other_pods) {
      shortfall["other_pods"].push_back({{"pods", set.count}, {"gpus_per_pod_milli", set.gpus_per_pod.count}});
    }
    out["shortfalls"].push_back(std::move(shortfall));
  }
  add_plan(out, catalog, d.plan);
  return dump(out);
}

std::string json(const model::Catalog& catalog, const decide::provision::Decision& d) {
  Json out = {{"layer", "provision"},
              {"short_gpus", d.short_gpus},
              {"coming_gpus", d.expected_gpus},
              {"launched_gpus", d.launched_gpus}};
  add_plan(out, catalog, d.plan);
  return dump(out);
}

std::string json(const model::Catalog& catalog, std::string_view asked, std::string_view policy,
                 const Answer& account) {
  const Limit& limit = account.summary.limit;
  Json out = {{"format_version", 1},
              {"object", asked},
              {"policy", policy.empty() ? Json() : Json(policy)},
              {"wanted", account.summary.wanted},
              {"present", account.summary.present},
              {"limit", limit.text},
              {"change", limit.change},
              {"layer", name(limit.layer)},
              {"metric", metric(limit.layer)},
              {"explanation", account.text},
              {"reasons", Json::array()}};
  for (const GivenReason& given : account.reasons) {
    Json row = {{"subject", given.subject}};
    row.update(reason_json(catalog, given.why));
    out["reasons"].push_back(std::move(row));
  }
  return dump(out);
}

}  // namespace capstan::explain
