#include "net/url.h"

#include <gtest/gtest.h>

namespace capstan::net {
namespace {

TEST(Url, EncodesReservedCharacters) {
  EXPECT_EQ(percent_encode("a-b.c_d~9Z"), "a-b.c_d~9Z");
  EXPECT_EQ(percent_encode("a/b?c=d&e f+%"), "a%2Fb%3Fc%3Dd%26e%20f%2B%25");
  EXPECT_EQ(percent_encode("\xc3\xa9\n"), "%C3%A9%0A");
}

TEST(Url, AddsToAQuery) {
  std::string url = "/api/v1/pods";
  add_query(url, "limit", "500");
  add_query(url, "continue", "ey=");
  EXPECT_EQ(url, "/api/v1/pods?limit=500&continue=ey%3D");
}

}  // namespace
}  // namespace capstan::net
