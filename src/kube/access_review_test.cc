#include "kube/access_review.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace capstan::kube {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using Kind = AccessVerdict::Kind;

/// An API server that knows two tokens: "reader" may read /ui, and "guest" may not.
class ReviewServer final : public net::Transport {
 public:
  net::RequestId start(net::Request request, net::Handler handler) override {
    pending_.emplace(++last_id_, Pending{std::move(request), std::move(handler)});
    return last_id_;
  }
  void cancel(net::RequestId id) override { pending_.erase(id); }
  void answer() {
    for (auto& [id, pending] : std::exchange(pending_, {})) {
      const json body = json::parse(pending.request.body);
      asked.push_back(body["kind"]);
      net::Exchange exchange;
      exchange.sent = true;
      exchange.failure = is_down ? net::Failure::connect : net::Failure::none;
      exchange.response = {.status = is_down ? 0 : status, .headers = {}, .body = reply(body)};
      pending.handler.on_done(std::move(exchange));
    }
  }

  bool is_down = false;
  int status = 201;
  std::string garbage;             ///< body of every answer; empty: a correct one
  std::vector<std::string> asked;  ///< kinds of the requests
  json last_access;                ///< spec of the last SubjectAccessReview

 private:
  struct Pending {
    net::Request request;
    net::Handler handler;
  };

  std::string reply(json body) {
    if (!garbage.empty()) return garbage;
    if (status == 403) return R"({"kind":"Status","message":"tokenreviews is forbidden","code":403})";
    if (body["kind"] == "TokenReview") {
      const std::string token = body["spec"]["token"];
      const bool is_known = token == "reader" || token == "guest";
      body["status"] = {{"authenticated", is_known}};
      if (is_known) {
        body["status"]["user"] = {
            {"username", token}, {"uid", "u-1"}, {"groups", {"a", "b"}}, {"extra", {{"key", {"value"}}}}};
      }
      return body.dump();
    }
    last_access = body["spec"];
    body["status"] = {{"allowed", last_access["user"] == "reader"}};
    return body.dump();
  }

  net::RequestId last_id_ = 0;
  std::map<net::RequestId, Pending> pending_;
};

struct AccessReviewTest : testing::Test {
  AccessReviewTest() {
    Config config;
    config.server = "https://fake";
    config.token = "controller";
    credentials.emplace(
        std::move(config), [](const std::string& path) { return std::unexpected(Error::about(path, "no file")); },
        nullptr, [] { return WallTime{1}; });
    client.emplace(server, *credentials, clock(), RandomStream(1, "client"), Client::Options());
    reviewer.emplace(*client, clock(), options);
  }
  net::Clock clock() {
    return [this] { return now; };
  }
  void ask(const std::string& token) {
    reviewer->review(token, [this](const AccessVerdict& verdict) { verdicts.push_back(verdict); });
  }
  void run() {
    for (int i = 0; i < 4; ++i) {
      client->run_once();
      server.answer();
    }
  }
  /// Returns the verdict about a token.
  AccessVerdict review(const std::string& token) {
    ask(token);
    run();
    EXPECT_FALSE(verdicts.empty());
    return verdicts.empty() ? AccessVerdict{} : verdicts.back();
  }

  Instant now{100s};
  ReviewServer server;
  AccessReviewer::Options options{.path = "/ui", .entries_max = 4, .waiting_max = 2};
  std::optional<Credentials> credentials;
  std::optional<Client> client;
  std::optional<AccessReviewer> reviewer;
  std::vector<AccessVerdict> verdicts;
};

TEST_F(AccessReviewTest, AsksForTheOwnerAndThenForThePermission) {
  const AccessVerdict verdict = review("reader");
  EXPECT_EQ(verdict.kind, Kind::allowed);
  EXPECT_EQ(verdict.user, "reader");
  EXPECT_EQ(server.asked, (std::vector<std::string>{"TokenReview", "SubjectAccessReview"}));
  EXPECT_EQ(server.last_access, json::parse(R"({"nonResourceAttributes":{"path":"/ui","verb":"get"},"user":"reader",
      "uid":"u-1","groups":["a","b"],"extra":{"key":["value"]}})"));
}

TEST_F(AccessReviewTest, RefusesAnOwnerWithoutPermissionAndAnUnknownToken) {
  const AccessVerdict forbidden = review("guest");
  EXPECT_EQ(forbidden.kind, Kind::forbidden);
  EXPECT_EQ(forbidden.why, "the user guest has no permission to get the path /ui");
  EXPECT_EQ(review("stranger").kind, Kind::unknown_token);
  server.asked.clear();
  EXPECT_EQ(review("").kind, Kind::unknown_token);
  EXPECT_EQ(review(std::string(20'000, 'x')).kind, Kind::unknown_token);
  EXPECT_TRUE(server.asked.empty()) << "no token is not a question for the API server";
}

TEST_F(AccessReviewTest, WithoutAnAnswerItAllowsNothing) {
  server.is_down = true;
  EXPECT_EQ(review("reader").kind, Kind::unavailable);
  server.is_down = false;
  server.garbage = "{";
  EXPECT_EQ(review("reader").kind, Kind::unavailable);
  server.garbage = R"({"status":{"authenticated":"true","allowed":1,"user":{"username":"reader"}}})";
  EXPECT_EQ(review("reader").kind, Kind::unknown_token) << "only the value true counts";
  server.garbage.clear();
  now = now + 6s;
  server.status = 403;
  const AccessVerdict forbidden = review("reader");
  EXPECT_EQ(forbidden.kind, Kind::unavailable);
  EXPECT_TRUE(forbidden.why.starts_with("the controller has no permission to create a TokenReview")) << forbidden.why;
  server.status = 201;
  EXPECT_EQ(review("reader").kind, Kind::allowed) << "a missing answer is not kept";
}

TEST_F(AccessReviewTest, KeepsAnAnswerForFiveSeconds) {
  review("reader");
  now = now + 4s;
  review("reader");
  EXPECT_EQ(server.asked.size(), 2u);
  EXPECT_EQ(verdicts.size(), 2u);
  now = now + 1s;
  review("reader");
  EXPECT_EQ(server.asked.size(), 4u);
}

TEST_F(AccessReviewTest, QuestionsAboutOneTokenShareAnAnswerAndAreBounded) {
  for (int i = 0; i < 3; ++i) ask("reader");
  ASSERT_EQ(verdicts.size(), 1u) << "the third is refused at once";
  EXPECT_EQ(verdicts[0].kind, Kind::unavailable);
  run();
  ASSERT_EQ(verdicts.size(), 3u);
  EXPECT_EQ(verdicts[2].kind, Kind::allowed);
  EXPECT_EQ(server.asked.size(), 2u);
}

TEST_F(AccessReviewTest, TheNumberOfAnswersIsBounded) {
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(review("stranger" + std::to_string(i)).kind, Kind::unknown_token);
    EXPECT_LE(reviewer->size(), 4u);
  }
  verdicts.clear();
  now = now + 10s;
  for (int i = 0; i < 5; ++i) ask("open" + std::to_string(i));
  EXPECT_EQ(reviewer->size(), 4u);
  ASSERT_EQ(verdicts.size(), 1u) << "four questions are open, and the fifth is refused";
  EXPECT_EQ(verdicts[0].kind, Kind::unavailable);
}

}  // namespace
}  // namespace capstan::kube
