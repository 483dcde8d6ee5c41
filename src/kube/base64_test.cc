#include "kube/base64.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace capstan::kube {
namespace {

TEST(Base64, EncodesAndDecodes) {
  EXPECT_EQ(base64_encode(""), "");
  EXPECT_EQ(base64_encode("f"), "Zg==");
  EXPECT_EQ(base64_encode("fo"), "Zm8=");
  EXPECT_EQ(base64_encode("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64_decode("Zm9v\nYmFy\n"), "foobar");
  for (const std::string_view text : {"Zg=", "Zg", "Z===", "Zg==Zg==", "Zm9v!", "===="}) {
    EXPECT_EQ(base64_decode(text), std::nullopt) << text;
  }
}

RC_GTEST_PROP(Base64, DecodingReversesEncoding, (const std::string& bytes)) {
  RC_ASSERT(base64_decode(base64_encode(bytes)) == bytes);
}

}  // namespace
}  // namespace capstan::kube
