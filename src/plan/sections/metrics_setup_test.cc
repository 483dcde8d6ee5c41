#include "plan/sections/metrics_setup.h"

#include <gtest/gtest.h>

namespace capstan::plan {
namespace {

TEST(MetricsSetup, KeepsEveryPartOfTheAddressOfPrometheus) {
  struct Row {
    std::string address, url, port, path;
  };
  for (const Row& row :
       {Row{"http://prom.example:9090/prometheus", "http://prom.example", "9090", "/prometheus"},
        Row{"https://prom.example/tenant/a/", "https://prom.example", "443", "/tenant/a"},
        Row{"http://prometheus-operated.monitoring.svc:9090", "http://prometheus-operated.monitoring.svc", "9090", ""},
        Row{"http://prom.example", "http://prom.example", "80", ""}}) {
    PlanSpec spec;
    spec.cluster.prometheus = row.address;
    const Yaml values = prometheus_adapter_values(spec);
    const Yaml& server = *values.find("prometheus");
    EXPECT_EQ(server.find("url")->text(), row.url) << row.address;
    EXPECT_EQ(server.find("port")->text(), row.port) << row.address;
    const Yaml* path = server.find("path");
    EXPECT_EQ(path == nullptr ? "" : path->text(), row.path) << row.address;
  }
}

TEST(MetricsSetup, OffersBothSpellingsOfSglang) {
  PlanSpec spec;
  spec.services = {{.name = "chat", .engine = Engine::sglang}};
  const Yaml values = prometheus_adapter_values(spec);
  const Yaml& rule = values.find("rules")->find("external")->elements().front();
  EXPECT_EQ(rule.find("seriesQuery")->text(), "{__name__=~\"sglang[:_]num_queue_reqs\",namespace!=\"\"}");
  EXPECT_EQ(rule.find("name")->find("as")->text(), "sglang_num_queue_reqs");
  EXPECT_EQ(rule.find("metricsQuery")->text(), "sum({__name__=~\"sglang[:_]num_queue_reqs\",<<.LabelMatchers>>})");
}

TEST(MetricsSetup, TheOperatorInstallsNoDriverWhereTheImageHasIt) {
  for (const Cloud cloud : {Cloud::aws, Cloud::azure}) {
    const Yaml values = gpu_operator_values({.cloud = cloud});
    EXPECT_EQ(values.find("driver")->find("enabled")->text(), "false");
    EXPECT_EQ(values.find("toolkit")->find("enabled")->text(), "false");
  }
  EXPECT_EQ(gpu_operator_values({.cloud = Cloud::on_premises}).find("driver"), nullptr);
  EXPECT_FALSE(has_gpu_operator({.cloud = Cloud::gcp}));
}

}  // namespace
}  // namespace capstan::plan
