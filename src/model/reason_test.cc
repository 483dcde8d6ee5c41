#include "model/reason.h"

#include <gtest/gtest.h>

#include <set>

#include "model/reason_sentence.h"

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
  EXPECT_EQ(
      sentence({ReasonCode::never_fits, {16, 8, 0, 1}}),
      "the gang needs 16 GPUs in one NVLink domain; the largest one that exists has 8, and the limits let no pool buy "
      "any: raise a limit, add an instance type, or use fewer GPUs");
  EXPECT_EQ(sentence({ReasonCode::queue_above_target, {1, 4, 2, 1}}),
            "1 request waits, and the target is 4 per replica: 2 replicas are needed, and 1 runs or starts");
  EXPECT_EQ(sentence({ReasonCode::queue_above_target, {0, 4, 1, 2}}),
            "0 requests wait, and the target is 4 per replica: 1 replica is needed, and 2 run or start");
}

TEST(Reason, AnObjectHasItsNameWhereACatalogKnowsIt) {
  Catalog catalog;
  catalog.queues.push_back({.name = "research", .parent = {}});
  const Reason full{ReasonCode::queue_limit, {4, 2, 5, 0}};
  EXPECT_EQ(sentence(full, catalog), "queue \"research\" holds 4 of its limit of 5 GPUs, and the gang needs 2 more");
  EXPECT_EQ(sentence(full), "queue 0 holds 4 of its limit of 5 GPUs, and the gang needs 2 more");
}

}  // namespace
}  // namespace capstan::model
