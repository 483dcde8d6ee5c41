#include "emulator/addresses.h"

#include <gtest/gtest.h>

namespace capstan::emulator {
namespace {

TEST(Addresses, ParsesAnAddressAndARange) {
  EXPECT_EQ(parse_addresses("127.0.0.1:80")->size(), 1u);
  EXPECT_EQ(parse_addresses("[::1]:80")->front().text(), "[::1]:80");
  const auto range = parse_addresses("127.16.0.250-127.16.1.3:8000");
  ASSERT_TRUE(range.has_value());
  EXPECT_EQ(range->size(), 10u);
  EXPECT_EQ(range->front().text(), "127.16.0.250:8000");
  EXPECT_EQ(range->at(6).text(), "127.16.1.0:8000");
  EXPECT_EQ(range->back().text(), "127.16.1.3:8000");
  EXPECT_EQ(parse_addresses("127.0.0.0-127.0.255.255:1")->size(), kMaxAddresses);
}

TEST(Addresses, RefusesOtherTexts) {
  for (const char* text : {"", "-", "127.0.0.1", "127.0.0.2-127.0.0.1:80", "127.0.0.0-127.1.0.0:80", "::1-::2:80",
                           "[::1]-[::2]:80", "127.0.0.1:80-127.0.0.2:80", "127.0.0.1-:80", "-127.0.0.1:80"}) {
    const auto addresses = parse_addresses(text);
    ASSERT_FALSE(addresses.has_value()) << text;
    EXPECT_EQ(addresses.error().kind, ErrorKind::usage);
    EXPECT_NE(addresses.error().message.find("expected"), std::string::npos);
  }
}

}  // namespace
}  // namespace capstan::emulator
