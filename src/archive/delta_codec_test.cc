#include "archive/delta_codec.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace capstan::archive {
namespace {

RC_GTEST_PROP(DeltaCodec, GivesEveryTextAgain, (const std::string& before, const std::string& text)) {
  const Result<std::string> again = decompress_after(before, compress_after(before, text));
  RC_ASSERT(again.has_value());
  RC_ASSERT(*again == text);
}

RC_GTEST_PROP(DeltaCodec, DamagedBytesAreAnErrorOrTheText, (const std::string& before, const std::string& text)) {
  std::string bytes = compress_after(before, text);
  const auto at = *rc::gen::inRange<std::size_t>(0, bytes.size());
  bytes[at] = static_cast<char>(bytes[at] ^ (1 << *rc::gen::inRange(0, 8)));
  const Result<std::string> again = decompress_after(before, bytes);
  RC_ASSERT((!again || *again == text));  // some bits of a frame's header carry no meaning
}

TEST(DeltaCodec, ATextLikeThePreviousOneCompressesToFewBytes) {
  std::string before;
  for (int i = 0; i < 100'000; ++i) before += "row " + std::to_string(i * 7919 % 100'003) + '\n';
  std::string text = before;
  text.replace(500'000, 5, "other");
  EXPECT_LT(compress_after(before, text).size(), 200U);
  EXPECT_GT(compress_after({}, text).size(), 100'000U);
}

TEST(DeltaCodec, DecompressingAfterAnotherTextIsAnError) {
  const std::string before(1000, 'a');
  const std::string bytes = compress_after(before, before + "b");
  EXPECT_FALSE(decompress_after(std::string(1000, 'c'), bytes));
  EXPECT_FALSE(decompress_after({}, bytes.substr(0, bytes.size() / 2)));
  EXPECT_FALSE(decompress_after({}, ""));
}

}  // namespace
}  // namespace capstan::archive
