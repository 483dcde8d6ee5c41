#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "plan/read/read_parts.h"
#include "scenario/read_job_load.h"

// The jobs of a tenant: gangs of pods that arrive, compute and end.
namespace capstan::plan {

namespace {

using manifest::ErrorList;
using manifest::Fields;
using manifest::Node;
using namespace std::chrono_literals;

constexpr std::int64_t kPreemptibleBelow = 100;  ///< KAI preempts pods below this priority
constexpr Duration kTrainingCheckpoint = 15min;

using Kind = TenantSpec::Kind;

/// Returns the jobs of a tenant, with the default of every key.
TenantJobs default_jobs(const TenantSpec& tenant) {
  TenantJobs jobs{.name = tenant.name, .preemptible = tenant.priority < kPreemptibleBelow};
  jobs.load.sizes = {{.pods = 1, .gpus_per_pod = tenant.kind == Kind::training ? 0 : 1}};
  jobs.load.work.median = tenant.kind == Kind::training ? Duration(1h) : Duration(10min);
  if (tenant.kind == Kind::training) {
    jobs.load.batches = {.count = 1, .at = 0s, .interval = 1h};
    jobs.checkpoint_every = kTrainingCheckpoint;
  } else {
    jobs.load.rate.per_hour = 6;
  }
  return jobs;
}

bool is_pod_too_large(const workload::JobSize& size, GpuCount largest) { return size.gpus_per_pod > largest; }

/// Checks that one job can run: its pods fit a machine, and its fewest pods keep the limit of the tenant.
void check_size(const Fields& fields, const TenantSpec& tenant, const workload::JobSize& size,
                const ClusterSpec& cluster, ErrorList& errors) {
  GpuCount largest = 0;
  for (const MachineSpec& machine : cluster.machines) largest = std::max(largest, machine.gpus);
  if (largest > 0 && is_pod_too_large(size, largest)) {
    return errors.fail(
        fields.place_for_error({"gpus_per_pod"}),
        fmt::format("{0}.gpus_per_pod: the largest machine has {1} GPUs, {2} fewer than the {3} of a pod; "
                    "the nearest that is possible is gpus_per_pod: {1}",
                    fields.what(), largest, size.gpus_per_pod - largest, size.gpus_per_pod),
        ErrorKind::infeasible);
  }
  const GpuCount fewest = (size.min_pods > 0 ? size.min_pods : size.pods) * size.gpus_per_pod;
  if (tenant.gpu_limit && fewest > *tenant.gpu_limit) {
    errors.fail(
        fields.place_for_error({"pods", "gpus_per_pod"}),
        fmt::format("{0}: a job needs {1} GPUs, {2} more than tenants.{3}.gpu_limit of {4}; the nearest that is "
                    "possible is gpu_limit: {1}, or a job of {4} GPUs",
                    fields.what(), fewest, fewest - *tenant.gpu_limit, tenant.name, *tenant.gpu_limit),
        ErrorKind::infeasible);
  }
}

void note_defaults(const Fields& fields, const TenantSpec& tenant, const TenantJobs& jobs, PlanSpec& spec) {
  const bool is_training = tenant.kind == Kind::training;
  DefaultList defaults(spec.defaults);
  defaults.note(fields, "name", jobs.name, "the name of the tenant", DefaultKind::name);
  defaults.note(fields, "pods", "1", "a job is one pod");
  defaults.note(fields, "gpus_per_pod", is_training ? "all GPUs of a node" : "1",
                is_training ? "training pods use whole nodes" : "batch pods use one GPU");
  defaults.note(fields, "work", manifest::duration_text(jobs.load.work.median),
                "computing time of a job with all pods");
  defaults.note(fields, "arrivals",
                is_training ? fmt::format("1 job every {}", manifest::duration_text(jobs.load.batches.interval))
                            : "6 jobs per hour",
                is_training ? "one job after another" : "at random times");
  defaults.note(fields, "preemptible", jobs.preemptible ? "true" : "false",
                "jobs of a priority below 100 are preempted");
  defaults.note(fields, "checkpoint_every",
                is_training ? manifest::duration_text(kTrainingCheckpoint) : std::string("none"),
                is_training ? "a restart loses the work since the last checkpoint" : "a restart loses all work");
}

TenantJobs read_class(const Node& node, const TenantSpec& tenant, PlanSpec& spec, ErrorList& errors) {
  const Node* name = node.kind == Node::Kind::mapping ? node.find("name") : nullptr;
  const std::string owner = fmt::format("tenants.{}.jobs{}", tenant.name, name == nullptr ? "" : "." + name->text);
  Fields fields(node, owner, errors);
  TenantJobs jobs = default_jobs(tenant);
  if (fields.text("name", jobs.name)) check_kube_name(fields, "name", jobs.name, true, errors);
  scenario::read_job_size(fields, jobs.load.sizes.front());
  if (const Node* work = fields.take("work")) scenario::read_job_work(*work, owner, jobs.load.work, errors);
  if (jobs.load.batches.count > 0) jobs.load.batches.interval = jobs.load.work.median;
  if (const Node* arrivals = fields.take("arrivals")) {
    jobs.load.batches = {.count = 0, .at = {}, .interval = {}};
    jobs.load.rate = {};
    scenario::read_job_arrivals(*arrivals, owner + ".arrivals", jobs.load, errors);
  }
  fields.boolean("preemptible", jobs.preemptible);
  fields.duration("checkpoint_every", jobs.checkpoint_every, 1s, scenario::kLongestJobWork);
  fields.finish();
  if (fields.ok()) check_size(fields, tenant, jobs.load.sizes.front(), spec.cluster, errors);
  note_defaults(fields, tenant, jobs, spec);
  return jobs;
}

bool is_name_taken(const PlanSpec& spec, const TenantSpec& tenant, const std::string& name) {
  const auto has_name = [&](const TenantSpec& other) {
    return std::ranges::find(other.jobs, name, &TenantJobs::name) != other.jobs.end();
  };
  return has_name(tenant) || std::ranges::any_of(spec.tenants, has_name);
}

}  // namespace

void read_spec_jobs(Fields& fields, TenantSpec& tenant, PlanSpec& spec, ErrorList& errors) {
  tenant.has_stated_jobs = is_stated(fields, "jobs");
  for (const Node& node : fields.list("jobs")) {
    TenantJobs jobs = read_class(node, tenant, spec, errors);
    if (is_name_taken(spec, tenant, jobs.name)) {
      errors.fail(node.place,
                  fmt::format("tenants.{0}.jobs: \"{1}\" is the name of two classes of jobs, expected a `name` of each "
                              "class that no other class of the spec has",
                              tenant.name, jobs.name));
    }
    tenant.jobs.push_back(std::move(jobs));
  }
}

void assume_jobs(PlanSpec& spec) {
  for (TenantSpec& tenant : spec.tenants) {
    const bool serves = std::ranges::find(spec.services, tenant.name, &ServiceSpec::tenant) != spec.services.end();
    if (tenant.kind == Kind::production || tenant.has_stated_jobs || serves) continue;
    TenantJobs jobs = default_jobs(tenant);
    if (is_name_taken(spec, tenant, jobs.name)) continue;
    if (tenant.kind == Kind::training) jobs.load.sizes.front().pods = 0;
    const std::string value = tenant.kind == Kind::training
                                  ? "one job of 1h after another that fills the quota, checkpoints every 15m"
                                  : "6 jobs per hour of 1 GPU and 10m";
    spec.defaults.push_back({.path = fmt::format("tenants.{}.jobs", tenant.name),
                             .value = value,
                             .why = "the spec describes no jobs of the tenant; `jobs: []` states that there are none"});
    tenant.jobs.push_back(std::move(jobs));
  }
}

}  // namespace capstan::plan
