#include "serve/packed.h"

#include <gtest/gtest.h>

namespace capstan::serve {
namespace {

TEST(Packed, IsGzipInBase64) {
  for (const std::size_t size : {0, 1, 2, 3, 4, 1000}) {
    const std::string text = packed(std::string(size, 'a'));
    EXPECT_TRUE(text.starts_with("H4sI")) << text;
    EXPECT_EQ(text.size() % 4, 0U);
    EXPECT_LT(text.size(), 60U);
  }
}

}  // namespace
}  // namespace capstan::serve
