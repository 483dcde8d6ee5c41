#include "actuate/scale_target.h"

#include <gtest/gtest.h>

namespace capstan::actuate {
namespace {

/// Returns an entry of the managed fields: `manager` wrote the replicas below "f:spec" or "f:status" on this day.
std::string wrote(const std::string& manager, int day, const std::string& below = "f:spec") {
  return R"({"manager":")" + manager + R"(","time":"2026-01-0)" + std::to_string(day) + R"(T00:00:00Z","fieldsV1":{")" +
         below + R"(":{"f:replicas":{}}}})";
}

std::string managed(const std::string& entries) { return R"({"managedFields":[)" + entries + "]}"; }

std::string owned(const std::string& more) {
  return R"({"ownerReferences":[{"apiVersion":"v1","kind":"InferenceService","name":"chat","uid":"u")" + more + "}]}";
}

TEST(ScaleTarget, FindsAnotherOwnerOfTheReplicas) {
  struct Row {
    const char* what;
    std::string metadata;
    const char* expected;
  };
  const Row rows[] = {
      {"no manager", "{}", ""},
      {"a person", managed(wrote("kubectl-client-side-apply", 1)), ""},
      {"an HPA, which may be deleted since", managed(wrote("kube-controller-manager", 1)), ""},
      {"the controller manager, of the status only", managed(wrote("kube-controller-manager", 1, "f:status")), ""},
      {"Argo CD first, Capstan last", managed(wrote("capstan", 2) + "," + wrote("argocd-controller", 1)), ""},
      {"Capstan first, Argo CD last", managed(wrote("capstan", 1) + "," + wrote("argocd-controller", 2)),
       "argocd-controller"},
      {"a controlling owner", owned(R"(,"controller":true)"), "InferenceService chat"},
      {"an owner that does not control", owned(""), ""},
  };
  for (const Row& row : rows) {
    kube::JsonDocument document;
    const Result<kube::Json> object = document.parse(R"({"kind":"Deployment","metadata":)" + row.metadata + "}");
    ASSERT_TRUE(object) << row.what;
    EXPECT_EQ(other_owner(kube::read_workload(*object)), row.expected) << row.what;
  }
}

}  // namespace
}  // namespace capstan::actuate
