#pragma once

#include <span>
#include <string>

#include "manifest/fields.h"
#include "peers/hpa.h"

namespace capstan::peers {

/// Returns the autoscaler among the documents of a file: the HorizontalPodAutoscaler or ScaledObject, or the only
/// document, whatever it is. Null, with an error, if there is none or more than one.
const manifest::Node* find_autoscaler(std::span<const manifest::Node> documents, const std::string& file,
                                      manifest::Verdict& verdict);

/// Reads an unchanged HorizontalPodAutoscaler (autoscaling/v2) or ScaledObject (keda.sh/v1alpha1). What a simulation
/// does not support (triggers other than prometheus, cron, cpu and memory) is an error at its place.
/// @param file  name of the file, for errors of queries
/// @param pod   properties of its pods that the manifest does not contain, for metrics that need them
HpaSpec read_manifest(const manifest::Node& root, const std::string& file, const PodResources& pod,
                      manifest::Verdict& verdict);

}  // namespace capstan::peers
