#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "plan/feasibility/refusal.h"
#include "plan/read/read_parts.h"

// The parts of a spec that are about the whole platform: tenants, limits, staff and what the operator asked for.
namespace capstan::plan {

namespace {

using manifest::ErrorList;
using manifest::Fields;
using manifest::Node;

TenantSpec read_tenant(const Node& node, PlanSpec& spec, ErrorList& errors) {
  TenantSpec tenant;
  const Node* name = node.kind == Node::Kind::mapping ? node.find("name") : nullptr;
  Fields fields(node, name == nullptr ? "tenants" : "tenants." + name->text, errors);
  DefaultList defaults(spec.defaults);
  if (fields.take_required("name") != nullptr && fields.text("name", tenant.name)) {
    check_kube_name(fields, "name", tenant.name, true, errors);
  }
  using Kind = TenantSpec::Kind;
  fields.choice<Kind>("kind", tenant.kind,
                      {{"production", Kind::production}, {"training", Kind::training}, {"batch", Kind::batch}});
  tenant.priority = tenant.kind == Kind::production ? 100 : tenant.kind == Kind::training ? 50 : 25;
  fields.integer("priority", tenant.priority, 0, 1'000'000);
  defaults.note(fields, "kind", "production", "not preempted by others");
  defaults.note(fields, "priority", fmt::format("{}", tenant.priority),
                "100 for production, 50 for training, 25 for batch");
  fields.integer("gpu_quota", tenant.gpu_quota, 0, 1'000'000);
  defaults.note(fields, "gpu_quota", "0", "no GPUs are reserved for the tenant");
  if (fields.take("gpu_limit") != nullptr) fields.integer("gpu_limit", tenant.gpu_limit.emplace(0), 0, 1'000'000);
  defaults.note(fields, "gpu_limit", "none", "the tenant may use every GPU that is free");
  read_spec_jobs(fields, tenant, spec, errors);
  fields.finish();
  if (fields.ok() && tenant.gpu_limit && tenant.gpu_quota > *tenant.gpu_limit) {
    errors.fail(fields.place_for_error({"gpu_quota", "gpu_limit"}),
                fmt::format("tenants.{0}: gpu_quota {1} is {2} above gpu_limit {3}; the nearest that is possible is "
                            "gpu_quota: {3} or gpu_limit: {1}",
                            tenant.name, tenant.gpu_quota, tenant.gpu_quota - *tenant.gpu_limit, *tenant.gpu_limit),
                ErrorKind::infeasible);
  }
  return tenant;
}

}  // namespace

void read_spec_tenants(Fields& root, PlanSpec& spec, ErrorList& errors) {
  const Node* tenants = root.take("tenants");
  if (tenants != nullptr && tenants->kind == Node::Kind::sequence && tenants->items.empty()) {
    errors.fail(tenants->place,
                "tenants: 0 tenants own the services, 1 fewer than are needed; the nearest that is possible is one, as "
                "in `tenants: [{name: production}]`, which is the default without `tenants`",
                ErrorKind::infeasible);
  }
  for (const Node& node : root.list("tenants")) {
    TenantSpec tenant = read_tenant(node, spec, errors);
    if (std::ranges::find(spec.tenants, tenant.name, &TenantSpec::name) != spec.tenants.end()) {
      errors.fail(node.place, fmt::format("tenants: \"{}\" is the name of two tenants", tenant.name));
    }
    spec.tenants.push_back(std::move(tenant));
  }
  if (root.node().find("tenants") == nullptr) spec.tenants.push_back({.name = "production"});
  DefaultList(spec.defaults).note(root, "tenants", "production", "one tenant with priority 100");
}

void read_spec_limits(Fields& root, PlanSpec& spec, ErrorList& errors) {
  DefaultList(spec.defaults).note(root, "limits", "none", "the pools are limited by the maximum of replicas");
  const Node* node = root.take("limits");
  if (node == nullptr) return;
  Fields fields(*node, "limits", errors);
  if (fields.take("gpus") != nullptr) fields.integer("gpus", spec.limits.gpus.emplace(1), 1, 1'000'000);
  if (fields.take("usd_per_hour") != nullptr) {
    fields.usd("usd_per_hour", spec.limits.per_hour.emplace(), {1}, {1'000'000'000'000});
  }
  fields.finish();
}

void read_spec_staff(Fields& root, PlanSpec& spec, ErrorList& errors) {
  DefaultList(spec.defaults)
      .note(root, "staff", "half of an engineer of 160,000 USD a year", "the middle of the usual 40 to 60 %");
  const Node* node = root.take("staff");
  if (node == nullptr) return;
  Fields fields(*node, "staff", errors);
  DefaultList defaults(spec.defaults);
  defaults.note(fields, "usd_per_year", "160,000 USD", "one engineer, with overhead");
  defaults.note(fields, "share", "50 %", "the middle of the usual 40 to 60 %");
  defaults.note(fields, "serverless_usd_per_gpu_hour", "none", "the plan states the price at which both cost the same");
  fields.usd("usd_per_year", spec.staff.per_year, {0}, {10'000'000'000'000});
  fields.share_ppm("share", spec.staff.share_ppm, 0, kMaxStaffSharePpm);
  fields.usd("serverless_usd_per_gpu_hour", spec.staff.serverless_per_gpu_hour, {0}, {1'000'000'000});
  fields.finish();
}

void read_spec_asked(Fields& root, PlanSpec& spec, ErrorList& errors) {
  const Node* node = root.take("asked");
  if (node == nullptr) return;
  Fields fields(*node, "asked", errors);
  if (fields.text("scale_on", spec.asked.scale_on) && !asked_signal(spec.asked.scale_on)) {
    errors.fail(
        fields.place_for_error({"scale_on"}),
        fmt::format("asked.scale_on: found \"{}\", expected queue, kv, latency or goodput", spec.asked.scale_on));
  }
  fields.choice<std::string>("consolidation", spec.asked.consolidation,
                             {{"WhenEmpty", "WhenEmpty"}, {"WhenEmptyOrUnderutilized", "WhenEmptyOrUnderutilized"}});
  bool gangs = true;
  fields.boolean("gang_scheduling", gangs);
  spec.asked.declines_gang_scheduling = !gangs;
  fields.finish();
}

}  // namespace capstan::plan
