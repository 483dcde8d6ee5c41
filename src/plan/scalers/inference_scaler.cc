#include <fmt/format.h>

#include "manifest/fields.h"
#include "model/role_names.h"
#include "plan/objects/names.h"
#include "plan/scalers/scalers.h"

namespace capstan::plan {

namespace {

void set_bound(Yaml& slo, std::string_view key, Duration bound) {
  if (bound > Duration{}) slo.set(key, manifest::duration_text(bound));
}

/// Returns the attainment as the CRD wants it, "99%" or "99.95%". It is not rounded: 99.95 % rounded to tenths would be
/// another SLO.
std::string attainment_text(std::int64_t ppm) { return fmt::format("{:g}%", static_cast<double>(ppm) / 10'000); }

Yaml variant_of(const ServiceSpec& service, const RoleFleet& role) {
  Yaml variant;
  variant.set("targetRef", Yaml::map({{"apiVersion", workload_api_version(service)},
                                      {"kind", workload_kind(service)},
                                      {"name", workload_name(service, role.role)}}));
  variant.set("minReplicas", role.minimum);
  variant.set("maxReplicas", role.maximum);
  variant.set("gpu", role.engine.gpu);
  variant.set("engineProfile",
              Yaml::map({{"model", engine::model_words(role.engine)}, {"dtype", role.engine.weight_dtype}}));
  return variant;
}

}  // namespace

Yaml inference_scaler(const PlanSpec& spec, const ServiceSpec& service, const ServicePlan& fleet) {
  Yaml object = kube_object("capstan.dev/v1alpha1", "InferenceScaler", service.name, spec.namespace_);
  Yaml& body = object["spec"];
  body.set("model", service.served_model_name);
  body.set("engine", engine_key(service.engine));
  set_bound(body["slo"], "ttft", service.slo.ttft);
  set_bound(body["slo"], "tpot", service.slo.tpot);
  set_bound(body["slo"], "e2e", service.slo.e2e);
  body["slo"].set("attainment", attainment_text(service.slo.attainment_ppm));
  Yaml roles = Yaml::list();
  for (const RoleFleet& role : fleet.roles) {
    Yaml& entry = roles.add(Yaml::map({{"role", model::name(role.role)}}));
    Yaml variants = Yaml::list();
    variants.add(variant_of(service, role));
    entry.set("variants", std::move(variants));
  }
  body.set("roles", std::move(roles));
  body.set("policy", "Capstan",
           "composite goodput: replicas for the load / what one delivers within every bound of the SLO");
  body.set("mode", "Active", "takes effect when the FleetPolicy sets layers.replicas to Active");
  return object;
}

}  // namespace capstan::plan
