#include "sim/cluster/flow_network.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/testing/moment.h"

namespace capstan::sim {
namespace {

using capstan::testing::at_s;

constexpr std::int64_t kGb = 1'000'000'000;

TEST(FlowNetwork, TwoTransfersShareALinkEqually) {
  FlowNetwork net;
  const LinkId registry = net.add_link(kGb);
  const LinkId nic_a = net.add_link(10 * kGb);
  const LinkId nic_b = net.add_link(10 * kGb);
  const LinkId a[] = {nic_a, registry};
  const LinkId b[] = {nic_b, registry};
  net.start({16 * kGb}, a);
  net.start({16 * kGb}, b);
  EXPECT_EQ(net.next_done(), at_s(32));  // 0.5 GB/s each
  std::vector<FlowId> done;
  net.advance(at_s(32), done);
  EXPECT_EQ(done.size(), 2U);
  EXPECT_TRUE(net.next_done().is_never());
}

TEST(FlowNetwork, RatesChangeWhenATransferStartsOrEnds) {
  FlowNetwork net;
  const LinkId link = net.add_link(kGb);
  const LinkId links[] = {link};
  std::vector<FlowId> done;
  const FlowId first = net.start({10 * kGb}, links);
  net.advance(at_s(4), done);  // the first has 6 GB left
  net.start({2 * kGb}, links);
  EXPECT_EQ(net.next_done(), at_s(8));  // the second: 2 GB at 0.5 GB/s
  net.advance(at_s(8), done);
  EXPECT_EQ(net.next_done(), at_s(12));  // the first: 4 GB left at 1 GB/s
  EXPECT_EQ(net.rate(first), kGb);
  net.cancel(first);
  EXPECT_TRUE(net.next_done().is_never());
}

TEST(FlowNetwork, SharesLinksByMaxMinFairness) {
  FlowNetwork net;
  const LinkId slow = net.add_link(1 * kGb);
  const LinkId shared = net.add_link(10 * kGb);
  const LinkId through_slow[] = {slow, shared};
  const LinkId wide[] = {shared};
  const FlowId a = net.start({kGb}, through_slow);
  const FlowId b = net.start({kGb}, wide);
  const FlowId c = net.start({kGb}, wide);
  EXPECT_EQ(net.rate(a), kGb);
  EXPECT_EQ(net.rate(b), 9 * kGb / 2);  // the other two share the bandwidth that the slow one cannot use
  EXPECT_EQ(net.rate(c), 9 * kGb / 2);
}

TEST(FlowNetwork, AnEmptyTransferEndsAtOnce) {
  FlowNetwork net;
  const LinkId links[] = {net.add_link(kGb)};
  std::vector<FlowId> done;
  net.advance(at_s(3), done);
  net.start({0}, links);
  EXPECT_EQ(net.next_done(), at_s(3));
  net.advance(at_s(3), done);
  EXPECT_EQ(done.size(), 1U);
}

// No link carries more than its capacity. A full link limits every flow, to within one byte/s per flow.
RC_GTEST_PROP(FlowNetwork, RatesAreFeasibleAndNothingIsWasted, ()) {
  FlowNetwork net;
  std::vector<std::int64_t> capacity;
  for (int i = 0; i < 4; ++i) {
    capacity.push_back(*rc::gen::inRange<std::int64_t>(1'000, 1'000'000));
    net.add_link(capacity.back());
  }
  struct Made {
    FlowId id;
    std::vector<LinkId> links;
  };
  std::vector<Made> made;
  const int count = *rc::gen::inRange(1, 20);
  for (int i = 0; i < count; ++i) {
    const auto first = *rc::gen::inRange<std::uint32_t>(0, 4);
    const auto second = *rc::gen::inRange<std::uint32_t>(0, 4);
    std::vector<LinkId> links{{first}};
    if (second != first) links.push_back({second});
    made.push_back({net.start({1'000'000'000}, links), links});
  }
  std::vector<std::int64_t> used(4);
  for (const Made& m : made) {
    for (LinkId link : m.links) used[link.value] += net.rate(m.id);
  }
  for (int i = 0; i < 4; ++i) RC_ASSERT(used[i] <= capacity[i]);
  for (const Made& m : made) {
    bool held = false;
    for (LinkId link : m.links) held = held || used[link.value] + 2 * count >= capacity[link.value];
    RC_ASSERT(held);
  }
}

}  // namespace
}  // namespace capstan::sim
