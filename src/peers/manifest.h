#pragma once

#include <string>

#include "manifest/fields.h"
#include "peers/hpa.h"

namespace capstan::peers {

/// Reads a HorizontalPodAutoscaler (autoscaling/v2) or a ScaledObject (keda.sh/v1alpha1), unchanged, of a file that may
/// hold other documents too: the first of either kind counts. What cannot be had in a simulation (CPU and memory of
/// pods, triggers other than prometheus) is refused where it stands.
/// @param file  its name in errors of queries
HpaSpec read_manifest(const manifest::Node& root, const std::string& file, manifest::Verdict& verdict);

}  // namespace capstan::peers
