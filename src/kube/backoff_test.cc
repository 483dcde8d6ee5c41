#include "kube/backoff.h"

#include <gtest/gtest.h>

namespace capstan::kube {
namespace {

TEST(Backoff, DoublesWithinItsBounds) {
  RandomStream random(1, "backoff");
  Backoff backoff;
  Duration whole = Backoff::kFirst;
  for (int i = 0; i < 100; ++i) {
    const Duration wait = backoff.after_failure(random);
    EXPECT_GE(wait, whole / 2);
    EXPECT_LE(wait, whole);
    whole = std::min(Backoff::kCap, whole * 2);
  }
  backoff.succeeded();
  EXPECT_LE(backoff.after_failure(random), Backoff::kFirst);
}

}  // namespace
}  // namespace capstan::kube
