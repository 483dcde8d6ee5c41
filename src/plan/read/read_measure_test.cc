#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "plan/read/read_spec.h"

namespace capstan::plan {
namespace {

using namespace std::chrono_literals;

/// Returns the spec of a service with this value of load.prometheus.
SpecResult spec_with_server(const std::string& value) {
  return parse_plan_spec(
      "namespace: llm\nservices:\n- {name: chat, model: Llama-3.1-8B, slo: {ttft_p99: 1s}, load: "
      "{prometheus: " +
          value + "}}\n",
      "/etc/specs/s.yaml");
}

TEST(ReadSpecMeasure, ReadsEveryKey) {
  const SpecResult spec = spec_with_server(
      "{url: 'https://prom/prefix', over: 2d, step: 30s, timeout: 1m, labels: {job: chat, pod: 'a b'}, headers: "
      "{X-Scope-OrgID: team}, bearer_token_file: token, ca_file: /ca.pem, certificate_file: c.pem, key_file: k.pem}");
  ASSERT_TRUE(spec) << spec.error().text();
  const LoadSpec& load = spec->services[0].load;
  EXPECT_EQ(load.source, LoadSpec::Source::prometheus);
  EXPECT_EQ(load.measure.url, "https://prom/prefix");
  EXPECT_EQ(load.measure.history_length, 48h);
  EXPECT_EQ(load.measure.step, 30s);
  EXPECT_EQ(load.measure.timeout, 1min);
  EXPECT_EQ(load.measure.labels.size(), 2u);
  EXPECT_EQ(load.measure.labels[1].second, "a b");
  EXPECT_EQ(load.measure.headers.front().first, "X-Scope-OrgID");
  EXPECT_EQ(load.measure.bearer_token_file, "/etc/specs/token");  // next to the spec
  EXPECT_EQ(load.measure.ca_file, "/ca.pem");
}

TEST(ReadSpecMeasure, SelectsTheNamespaceByDefault) {
  const SpecResult spec = spec_with_server("{url: 'http://prom:9090'}");
  ASSERT_TRUE(spec) << spec.error().text();
  const MeasureSpec& measure = spec->services[0].load.measure;
  EXPECT_EQ(measure.history_length, 168h);
  ASSERT_EQ(measure.labels.size(), 1u);
  EXPECT_EQ(measure.labels[0], std::pair(std::string("namespace"), std::string("llm")));
  const auto labels = std::ranges::find(spec->defaults, "services.chat.load.prometheus.labels", &DefaultUsed::path);
  ASSERT_NE(labels, spec->defaults.end());
  EXPECT_EQ(labels->value, "namespace=\"llm\"");
  const SpecResult all = spec_with_server("{url: 'http://prom:9090', labels: {}}");
  ASSERT_TRUE(all) << all.error().text();
  EXPECT_TRUE(all->services[0].load.measure.labels.empty());
}

TEST(ReadSpecMeasure, ReportsMistakes) {
  const struct {
    const char* value;
    const char* message;
  } cases[] = {
      {"{}", "services.chat.load.prometheus lacks \"url\""},
      {"{url: 'prom:9090'}", "url is \"prom:9090\", expected http:// or https:// and a host"},
      {"{url: 'https://me:secret@prom/x'}", "url has a user or a password in the address, expected bearer_token_file"},
      {"{url: 'http://p', over: 1m}", "services.chat.load.prometheus.over"},
      {"{url: 'http://p', over: 30d}",
       "43200 points, 32200 more than Prometheus answers in one query (11000), expected "
       "a step of at least 3m56s"},
      {"{url: 'http://p', labels: {'a-b': c}}", "found the key \"a-b\", expected the name of a label"},
      {"{url: 'http://p', labels: {a: [b]}}", "labels.a: expected a printable text"},
      {"{url: 'http://p', labels: x}", "expected a mapping"},
      {"{url: 'http://p', headers: {'a b': c}}", "expected the name of an HTTP header"},
      {"{url: 'http://p', certificate_file: c}", "states only one of certificate_file and key_file"},
      {"{url: 'http://p', cluster: x}", "found key \"cluster\""},
  };
  for (const auto& c : cases) {
    const SpecResult spec = spec_with_server(c.value);
    ASSERT_FALSE(spec) << c.value;
    EXPECT_NE(spec.error().text().find(c.message), std::string::npos) << c.value << "\n" << spec.error().text();
    EXPECT_EQ(spec.error().text().find("secret"), std::string::npos);
  }
}

}  // namespace
}  // namespace capstan::plan
