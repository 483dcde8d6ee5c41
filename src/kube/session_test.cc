#include "kube/session.h"

#include <gtest/gtest.h>

#include <fstream>

namespace capstan::kube {
namespace {

TEST(Session, UsesTheNamedKubeconfig) {
  const std::string path = testing::TempDir() + "kubeconfig";
  std::ofstream(path) << "apiVersion: v1\n"
                         "kind: Config\n"
                         "current-context: here\n"
                         "contexts: [{name: here, context: {cluster: a, user: me, namespace: llm}}]\n"
                         "clusters: [{name: a, cluster: {server: 'https://127.0.0.1:6443'}}]\n"
                         "users: [{name: me, user: {token: secret}}]\n";
  const auto session = open_session({.kubeconfig = path, .context = {}, .ns = {}});
  ASSERT_TRUE(session) << session.error().text();
  EXPECT_EQ((*session)->ns, "llm");
  EXPECT_GE((*session)->clock().since_start, std::chrono::hours(24) * 365 * 50);  // the clock starts at the Unix epoch
  EXPECT_EQ((*open_session({.kubeconfig = path, .context = {}, .ns = "chat"}))->ns, "chat");
  EXPECT_FALSE(open_session({.kubeconfig = path, .context = "elsewhere", .ns = {}}));
  EXPECT_FALSE(open_session({.kubeconfig = path + "-not-there", .context = {}, .ns = {}}));
}

}  // namespace
}  // namespace capstan::kube
