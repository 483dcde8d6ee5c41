#include "kube/request.h"

#include <gtest/gtest.h>

namespace capstan::kube {
namespace {

using namespace std::chrono_literals;

const ObjectRef kPod{resources::kPods, "ml", "vllm-0"};
const ObjectRef kDeployment{resources::kDeployments, "ml", "vllm"};

std::string line(const ApiRequest& request) {
  return request.method + " " + request.path + (request.content_type.empty() ? "" : " " + request.content_type) +
         (request.body.empty() ? "" : " " + request.body);
}

TEST(Request, ListsAndWatchesForAReflector) {
  using Kind = Reflector::Call::Kind;
  Reflector::Call call{.serial = 1,
                       .kind = Kind::list,
                       .resource_version = {},
                       .continue_token = {},
                       .page_objects = 500,
                       .timeout = {}};
  EXPECT_EQ(line(reflect(resources::kPods, "", call)), "GET /api/v1/pods?limit=500");
  call.continue_token = "a=";
  EXPECT_EQ(line(reflect(resources::kPods, "ml", call)), "GET /api/v1/namespaces/ml/pods?limit=500&continue=a%3D");
  call.kind = Kind::watch;
  call.resource_version = "17";
  call.timeout = 301s;
  EXPECT_EQ(line(reflect(resources::kNodes, "", call)),
            "GET /api/v1/nodes?watch=1&allowWatchBookmarks=true&timeoutSeconds=301&resourceVersion=17");
  call.kind = Kind::watch_list;
  EXPECT_EQ(line(reflect(resources::kNodes, "", call)),
            "GET /api/v1/nodes?watch=1&allowWatchBookmarks=true&timeoutSeconds=301&sendInitialEvents=true"
            "&resourceVersionMatch=NotOlderThan");
}

TEST(Request, BuildsWrites) {
  EXPECT_EQ(line(scale(kDeployment, 3, "17")),
            "PATCH /apis/apps/v1/namespaces/ml/deployments/vllm/scale?fieldManager=capstan&fieldValidation=Strict "
            R"(application/merge-patch+json {"metadata":{"resourceVersion":"17"},"spec":{"replicas":3}})");
  EXPECT_EQ(
      line(bind_pod(kPod, {.uid = "u-1", .resource_version = {}}, "node-a")),
      "POST /api/v1/namespaces/ml/pods/vllm-0/binding?fieldManager=capstan&fieldValidation=Strict application/json "
      R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":"vllm-0","namespace":"ml","uid":"u-1"},)"
      R"("target":{"apiVersion":"v1","kind":"Node","name":"node-a"}})");
  EXPECT_EQ(
      bind_pod(kPod, {.uid = "u-1", .resource_version = "17"}, "node-a").body,
      R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":"vllm-0","namespace":"ml","resourceVersion":"17",)"
      R"("uid":"u-1"},"target":{"apiVersion":"v1","kind":"Node","name":"node-a"}})");
  EXPECT_EQ(line(evict_pod(kPod, {.uid = "u-1", .resource_version = "17"}, DryRun::all)),
            "POST /api/v1/namespaces/ml/pods/vllm-0/eviction?fieldManager=capstan&fieldValidation=Strict&dryRun=All "
            R"(application/json {"apiVersion":"policy/v1","deleteOptions":{"preconditions":{"resourceVersion":"17",)"
            R"("uid":"u-1"}},"kind":"Eviction","metadata":{"name":"vllm-0","namespace":"ml"}})");
  EXPECT_EQ(line(remove(kPod, {.uid = "u-1", .resource_version = {}})),
            "DELETE /api/v1/namespaces/ml/pods/vllm-0 application/json "
            R"({"apiVersion":"v1","kind":"DeleteOptions","preconditions":{"uid":"u-1"}})");
  EXPECT_EQ(line(create({resources::kNodeClaims, "", "c"}, "{}")),
            "POST /apis/karpenter.sh/v1/nodeclaims?fieldManager=capstan&fieldValidation=Strict application/json {}");
  EXPECT_EQ(line(apply(kDeployment, "{}", true, "status")),
            "PATCH /apis/apps/v1/namespaces/ml/deployments/vllm/status?fieldManager=capstan&force=true "
            "application/apply-patch+yaml {}");
}

TEST(Request, PatchesHaveTheirPrecondition) {
  EXPECT_EQ(merge_patch(kPod, R"({"metadata":{"labels":{"a":null}}})", "17")->body,
            R"({"metadata":{"labels":{"a":null},"resourceVersion":"17"}})");
  EXPECT_EQ(merge_patch(kPod, "{}", "")->body, "{}");
  EXPECT_EQ(json_patch(kPod, R"([{"op":"remove","path":"/a"}])", "17")->body,
            R"([{"op":"replace","path":"/metadata/resourceVersion","value":"17"},{"op":"remove","path":"/a"}])");
  EXPECT_EQ(merge_patch(kPod, "[]", "17").error().text(), "the patch is not a JSON object, expected one");
  EXPECT_EQ(json_patch(kPod, "{", "17").error().text(), "the patch is not a JSON array, expected one");
}

TEST(Request, AnAppliedStatusNamesTheUid) {
  const ApiRequest pod = apply_status(kPod, "u-1", R"({"ready":1})");
  EXPECT_EQ(pod.body, R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"vllm-0","namespace":"ml","uid":"u-1"},)"
                      R"("status":{"ready":1}})");
  EXPECT_NE(pod.path.find("/namespaces/ml/pods/vllm-0/status?"), std::string::npos) << pod.path;
  const ApiRequest node = apply_status({resources::kNodes, {}, "n"}, "u-2", "{}");
  EXPECT_EQ(node.body, R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n","uid":"u-2"},"status":{}})");
}

}  // namespace
}  // namespace capstan::kube
