#include "net/http_parser.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

namespace capstan::net {
namespace {

constexpr HttpLimits kSmall{.head_bytes = 256, .headers = 4, .body_bytes = 64};

/// Feeds the bytes in pieces that are one byte longer than the given sizes, then one by one. Returns the parsed
/// requests.
std::vector<HttpRequest> parse(HttpParser& parser, std::string_view bytes, const std::vector<std::size_t>& pieces) {
  std::vector<HttpRequest> requests;
  std::size_t piece = 0;
  while (!bytes.empty() && parser.state() != HttpParser::State::failed) {
    const std::size_t size = std::min(bytes.size(), piece < pieces.size() ? pieces[piece++] + 1 : 1);
    const std::size_t taken = parser.feed(bytes.substr(0, size));
    bytes.remove_prefix(taken);
    if (parser.state() == HttpParser::State::done) requests.push_back(parser.take());
  }
  return requests;
}

TEST(HttpParser, ParsesRequests) {
  HttpParser parser(kSmall);
  const auto requests = parse(parser,
                              "POST /v1/completions?x=1 HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello"
                              "\r\nGET / HTTP/1.0\r\n\r\n"
                              "PUT /up HTTP/1.1\r\nhost: b\r\nTRANSFER-ENCODING: Chunked\r\nX-Note:  a b \r\n\r\n"
                              "5;ext=1\r\nhello\r\nA\r\n0123456789\r\n0\r\nTrailer: t\r\n\r\n"
                              "HEAD * HTTP/1.1\r\nHost:\r\nConnection: Upgrade, close\r\n\r\n",
                              {1000, 1000, 1000, 1000});
  ASSERT_EQ(requests.size(), 4u);
  EXPECT_EQ(requests[0].method, "POST");
  EXPECT_EQ(requests[0].path, "/v1/completions");
  EXPECT_EQ(requests[0].query, "x=1");
  EXPECT_EQ(requests[0].body, "hello");
  EXPECT_TRUE(requests[0].keep_alive);
  EXPECT_EQ(requests[1].path, "/");
  EXPECT_FALSE(requests[1].keep_alive);
  EXPECT_FALSE(requests[1].chunks);
  EXPECT_EQ(requests[2].body, "hello0123456789");
  EXPECT_EQ(*find_header(requests[2].headers, "x-note"), "a b");
  EXPECT_FALSE(requests[3].keep_alive);
}

TEST(HttpParser, RefusesInvalidRequests) {
  struct Row {
    const char* bytes;
    int status;
  };
  const std::string large = "GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(300, 'x');
  const std::string long_chunk =
      "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5;" + std::string(300, 'x');
  const std::string put = "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  const Row rows[] = {
      {"GET /\r\n\r\n", 400},
      {"GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"G(T / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"GET /a b HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"GET a HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505},
      {"GET / HTTP/1.x\r\nHost: a\r\n\r\n", 400},
      {"GET / http/1.1\r\nHost: a\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: a\nX: y\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nA:1\r\nB:2\r\nC:3\r\nD:4\r\nE:5\r\n\r\n", 431},
      {large.c_str(), 431},
      {"PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n", 400},
      {"PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
      {"PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", 400},
      {"PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: \r\n\r\n", 400},
      {"PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 65\r\n\r\n", 413},
      {"PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999999999\r\n\r\n", 413},
      {"PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n", 501},
      {"PUT / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 501},
      {"PUT / HTTP/1.1\r\nHost: a\r\nExpect: tea\r\n\r\n", 417},
      {long_chunk.c_str(), 400},
  };
  for (const Row& row : rows) {
    HttpParser parser(kSmall);
    EXPECT_TRUE(parse(parser, row.bytes, {1000}).empty()) << row.bytes;
    EXPECT_EQ(parser.state(), HttpParser::State::failed) << row.bytes;
    EXPECT_EQ(parser.status(), row.status) << row.bytes << "\n" << parser.reason();
  }
  for (const char* chunks : {"x\r\n", "\r\n", "1\n", "1\r\nab\r\n", "40\r\n", "ffffffffffffffffff\r\n", "-1\r\n"}) {
    HttpParser parser({.head_bytes = 256, .headers = 4, .body_bytes = 63});
    parse(parser, put + chunks, {1000});
    EXPECT_EQ(parser.state(), HttpParser::State::failed) << chunks;
  }
}

TEST(HttpParser, DetectsAClientThatWaitsForContinue) {
  HttpParser parser(kSmall);
  parser.feed("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_TRUE(parser.take_continue());
  EXPECT_FALSE(parser.take_continue());
  parser.feed("ab");
  EXPECT_EQ(parser.take().body, "ab");
}

RC_GTEST_PROP(HttpParser, GivesTheSameRequestsForAnyPieces, ()) {
  const std::vector<std::string> parts = {"GET /x HTTP/1.1\r\nHost: a\r\n\r\n",
                                          "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc",
                                          "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                                          "3\r\nabc\r\n0\r\n\r\n",
                                          "\r\n",
                                          "X",
                                          "GET / HTTP/9.9\r\n\r\n"};
  std::string bytes;
  for (const std::size_t part :
       *rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(0, parts.size()))) {
    bytes += parts[part];
  }
  const auto pieces = *rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(0, 40));
  HttpParser whole(kSmall);
  HttpParser cut(kSmall);
  RC_ASSERT(parse(whole, bytes, {10'000, 10'000, 10'000}) == parse(cut, bytes, pieces));
  RC_ASSERT(whole.state() == cut.state());
  RC_ASSERT(whole.status() == cut.status());
}

}  // namespace
}  // namespace capstan::net
