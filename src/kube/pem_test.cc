#include "kube/pem.h"

#include <gtest/gtest.h>

#include "net/testing/tls.h"

namespace capstan::kube {
namespace {

using net::make_certificate;

TEST(Pem, WhatIsInIt) {
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
      {"no PEM", "hello", false, false},
      {"a certificate", me.pem(), true, false},
      {"a bundle with words between", "of ours:\n" + me.pem() + "of others:\n" + other.pem(), true, false},
      {"a certificate and its key", me.pem() + me.key_pem(), true, true},
      {"a key", me.key_pem(), false, true},
      {"a key behind a password", locked, false, false},
      {"no certificate within the frame", broken, false, false},
      {"a good one and a broken one", me.pem() + broken, false, false},
      {"cut short", me.pem().substr(0, me.pem().size() / 2), false, false},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(holds_certificates(row.pem), row.certificates) << row.what;
    EXPECT_EQ(holds_private_key(row.pem), row.key) << row.what;
  }
  EXPECT_TRUE(key_fits(me.pem(), me.key_pem()));
  EXPECT_TRUE(key_fits(me.pem() + other.pem(), me.key_pem())) << "a chain begins with our own";
  EXPECT_FALSE(key_fits(other.pem(), me.key_pem()));
  EXPECT_FALSE(key_fits("", me.key_pem()));
  EXPECT_FALSE(key_fits(me.pem(), ""));
}

}  // namespace
}  // namespace capstan::kube
