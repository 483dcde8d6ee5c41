#include "serve/replay_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "archive/testing.h"

namespace capstan::serve {
namespace {

using archive::testing::Scratch;
using archive::testing::small_state;

/// A recording of three states, 15 s apart.
class ReplayReportTest : public ::testing::Test {
 protected:
  ReplayReportTest() : recording_(record()) {}

  Result<archive::Recording> record() const {
    Result<archive::Recorder> recorder = archive::Recorder::create(scratch_.file());
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(recorder->add(small_state(fleet::testing::at(15 * i))));
    EXPECT_TRUE(recorder->finish());
    return archive::Recording::open(scratch_.file());
  }

  Scratch scratch_;
  Result<archive::Recording> recording_;
};

TEST_F(ReplayReportTest, WithoutAnotherPolicyNothingIsCompared) {
  const Result<ReplayReport> report = replay_report(*recording_, {});
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_FALSE(report->compares);
  EXPECT_EQ(report->count.states, 3);
  EXPECT_TRUE(replay_text(*report, 100).starts_with("3 states of \""));
  const auto json = nlohmann::json::parse(replay_json(*report));
  EXPECT_EQ(json["format_version"], 1);
  EXPECT_EQ(json["actions"].size(), report->states.size());
  EXPECT_FALSE(json.contains("differing"));
}

TEST_F(ReplayReportTest, ShowsTheFirstStateInWhichAnotherPolicyActsDifferently) {
  const Result<ReplayReport> report = replay_report(*recording_, {.scale = decide::scale::Fixed{7}});
  ASSERT_TRUE(report) << report.error().text();
  ASSERT_EQ(report->states.size(), 1u);
  const auto json = nlohmann::json::parse(replay_json(*report));
  EXPECT_EQ(json["differing"], report->count.differing);
  EXPECT_FALSE(json["first_difference"][0]["other"].empty());
  EXPECT_TRUE(replay_text(*report, 100).contains("\nThe first decision that differs is at "));
}

/// Capstan decides the two variants of a service together, so the plan of the second one is empty. A fixed number of
/// replicas is decided for each of them.
TEST_F(ReplayReportTest, APlanOfAServiceWithoutActionsAndReasonsIsOneOfReplicas) {
  fleet::testing::World world;
  world.catalog().services.push_back(world.catalog().services.front());
  world.catalog().services[1].name = "other";
  world.catalog().services[0].alternatives = {{1}};
  world.snapshot.services.set({1}, world.snapshot.services.at({0}));
  const Scratch scratch;
  {
    Result<archive::Recorder> recorder = archive::Recorder::create(scratch.file());
    archive::SavedState state = archive::testing::state_of(world, fleet::testing::at(15));
    state.policies.scale.assign(2, decide::scale::Capstan());
    EXPECT_TRUE(recorder->add(state));
    EXPECT_TRUE(recorder->finish());
  }
  Result<archive::Recording> recording = archive::Recording::open(scratch.file());
  const Result<ReplayReport> report = replay_report(*recording, {.scale = decide::scale::Fixed{7}});
  ASSERT_TRUE(report) << report.error().text();
  const std::string text = replay_text(*report, 100);
  EXPECT_TRUE(text.contains("no action on replicas")) << text;
  EXPECT_FALSE(text.contains("no action on pods")) << text;
}

TEST_F(ReplayReportTest, AMomentHasItsArithmetic) {
  const Result<ReplayedMoment> moment = replayed_moment(*recording_, "15s");
  ASSERT_TRUE(moment) << moment.error().text();
  EXPECT_EQ(moment->at, fleet::testing::at(15));
  EXPECT_FALSE(moment->arithmetic.empty());
  const auto json = nlohmann::json::parse(moment_json(*moment));
  EXPECT_EQ(json["at_ns"], 15'000'000'000);
  EXPECT_EQ(json["arithmetic"], moment->arithmetic);
  EXPECT_TRUE(moment_text(*moment, 100).contains(moment->policy));
}

TEST_F(ReplayReportTest, AMomentAfterTheEndIsAnError) {
  const Result<ReplayedMoment> moment = replayed_moment(*recording_, "1h");
  ASSERT_FALSE(moment);
  EXPECT_EQ(moment.error().text(), "--at 1h: the recording ends before this moment");
}

}  // namespace
}  // namespace capstan::serve
