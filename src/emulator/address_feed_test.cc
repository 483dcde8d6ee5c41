#include "emulator/address_feed.h"

#include <gtest/gtest.h>

#include <fstream>

namespace capstan::emulator {
namespace {

std::vector<std::string> texts(const std::vector<net::SocketAddress>& addresses) {
  std::vector<std::string> out;
  for (const net::SocketAddress& address : addresses) out.push_back(address.text());
  return out;
}
using Texts = std::vector<std::string>;

TEST(AddressFeed, ReportsCommandLineAddressesOnce) {
  Result<AddressFeed> feed = AddressFeed::open({"127.0.0.1:80", "127.0.0.3-127.0.0.4:80", "127.0.0.1:0"}, "");
  ASSERT_TRUE(feed.has_value());
  const auto change = feed->poll_changes();
  ASSERT_TRUE(change.has_value());
  EXPECT_EQ(texts(change->added), (Texts{"127.0.0.1:80", "127.0.0.3:80", "127.0.0.4:80", "127.0.0.1:0"}));
  EXPECT_TRUE(feed->is_first_poll());
  EXPECT_TRUE(feed->poll_changes()->added.empty());
  EXPECT_FALSE(feed->is_first_poll());
}

TEST(AddressFeed, FollowsAFileThatChanges) {
  const std::string path = testing::TempDir() + "addresses.txt";
  auto write = [&, age = 100](const std::string& text) mutable {
    std::ofstream(path) << text;
    std::filesystem::last_write_time(path, std::filesystem::file_time_type(std::chrono::seconds(++age)));
  };
  write("127.0.0.1:80  # one\n\n127.0.0.2-127.0.0.3:80\n");
  Result<AddressFeed> feed = AddressFeed::open({"127.0.0.9:80"}, path);
  ASSERT_TRUE(feed.has_value());
  EXPECT_EQ(feed->poll_changes()->added.size(), 4u);
  EXPECT_TRUE(feed->poll_changes()->added.empty());
  write("127.0.0.2:80\r\n127.0.0.4:80\r\n");
  const auto change = feed->poll_changes();
  EXPECT_EQ(texts(change->added), Texts{"127.0.0.4:80"});
  EXPECT_EQ(texts(change->removed), (Texts{"127.0.0.1:80", "127.0.0.3:80"}));
  write("127.0.0.2:80\nnonsense\n");
  const auto wrong = feed->poll_changes();
  ASSERT_FALSE(wrong.has_value());
  EXPECT_EQ(wrong.error().text(), path +
                                      ":2: 'nonsense' is not an address, expected an IP address and a port such as "
                                      "127.0.0.1:8000");
  EXPECT_TRUE(feed->poll_changes()->removed.empty());
  std::filesystem::remove(path);
  EXPECT_TRUE(feed->poll_changes()->removed.empty());
}

TEST(AddressFeed, ALineWithAMinusRemovesAddresses) {
  const auto addresses = AddressFeed::parse("127.0.0.1-127.0.0.4:80\n- 127.0.0.2:80\n-127.0.0.4:80", "list");
  ASSERT_TRUE(addresses.has_value());
  EXPECT_EQ(addresses->size(), 2u);
}

TEST(AddressFeed, RefusesAMissingListAndBadArguments) {
  EXPECT_EQ(AddressFeed::open({"x"}, "").error().kind, ErrorKind::usage);
  Result<AddressFeed> feed = AddressFeed::open({}, "nowhere/list");
  ASSERT_TRUE(feed.has_value());
  EXPECT_EQ(feed->poll_changes().error().text(), "nowhere/list: cannot be read, expected a list of addresses");
}

}  // namespace
}  // namespace capstan::emulator
