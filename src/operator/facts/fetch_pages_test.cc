#include "operator/facts/fetch_pages.h"

#include <gtest/gtest.h>

namespace capstan::op {
namespace {

TEST(FetchPages, AnAddressWithoutAServerBreaksThePort) {
  net::HttpClient http(net::machine_clock());
  const auto fetched = fetch_pages(http, net::machine_clock(), {"http://127.0.0.1:1/metrics"});
  const PageFacts facts = facts_of(fetched.at(0), {.source = "chat-0", .model = "", .engine = "", .pod = ""});
  EXPECT_FALSE(facts.pod.error.empty());
  explain::SignalFacts all;
  all.pods = {facts.pod};
  EXPECT_EQ(signal_path(all).broken, explain::SignalStage::port);
}

}  // namespace
}  // namespace capstan::op
