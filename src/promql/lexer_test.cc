#include "promql/lexer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace capstan::promql {
namespace {

using namespace std::chrono_literals;

TEST(PromqlLexer, ReadsNumbersLikeGo) {
  EXPECT_EQ(number_value("0x1F"), 31);
  EXPECT_EQ(number_value("017"), 15);
  EXPECT_EQ(number_value("019"), 19);
  EXPECT_EQ(number_value(".5e1"), 5);
  EXPECT_EQ(number_value("1e-999"), 0);
  EXPECT_EQ(number_value("0." + std::string(400, '0') + "1"), 0);
  EXPECT_EQ(number_value("iNf"), std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(*number_value("NaN")));
  for (const std::string& invalid : std::vector<std::string>{"1" + std::string(400, '0'), "1e999", "0x", "0x1.8", "1e",
                                                             "1e+", "0xffffffffffffffffff"}) {
    EXPECT_FALSE(number_value(invalid).has_value()) << invalid;
  }
}

TEST(PromqlLexer, DurationsNameEachUnitOnceAndInOrder) {
  EXPECT_EQ(duration_value("1h30m"), 90min);
  EXPECT_EQ(duration_value("1y1w1d1h1m1s1ms"), 8760h + 168h + 24h + 1h + 1min + 1s + 1ms);
  for (const char* invalid : {"5", "m", "5x", "1m1h", "1m1m", "5m ", "300y", "99999999999999999999s"}) {
    EXPECT_FALSE(duration_value(invalid).has_value()) << invalid;
  }
}

TEST(PromqlLexer, ResolvesEscapesInStrings) {
  EXPECT_EQ(string_value(R"("a\"\\\n\x41\u00e9\101")"),
            "a\"\\\nA\xc3\xa9"
            "A");
  EXPECT_EQ(string_value(R"('it\'s')"), "it's");
  EXPECT_EQ(string_value("`a\\n`"), "a\\n");
  EXPECT_EQ(string_value(R"("\U0001F600")"), "\xf0\x9f\x98\x80");
  for (const char* invalid : {R"("\q")", R"("\'")", R"("\x4")", R"("\400")", R"("\ud800")", R"("\U00110000")"}) {
    EXPECT_FALSE(string_value(invalid).has_value()) << invalid;
  }
}

TEST(PromqlLexer, TokensHaveTheirPlace) {
  const std::string source = "q";
  const Result<std::vector<Token>> tokens = read_tokens("a # b\n  >= 5m", source);
  ASSERT_TRUE(tokens.has_value());
  ASSERT_EQ(tokens->size(), 4u);
  EXPECT_EQ((*tokens)[1].text, ">=");
  EXPECT_EQ((*tokens)[1].span.begin, (Place{8, 2, 3}));
  EXPECT_EQ((*tokens)[2].kind, Token::Kind::duration);
  EXPECT_EQ((*tokens)[3].kind, Token::Kind::end);
}

}  // namespace
}  // namespace capstan::promql
