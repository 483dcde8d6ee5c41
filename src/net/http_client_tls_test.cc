// Tests the verification of server certificates and the use of client certificates.
#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "net/http_client.h"
#include "net/testing/tls.h"

namespace capstan::net {
namespace {

using namespace std::chrono_literals;

struct HttpClientTls : testing::Test {
  const Certificate authority = make_certificate("authority", "", nullptr);
  const Certificate other_authority = make_certificate("other", "", nullptr);
  const Certificate me = make_certificate("me", "", &authority);

  /// Runs an exchange with a server that has this certificate.
  Exchange exchange(const Certificate& server_certificate, const Tls& tls) {
    TlsServer server(server_certificate, authority);
    HttpClient client(machine_clock());
    std::optional<Exchange> done;
    Request request;
    request.url = server.url;
    request.tls = std::make_shared<const Tls>(tls);
    client.start(std::move(request),
                 {.on_headers = {}, .on_body = {}, .on_done = [&](Exchange e) { done = std::move(e); }});
    for (int i = 0; i < 10'000 && !done; ++i) {
      client.run_once(1ms);
      server.run_once();
    }
    EXPECT_TRUE(done.has_value());
    return done.value_or(Exchange());
  }
};

TEST_F(HttpClientTls, VerifiesTheServer) {
  const Certificate server = make_certificate("server", "IP:127.0.0.1", &authority);
  const Certificate elsewhere = make_certificate("server", "DNS:elsewhere", &authority);
  const std::string ca = authority.pem();
  EXPECT_EQ(exchange(server, {.ca = ca, .certificate = {}, .key = {}, .server_name = {}}).response.body,
            "no client at an address");
  EXPECT_EQ(exchange(server, {.ca = other_authority.pem(), .certificate = {}, .key = {}, .server_name = {}}).failure,
            Failure::tls);
  EXPECT_EQ(exchange(elsewhere, {.ca = ca, .certificate = {}, .key = {}, .server_name = {}}).failure, Failure::tls);
  EXPECT_EQ(exchange(elsewhere, {.ca = ca, .certificate = {}, .key = {}, .server_name = "elsewhere"}).response.body,
            "no client at elsewhere");
  EXPECT_EQ(
      exchange(elsewhere, {.ca = {}, .certificate = {}, .key = {}, .server_name = {}, .verify = false}).response.status,
      200);
}

TEST_F(HttpClientTls, AFailureHasTheReasonOfOpenSsl) {
  const Certificate server = make_certificate("server", "IP:127.0.0.1", &authority);
  const Certificate elsewhere = make_certificate("server", "DNS:elsewhere", &authority);
  const struct {
    const Certificate& server;
    std::string ca;
    const char* part;
  } rows[] = {
      {server, other_authority.pem(), "SSL certificate problem: "},
      {server, "", "SSL certificate problem: "},
      {elsewhere, authority.pem(), "127.0.0.1"},
      {server, "no certificate", "CA"},
  };
  for (const auto& row : rows) {
    const Exchange failed = exchange(row.server, {.ca = row.ca, .certificate = {}, .key = {}, .server_name = {}});
    EXPECT_EQ(failed.failure, Failure::tls) << failed.message;
    EXPECT_TRUE(failed.message.starts_with("https://127.0.0.1:")) << failed.message;
    EXPECT_NE(failed.message.find(row.part), std::string::npos) << failed.message;
  }
}

TEST_F(HttpClientTls, SendsTheClientCertificate) {
  const Certificate server = make_certificate("server", "IP:127.0.0.1", &authority);
  Tls tls{.ca = authority.pem(), .certificate = me.pem(), .key = me.key_pem(), .server_name = {}};
  EXPECT_EQ(exchange(server, tls).response.body, "me at an address");
  tls.key = "no key";
  const Exchange broken = exchange(server, tls);
  EXPECT_EQ(broken.failure, Failure::tls);
  EXPECT_FALSE(broken.sent);
}

}  // namespace
}  // namespace capstan::net
