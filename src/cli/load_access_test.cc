#include "cli/load_access.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

namespace capstan::cli {
namespace {

/// A file of this text for the time of a test.
struct TextFile {
  explicit TextFile(const std::string& text)
      : path(::testing::TempDir() + "load_access_test." + std::to_string(getpid())) {
    std::ofstream(path) << text;
  }
  ~TextFile() { std::remove(path.c_str()); }
  std::string path;
};

TEST(LoadAccess, AKeyIsABearerTokenAndHeadersAreAsWritten) {
  const Result<LoadAccess> access =
      load_access({.api_key = "sk-1", .headers = {"X-Team: search", "X-Empty:"}, .ca_file = {}});
  ASSERT_TRUE(access) << access.error().text();
  EXPECT_EQ(access->headers,
            (std::vector<net::Header>{{"X-Team", "search"}, {"X-Empty", ""}, {"Authorization", "Bearer sk-1"}}));
  EXPECT_EQ(access->tls, nullptr) << "the system's authorities";
  EXPECT_TRUE(load_access({})->headers.empty());
}

TEST(LoadAccess, TrustIsWhatTheUserStated) {
  const TextFile file("-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----\n");
  const Result<LoadAccess> stated = load_access({.api_key = {}, .headers = {}, .ca_file = file.path});
  ASSERT_TRUE(stated && stated->tls) << stated.error().text();
  EXPECT_TRUE(stated->tls->verify);
  EXPECT_TRUE(stated->tls->ca.starts_with("-----BEGIN"));
  const Result<LoadAccess> insecure = load_access({.api_key = {}, .headers = {}, .ca_file = {}, .insecure = true});
  ASSERT_TRUE(insecure && insecure->tls);
  EXPECT_FALSE(insecure->tls->verify);
}

TEST(LoadAccess, RefusesWithoutQuotingSecrets) {
  const TextFile file("no certificate\n");
  const struct {
    LoadAccessArguments arguments;
    const char* error;
  } rows[] = {
      {{.api_key = "sk-secret\n", .headers = {}, .ca_file = {}},
       "--api-key: has a control character, expected a printable key"},
      {{.api_key = "sk-secret", .headers = {"authorization: Basic sk-secret"}, .ca_file = {}},
       "--api-key: found beside a --header Authorization, expected one of the two"},
      {{.api_key = {}, .headers = {"sk-secret"}, .ca_file = {}},
       "--header: found no name before a colon, expected NAME: VALUE"},
      {{.api_key = {}, .headers = {": sk-secret"}, .ca_file = {}},
       "--header: found no name before a colon, expected NAME: VALUE"},
      {{.api_key = {}, .headers = {"X-Key: sk-secret\r\nX-Other: 1"}, .ca_file = {}},
       "--header: X-Key has a control character, expected a printable value"},
      {{.api_key = {}, .headers = {"Content-Type: text/plain"}, .ca_file = {}},
       "--header: Content-Type is set by each request itself, expected another one"},
      {{.api_key = {}, .headers = {}, .ca_file = "/nowhere/ca.pem"},
       "/nowhere/ca.pem: cannot be opened, expected a PEM file of certificates"},
  };
  for (const auto& row : rows) {
    const Result<LoadAccess> access = load_access(row.arguments);
    ASSERT_FALSE(access) << row.error;
    EXPECT_EQ(access.error().text(), row.error);
    EXPECT_EQ(access.error().text().find("sk-secret"), std::string::npos);
  }
  EXPECT_EQ(load_access({.api_key = {}, .headers = {}, .ca_file = file.path}).error().text(),
            file.path + ": holds no certificate, expected a PEM file of certificates");
}

}  // namespace
}  // namespace capstan::cli
