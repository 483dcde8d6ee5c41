#include "cli/endpoint_feed.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace capstan::cli {
namespace {

using Urls = std::vector<std::string>;

TEST(EndpointFeed, FixedEndpointsNeedNoFeed) {
  EngineLoadArguments arguments;
  arguments.endpoints = {"http://127.0.0.1:8000"};
  const auto feed = open_endpoint_feed(arguments);
  ASSERT_TRUE(feed.has_value());
  EXPECT_EQ(*feed, nullptr);
}

TEST(EndpointFeed, FollowsAList) {
  EngineLoadArguments arguments;
  arguments.endpoint_file = testing::TempDir() + "endpoints.txt";
  int age_s = 100;
  const auto write = [&](const std::string& text) {
    std::ofstream(arguments.endpoint_file) << text;
    const auto now = std::filesystem::file_time_type::clock::now();
    std::filesystem::last_write_time(arguments.endpoint_file, now - std::chrono::seconds(age_s--));
  };
  write("127.0.0.2:80\n127.0.0.1:80\n");
  const auto feed = open_endpoint_feed(arguments);
  ASSERT_TRUE(feed.has_value());
  EXPECT_EQ(*(*feed)->first(), (Urls{"http://127.0.0.1:80", "http://127.0.0.2:80"}));
  EXPECT_EQ((*feed)->poll_changes(), std::nullopt);
  write("127.0.0.2:80\n127.0.0.3:80\n");
  EXPECT_EQ((*feed)->poll_changes(), (Urls{"http://127.0.0.2:80", "http://127.0.0.3:80"}));
  write("nonsense\n");
  EXPECT_EQ((*feed)->poll_changes(), std::nullopt) << "an invalid list changes nothing";
}

TEST(EndpointFeed, AMissingListIsAnError) {
  EngineLoadArguments arguments;
  arguments.endpoint_file = "/nowhere/endpoints";
  const auto feed = open_endpoint_feed(arguments);
  ASSERT_TRUE(feed.has_value());
  EXPECT_FALSE((*feed)->first().has_value());
}

}  // namespace
}  // namespace capstan::cli
