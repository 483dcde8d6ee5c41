#include "signals/prometheus_client.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "signals/testing/fake_transport.h"

namespace capstan::signals {
namespace {

using namespace std::chrono_literals;

constexpr const char* kEmpty = R"({"status":"success","data":{"resultType":"vector","result":[]}})";

struct PrometheusClientTest : testing::Test {
  Instant now{1000s};
  FakeTransport network;
  std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "prometheus_client_test";

  void SetUp() override { std::filesystem::create_directories(folder); }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::string file(const std::string& name, const std::string& text) {
    std::ofstream(folder / name) << text;
    return (folder / name).string();
  }

  PrometheusClient make(PrometheusServer server = {}) {
    if (server.url.empty()) server.url = "http://prometheus:9090/";
    return PrometheusClient(network, [this] { return now; }, server);
  }

  std::string outcome;
  PrometheusClient::Callback note() {
    return [this](const Result<ApiAnswer>& answer) {
      outcome = answer ? std::to_string(answer->series.size()) + " series" : answer.error().text();
    };
  }
  const net::Request& last() { return network.started.at(network.last).request; }
  std::string authorization() {
    const std::string* value = net::find_header(last().headers, "Authorization");
    return value == nullptr ? "none" : *value;
  }
};

TEST_F(PrometheusClientTest, AsksQueriesAndRanges) {
  PrometheusClient client = make();
  ASSERT_TRUE(client.instant("up", 1'700'000'000'005, note()).has_value());
  EXPECT_EQ(last().method, "POST");
  EXPECT_EQ(last().url, "http://prometheus:9090/api/v1/query");
  EXPECT_EQ(last().body, "query=up&time=1700000000.005");
  EXPECT_EQ(authorization(), "none");
  network.answer(1, 200, kEmpty);
  EXPECT_EQ(outcome, "0 series");
  ASSERT_TRUE(client.range("up", 1000, 61'000, 15s, note()).has_value());
  EXPECT_EQ(last().url, "http://prometheus:9090/api/v1/query_range");
  EXPECT_EQ(last().body, "query=up&start=1.000&end=61.000&step=15.000");
  EXPECT_FALSE(client.range("up", 61'000, 1000, 15s, note()).has_value());
  EXPECT_EQ(client.in_flight(), 1u);
}

TEST_F(PrometheusClientTest, ReportsTheStatusAndTheMessageOfAFailure) {
  PrometheusClient client = make();
  const auto ended = [&](auto end) {
    EXPECT_TRUE(client.instant("up", std::nullopt, note()).has_value());
    end(network.last);
    return outcome.substr(outcome.find(": ") + 2);
  };
  EXPECT_EQ(
      ended([&](auto id) { network.answer(id, 400, R"({"status":"error","errorType":"bad_data","error":"e"})"); }),
      "HTTP status 400: bad_data: e");
  EXPECT_EQ(ended([&](auto id) { network.answer(id, 502, "<html>"); }), "HTTP status 502, expected 200");
  EXPECT_EQ(ended([&](auto id) { network.answer(id, 401, "no"); }), "HTTP status 401, expected 200");
  EXPECT_EQ(ended([&](auto id) { network.answer(id, 503, kEmpty); }), "HTTP status 503, expected 200");
  EXPECT_TRUE(
      ended([&](auto id) { network.fail(id, net::Failure::tls, "bad certificate"); }).ends_with("bad certificate"));
}

TEST_F(PrometheusClientTest, ReadsCredentialsAgainAfterARefusalOrThirtySeconds) {
  PrometheusServer server;
  server.url = "https://prometheus";
  server.bearer_token_file = file("token", "first\n");
  server.ca_file = file("ca.pem", "the authority");
  server.certificate_file = file("tls.crt", "we");
  server.key_file = file("tls.key", "our key");
  PrometheusClient client = make(server);
  ASSERT_TRUE(client.instant("up", std::nullopt, note()).has_value());
  EXPECT_EQ(authorization(), "Bearer first");
  EXPECT_EQ(last().tls->ca, "the authority");
  EXPECT_EQ(last().tls->certificate, "we");
  EXPECT_EQ(last().tls->key, "our key");
  const auto tls = last().tls;
  file("token", "second");
  ASSERT_TRUE(client.instant("up", std::nullopt, note()).has_value());
  EXPECT_EQ(authorization(), "Bearer first");
  network.answer(network.last, 401, "");
  ASSERT_TRUE(client.instant("up", std::nullopt, note()).has_value());
  EXPECT_EQ(authorization(), "Bearer second") << "after a refusal the file is read at once";
  EXPECT_EQ(last().tls, tls) << "connections stay usable while the certificate is unchanged";
  file("token", "third");
  now = now + kCredentialAge;
  ASSERT_TRUE(client.instant("up", std::nullopt, note()).has_value());
  EXPECT_EQ(authorization(), "Bearer third");
}

TEST_F(PrometheusClientTest, NamesTheInvalidFile) {
  const std::string missing = (folder / "missing").string();
  const struct {
    PrometheusServer server;
    std::string error;
  } rows[] = {
      {{.url = "https://p",
        .headers = {},
        .bearer_token_file = missing,
        .ca_file = {},
        .certificate_file = {},
        .key_file = {}},
       missing + ": cannot be read, expected a bearer token"},
      {{.url = "https://p",
        .headers = {},
        .bearer_token_file = file("empty", ""),
        .ca_file = {},
        .certificate_file = {},
        .key_file = {}},
       (folder / "empty").string() + ": empty or too large, expected a bearer token"},
      {{.url = "https://p",
        .headers = {},
        .bearer_token_file = file("two", "a b"),
        .ca_file = {},
        .certificate_file = {},
        .key_file = {}},
       (folder / "two").string() +
           ": the token contains a blank, a control character or a byte outside ASCII, expected a bearer token"},
      {{.url = "https://p",
        .headers = {},
        .bearer_token_file = {},
        .ca_file = missing,
        .certificate_file = {},
        .key_file = {}},
       missing + ": cannot be read, expected certificates of authorities in PEM"},
      {{.url = "https://p",
        .headers = {},
        .bearer_token_file = {},
        .ca_file = {},
        .certificate_file = file("c", "c"),
        .key_file = {}},
       (folder / "c").string() + ": only one of certificate and key is set, expected both"},
  };
  for (const auto& row : rows) {
    PrometheusClient client = make(row.server);
    const Result<void> asked = client.instant("up", std::nullopt, note());
    ASSERT_FALSE(asked.has_value()) << row.error;
    EXPECT_EQ(asked.error().text(), row.error);
  }
  EXPECT_TRUE(network.started.empty());
}

TEST_F(PrometheusClientTest, CancelsItsRequestsWhenDestroyed) {
  {
    PrometheusClient client = make();
    ASSERT_TRUE(client.instant("up", std::nullopt, note()).has_value());
  }
  EXPECT_EQ(network.cancelled, 1);
}

}  // namespace
}  // namespace capstan::signals
