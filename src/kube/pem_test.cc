#include "kube/pem.h"

#include <gtest/gtest.h>

#include "net/testing/tls.h"

namespace capstan::kube {
namespace {

using net::make_certificate;

TEST(Pem, FindsCertificatesAndKeys) {
  const auto me = make_certificate("me", "", nullptr);
  const auto other = make_certificate("other", "", nullptr);
  const std::string broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
  const std::string locked = "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n";
  const struct {
    const char* what;
    std::string pem;
    bool certificates;
    bool key;
  } rows[] = {
      {"nothing", "", false, false},
      {"not PEM", "hello", false, false},
      {"a certificate", me.pem(), true, false},
      {"a bundle with comments between", "first:\n" + me.pem() + "second:\n" + other.pem(), true, false},
      {"a certificate and its key", me.pem() + me.key_pem(), true, true},
      {"a key", me.key_pem(), false, true},
      {"a key with a password", locked, false, false},
      {"an invalid certificate", broken, false, false},
      {"a valid and an invalid certificate", me.pem() + broken, false, false},
      {"a truncated certificate", me.pem().substr(0, me.pem().size() / 2), false, false},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(has_valid_certificates(row.pem), row.certificates) << row.what;
    EXPECT_EQ(has_private_key(row.pem), row.key) << row.what;
  }
  EXPECT_TRUE(key_matches(me.pem(), me.key_pem()));
  EXPECT_TRUE(key_matches(me.pem() + other.pem(), me.key_pem())) << "the first certificate of a chain is the client's";
  EXPECT_FALSE(key_matches(other.pem(), me.key_pem()));
  EXPECT_FALSE(key_matches("", me.key_pem()));
  EXPECT_FALSE(key_matches(me.pem(), ""));
}

}  // namespace
}  // namespace capstan::kube
