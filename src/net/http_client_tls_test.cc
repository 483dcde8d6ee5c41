// Certificates: whom the client trusts, who it says it is.
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
  const Certificate stranger = make_certificate("stranger", "", nullptr);
  const Certificate me = make_certificate("me", "", &authority);

  /// An exchange with a server that has this certificate.
  Exchange exchange(const Certificate& of_server, const Tls& tls) {
    TlsServer server(of_server, authority);
    HttpClient client(machine_clock());
    std::optional<Exchange> done;
    Request request;
    request.url = server.url;
    request.tls = std::make_shared<const Tls>(tls);
    client.start(std::move(request),
                 {.on_headers = {}, .on_body = {}, .on_done = [&](Exchange e) { done = std::move(e); }});
    for (int i = 0; i < 10'000 && !done; ++i) {
      client.run_once(1ms);
      server.turn();
    }
    EXPECT_TRUE(done.has_value());
    return done.value_or(Exchange());
  }
};

TEST_F(HttpClientTls, TheServerMustBeWhoWeAskedFor) {
  const Certificate server = make_certificate("server", "IP:127.0.0.1", &authority);
  const Certificate elsewhere = make_certificate("server", "DNS:elsewhere", &authority);
  const std::string ca = authority.pem();
  EXPECT_EQ(exchange(server, {.ca = ca, .certificate = {}, .key = {}, .server_name = {}}).response.body,
            "nobody at an address");
  EXPECT_EQ(exchange(server, {.ca = stranger.pem(), .certificate = {}, .key = {}, .server_name = {}}).failure,
            Failure::tls);
  EXPECT_EQ(exchange(elsewhere, {.ca = ca, .certificate = {}, .key = {}, .server_name = {}}).failure, Failure::tls);
  EXPECT_EQ(exchange(elsewhere, {.ca = ca, .certificate = {}, .key = {}, .server_name = "elsewhere"}).response.body,
            "nobody at elsewhere");
  EXPECT_EQ(
      exchange(elsewhere, {.ca = {}, .certificate = {}, .key = {}, .server_name = {}, .verify = false}).response.status,
      200);
}

/// What a person is told of a server that cannot be trusted.
TEST_F(HttpClientTls, AFailureSaysWhy) {
  const Certificate server = make_certificate("server", "IP:127.0.0.1", &authority);
  const Certificate elsewhere = make_certificate("server", "DNS:elsewhere", &authority);
  const struct {
    const Certificate& server;
    std::string ca;
    const char* words;
  } rows[] = {
      {server, stranger.pem(), "SSL certificate problem: "},
      {server, "", "SSL certificate problem: "},
      {elsewhere, authority.pem(), "127.0.0.1"},
      {server, "no certificate", "CA"},
  };
  for (const auto& row : rows) {
    const Exchange failed = exchange(row.server, {.ca = row.ca, .certificate = {}, .key = {}, .server_name = {}});
    EXPECT_EQ(failed.failure, Failure::tls) << failed.message;
    EXPECT_TRUE(failed.message.starts_with("https://127.0.0.1:")) << failed.message;
    EXPECT_NE(failed.message.find(row.words), std::string::npos) << failed.message;
  }
}

TEST_F(HttpClientTls, TheServerLearnsWhoWeAre) {
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
