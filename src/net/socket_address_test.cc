#include "net/socket_address.h"

#include <gtest/gtest.h>

namespace capstan::net {
namespace {

TEST(SocketAddress, ParsesItsOwnText) {
  for (const char* text : {"127.0.0.1:8000", "[::1]:80", "0.0.0.0:0", "[fe80::1]:65535"}) {
    const auto address = parse_socket_address(text);
    ASSERT_TRUE(address.has_value()) << text;
    EXPECT_EQ(address->text(), text);
  }
  EXPECT_EQ(parse_socket_address("[0:0::0:1]:1")->host, "::1");
}

TEST(SocketAddress, RefusesInvalidAddresses) {
  for (const char* text : {"", ":", ":80", "localhost:80", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1",
                           "127.0.0.1:8x", "::1:80", "[::1]", "[127.0.0.1]:80", "256.0.0.1:80", "[]:80"}) {
    const auto address = parse_socket_address(text);
    ASSERT_FALSE(address.has_value()) << text;
    EXPECT_EQ(address.error().kind, ErrorKind::usage);
    EXPECT_NE(address.error().message.find("expected"), std::string::npos);
  }
}

}  // namespace
}  // namespace capstan::net
