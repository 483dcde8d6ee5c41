#include "scenario/fit_inference_scaler.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "engine/names.h"
#include "manifest/path.h"
#include "model/role_names.h"

namespace capstan::scenario {

namespace {

using manifest::ErrorList;
using manifest::Node;
using settings::InferenceScalerManifest;

std::string kind_of(const Node& document) {
  const Node* kind = document.find("kind");
  return kind == nullptr ? "" : kind->text;
}

/// Reports a bound that differs from the scenario's. 0 means that there is no bound.
void compare_bound(const Node& root, std::string_view key, Duration found, Duration expected, ErrorList& errors) {
  if (found == expected) return;
  const auto words = [](Duration bound) {
    return bound == Duration{} ? std::string("no bound") : manifest::duration_text(bound);
  };
  const std::vector<std::string> path = {fmt::format("spec.slo.{}", key), "spec.slo"};
  errors.fail(
      manifest::place_for_error(root, path),
      fmt::format("spec.slo.{}: found {}, expected {}, as in the scenario", key, words(found), words(expected)));
}

void check_same_service(const Node& root, const InferenceScalerManifest& scaler, const EndpointSpec& endpoint,
                        const Scenario& scenario, ErrorList& errors) {
  const model::Service& service = scenario.catalog->service(endpoint.first);
  const auto served = engine::model_of_name(*scenario.engines, scaler.model);
  const std::string model = served ? served->model : scaler.model;
  const std::string& expected = endpoint.roles.front().engine->model;
  if (model != expected) {
    const std::vector<std::string> path = {"spec.model"};
    errors.fail(manifest::place_for_error(root, path),
                fmt::format("spec.model: found {}, expected {}, as in the scenario", scaler.model, expected));
  }
  const model::Slo& slo = service.slo;
  compare_bound(root, "ttft", scaler.slo.ttft, slo.ttft, errors);
  compare_bound(root, "tpot", scaler.slo.tpot, slo.tpot, errors);
  compare_bound(root, "e2e", scaler.slo.e2e, slo.e2e, errors);
  if (scaler.slo.attainment_ppm == slo.attainment_ppm) return;
  const std::vector<std::string> path = {"spec.slo.attainment", "spec.slo"};
  errors.fail(manifest::place_for_error(root, path),
              fmt::format("spec.slo.attainment: found {} %, expected {} %, as in the scenario",
                          scaler.slo.attainment_ppm / 1e4, slo.attainment_ppm / 1e4));
}

/// Returns the bounds by service of the scenario, or nothing if the roles or variants are not the scenario's.
std::optional<std::vector<settings::ReplicaBounds>> bounds_by_service(const InferenceScalerManifest& scaler,
                                                                      const EndpointSpec& endpoint,
                                                                      const model::Catalog& catalog) {
  std::vector<settings::ReplicaBounds> bounds;
  for (std::size_t i = 0; i < endpoint.roles.size(); ++i) {
    const model::Role role = catalog.service(endpoint.service_of(i)).workload.role;
    const auto found = std::ranges::find(scaler.roles, role, &InferenceScalerManifest::Role::role);
    if (found == scaler.roles.end()) return std::nullopt;
    const std::size_t variants = endpoint.has_variants() ? endpoint.roles.size() : 1;
    if (found->variants.size() != variants) return std::nullopt;
    bounds.push_back(found->variants[endpoint.has_variants() ? i : 0]);
  }
  const std::size_t roles = endpoint.is_disaggregated() ? 2 : 1;
  if (scaler.roles.size() != roles) return std::nullopt;
  return bounds;
}

}  // namespace

const Node* find_inference_scaler(std::span<const Node> documents) {
  static constexpr std::array<std::string_view, 3> kKinds = {"InferenceScaler", "HorizontalPodAutoscaler",
                                                             "ScaledObject"};
  const Node* found = nullptr;
  for (const Node& document : documents) {
    const std::string kind = kind_of(document);
    if (std::ranges::find(kKinds, kind) == kKinds.end()) continue;
    if (found != nullptr || kind != kKinds.front()) return nullptr;
    found = &document;
  }
  return found;
}

std::optional<FittedScaler> fit_inference_scaler(const Node& root, const EndpointSpec& endpoint,
                                                 const Scenario& scenario, ErrorList& errors) {
  const manifest::Mark read(errors);
  InferenceScalerManifest scaler = settings::read_inference_scaler(root, errors);
  if (!read.ok()) return std::nullopt;
  check_same_service(root, scaler, endpoint, scenario, errors);
  auto bounds = bounds_by_service(scaler, endpoint, *scenario.catalog);
  if (!bounds) {
    const std::vector<std::string> path = {"spec.roles"};
    errors.fail(manifest::place_for_error(root, path),
                fmt::format("spec.roles: found {} roles, expected {}", scaler.roles.size(),
                            endpoint.is_disaggregated() ? "prefill and decode with one variant each, as in the scenario"
                            : endpoint.has_variants()
                                ? fmt::format("one role with {} variants, as in the scenario", endpoint.roles.size())
                                : "one role with one variant, as in the scenario"));
  }
  if (!read.ok()) return std::nullopt;
  FittedScaler fitted{.policy = std::move(scaler.policy), .bounds = std::move(*bounds), .role_limits = {}};
  if (scaler.role_limits != model::RoleLimits()) fitted.role_limits = scaler.role_limits;
  return fitted;
}

}  // namespace capstan::scenario
