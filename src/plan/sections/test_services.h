#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "lint/run.h"
#include "plan/fleet/capacity.h"
#include "plan/sections/sections.h"

// Specs with fleets for tests of the sections, and a check of their manifests.
namespace capstan::plan::testing {

using namespace std::chrono_literals;

/// A spec of some services, each with its fleet.
struct PlanSample {
  PlanSpec spec{};
  std::vector<ServicePlan> services{};

  PlanFacts facts() const { return {spec, services}; }
};

inline MachineSpec p5_machine() {
  return {.name = "p5.48xlarge",
          .gpu = "h100_sxm",
          .gpus = 8,
          .vcpus = 192,
          .memory_gib = 2048,
          .nvlink_domain_gpus = 8,
          .on_demand_per_hour = MicroUsd{55'040'000}};
}

inline ServiceSpec chat_service() {
  return {.name = "chat",
          .model = "Llama-3.3-70B",
          .served_model_name = "meta-llama/Llama-3.3-70B-Instruct",
          .image = "vllm/vllm-openai:v0.25.1",
          .dtype = "fp8",
          .slo = {.ttft = 2s, .tpot = 80ms},
          .load = {.requests_per_s = 8,
                   .burst_factor = 2,
                   .burst_length = 10min,
                   .burst_every = 30min,
                   .duration = 1h,
                   .prompt = {.median = 1000, .sigma = 0.8, .longest = 16384},
                   .answer = {.median = 200, .sigma = 0.6, .longest = 2048}},
          .tenant = "production"};
}

/// Returns a fleet of one role whose batch and shares are those of the engine table.
inline RoleFleet role_fleet(const ServiceSpec& service, model::Role role, std::int64_t tp, ReplicaCount minimum,
                            ReplicaCount maximum) {
  RoleFleet fleet{.role = role,
                  .pods = service.pods_per_replica,
                  .machine = p5_machine(),
                  .minimum = minimum,
                  .maximum = maximum,
                  .mean_ready_milli = minimum * 1000,
                  .peak_ready = maximum - 1};
  const auto row = engine::EngineTable::bundled().find(service.model, "h100_sxm", tp, service.dtype);
  EXPECT_TRUE(row.has_value());
  if (row) fleet.engine = **row;
  const MeanRequest request = mean_request(service, {});
  const ReplicaCapacity capacity = replica_capacity(service, fleet, request);
  fleet.batch = capacity.found.batch;
  fleet.prefill_share = capacity.prefill_share;
  fleet.kv_share_at_batch = capacity.kv_share;
  return fleet;
}

inline std::vector<StartPhase> start_phases() {
  return {{StartStep::node, 55s, 60s},
          {StartStep::image_pull, 150s, 300s},
          {StartStep::weights, 90s, 200s},
          {StartStep::engine_start, 110s, 160s}};
}

inline PlanSample chat_sample(Engine engine = Engine::vllm, const std::string& image = "vllm/vllm-openai:v0.25.1") {
  PlanSample sample;
  sample.spec.name = "chat-platform";
  sample.spec.namespace_ = "llm";
  sample.spec.cluster.region = "us-east-1";
  sample.spec.cluster.zones = {"us-east-1a", "us-east-1b"};
  sample.spec.cluster.machines = {p5_machine()};
  sample.spec.tenants = {{.name = "production"}};
  sample.spec.services = {chat_service()};
  sample.spec.services.front().engine = engine;
  sample.spec.services.front().image = image;
  ServicePlan fleet{.service = "chat", .holds_slo = true, .start = start_phases()};
  fleet.roles = {role_fleet(sample.spec.services.front(), model::Role::both, 4, 3, 8)};
  sample.services = {fleet};
  return sample;
}

/// Returns the chat service with prefill and decode replicas.
inline PlanSample disaggregated_sample(Engine engine = Engine::vllm,
                                       const std::string& image = "vllm/vllm-openai:v0.25.1") {
  PlanSample sample = chat_sample(engine, image);
  ServiceSpec& service = sample.spec.services.front();
  service.is_disaggregated = true;
  sample.services.front().roles = {role_fleet(service, model::Role::prefill, 4, 2, 6),
                                   role_fleet(service, model::Role::decode, 4, 2, 8)};
  return sample;
}

/// Returns the chat service with replicas of two pods, scheduled by KAI.
inline PlanSample gang_sample(Engine engine = Engine::vllm, const std::string& image = "vllm/vllm-openai:v0.25.1") {
  PlanSample sample = chat_sample(engine, image);
  ServiceSpec& service = sample.spec.services.front();
  service.pods_per_replica = 2;
  sample.services.front().roles = {role_fleet(service, model::Role::both, 8, 2, 4)};
  return sample;
}

inline const Yaml* find_body(const Section& section, std::string_view file, std::string_view kind = {}) {
  for (const Manifest& manifest : section.manifests) {
    if (manifest.file != file) continue;
    if (kind.empty() || manifest.body.find("kind")->text() == kind) return &manifest.body;
  }
  return nullptr;
}

inline std::string value_of_statement(const Section& section, std::string_view name) {
  for (const Statement& statement : section.statements) {
    if (statement.name == name) return statement.value;
  }
  return "no statement";
}

/// Expects no finding of lint, advice included, in the manifests of some sections.
inline void expect_no_findings(const std::vector<Section>& sections) {
  std::vector<lint::Text> texts;
  for (const Section& section : sections) {
    for (const Manifest& manifest : section.manifests) {
      const auto found = std::ranges::find(texts, manifest.file, &lint::Text::path);
      lint::Text& text = found != texts.end() ? *found : texts.emplace_back(manifest.file, "");
      text.text += (text.text.empty() ? "" : "---\n") + manifest.body.document();
    }
  }
  const lint::Report report = lint::lint_texts(texts, {.settings = {}, .severities = {}, .advice = true});
  EXPECT_TRUE(report.unreadable.empty());
  EXPECT_EQ(report.summary.files, texts.size());
  for (const lint::Finding& finding : report.findings) {
    ADD_FAILURE() << finding.rule->id << ": " << finding.message << " in\n" << finding.file->path;
  }
}

}  // namespace capstan::plan::testing
