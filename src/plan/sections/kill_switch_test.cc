#include "plan/sections/kill_switch.h"

#include <gtest/gtest.h>

namespace capstan::plan {
namespace {

TEST(KillSwitch, StopsTheScalerInUseFirstAndHasAnEnd) {
  PlanSpec spec;
  spec.namespace_ = "llm";
  spec.services.push_back({.name = "chat", .is_disaggregated = true, .slo = {.ttft = std::chrono::seconds(2)}});
  ServicePlan service{.service = "chat"};
  for (const model::Role role : {model::Role::prefill, model::Role::decode}) {
    RoleFleet fleet{.role = role, .minimum = 2, .maximum = 8, .peak_ready = 5};
    fleet.engine.gpu = "h100_sxm";
    fleet.machine = {.name = "p5.48xlarge", .gpu = "h100_sxm", .gpus = 8};
    service.roles.push_back(fleet);
  }
  service.scaler = ScalerKind::hpa;
  const std::vector<ServicePlan> services = {service};
  EXPECT_EQ(
      kill_switch_commands({spec, services}),
      (std::vector<std::string>{
          "kubectl -n llm delete hpa chat-prefill  # HPA: stop chat",
          "kubectl -n llm scale deployment chat-prefill --replicas 5  # HPA: stop chat",
          "kubectl -n llm delete hpa chat-decode  # HPA: stop chat",
          "kubectl -n llm scale deployment chat-decode --replicas 5  # HPA: stop chat",
          "kubectl apply -f replicas/hpa/chat-prefill.yaml  # HPA: resume chat",
          "kubectl apply -f replicas/hpa/chat-decode.yaml  # HPA: resume chat",
          "kubectl patch fleetpolicy default --type merge --patch '{\"spec\": {\"halt\": true}}'  # Capstan: stop chat",
          "kubectl -n llm scale deployment chat-prefill --replicas 5  # Capstan: stop chat",
          "kubectl -n llm scale deployment chat-decode --replicas 5  # Capstan: stop chat",
          "kubectl patch fleetpolicy default --type merge --patch '{\"spec\": {\"halt\": false}}'  # Capstan: resume "
          "chat",
          "kubectl -n llm annotate scaledobject chat-prefill autoscaling.keda.sh/paused-replicas=5 --overwrite  # "
          "ScaledObject: stop chat",
          "kubectl -n llm annotate scaledobject chat-decode autoscaling.keda.sh/paused-replicas=5 --overwrite  # "
          "ScaledObject: stop chat",
          "kubectl -n llm annotate scaledobject chat-prefill autoscaling.keda.sh/paused-replicas-  # ScaledObject: "
          "resume "
          "chat",
          "kubectl -n llm annotate scaledobject chat-decode autoscaling.keda.sh/paused-replicas-  # ScaledObject: "
          "resume "
          "chat"}));
}

}  // namespace
}  // namespace capstan::plan
