#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lint/mig.h"
#include "plan/fleet/fleet.h"
#include "plan/spec/spec.h"

namespace capstan::plan {

/// The way in which the replicas of a service use GPUs.
enum class Sharing : std::uint8_t {
  whole,             ///< a replica has whole GPUs
  slice,             ///< a replica has a MIG slice, and was simulated with the step times of the slice
  slice_unmeasured,  ///< a replica has whole GPUs as long as the step times of the slice that could hold it are unknown
  mps,               ///< replicas of batch work divide a GPU by MPS
};

struct SharingChoice {
  Sharing sharing = Sharing::whole;
  std::string profile{};     ///< MIG profile of `slice` and `slice_unmeasured`: "3g.40gb"
  std::int64_t per_gpu = 1;  ///< replicas that one GPU holds
  std::string why{};         ///< reason, as in `Statement::why`
};

/// Chooses how the replicas of a role share GPUs. Of the ways to share a GPU, only slices give each replica its own
/// memory and compute. So replicas that serve requests with an SLO share a GPU only as slices, and only if the step
/// times of the slice were measured.
SharingChoice choose_sharing(const ServiceSpec& service, TenantSpec::Kind kind, const RoleFleet& role);

/// Returns the memory of a MIG profile, GB: 40 for "3g.40gb".
std::int64_t gigabytes_of(std::string_view profile);

/// Returns the smallest profile of a GPU that has the memory and that the GPU holds at least twice; empty if there is
/// none.
std::string_view smallest_profile(const lint::MigProduct& product, std::int64_t memory_gib);

/// Returns the geometry of one GPU that holds the profiles in turns, as many as fit: {3g.40gb: 1, 1g.20gb: 2} for
/// 3g.40gb and 1g.20gb. Profiles that do not fit together with the first ones are left out.
lint::MigGeometry fill_gpu(const lint::MigProduct& product, const std::vector<std::string>& profiles);

}  // namespace capstan::plan
