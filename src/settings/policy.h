#pragma once

#include <span>
#include <string>
#include <string_view>

#include "decide/place/place.h"
#include "decide/provision/provision.h"
#include "decide/scale/scale.h"
#include "manifest/fields.h"

// The policy of each layer as people write it, in a scenario, in a snapshot file and in a cluster's objects: one reader
// and one writer, so that what was written is read as the same policy everywhere.
namespace capstan::settings {

/// A layer is a policy's name, or a mapping with `policy:` and its settings. The bare name becomes such a mapping.
manifest::Node as_mapping(const manifest::Node& node);

/// `{policy: queue_hpa, waiting_per_replica: 4, ...}`; the settings are those of decide/scale/scale.h.
/// @param others  names of policies that the caller reads itself, for what an error says is possible
decide::scale::Policy read_scale(const manifest::Node& given, manifest::Verdict& verdict,
                                 std::span<const std::string_view> others = {});

/// `{policy: gang, ...}`.
decide::place::Policy read_place(const manifest::Node& given, manifest::Verdict& verdict);

/// The names that a provisioner may have. `none` buys nothing and gives nothing back.
enum class Provisioner : std::uint8_t { none, cluster_autoscaler, karpenter, group };

/// Reads `policy:` and every setting that it uses; another is refused, since somebody meant something by it. The caller
/// may read keys of its own from the same fields, and finishes them.
decide::provision::Policy read_provision(manifest::Fields& fields, Provisioner& which, manifest::Verdict& verdict);

/// The same as JSON, every setting stated that the policy uses: reading it gives an equal one.
std::string to_json(const decide::scale::Policy& policy);
std::string to_json(const decide::place::Policy& policy);
std::string to_json(const decide::provision::Policy& policy);

}  // namespace capstan::settings
