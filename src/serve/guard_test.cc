#include "serve/guard.h"

#include <gtest/gtest.h>

namespace capstan::serve {
namespace {

using Headers = std::vector<net::Header>;

int status(const std::string& method, const std::string& path, Headers headers, const Access& access) {
  net::HttpRequest request;
  request.method = method;
  request.path = path;
  request.headers = std::move(headers);
  const std::optional<Refusal> refused = refusal(request, access);
  EXPECT_FALSE(refused && refused->why.empty());
  return refused ? refused->status : 200;
}

TEST(Guard, AllowsOnlyNamesOfThisServer) {
  const Access access = Access::for_server({"10.0.0.7", 7878}, {"dash.example"});
  const std::vector<std::pair<std::string, int>> rows = {
      {"localhost:7878", 200},
      {"LOCALHOST", 200},
      {"127.0.0.1:7878", 200},
      {"[::1]:7878", 200},
      {"10.0.0.7:7878", 200},
      {"dash.example", 200},
      {"dash.example:443", 200},
      {"127.0.0.1:9000", 200},
      {"evil.example:7878", 403},
      {"10.0.0.8:7878", 403},
      {"", 403},
      {"localhost.evil.example", 403},
      {"127.0.0.1.evil.org", 403},
      {"[::1", 403},
      {"[::2]:7878", 403},
      {"::1", 403},
      {"localhost:7878@evil", 403},
  };
  for (const auto& [host, expected] : rows) {
    EXPECT_EQ(status("GET", "/", {{"Host", host}}, access), expected) << host;
  }
  EXPECT_EQ(status("GET", "/", {}, access), 403);
  EXPECT_EQ(status("GET", "/", {{"Host", "localhost"}, {"host", "evil.example"}}, access), 403);
  EXPECT_EQ(status("GET", "/", {{"Host", "[fd00::1]:80"}}, Access::for_server({"fd00::1", 80}, {})), 200);
}

TEST(Guard, RefusesRequestsOfOtherPages) {
  const Access access = Access::for_server({"127.0.0.1", 7878}, {});
  struct Row {
    std::string path;
    Headers headers;
    int expected;
  };
  const std::vector<Row> rows = {
      {"/api/result", {{"Origin", "http://127.0.0.1:7878"}}, 200},
      {"/api/result", {{"Origin", "https://127.0.0.1:7878"}}, 200},  // behind a proxy with TLS
      {"/api/result", {{"Origin", "http://127.0.0.1:3000"}}, 403},
      {"/api/result", {{"Origin", "http://localhost:7878"}}, 403},  // not the origin of this Host header
      {"/api/result", {{"Origin", "http://evil.example"}}, 403},
      {"/api/result", {{"Origin", "null"}}, 403},
      {"/api/result", {{"Origin", ""}}, 403},
      {"/api/result", {{"Origin", "http://127.0.0.1:7878"}, {"Origin", "http://evil.example"}}, 403},
      {"/api/result", {{"Sec-Fetch-Site", "same-origin"}}, 200},
      {"/api/result", {{"Sec-Fetch-Site", "none"}}, 200},
      {"/api/result", {{"Sec-Fetch-Site", "same-site"}}, 403},
      {"/api/result", {{"Sec-Fetch-Site", "cross-site"}}, 403},
      {"/api/result",
       {{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Mode", "navigate"}, {"Sec-Fetch-Dest", "document"}},
       403},
      {"/", {{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Mode", "navigate"}, {"Sec-Fetch-Dest", "document"}}, 200},
      {"/", {{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Mode", "navigate"}, {"Sec-Fetch-Dest", "iframe"}}, 403},
      {"/", {{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Mode", "no-cors"}, {"Sec-Fetch-Dest", "script"}}, 403},
  };
  for (Row row : rows) {
    const std::string last = row.headers.back().name + ": " + row.headers.back().value;
    row.headers.push_back({"Host", "127.0.0.1:7878"});
    EXPECT_EQ(status("GET", row.path, row.headers, access), row.expected) << row.path << " " << last;
  }
}

TEST(Guard, StartsWorkOnlyForABodyThatNoFormCanSend) {
  const Access access = Access::for_server({"127.0.0.1", 7878}, {});
  const std::string path = "/api/what-if";
  const auto with_type = [&](const std::string& method, const std::string& type) {
    return status(method, path, {{"Host", "localhost"}, {"Content-Type", type}}, access);
  };
  EXPECT_EQ(with_type("POST", "application/json"), 200);
  EXPECT_EQ(with_type("POST", "application/json; charset=utf-8"), 200);
  EXPECT_EQ(with_type("POST", "text/plain"), 415);
  EXPECT_EQ(with_type("POST", "application/x-www-form-urlencoded"), 415);
  EXPECT_EQ(status("POST", path, {{"Host", "localhost"}}, access), 415);
  for (const char* method : {"PUT", "DELETE", "OPTIONS", "PATCH", "get"}) {
    EXPECT_EQ(with_type(method, "application/json"), 405) << method;
  }
  const Headers navigation = {{"Host", "localhost"},
                              {"Content-Type", "application/json"},
                              {"Sec-Fetch-Site", "cross-site"},
                              {"Sec-Fetch-Mode", "navigate"},
                              {"Sec-Fetch-Dest", "document"}};
  EXPECT_EQ(status("POST", "/", navigation, access), 403);
}

}  // namespace
}  // namespace capstan::serve
