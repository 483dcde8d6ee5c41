#include "kube/events.h"

#include <gtest/gtest.h>

namespace capstan::kube {
namespace {

using namespace std::chrono_literals;

constexpr WallTime kHappenedAt{1'795'277'733'000'000};

struct EventsTest : testing::Test {
  Instant now{100s};
  EventRecorder recorder{{.instance = "capstan-0"}};
  EventNote note{.api_version = "apps/v1",
                 .kind = "Deployment",
                 .ns = "ml",
                 .name = "vllm",
                 .uid = "u",
                 .warning = false,
                 .reason = "QueueAboveTarget",
                 .action = "ScaleUp",
                 .note = "12 wait"};

  void record() { recorder.record(note, now, kHappenedAt); }
  /// Sends the next request and answers it with this status. Returns the method and the body.
  std::string send(int code = 200) {
    const std::optional<EventRecorder::Outgoing> out = recorder.poll(now);
    if (!out) return "nothing";
    Outcome outcome;
    if (code >= 300) {
      outcome.kind = Outcome::Kind::refused;
      outcome.error.code = code;
    }
    recorder.answered(out->id, outcome, now);
    return out->request.method + " " + out->request.body;
  }
};

TEST_F(EventsTest, TheFirstOccurrenceCreatesAnObject) {
  record();
  const std::optional<EventRecorder::Outgoing> out = recorder.poll(now);
  ASSERT_TRUE(out);
  EXPECT_TRUE(out->request.path.starts_with("/apis/events.k8s.io/v1/namespaces/ml/events?")) << out->request.path;
  EXPECT_EQ(
      out->request.body,
      R"({"apiVersion":"events.k8s.io/v1","kind":"Event","metadata":{"name":"vllm.660cbab8c7340.1","namespace":"ml"},)"
      R"("eventTime":"2026-11-21T16:15:33.000000Z","type":"Normal","reason":"QueueAboveTarget","action":"ScaleUp",)"
      R"("note":"12 wait","reportingController":"capstan.dev/capstan","reportingInstance":"capstan-0",)"
      R"("regarding":{"apiVersion":"apps/v1","kind":"Deployment","namespace":"ml","uid":"u","name":"vllm"}})");
  EXPECT_FALSE(recorder.poll(now)) << "the series waits for the answer";
}

TEST_F(EventsTest, RepetitionsAreCountedAndWrittenOnceAMinute) {
  record();
  send();
  for (int i = 0; i < 5; ++i) record();
  EXPECT_EQ(send(), R"(PATCH {"series":{"count":6,"lastObservedTime":"2026-11-21T16:15:33.000000Z"}})");
  record();
  EXPECT_EQ(send(), "nothing");
  EXPECT_EQ(recorder.next_deadline(), now + 1min);
  now = now + 1min;
  EXPECT_TRUE(send().contains(R"("count":7)"));
  EXPECT_EQ(recorder.next_deadline(), Instant::never());
  now = now + 6min;
  record();
  EXPECT_TRUE(send().starts_with("POST")) << "after six minutes without a repetition it is a new Event";
}

TEST_F(EventsTest, AnotherReasonStartsAnotherSeries) {
  record();
  note.reason = "AtMaximum";
  record();
  EXPECT_TRUE(send().starts_with("POST"));
  EXPECT_TRUE(send().starts_with("POST"));
  EXPECT_EQ(recorder.size(), 2u);
}

TEST_F(EventsTest, GivesUpAfterThreeFailures) {
  record();
  EXPECT_TRUE(send(500).starts_with("POST"));
  EXPECT_EQ(send(), "nothing");
  for (int i = 0; i < 2; ++i) {
    now = now + 10s;
    EXPECT_TRUE(send(500).starts_with("POST"));
  }
  EXPECT_EQ(recorder.dropped(), 1u);
  EXPECT_EQ(recorder.size(), 0u);
}

TEST_F(EventsTest, BoundsSeriesNotesAndRequests) {
  for (int i = 0; i < 5'000; ++i) {
    note.uid = "u" + std::to_string(i);
    note.note = std::string(3'000, 'x');
    record();
  }
  EXPECT_EQ(recorder.size(), 4'096u);
  EXPECT_EQ(recorder.dropped(), 904u);
  int in_flight = 0;
  while (const auto out = recorder.poll(now)) {
    EXPECT_LT(out->request.body.size(), 2'000u);
    ++in_flight;
  }
  EXPECT_EQ(in_flight, 4);
}

}  // namespace
}  // namespace capstan::kube
