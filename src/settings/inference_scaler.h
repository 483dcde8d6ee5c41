#pragma once

#include <optional>
#include <string>
#include <vector>

#include "decide/scale/scale.h"
#include "manifest/fields.h"
#include "model/bounds_window.h"
#include "model/service.h"
#include "model/slo.h"

namespace capstan::settings {

/// Bounds of the replicas of one workload.
struct ReplicaBounds {
  ReplicaCount min = 1;
  ReplicaCount max = 1;
  std::optional<model::TopologyLevel> survives{};  ///< level of the domain whose loss the service must survive
  std::vector<model::BoundsWindow> windows{};
};

/// The part of an InferenceScaler (schema/crds/inferencescaler.yaml) that a policy needs. The controller reads the same
/// objects from an API server, which has already compared them with the schema (operator/view/scaler_view.h).
struct InferenceScalerManifest {
  struct Role {
    model::Role role = model::Role::both;
    std::vector<ReplicaBounds> variants{};
  };
  std::string model{};
  model::Slo slo{};
  std::vector<Role> roles{};
  model::RoleLimits role_limits{};  ///< limits on the ratio of decode to prefill replicas
  decide::scale::Policy policy = decide::scale::Capstan{};
};

/// Reads an InferenceScaler from a manifest. The sources of signals are not read, because a simulation has its own.
InferenceScalerManifest read_inference_scaler(const manifest::Node& root, manifest::ErrorList& errors);

}  // namespace capstan::settings
