#include "emulator/load_access.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

namespace capstan::emulator {
namespace {

/// A file with this text, deleted at the end of a test.
struct TextFile {
  explicit TextFile(const std::string& text)
      : path(::testing::TempDir() + "load_access_test." + std::to_string(getpid())) {
    std::ofstream(path) << text;
  }
  ~TextFile() { std::remove(path.c_str()); }
  std::string path;
};

TEST(LoadAccess, AKeyBecomesABearerTokenAndHeadersStayAsWritten) {
  const Result<LoadAccess> access =
      load_access({.api_key = "sk-1", .headers = {"X-Team: search", "X-Empty:"}, .ca_file = {}});
  ASSERT_TRUE(access) << access.error().text();
  EXPECT_EQ(access->headers,
            (std::vector<net::Header>{{"X-Team", "search"}, {"X-Empty", ""}, {"Authorization", "Bearer sk-1"}}));
  EXPECT_EQ(access->tls, nullptr) << "without options, the system's authorities are trusted";
  EXPECT_TRUE(load_access({})->headers.empty());
}

TEST(LoadAccess, TrustsTheNamedAuthoritiesOrAnyCertificate) {
  const TextFile file("-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----\n");
  const Result<LoadAccess> with_ca = load_access({.api_key = {}, .headers = {}, .ca_file = file.path});
  ASSERT_TRUE(with_ca && with_ca->tls) << with_ca.error().text();
  EXPECT_TRUE(with_ca->tls->verify);
  EXPECT_TRUE(with_ca->tls->ca.starts_with("-----BEGIN"));
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
       "--api-key: found together with --header Authorization, expected only one of the two"},
      {{.api_key = {}, .headers = {"sk-secret"}, .ca_file = {}},
       "--header: found no name before a colon, expected NAME: VALUE"},
      {{.api_key = {}, .headers = {": sk-secret"}, .ca_file = {}},
       "--header: found no name before a colon, expected NAME: VALUE"},
      {{.api_key = {}, .headers = {"X-Key: sk-secret\r\nX-Other: 1"}, .ca_file = {}},
       "--header: X-Key has a control character, expected a printable value"},
      {{.api_key = {}, .headers = {"Content-Type: text/plain"}, .ca_file = {}},
       "--header: Content-Type is set by Capstan itself, expected another header"},
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
}  // namespace capstan::emulator
