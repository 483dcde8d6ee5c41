#include "kube/token_bucket.h"

#include <gtest/gtest.h>

namespace capstan::kube {
namespace {

using namespace std::chrono_literals;

TEST(TokenBucket, AllowsABurstAndThenTheRate) {
  TokenBucket bucket(10, 3);
  const Instant start{5s};
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(bucket.take(start)) << i;
  EXPECT_FALSE(bucket.take(start));
  EXPECT_EQ(bucket.next(), start + 100ms);
  int passed = 0;
  for (Instant now = start; now < start + 10s; now = now + 1ms) passed += bucket.take(now) ? 1 : 0;
  EXPECT_EQ(passed, 99);
  EXPECT_TRUE(bucket.take(start + 60s));
  EXPECT_TRUE(bucket.take(start + 60s));
  EXPECT_TRUE(bucket.take(start + 60s));
  EXPECT_FALSE(bucket.take(start + 60s)) << "a long pause allows no more than the burst";
}

}  // namespace
}  // namespace capstan::kube
