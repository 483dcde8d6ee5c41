#include "kube/election.h"

#include <gtest/gtest.h>

namespace capstan::kube {
namespace {

using namespace std::chrono_literals;

constexpr WallTime kWall{1'795'277'733'000'000};

struct ElectionTest : testing::Test {
  Instant now{100s};
  Election election{{.lease = {resources::kLeases, "ns", "capstan"}, .identity = "me"}, RandomStream(1, "election")};

  static Outcome ok(std::string holder, std::string version, int transitions = 3) {
    return {.kind = Outcome::Kind::ok,
            .error = {},
            .body = R"({"metadata":{"name":"capstan","uid":"u","resourceVersion":")" + version +
                    R"("},"spec":{"holderIdentity":")" + holder + R"(","leaseDurationSeconds":15,"leaseTransitions":)" +
                    std::to_string(transitions) + "}}"};
  }
  static Outcome refused(int code) {
    Outcome outcome;
    outcome.kind = Outcome::Kind::refused;
    outcome.error.code = code;
    return outcome;
  }
  static Outcome unknown() {
    Outcome outcome;
    outcome.kind = Outcome::Kind::unknown;
    return outcome;
  }
  /// Advances the clock to the next request and returns it.
  ApiRequest ask() {
    for (int i = 0; i < 10; ++i) {
      now = std::max(now, election.next_deadline());
      if (const std::optional<ApiRequest> request = election.poll(now, kWall)) return *request;
    }
    ADD_FAILURE() << "no request";
    return {};
  }
  void lead() {
    ask();
    election.answered(ok("", "1"), now);
    ask();
    election.answered(ok("me", "2", 4), now);
  }
};

TEST_F(ElectionTest, AcquiresALeaseWithoutAHolder) {
  EXPECT_EQ(ask().path, "/apis/coordination.k8s.io/v1/namespaces/ns/leases/capstan");
  EXPECT_FALSE(election.poll(now + 60s, kWall)) << "one at a time";
  election.answered(ok("", "1"), now);
  const ApiRequest take = ask();
  EXPECT_TRUE(take.urgent);
  EXPECT_EQ(take.body, R"({"metadata":{"resourceVersion":"1"},"spec":{"acquireTime":"2026-11-21T16:15:33.000000Z",)"
                       R"("holderIdentity":"me","leaseDurationSeconds":15,"leaseTransitions":4,)"
                       R"("renewTime":"2026-11-21T16:15:33.000000Z"}})");
  EXPECT_FALSE(election.may_write(now));
  const Instant asked_at = now;
  now = now + 3s;
  election.answered(ok("me", "2", 4), now);
  EXPECT_TRUE(election.may_write(now));
  EXPECT_EQ(election.deadline(), asked_at + 10s) << "it counts from the request, not from the answer";
}

TEST_F(ElectionTest, CreatesAMissingLease) {
  ask();
  election.answered(refused(404), now);
  const ApiRequest make = ask();
  EXPECT_EQ(make.method, "POST");
  EXPECT_TRUE(make.body.contains(R"("leaseTransitions":0)")) << make.body;
  election.answered(ok("me", "1", 0), now);
  EXPECT_TRUE(election.may_write(now));
}

TEST_F(ElectionTest, WaitsUntilTheLeaseOfAnotherProcessExpires) {
  const Instant start = now;
  ask();
  election.answered(ok("other", "1"), now);
  while (now < start + 14s) {
    EXPECT_EQ(ask().method, "GET");
    election.answered(ok("other", now < start + 5s ? "1" : "2"), now);  // the other process renews once
  }
  while (ask().method == "GET") election.answered(ok("other", "2"), now);
  EXPECT_GE(now, start + 20s);
  EXPECT_LT(now, start + 25s);
  EXPECT_FALSE(election.may_write(now));
}

TEST_F(ElectionTest, MayNotWriteAfterTheDeadline) {
  lead();
  const Instant deadline = election.deadline();
  EXPECT_TRUE(election.may_write(deadline - 1ns));
  EXPECT_FALSE(election.may_write(deadline));
  EXPECT_EQ(election.next_deadline(), deadline - 8s) << "the renewal is due two seconds after the last request";
}

TEST_F(ElectionTest, ReadsTheLeaseBackAfterAnUnknownOutcome) {
  lead();
  const Instant deadline = election.deadline();
  EXPECT_EQ(ask().method, "PATCH");
  election.answered(unknown(), now);
  EXPECT_EQ(ask().method, "GET");
  election.answered(ok("me", "3", 4), now);
  EXPECT_EQ(election.deadline(), deadline) << "a read does not renew";
  EXPECT_EQ(ask().method, "PATCH");
  election.answered(ok("me", "4", 4), now);
  EXPECT_GT(election.deadline(), deadline);
}

TEST_F(ElectionTest, NoticesThatAnotherProcessLeads) {
  lead();
  ask();
  election.answered(refused(409), now);
  ask();
  election.answered(ok("other", "9", 5), now);
  EXPECT_EQ(ask().method, "GET");
  EXPECT_EQ(election.holder(), "other");
}

TEST_F(ElectionTest, ReleasesTheLeaseAtTheEnd) {
  lead();
  const std::optional<ApiRequest> release = election.release(kWall);
  ASSERT_TRUE(release);
  EXPECT_TRUE(release->body.contains(R"("holderIdentity":"")")) << release->body;
  EXPECT_TRUE(release->body.contains(R"("resourceVersion":"2")")) << release->body;
  EXPECT_FALSE(election.may_write(now));
  EXPECT_FALSE(election.poll(now + 60s, kWall));
}

}  // namespace
}  // namespace capstan::kube
