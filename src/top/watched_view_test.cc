#include "top/watched_view.h"

#include <gtest/gtest.h>

namespace capstan::top {
namespace {

/// Nodes whose names and prices have opposite orders, in a terminal too low for all of them.
struct WatchedViewTest : ::testing::Test {
  static std::shared_ptr<const Facts> facts(const std::string& policy) {
    Facts all{.policy = policy, .at = {}, .services = {}, .replicas = {}, .nodes = {}};
    for (int i = 10; i < 30; ++i) {
      all.nodes.push_back({.name = "node-" + std::to_string(i),
                           .gpu = "H100",
                           .instance_type = "p5.48xlarge",
                           .zone = "a",
                           .capacity = "on-demand",
                           .per_hour = MicroUsd{i * 1'000'000}});
      at(all.nodes.back().uses, GpuUse::free) = whole_gpus(8);
    }
    return std::make_shared<const Facts>(std::move(all));
  }
  std::string lines(const std::string& policy = "one") {
    return view.lines({.facts = facts(policy), .state = "4 × real time", .notice = ""}, 120, 12);
  }
  bool shows(const std::string& text) { return lines().find(text) != std::string::npos; }

  WatchedView view{{.source = "hour.rec", .takes_keys = true}};
};

TEST_F(WatchedViewTest, ShowsTheStateOfTheFeedBeforeThereAreFacts) {
  EXPECT_EQ(view.lines({.facts = nullptr, .state = "reads the cluster", .notice = ""}, 80, 24),
            "hour.rec · reads the cluster");
  EXPECT_EQ(view.lines({.facts = nullptr, .state = "", .notice = "no such host"}, 80, 24), "no such host");
}

TEST_F(WatchedViewTest, APausedViewKeepsItsFacts) {
  EXPECT_NE(lines("one").find("4 × real time"), std::string::npos);
  view.press(Key::pause);
  const std::string paused = lines("two");
  EXPECT_NE(paused.find("one"), std::string::npos);
  EXPECT_NE(paused.find("paused"), std::string::npos);
  EXPECT_EQ(paused.find("two"), std::string::npos);
  view.press(Key::pause);
  EXPECT_NE(lines("two").find("two"), std::string::npos);
}

TEST_F(WatchedViewTest, ScrollsWithinTheTables) {
  EXPECT_TRUE(shows("node-10"));
  view.press(Key::up);
  EXPECT_TRUE(shows("node-10")) << "there is nothing above";
  const std::string first = lines();
  view.press(Key::down);
  EXPECT_NE(lines(), first);
  view.press(Key::up);
  EXPECT_EQ(lines(), first);
  view.press(Key::page_down);
  EXPECT_NE(lines(), first);
  view.press(Key::page_up);
  EXPECT_EQ(lines(), first);
  view.press(Key::end);
  const std::string last = lines();
  EXPECT_NE(last.find("node-29"), std::string::npos);
  for (int i = 0; i < 50; ++i) view.press(Key::page_down);
  EXPECT_EQ(lines(), last) << "no further than the end";
  view.press(Key::home);
  EXPECT_EQ(lines(), first);
}

TEST_F(WatchedViewTest, ChangesTheOrderOfTheNodes) {
  const std::string by_id = lines();
  for (std::size_t i = 0; i < static_cast<std::size_t>(NodeOrder::price); ++i) view.press(Key::sort);
  EXPECT_TRUE(shows("node-29")) << "the highest price comes first";
  for (std::size_t i = static_cast<std::size_t>(NodeOrder::price); i < kNodeOrders; ++i) view.press(Key::sort);
  EXPECT_EQ(lines(), by_id);
}

}  // namespace
}  // namespace capstan::top
