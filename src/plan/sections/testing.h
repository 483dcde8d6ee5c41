#pragma once

#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "plan/sections/sections.h"

// Plans with different clusters and services, for the tests of the sections. The fleets are stated, not searched.
namespace capstan::plan::testing {

struct SamplePlan {
  std::string name{};
  PlanSpec spec{};
  std::vector<ServicePlan> services{};

  PlanFacts facts() const { return {spec, services}; }

  friend void PrintTo(const SamplePlan& plan, std::ostream* out) { *out << plan.name; }
};

inline MachineSpec sample_machine(std::string name, std::string gpu, GpuCount gpus) {
  return {.name = std::move(name),
          .gpu = std::move(gpu),
          .gpus = gpus,
          .vcpus = 192,
          .memory_gib = 2048,
          .nvlink_domain_gpus = gpus,
          .on_demand_per_hour = MicroUsd{55'040'000}};
}

inline SamplePlan sample_plan(std::string name) {
  SamplePlan plan{.name = name};
  plan.spec.name = std::move(name);
  plan.spec.namespace_ = "serving";
  plan.spec.cluster.region = "us-east-1";
  plan.spec.cluster.zones = {"us-east-1a", "us-east-1b"};
  plan.spec.cluster.capacity = {model::CapacityType::on_demand, model::CapacityType::spot};
  plan.spec.tenants = {{.name = "production"}};
  return plan;
}

inline RoleFleet sample_role(const MachineSpec& machine, std::int64_t tp, ReplicaCount minimum, ReplicaCount maximum) {
  RoleFleet role;
  role.engine = **engine::EngineTable::bundled().find("Llama-3.3-70B", "h100_sxm", 4, "fp8");
  role.engine.gpu = machine.gpu;
  role.engine.tp = tp;
  role.engine.gpu_memory = Bytes{80LL << 30};
  role.machine = machine;
  role.minimum = minimum;
  role.maximum = maximum;
  role.batch = 40;
  role.prefill_share = 0.45;
  role.kv_share_at_batch = 0.5;
  return role;
}

inline ServiceSpec& add_sample_service(SamplePlan& plan, const std::string& name, std::vector<RoleFleet> roles) {
  for (const RoleFleet& role : roles) plan.spec.cluster.machines.push_back(role.machine);
  ServiceSpec service;
  service.name = name;
  service.model = roles.front().engine.model;
  service.served_model_name = service.model;
  service.tensor_parallel = roles.front().engine.tp;
  service.tenant = plan.spec.tenants.front().name;
  service.is_disaggregated = roles.size() > 1;
  ServicePlan fleet{.service = name, .roles = std::move(roles), .holds_slo = true};
  fleet.start = {
      {.step = StartStep::node, .typical = std::chrono::seconds(90), .longest = std::chrono::seconds(180)},
      {.step = StartStep::weights, .typical = std::chrono::seconds(60), .longest = std::chrono::seconds(120)}};
  plan.spec.services.push_back(std::move(service));
  plan.services.push_back(std::move(fleet));
  return plan.spec.services.back();
}

/// Returns a plan of one model on H100 in one region, with a part of the nodes bought as spot.
inline SamplePlan chat_plan() {
  SamplePlan plan = sample_plan("chat");
  add_sample_service(plan, "chat", {sample_role(sample_machine("p5.48xlarge", "h100_sxm", 8), 4, 3, 12)});
  plan.services[0].spot_ppm = 500'000;
  return plan;
}

/// Returns a plan with replicas of two pods with eight GPUs each, and two tenants.
inline SamplePlan gang_plan() {
  SamplePlan plan = sample_plan("large models");
  RoleFleet role = sample_role(sample_machine("p5.48xlarge", "h100_sxm", 8), 16, 1, 3);
  role.pods = 2;
  add_sample_service(plan, "large", {role}).pods_per_replica = 2;
  plan.spec.tenants.push_back(
      {.name = "training", .kind = TenantSpec::Kind::training, .priority = 50, .gpu_quota = 16});
  plan.spec.limits = {.gpus = 64, .per_hour = MicroUsd{400'500'000}};
  return plan;
}

/// Returns a plan of two small models on slices of different sizes, and a model on whole GPUs.
inline SamplePlan sliced_plan() {
  SamplePlan plan = sample_plan("small-models");
  add_sample_service(plan, "chat", {sample_role(sample_machine("p5.4xlarge", "h100_sxm", 1), 1, 2, 6)});
  add_sample_service(plan, "mail", {sample_role(sample_machine("p5.48xlarge", "h100-3g.40gb", 16), 1, 3, 20)})
      .may_share_gpu = true;
  add_sample_service(plan, "tags", {sample_role(sample_machine("p5.48xlarge", "h100-1g.10gb", 56), 1, 5, 30)})
      .may_share_gpu = true;
  return plan;
}

/// Returns a plan with prefill and decode replicas, and a training tenant.
inline SamplePlan disaggregated_plan() {
  SamplePlan plan = sample_plan("split");
  RoleFleet prefill = sample_role(sample_machine("p5.48xlarge", "h100_sxm", 8), 4, 1, 4);
  RoleFleet decode = sample_role(sample_machine("p5en.48xlarge", "h200_sxm", 8), 4, 2, 6);
  prefill.role = model::Role::prefill;
  decode.role = model::Role::decode;
  add_sample_service(plan, "chat", {prefill, decode});
  plan.spec.tenants[0].gpu_quota = 32;
  plan.spec.tenants.push_back(
      {.name = "training", .kind = TenantSpec::Kind::training, .priority = 50, .gpu_quota = 8, .gpu_limit = 16});
  plan.spec.cluster.capacity = {model::CapacityType::reserved, model::CapacityType::on_demand};
  return plan;
}

/// Returns a plan of batch work on GPUs without MIG, on node groups of the Cluster Autoscaler.
inline SamplePlan batch_plan() {
  SamplePlan plan = sample_plan("batch");
  plan.spec.cluster.provisioner = Provisioner::cluster_autoscaler;
  plan.spec.tenants[0].kind = TenantSpec::Kind::batch;
  RoleFleet role = sample_role(sample_machine("g6e.12xlarge", "l40s", 4), 1, 2, 10);
  role.engine.gpu_memory = Bytes{48LL << 30};
  ServiceSpec& service = add_sample_service(plan, "tags", {role});
  service.may_share_gpu = true;
  service.sharing_memory_gib = 20;
  plan.services[0].spot_ppm = 1'000'000;
  return plan;
}

inline SamplePlan azure_plan() {
  SamplePlan plan = sample_plan("azure");
  plan.spec.cluster.cloud = Cloud::azure;
  plan.spec.cluster.region = "eastus";
  plan.spec.cluster.zones = {"eastus-1", "eastus-2"};
  add_sample_service(plan, "chat", {sample_role(sample_machine("Standard_ND96isr_H100_v5", "h100_sxm", 8), 8, 1, 4)});
  return plan;
}

inline SamplePlan gke_plan() {
  SamplePlan plan = sample_plan("gke");
  plan.spec.cluster.cloud = Cloud::gcp;
  plan.spec.cluster.region = "us-central1";
  plan.spec.cluster.zones = {"us-central1-a", "us-central1-b"};
  add_sample_service(plan, "chat", {sample_role(sample_machine("a3-highgpu-8g", "h100_sxm", 8), 4, 2, 6)});
  plan.services[0].spot_ppm = 500'000;
  return plan;
}

inline std::vector<SamplePlan> sample_plans() {
  return {chat_plan(), gang_plan(), sliced_plan(), disaggregated_plan(), batch_plan(), azure_plan(), gke_plan()};
}

}  // namespace capstan::plan::testing
