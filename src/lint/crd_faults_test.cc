#include "lint/crd_faults.h"

#include <gtest/gtest.h>

namespace capstan::lint {
namespace {

std::string faults_of(const std::string& kind, const std::string& spec) {
  const std::string text = "apiVersion: capstan.dev/v1alpha1\nkind: " + kind + "\nmetadata: {name: a}\n" + spec + "\n";
  const manifest::Documents documents = manifest::Documents::parse(text);
  std::string out;
  for (const CrdFault& fault : crd_faults(documents.all().front().root, own_schema("capstan.dev/v1alpha1", kind))) {
    out += (out.empty() ? "" : " | ") + fault.path + " " + fault.fault;
  }
  return out;
}

TEST(CrdFaults, NamesWhatADefinitionDoesNotAllow) {
  const struct {
    std::string kind, spec, expected;
  } rows[] = {
      {"FleetPolicy", "spec: {layers: {replicas: Shadow}, limits: {gpus: 8}}", ""},
      {"FleetPolicy", "spec: {limits: null}", ""},
      {"FleetPolicy", "spec: {limit: {gpus: 8}}", "spec.limit is no field; did you mean limits?"},
      {"FleetPolicy", "spec: {}\nlayers: {}", "layers is no field of the object; its fields are in spec"},
      {"FleetPolicy", "spec: {layers: {replicas: active}}",
       "spec.layers.replicas is active, expected Off, Shadow or Active; did you mean Active?"},
      {"FleetPolicy", "spec: {limits: {gpus: \"8\"}}", "spec.limits.gpus is \"8\", expected a whole number"},
      {"FleetPolicy", "spec: {limits: {gpus: 8.5}}", "spec.limits.gpus is 8.5, expected a whole number"},
      {"FleetPolicy", "spec: {limits: {gpus: -8}}", "spec.limits.gpus is -8, expected at least 0"},
      {"FleetPolicy", "spec: {limits: {gpus: 0.5}}", "spec.limits.gpus is 0.5, expected a whole number"},
      {"FleetPolicy", "spec: {limits: {gpus: -1e300}}", "spec.limits.gpus is -1e300, expected at least 0"},
      {"FleetPolicy", "spec: {limits: [8]}", "spec.limits is a list, expected a mapping"},
      {"FleetPolicy", "spec: {halt: \"true\"}", "spec.halt is \"true\", expected true or false, without quotes"},
      {"FleetPolicy", "spec: {instanceTypes: [{name: a, gpu: b}]}",
       "spec.instanceTypes[0] lacks gpus, which is required"},
      {"InferenceScaler", "", "the object lacks spec, which is required"},
      {"InferenceScaler", "spec: {model: m, slo: {ttft: 2}, roles: []}",
       "spec.slo.ttft is 2, expected a text | spec.roles has 0 elements, expected at least 1"},
      {"InferenceScaler",
       "spec: {model: m, slo: {ttft: 2 s}, roles: [{variants: [{maxReplicas: 4, targetRef: "
       "{kind: Deployment, name: a}}]}]}",
       "spec.slo.ttft is 2 s, expected a text that matches ^([0-9]+(ms|s|m|h))+$"},
      {"Queue", "spec: {gpus: {limit: 8}, parents: a}", "spec.parents is no field; did you mean parent?"},
  };
  for (const auto& row : rows) EXPECT_EQ(faults_of(row.kind, row.spec), row.expected) << row.spec;
}

TEST(CrdFaults, OnlyKindsAndVersionsOfCapstanHaveASchema) {
  EXPECT_TRUE(own_schema("capstan.dev/v1alpha1", "Queue"));
  EXPECT_FALSE(own_schema("capstan.dev/v1", "Queue"));
  EXPECT_FALSE(own_schema("capstan.dev/v1alpha1", "Quueue"));
  EXPECT_FALSE(own_schema("scheduling.run.ai/v2", "Queue"));
}

}  // namespace
}  // namespace capstan::lint
