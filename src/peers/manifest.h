#pragma once

#include <string>

#include "manifest/fields.h"
#include "peers/hpa.h"

namespace capstan::peers {

/// Reads a HorizontalPodAutoscaler (autoscaling/v2) or a ScaledObject (keda.sh/v1alpha1), unchanged, of a file that may
/// hold other documents too: the first of either kind counts. What cannot be had in a simulation (triggers other than
/// prometheus, cron, cpu and memory) is refused where it stands.
/// @param file  its name in errors of queries
/// @param pod   what the manifest does not say of its pods, where a metric needs it
HpaSpec read_manifest(const manifest::Node& root, const std::string& file, const PodResources& pod,
                      manifest::Verdict& verdict);

}  // namespace capstan::peers
