#include "model/reason.h"

#include <gtest/gtest.h>

#include <set>

namespace capstan::model {
namespace {

TEST(Reason, EveryCodeHasItsOwnNameAndASentenceThatTakesItsNumbers) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < reason_count(); ++i) {
    const Reason reason{static_cast<ReasonCode>(i), {11, 22, 33, 44}};
    EXPECT_TRUE(names.insert(name(reason.code)).second) << name(reason.code);
    EXPECT_EQ(sentence(reason).find('{'), std::string::npos) << name(reason.code);
    EXPECT_FALSE(sentence(reason).empty());
  }
}

TEST(Reason, NumbersStandWhereTheSentenceSays) {
  EXPECT_EQ(sentence({ReasonCode::never_fits, {16, 8, 0, 0}}),
            "the gang needs 16 GPUs together, the largest domain has 8 and no pool may buy more than 0");
  EXPECT_EQ(sentence({ReasonCode::queue_above_target, {1, 4, 2, 1}}),
            "1 request waits; at 4 a replica that needs 2, 1 is counted");
  EXPECT_EQ(sentence({ReasonCode::queue_above_target, {0, 4, 0, 2}}),
            "0 requests wait; at 4 a replica that needs 0, 2 are counted");
}

}  // namespace
}  // namespace capstan::model
