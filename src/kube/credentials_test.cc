#include "kube/credentials.h"

#include <gtest/gtest.h>

namespace capstan::kube {
namespace {

using namespace std::chrono_literals;

/// A plugin whose output comes from the test.
struct FakePlugin : Plugin {
  int starts = 0;
  int stops = 0;
  std::string cluster_info;
  std::optional<Result<std::string>> output;

  Result<void> start(const ExecConfig&, const std::string& info) override {
    ++starts;
    cluster_info = info;
    return {};
  }
  std::optional<Result<std::string>> poll() override { return std::exchange(output, std::nullopt); }
  void stop() override { ++stops; }
};

struct PluginTest : testing::Test {
  FakePlugin* plugin = new FakePlugin;
  WallTime wall = *read_wall_time("2026-11-21T16:00:00Z");
  Credentials credentials{config(), read_file_from_disk, std::unique_ptr<Plugin>(plugin), [this] { return wall; }};

  static Config config() {
    Config config;
    config.server = "https://a";
    config.ca = "ca";
    config.exec = {.api_version = "client.authentication.k8s.io/v1",
                   .command = "get",
                   .args = {},
                   .env = {},
                   .provide_cluster_info = true,
                   .install_hint = {}};
    return config;
  }
  static std::string answer(const std::string& status) {
    return R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{)" + status + "}}";
  }
  std::string authorization() const {
    net::Request request;
    credentials.sign(request);
    return request.headers.empty() ? "" : request.headers[0].value;
  }
};

TEST_F(PluginTest, RunsAgainShortlyBeforeItsCredentialsExpire) {
  credentials.run_once(Instant{0s});
  EXPECT_FALSE(credentials.ready());
  EXPECT_EQ(
      plugin->cluster_info,
      R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","spec":{"interactive":false,)"
      R"("cluster":{"server":"https://a","certificate-authority-data":"Y2E=","insecure-skip-tls-verify":false}}})");
  plugin->output = answer(R"("token":"one","expirationTimestamp":"2026-11-21T16:10:00Z")");
  credentials.run_once(Instant{1s});
  EXPECT_TRUE(credentials.ready());
  EXPECT_EQ(authorization(), "Bearer one");
  EXPECT_EQ(credentials.next_deadline(), Instant{1s + 600s - 30s});

  credentials.run_once(Instant{570s});
  EXPECT_EQ(plugin->starts, 1);
  credentials.run_once(Instant{571s});
  EXPECT_EQ(plugin->starts, 2);
  EXPECT_EQ(authorization(), "Bearer one") << "the old token is used until the new one arrives";
  plugin->output = answer(R"("token":"two")");
  credentials.run_once(Instant{572s});
  EXPECT_EQ(authorization(), "Bearer two");
}

TEST_F(PluginTest, ARefusedTokenIsReplacedAndNotUsedAgain) {
  plugin->output = answer(R"("token":"one")");
  credentials.run_once(Instant{0s});
  ASSERT_TRUE(credentials.ready());
  credentials.refused();
  EXPECT_FALSE(credentials.ready());
  plugin->output = answer(R"("token":"two")");
  credentials.run_once(Instant{0s});
  EXPECT_TRUE(credentials.ready());
  EXPECT_EQ(authorization(), "Bearer two");
}

TEST_F(PluginTest, MayGiveACertificate) {
  plugin->output = answer(R"("clientCertificateData":"cert","clientKeyData":"key")");
  credentials.run_once(Instant{0s});
  net::Request request;
  credentials.sign(request);
  EXPECT_TRUE(request.headers.empty());
  EXPECT_EQ(*request.tls,
            (net::Tls{.ca = "ca", .certificate = "cert", .key = "key", .server_name = {}, .verify = true}));
}

TEST_F(PluginTest, InvalidOutputIsAnError) {
  const std::pair<std::string, std::string> rows[] = {
      {"", "its output is not JSON: Empty: no JSON found"},
      {"{}", "its output is not an ExecCredential of client.authentication.k8s.io/v1"},
      {answer(""), "status has no credentials, expected token or both clientCertificateData and clientKeyData"},
      {answer(R"("clientKeyData":"key")"),
       "status has no credentials, expected token or both clientCertificateData and clientKeyData"},
      {answer(R"("token":"x","expirationTimestamp":"soon")"),
       "status.expirationTimestamp is not a time, expected RFC 3339"},
  };
  Instant now{0s};
  for (const auto& [output, error] : rows) {
    plugin->output = output;
    credentials.run_once(now);
    ASSERT_TRUE(credentials.error());
    EXPECT_EQ(credentials.error()->text(), "exec plugin get: " + error);
    EXPECT_FALSE(credentials.ready());
    now = now + Credentials::kRetryAfterFailure;
  }
}

TEST_F(PluginTest, IsStoppedAfterThirtySeconds) {
  credentials.run_once(Instant{0s});
  credentials.run_once(Instant{29s});
  EXPECT_EQ(plugin->stops, 0);
  credentials.run_once(Instant{30s});
  EXPECT_EQ(plugin->stops, 1);
  EXPECT_EQ(credentials.error()->text(), "exec plugin get: no answer within 30 s");
}

TEST(Credentials, StaticCredentialsAreReadyAtOnce) {
  Config config;
  config.username = "me";
  config.password = "pass word";
  const Credentials credentials(config, read_file_from_disk, nullptr, [] { return WallTime{}; });
  EXPECT_TRUE(credentials.ready());
  EXPECT_EQ(credentials.next_deadline(), Instant::never());
  net::Request request;
  credentials.sign(request);
  EXPECT_EQ(request.headers, (std::vector<net::Header>{{"Authorization", "Basic bWU6cGFzcyB3b3Jk"}}));
}

}  // namespace
}  // namespace capstan::kube
