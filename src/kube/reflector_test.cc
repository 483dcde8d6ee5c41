#include "kube/reflector.h"

#include <gtest/gtest.h>

namespace capstan::kube {
namespace {

using namespace std::chrono_literals;
using CallKind = Reflector::Call::Kind;
using Type = Reflector::Event::Type;

/// A reflector and a clock.
struct ReflectorTest : testing::Test {
  Instant now{100s};
  Reflector reflector = make(true);

  static Reflector make(bool watch_list) {
    Reflector::Options options;
    options.watch_list = watch_list;
    return Reflector(options, RandomStream(1, "reflector"));
  }

  Reflector::Call ask() {
    const std::optional<Reflector::Call> call = reflector.poll(now);
    EXPECT_TRUE(call.has_value());
    return call.value_or(Reflector::Call());
  }
  /// Expects a backoff of at most 4 s, waits for its end and returns the next request.
  Reflector::Call ask_later() {
    EXPECT_FALSE(reflector.poll(now).has_value());
    EXPECT_LE(reflector.next_deadline() - now, 4s);
    now = reflector.next_deadline();
    return ask();
  }
  Reflector::Step event(std::uint64_t serial, Type type, std::string_view version, bool end = false) {
    return reflector.event(
        serial, {.type = type, .resource_version = version, .initial_events_end = end, .error = nullptr}, now);
  }
  static ApiError error(int code, std::string reason = {}) {
    return {.code = code, .reason = std::move(reason), .message = "m", .causes = {}, .retry_after = {}};
  }
};

constexpr Reflector::Step kNothing{};

TEST_F(ReflectorTest, StartsWithAWatchListAndAppliesItsEvents) {
  const Reflector::Call call = ask();
  EXPECT_EQ(call.kind, CallKind::watch_list);
  EXPECT_GE(call.timeout, 5min);
  EXPECT_LE(call.timeout, 10min);
  EXPECT_FALSE(reflector.poll(now)) << "one request at a time";
  EXPECT_EQ(event(call.serial, Type::added, "a"),
            (Reflector::Step{.begin = true, .stage = true, .apply = false, .finish = false, .fresh = false}));
  EXPECT_EQ(event(call.serial, Type::added, "b"),
            (Reflector::Step{.begin = false, .stage = true, .apply = false, .finish = false, .fresh = false}));
  EXPECT_FALSE(reflector.synced());
  EXPECT_EQ(event(call.serial, Type::bookmark, "c", true),
            (Reflector::Step{.begin = false, .stage = false, .apply = false, .finish = true, .fresh = true}));
  EXPECT_TRUE(reflector.synced());
  EXPECT_EQ(event(call.serial, Type::modified, "d"),
            (Reflector::Step{.begin = false, .stage = false, .apply = true, .finish = false, .fresh = true}));
  EXPECT_EQ(event(call.serial, Type::bookmark, "e"),
            (Reflector::Step{.begin = false, .stage = false, .apply = false, .finish = false, .fresh = true}));
  now = now + 2s;
  reflector.ended(call.serial, now);
  const Reflector::Call next = ask();
  EXPECT_EQ(next.kind, CallKind::watch);
  EXPECT_EQ(next.resource_version, "e") << "the version of the bookmark";
}

TEST_F(ReflectorTest, ListsInPagesIfWatchListIsRefused) {
  const Reflector::Call refused = ask();
  reflector.failed(refused.serial, error(422, "Invalid"), now);
  const Reflector::Call first = ask();
  EXPECT_EQ(first.kind, CallKind::list);
  EXPECT_EQ(first.page_objects, 500);
  EXPECT_TRUE(reflector.page(first.serial, {.resource_version = "r", .continue_token = "t"}, now).begin);
  const Reflector::Call second = ask();
  EXPECT_EQ(second.continue_token, "t");
  const Reflector::Step last = reflector.page(second.serial, {.resource_version = "r", .continue_token = ""}, now);
  EXPECT_EQ(last, (Reflector::Step{.begin = false, .stage = true, .apply = false, .finish = true, .fresh = true}));
  const Reflector::Call watch = ask();
  EXPECT_EQ(watch.kind, CallKind::watch);
  EXPECT_EQ(watch.resource_version, "r");
}

TEST_F(ReflectorTest, AnExpiredPageStartsTheListAgain) {
  reflector = make(false);
  reflector.page(ask().serial, {.resource_version = "r", .continue_token = "t"}, now);
  reflector.failed(ask().serial, error(500), now);
  const Reflector::Call again = ask_later();
  EXPECT_EQ(again.continue_token, "t") << "after a temporary error the same page is read again";
  reflector.failed(again.serial, error(410, "Expired"), now);
  const Reflector::Call restart = ask();
  EXPECT_EQ(restart.continue_token, "");
  EXPECT_TRUE(reflector.page(restart.serial, {.resource_version = "s", .continue_token = ""}, now).begin);
}

TEST_F(ReflectorTest, ReadsEverythingAgainAfterGone) {
  for (const bool in_stream : {false, true}) {
    reflector = make(false);
    reflector.page(ask().serial, {.resource_version = "r", .continue_token = ""}, now);
    const Reflector::Call watch = ask();
    const ApiError gone = error(410, "Expired");
    if (in_stream) {
      EXPECT_EQ(reflector.event(
                    watch.serial,
                    {.type = Type::error, .resource_version = "", .initial_events_end = false, .error = &gone}, now),
                kNothing);
    } else {
      reflector.failed(watch.serial, gone, now);
    }
    EXPECT_EQ(ask().kind, CallKind::list) << "at once";
    EXPECT_TRUE(reflector.synced()) << "the old copy stays in use";
  }
}

TEST_F(ReflectorTest, ReadsEverythingAtOnceAfterAnOutageButOnlyOnce) {
  reflector = make(false);
  reflector.page(ask().serial, {.resource_version = "r", .continue_token = ""}, now);
  reflector.failed(ask().serial, error(0), now);
  for (int i = 0; i < 5; ++i) reflector.failed(ask_later().serial, error(0), now);
  reflector.failed(ask_later().serial, error(410, "Expired"), now);
  const Reflector::Call list = ask();
  EXPECT_EQ(list.kind, CallKind::list) << "the server has answered, so there is no backoff";
  reflector.page(list.serial, {.resource_version = "s", .continue_token = ""}, now);
  reflector.failed(ask().serial, error(410, "Expired"), now);
  EXPECT_FALSE(reflector.poll(now)) << "the second time in a row backs off";
}

TEST_F(ReflectorTest, IgnoresResultsOfEarlierRequests) {
  reflector = make(false);
  const Reflector::Call first = ask();
  reflector.failed(first.serial, error(0), now);
  EXPECT_EQ(reflector.page(first.serial, {.resource_version = "r", .continue_token = ""}, now), kNothing);
  const Reflector::Call second = ask_later();
  EXPECT_EQ(reflector.page(first.serial, {.resource_version = "r", .continue_token = ""}, now), kNothing);
  EXPECT_EQ(event(second.serial, Type::added, "x"), kNothing) << "events of a list are ignored";
  reflector.ended(first.serial, now);
  reflector.failed(first.serial, error(410), now);
  EXPECT_TRUE(reflector.page(second.serial, {.resource_version = "r", .continue_token = ""}, now).finish);
}

TEST_F(ReflectorTest, ListsIfTheInitialEventsDoNotEndInAMinute) {
  const Reflector::Call call = ask();
  event(call.serial, Type::added, "a");
  EXPECT_EQ(reflector.next_deadline(), now + 1min);
  now = now + 1min;
  EXPECT_EQ(ask().kind, CallKind::list);
  EXPECT_EQ(event(call.serial, Type::added, "b"), kNothing);
}

TEST_F(ReflectorTest, BacksOffAfterARejectedWatch) {
  reflector = make(false);
  reflector.page(ask().serial, {.resource_version = "r", .continue_token = ""}, now);
  reflector.ended(ask().serial, now);
  const Reflector::Call second = ask_later();
  now = now + 5s;
  reflector.ended(second.serial, now);
  EXPECT_EQ(ask().resource_version, "r") << "a quiet watch that ran for some time is resumed at once";
}

TEST_F(ReflectorTest, WaitsAsLongAsTheServerAsks) {
  ApiError busy = error(429);
  busy.retry_after = 17s;
  reflector.failed(ask().serial, busy, now);
  EXPECT_EQ(reflector.next_deadline(), now + 17s);
  EXPECT_EQ(reflector.last_error(), busy);
  EXPECT_EQ(reflector.failures(), 1);
}

}  // namespace
}  // namespace capstan::kube
