#include "plan/pools/sharing_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "plan/objects/names.h"
#include "plan/pools/mig_table.h"
#include "plan/pools/pools.h"

namespace capstan::plan {

namespace {

constexpr std::int64_t kGib = 1LL << 30;

/// Returns true for a profile without attributes, such as "1g.10gb". The attribute of "1g.10gb+me" stands for media
/// engines, which a language model does not use.
bool has_no_attribute(std::string_view profile) { return profile.find_first_of("+-") == profile.npos; }

SharingChoice stated_slice(const RoleFleet& role, const std::string& profile) {
  const std::int64_t per_gpu = slices_per_gpu(role.engine.gpu);
  return {.sharing = Sharing::slice,
          .profile = profile,
          .per_gpu = per_gpu,
          .why = fmt::format("the spec has step times of {} on this slice, and the simulation ran on them; a GPU holds "
                             "{} of it, each with memory and compute of its own",
                             role.engine.model, per_gpu)};
}

SharingChoice share_without_mig(const ServiceSpec& service, TenantSpec::Kind kind, const RoleFleet& role) {
  const std::string gpu = gpu_short_name(role.engine.gpu);
  const std::int64_t memory_gib = role.engine.gpu_memory.count / kGib;
  const std::int64_t per_gpu = memory_gib / service.sharing_memory_gib;
  if (per_gpu < 2) {
    return {.why = fmt::format("{} has {} GiB, and a second replica of {} GiB does not fit", gpu, memory_gib,
                               service.sharing_memory_gib)};
  }
  if (kind != TenantSpec::Kind::batch) {
    return {.why = fmt::format("{} has no MIG; time-slicing and MPS give no compute of their own, so the load of one "
                               "replica would break the SLO of another",
                               gpu)};
  }
  return {.sharing = Sharing::mps,
          .per_gpu = per_gpu,
          .why = fmt::format("{} has no MIG, and batch work has no latency bound that slower steps would break; {} GiB "
                             "/ {} GiB = {} replicas for each "
                             "GPU, whose memory MPS bounds and time-slicing does not",
                             gpu, memory_gib, service.sharing_memory_gib, per_gpu)};
}

}  // namespace

SharingChoice choose_sharing(const ServiceSpec& service, TenantSpec::Kind kind, const RoleFleet& role) {
  if (const std::optional<std::string> profile = mig_profile_of(role.engine.gpu)) return stated_slice(role, *profile);
  if (!service.may_share_gpu) return {.why = "the spec does not let this service share a GPU"};
  if (role.engine.tp > 1 || role.pods > 1) {
    return {.why = fmt::format("a replica uses {} GPUs together, and a slice belongs to one GPU", role.engine.tp)};
  }
  if (service.sharing_memory_gib <= 0) return {.why = "the spec does not say how much GPU memory a replica needs"};
  const lint::MigProduct* product = mig_product_of(role.engine.gpu);
  if (product == nullptr) return share_without_mig(service, kind, role);
  const std::string_view profile = smallest_profile(*product, service.sharing_memory_gib);
  const std::string gpu = gpu_short_name(role.engine.gpu);
  if (profile.empty()) {
    return {.why = fmt::format("no slice that {} holds twice has {} GiB", gpu, service.sharing_memory_gib)};
  }
  const std::int64_t per_gpu = product->max_of(profile).value_or(1);
  return {.sharing = Sharing::slice_unmeasured,
          .profile = std::string(profile),
          .per_gpu = per_gpu,
          .why = fmt::format("{} is the smallest slice with {} GiB, and a GPU holds {} of it; a slice is slower than a "
                             "GPU by an unknown factor, so add its step times as GPU kind {}-{} to step_times",
                             profile, service.sharing_memory_gib, per_gpu, gpu, profile)};
}

std::int64_t gigabytes_of(std::string_view profile) {
  std::int64_t gigabytes = 0;
  const std::size_t dot = profile.find("g.");
  if (dot == profile.npos) return 0;
  std::from_chars(profile.data() + dot + 2, profile.data() + profile.size(), gigabytes);
  return gigabytes;
}

std::string_view smallest_profile(const lint::MigProduct& product, std::int64_t memory_gib) {
  std::string_view best;
  std::int64_t best_count = 1;
  for (const auto& [profile, count] : product.profiles) {
    if (has_no_attribute(profile) && gigabytes_of(profile) >= memory_gib && count > best_count) {
      best = profile;
      best_count = count;
    }
  }
  return best;
}

lint::MigGeometry fill_gpu(const lint::MigProduct& product, const std::vector<std::string>& profiles) {
  lint::MigGeometry geometry;
  for (bool has_grown = true; has_grown;) {
    has_grown = false;
    for (const std::string& profile : profiles) {
      lint::MigGeometry larger = geometry;
      const auto part = std::ranges::find(larger.parts, profile, &lint::MigGeometry::Part::profile);
      if (part == larger.parts.end())
        larger.parts.push_back({.profile = profile, .count = 1});
      else
        ++part->count;
      if (!lint::fits(product, larger)) continue;
      geometry = std::move(larger);
      has_grown = true;
    }
  }
  return geometry;
}

}  // namespace capstan::plan
