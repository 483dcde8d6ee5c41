#pragma once

#include <span>
#include <string>

#include "manifest/fields.h"
#include "peers/hpa.h"

namespace capstan::peers {

/// Returns the only HorizontalPodAutoscaler or ScaledObject among the documents of a file. If the file has only one
/// document, returns it, whatever its kind. Otherwise, if there is no autoscaler or more than one, reports an error and
/// returns null.
const manifest::Node* find_autoscaler(std::span<const manifest::Node> documents, const std::string& file,
                                      manifest::ErrorList& errors);

/// Reads an unchanged HorizontalPodAutoscaler (autoscaling/v2) or ScaledObject (keda.sh/v1alpha1). A part that a
/// simulation does not support, such as a trigger other than prometheus, cron, cpu or memory, is an error at its place.
/// @param file  name of the file, for errors about its top-level keys
/// @param pod   properties of the scaled pods that the manifest does not state, for metrics that need them
HpaSpec read_manifest(const manifest::Node& root, const std::string& file, const PodResources& pod,
                      manifest::ErrorList& errors);

}  // namespace capstan::peers
