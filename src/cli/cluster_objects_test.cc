#include "cli/cluster_objects.h"

#include <gtest/gtest.h>

namespace capstan::cli::cluster_objects_test {
namespace {

TEST(ClusterObjects, HostileAnswersAreNoPages) {
  const kube::Resource& kind = kube::resources::kDeployments;
  for (const char* body : {"", "{", "[]", "{}", "null", "{\"items\""})
    EXPECT_FALSE(read_object_page(body, kind)) << body;
  for (const char* body : {"{\"items\":null}", "{\"items\":3}", "{\"items\":[1,null,\"a\"]}"}) {
    ASSERT_TRUE(read_object_page(body, kind)) << body;
    EXPECT_TRUE(read_object_page(body, kind)->texts.empty()) << body;
  }
  const auto odd = read_object_page(
      R"({"metadata":{"continue":5},"items":[{"metadata":7},{"metadata":{"ownerReferences":[1],"name":[]}}]})", kind);
  ASSERT_TRUE(odd);
  EXPECT_EQ(odd->next, "");
  EXPECT_EQ(odd->texts.size(), 2u);
}

}  // namespace
}  // namespace capstan::cli::cluster_objects_test
