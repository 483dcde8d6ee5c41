#include "plan/queues/tenant_jobs.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/unit_text.h"
#include "plan/objects/names.h"
#include "plan/objects/scheduling.h"

namespace capstan::plan {

namespace {

/// Returns the pool for pods with this number of GPUs: of the pools whose nodes can hold them, the pool that has nodes
/// for jobs, or else the largest one. Null: no pool can hold them.
const GpuPool* pool_of_job_pods(GpuCount gpus_per_pod, const std::vector<GpuPool>& pools) {
  const GpuPool* best = nullptr;
  const auto rank = [](const GpuPool& pool) {
    return std::pair(pool.reserved_for_jobs > 0, pool.max_nodes * pool.gpus_per_node());
  };
  for (const GpuPool& pool : pools) {
    if (mig_profile_of(pool.gpu) || gpus_per_pod > pool.gpus_per_node()) continue;
    if (best == nullptr || rank(pool) > rank(*best)) best = &pool;
  }
  return best;
}

/// Returns the size of a job, with defaults for the values that the spec leaves out.
workload::JobSize complete_size(const TenantSpec& tenant, const TenantJobs& jobs, const GpuPool& pool) {
  workload::JobSize size = jobs.load.sizes.front();
  const GpuCount share = tenant.gpu_quota > 0 ? tenant.gpu_quota : tenant.gpu_limit.value_or(pool.gpus_per_node());
  if (size.gpus_per_pod == 0) size.gpus_per_pod = std::clamp<GpuCount>(share, 1, pool.gpus_per_node());
  if (size.pods == 0) size.pods = static_cast<std::int32_t>(std::max<GpuCount>(1, share / size.gpus_per_pod));
  return size;
}

}  // namespace

std::vector<PlacedJobs> placed_jobs(const PlanSpec& spec, const std::vector<GpuPool>& pools) {
  std::vector<PlacedJobs> placed;
  for (const TenantSpec& tenant : spec.tenants) {
    for (const TenantJobs& jobs : tenant.jobs) {
      const GpuPool* pool = pool_of_job_pods(jobs.load.sizes.front().gpus_per_pod, pools);
      if (pool == nullptr) continue;
      const workload::JobSize size = complete_size(tenant, jobs, *pool);
      placed.push_back({.tenant = &tenant,
                        .jobs = &jobs,
                        .pool = pool,
                        .size = size,
                        .is_on_one_node = size.pods * size.gpus_per_pod <= pool->gpus_per_node()});
    }
  }
  return placed;
}

std::vector<std::string> unplaced_jobs(const PlanSpec& spec, const std::vector<GpuPool>& pools) {
  std::vector<std::string> words;
  for (const TenantSpec& tenant : spec.tenants) {
    for (const TenantJobs& jobs : tenant.jobs) {
      const GpuCount gpus = jobs.load.sizes.front().gpus_per_pod;
      if (pool_of_job_pods(gpus, pools) != nullptr) continue;
      words.push_back(fmt::format(
          "the jobs {} of {}, because no pool of the plan has nodes with {}", jobs.name, tenant.name,
          gpus > 0 ? "at least " + count_text(gpus, "whole GPU", "whole GPUs") : std::string("whole GPUs")));
    }
  }
  return words;
}

std::string pool_of_jobs(const PlanSpec& spec, const std::vector<GpuPool>& pools) {
  const std::vector<PlacedJobs> placed = placed_jobs(spec, pools);
  return placed.empty() ? "" : placed.front().pool->name;
}

bool has_preemption(const PlanSpec& spec) { return pod_scheduler(spec) != GangScheduler::none; }

}  // namespace capstan::plan
