#pragma once

#include <span>
#include <string>
#include <string_view>

#include "decide/place/place.h"
#include "decide/provision/provision.h"
#include "decide/scale/scale.h"
#include "manifest/fields.h"

// Reads and writes the policy of each layer. Scenarios, snapshot files, recordings and the controller's checkpoint
// share this reader and writer.
namespace capstan::settings {

/// Returns a layer's policy as a mapping. The node is the name of a policy, which becomes `{policy: NAME}`, or already
/// a mapping with `policy:` and settings.
manifest::Node as_mapping(const manifest::Node& node);

/// Reads `{policy: queue_hpa, waiting_per_replica: 4, ...}`. decide/scale/scale.h declares the settings.
/// @param others  policies that the caller reads itself; errors list their names too
decide::scale::Policy read_scale(const manifest::Node& source, manifest::ErrorList& errors,
                                 std::span<const std::string_view> others = {});

/// Reads `{policy: gang, ...}`.
decide::place::Policy read_place(const manifest::Node& source, manifest::ErrorList& errors);

/// The provisioners. `none` neither buys nor returns nodes.
enum class Provisioner : std::uint8_t { none, cluster_autoscaler, karpenter, group };

/// Reads `policy:` and its settings. A setting that the policy does not use is an error. The caller may read more keys
/// from `fields`, and must call `finish` on it.
decide::provision::Policy read_provision(manifest::Fields& fields, Provisioner& provisioner,
                                         manifest::ErrorList& errors);

/// Reads `{policy: group, ...}`. Every other key must be a setting of the policy.
/// @param name  path of the value, for errors
decide::provision::Policy read_provision(const manifest::Node& source, std::string name, manifest::ErrorList& errors);

/// Formats a policy as JSON with every setting that it uses. Reading the JSON gives an equal policy.
std::string to_json(const decide::scale::Policy& policy);
std::string to_json(const decide::place::Policy& policy);
std::string to_json(const decide::provision::Policy& policy);

}  // namespace capstan::settings
