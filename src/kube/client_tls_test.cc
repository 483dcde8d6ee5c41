// Checks that the error names a field of the kubeconfig if the server is not trusted or refuses the credentials.
#include <gtest/gtest.h>

#include <optional>

#include "kube/base64.h"
#include "kube/client.h"
#include "net/http_client.h"
#include "net/testing/tls.h"

namespace capstan::kube {
namespace {

using namespace std::chrono_literals;
using net::Certificate;
using net::make_certificate;

/// Returns a kubeconfig for this server with a trusted certificate and a token.
Config config_of(const std::string& url, const Certificate& trusted) {
  const std::string text =
      "current-context: c\n"
      "contexts: [{name: c, context: {cluster: k, user: u}}]\n"
      "clusters:\n- name: k\n  cluster:\n    server: " +
      url + "\n    certificate-authority-data: " + base64_encode(trusted.pem()) +
      "\nusers:\n- name: u\n  user:\n    token: old\n";
  const ReadFile read_file = [&](const std::string&) { return Result<std::string>(text); };
  return read_kubeconfig({"/k/config"}, "", read_file).value();
}

/// Returns the outcome of a read from a server with this certificate and this answer.
Outcome outcome_of(const Certificate& server_certificate, const Certificate& trusted, const std::string& status) {
  net::TlsServer server(server_certificate, trusted);
  server.status = status;
  net::HttpClient http(net::machine_clock());
  Credentials credentials(config_of(server.url, trusted), read_file_from_disk, nullptr, [] { return WallTime{1}; });
  Client client(http, credentials, net::machine_clock(), RandomStream(1, "client"), Client::Options());
  std::optional<Outcome> done;
  client.call(get({resources::kPods, "ns", "name"}), [&](Outcome outcome) { done = std::move(outcome); });
  for (int i = 0; i < 10'000 && !done; ++i) {
    client.run_once();
    http.run_once(1ms);
    server.run_once();
  }
  EXPECT_TRUE(done.has_value());
  return done.value_or(Outcome());
}

TEST(ClientTls, ErrorsNameTheFieldOfTheKubeconfig) {
  const Certificate authority = make_certificate("authority", "", nullptr);
  const Certificate stranger = make_certificate("stranger", "", nullptr);
  const Certificate server_certificate = make_certificate("server", "IP:127.0.0.1", &authority);
  const struct {
    const char* what;
    const Certificate& trusted;
    const char* status;
    Outcome::Kind kind;
    const char* error;
  } rows[] = {
      {"the server's certificate is from another authority", stranger, "200 OK", Outcome::Kind::unreachable,
       "; trusted certificates from /k/config:7:33: cluster \"k\": certificate-authority-data"},
      {"the token is refused", authority, "401 Unauthorized", Outcome::Kind::refused,
       "; credentials from /k/config:11:12: user \"u\": token"},
      {"other errors have no hint", authority, "403 Forbidden", Outcome::Kind::refused, ""},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    const Outcome outcome = outcome_of(server_certificate, row.trusted, row.status);
    EXPECT_EQ(outcome.kind, row.kind);
    const std::string error = outcome.error.text();
    EXPECT_EQ(error.substr(std::min(error.find("; "), error.size())), row.error) << error;
  }
}

}  // namespace
}  // namespace capstan::kube
