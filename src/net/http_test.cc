#include "net/http.h"

#include <gtest/gtest.h>

namespace capstan::net {
namespace {

TEST(Http, FindsTheFirstHeaderInAnyCase) {
  const std::vector<Header> headers = {{"Retry-After", "3"}, {"retry-after", "9"}, {"Content-Type", ""}};
  EXPECT_EQ(*find_header(headers, "RETRY-AFTER"), "3");
  EXPECT_EQ(*find_header(headers, "content-type"), "");
  EXPECT_EQ(find_header(headers, "retry"), nullptr);
}

TEST(Http, EveryFailureHasAName) { EXPECT_EQ(name_of(Failure::idle_timeout), "idle_timeout"); }

}  // namespace
}  // namespace capstan::net
