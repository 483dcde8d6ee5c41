#include "promql/words.h"

#include <gtest/gtest.h>

namespace capstan::promql {
namespace {

Token word(std::string_view text) { return {.kind = Token::Kind::word, .text = text, .span = {}}; }

TEST(PromqlWords, ReadsEveryOperatorFromItsText) {
  for (auto op = Binary::Op::add; op <= Binary::Op::unless; op = static_cast<Binary::Op>(static_cast<int>(op) + 1)) {
    const Token token{
        .kind = text(op)[0] >= 'a' ? Token::Kind::word : Token::Kind::symbol, .text = text(op), .span = {}};
    EXPECT_EQ(binary_operator(token), op);
  }
  EXPECT_EQ(aggregation_operator(word("Count_Values")), Aggregation::Op::count_values);
  EXPECT_FALSE(aggregation_operator(word("summe")).has_value());
  EXPECT_TRUE(is_reserved(word("Group_Left")));
  EXPECT_FALSE(is_reserved(word("unless")));
}

TEST(PromqlWords, SuggestsASimilarFunction) {
  EXPECT_EQ(suggested_function("increas"), ", did you mean \"increase\"?");
  EXPECT_EQ(suggested_function("nothing_like_it"), "");
}

}  // namespace
}  // namespace capstan::promql
