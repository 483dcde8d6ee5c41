#include "plan/against/one_of.h"

#include <gtest/gtest.h>

#include "plan/against/existing_object.h"

namespace capstan::plan {
namespace {

bool has_other(const std::string& planned, const std::string& found, std::string_view path) {
  const auto node = manifest::parse(found, "old.yaml").value();
  return has_other_alternative(yaml_of(manifest::parse(planned, "a.yaml").value()), node, path);
}

TEST(OneOf, AVolumeHasOneSource) {
  EXPECT_TRUE(has_other("{name: models, hostPath: {path: /a}}", "{name: models, persistentVolumeClaim: {claimName: a}}",
                        "spec.template.spec.volumes.models"));
  EXPECT_FALSE(has_other("{name: models, hostPath: {path: /a}}", "{name: models, hostPath: {path: /b}}",
                         "spec.template.spec.volumes.models"));
}

TEST(OneOf, AProbeHasOneHandler) {
  EXPECT_TRUE(has_other("{httpGet: {path: /}}", "{tcpSocket: {port: 1}}", "a.readinessProbe"));
  EXPECT_TRUE(has_other("{sleep: {seconds: 5}}", "{exec: {command: [sleep, 5]}}", "a.lifecycle.preStop"));
  EXPECT_FALSE(has_other("{httpGet: {path: /}}", "{periodSeconds: 1}", "a.readinessProbe"));
}

TEST(OneOf, AVariableHasAValueOrASource) {
  EXPECT_TRUE(has_other("{name: A, valueFrom: {}}", "{name: A, value: b}", "a.env.A"));
  EXPECT_FALSE(has_other("{key: a, valueFrom: {}}", "{key: a, value: b}", "spec.taints.a"));
}

}  // namespace
}  // namespace capstan::plan
