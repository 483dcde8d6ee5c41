#include "plan/objects/charts.h"

#include <gtest/gtest.h>

namespace capstan::plan {
namespace {

TEST(Charts, AreInstalledAtAFixedVersion) {
  EXPECT_EQ(helm_install("keda", "--namespace keda"),
            "helm upgrade --install keda keda --repo https://kedacore.github.io/charts --version 2.20.2 --namespace "
            "keda");
  EXPECT_EQ(helm_install("lws", "--namespace lws-system"),
            "helm upgrade --install lws oci://registry.k8s.io/lws/charts/lws --version 0.10.0 --namespace lws-system");
}

}  // namespace
}  // namespace capstan::plan
