#include "kube/authored_objects.h"

#include <gtest/gtest.h>

namespace capstan::kube::authored_objects_test {
namespace {

TEST(AuthoredObjects, MalformedAnswersAreNotPages) {
  const Resource& kind = resources::kDeployments;
  for (const char* body : {"", "{", "[]", "{}", "null", "{\"items\""})
    EXPECT_FALSE(read_authored_page(body, kind)) << body;
  for (const char* body : {"{\"items\":null}", "{\"items\":3}", "{\"items\":[1,null,\"a\"]}"}) {
    ASSERT_TRUE(read_authored_page(body, kind)) << body;
    EXPECT_TRUE(read_authored_page(body, kind)->objects.empty()) << body;
  }
  const auto odd = read_authored_page(
      R"({"metadata":{"continue":5},"items":[{"metadata":7},{"metadata":{"ownerReferences":[1],"name":[]}}]})", kind);
  ASSERT_TRUE(odd);
  EXPECT_EQ(odd->next, "");
  EXPECT_EQ(odd->objects.size(), 2u);
}

TEST(AuthoredObjects, ReplicasStayOnlyIfTheAuthorWroteThem) {
  struct Row {
    const char* name;
    const char* metadata;
    bool stays;
  };
  const Row rows[] = {
      {"an unknown writer", R"({})", true},
      {"the author applied replicas",
       R"({"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{\"spec\":{\"replicas\":2}}"}})", true},
      {"the author applied no replicas",
       R"({"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{\"spec\":{}}"}})", false},
      {"the annotation is malformed",
       R"({"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"no JSON"}})", false},
      {"Helm wrote replicas", R"({"managedFields":[{"manager":"helm","fieldsV1":{"f:spec":{"f:replicas":{}}}}]})",
       true},
      {"an autoscaler wrote replicas",
       R"({"managedFields":[{"manager":"hpa","subresource":"scale","fieldsV1":{"f:spec":{"f:replicas":{}}}}]})", false},
      {"the author wrote other fields",
       R"({"managedFields":[{"manager":"argocd","fieldsV1":{"f:spec":{"f:template":{}}}}]})", false},
  };
  for (const Row& row : rows) {
    const std::string body =
        std::string(R"({"items":[{"metadata":)") + row.metadata + R"(,"spec":{"replicas":5,"selector":{}}}]})";
    const auto page = read_authored_page(body, resources::kDeployments);
    ASSERT_TRUE(page) << body;
    EXPECT_EQ(page->objects.at(0).text.find("replicas") != std::string::npos, row.stays) << row.name;
  }
}

}  // namespace
}  // namespace capstan::kube::authored_objects_test
