#pragma once

#include <span>
#include <string>

#include "manifest/fields.h"
#include "peers/hpa.h"

namespace capstan::peers {

/// Finds the autoscaler among the documents of a file: the HorizontalPodAutoscaler or ScaledObject, or the only
/// document, whatever it is. Null, with an error, where there is none or more than one.
const manifest::Node* find_autoscaler(std::span<const manifest::Node> documents, const std::string& file,
                                      manifest::Verdict& verdict);

/// Reads a HorizontalPodAutoscaler (autoscaling/v2) or a ScaledObject (keda.sh/v1alpha1), unchanged. What cannot be had
/// in a simulation (triggers other than prometheus, cron, cpu and memory) is refused where it stands.
/// @param file  its name in errors of queries
/// @param pod   what the manifest does not say of its pods, where a metric needs it
HpaSpec read_manifest(const manifest::Node& root, const std::string& file, const PodResources& pod,
                      manifest::Verdict& verdict);

}  // namespace capstan::peers
