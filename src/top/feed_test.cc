#include "top/feed.h"

#include <gtest/gtest.h>
#include <poll.h>

namespace capstan::top {
namespace {

bool has_news(const Feed& feed) {
  pollfd descriptor{feed.poll_fd(), POLLIN, 0};
  return poll(&descriptor, 1, 0) == 1;
}

TEST(Feed, HasTheLatestFactsOnly) {
  Feed feed;
  EXPECT_FALSE(has_news(feed));
  EXPECT_EQ(feed.latest().facts, nullptr);
  feed.show({.policy = "one"});
  feed.show({.policy = "two"});
  feed.set_notice("the file was cut");
  EXPECT_TRUE(has_news(feed));
  const Feed::LatestFacts latest = feed.latest();
  EXPECT_EQ(latest.facts->policy, "two");
  EXPECT_EQ(latest.notice, "the file was cut");
  EXPECT_FALSE(has_news(feed));
  feed.set_state("ended");
  EXPECT_TRUE(has_news(feed));
  EXPECT_EQ(feed.latest().facts, latest.facts);
}

}  // namespace
}  // namespace capstan::top
