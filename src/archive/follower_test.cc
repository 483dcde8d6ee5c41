#include "archive/follower.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "archive/testing.h"

namespace capstan::archive {
namespace {

using testing::Scratch;
using testing::small_state;

/// Returns the seconds of the states that a call visits, and -1 where the recording was replaced.
std::vector<std::int64_t> seconds_of(Follower& follower, bool only_newest = false) {
  std::vector<std::int64_t> seconds;
  const Follower::Callbacks calls{
      .on_state = [&](const SavedState& state) { seconds.push_back(whole_seconds(state.snapshot.at.since_start)); },
      .on_replaced = [&] { seconds.push_back(-1); }};
  const Result<void> read = only_newest ? follower.read_newest(calls) : follower.read(calls);
  EXPECT_TRUE(read) << read.error().text();
  return seconds;
}

using Seconds = std::vector<std::int64_t>;

TEST(Follower, ReadsWhatAWriterAdds) {
  const Scratch scratch;
  Follower follower(scratch.file()), glance(scratch.file());
  EXPECT_FALSE(follower.read({.on_state = [](const SavedState&) {}}));
  Result<Recorder> recorder = Recorder::create(scratch.file());
  ASSERT_TRUE(recorder);
  EXPECT_EQ(seconds_of(follower), Seconds{});
  for (int i = 0; i < 300; ++i) {
    ASSERT_TRUE(recorder->add(small_state(fleet::testing::at(i))));
    if (i % 100 == 50) {
      EXPECT_EQ(seconds_of(glance, true), Seconds{i});
    }
    if (i % 7 == 0) {
      EXPECT_EQ(seconds_of(follower).back(), i);
    }
  }
  EXPECT_EQ(seconds_of(follower), (Seconds{295, 296, 297, 298, 299}));
  EXPECT_EQ(seconds_of(follower), Seconds{});
  ASSERT_TRUE(recorder->finish());
  EXPECT_EQ(seconds_of(follower), Seconds{});
  EXPECT_EQ(seconds_of(glance, true), Seconds{299});
  // A controller that starts again continues its file.
  Result<Recorder> again = Recorder::append(scratch.file());
  ASSERT_TRUE(again && again->add(small_state(fleet::testing::at(400))));
  EXPECT_EQ(seconds_of(follower), Seconds{400});
  EXPECT_EQ(seconds_of(glance, true), Seconds{400});
}

TEST(Follower, GoesOnWhereOldStatesWereDropped) {
  const Scratch scratch;
  Result<Recorder> recorder = Recorder::create(scratch.file(), {.bytes = 1});
  ASSERT_TRUE(recorder && recorder->add(small_state(fleet::testing::at(0))));
  Follower follower(scratch.file());
  EXPECT_EQ(seconds_of(follower), Seconds{0});
  for (int i = 1; i < 500; ++i) ASSERT_TRUE(recorder->add(small_state(fleet::testing::at(i))));
  const Seconds rest = seconds_of(follower);
  ASSERT_FALSE(rest.empty());
  EXPECT_GT(rest.front(), 1);
  EXPECT_EQ(rest.back(), 499);
}

TEST(Follower, NoticesAnotherRecordingInItsPlace) {
  const Scratch scratch;
  const auto write = [&](const std::string& file, int from, int to) {
    Result<Recorder> recorder = Recorder::create(file);
    ASSERT_TRUE(recorder);
    for (int i = from; i < to; ++i) ASSERT_TRUE(recorder->add(small_state(fleet::testing::at(i))));
    ASSERT_TRUE(recorder->finish());
  };
  write(scratch.file(), 0, 3);
  Follower follower(scratch.file());
  EXPECT_EQ(seconds_of(follower), (Seconds{0, 1, 2}));
  write(scratch.file(), 0, 4);  // a new file with the same states and one more
  EXPECT_EQ(seconds_of(follower), (Seconds{-1, 0, 1, 2, 3}));
  // Other bytes in the same file.
  write(scratch.file() + ".other", 7, 9);
  std::filesystem::copy_file(scratch.file() + ".other", scratch.file(),
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_EQ(seconds_of(follower), (Seconds{-1, 7, 8}));
}

TEST(Follower, SaysWhatIsWrongAndRecovers) {
  const Scratch scratch;
  Result<Recorder> recorder = Recorder::create(scratch.file());
  ASSERT_TRUE(recorder && recorder->add(small_state(fleet::testing::at(1))));
  for (int i = 2; i < 100; ++i) ASSERT_TRUE(recorder->add(small_state(fleet::testing::at(i))));
  ASSERT_TRUE(recorder->finish());
  Follower follower(scratch.file());
  EXPECT_EQ(seconds_of(follower).size(), 99U);
  const std::string kept = scratch.file() + ".kept";
  std::filesystem::copy_file(scratch.file(), kept);

  const auto expect_error = [&](std::string_view words) {
    const Result<void> read = follower.read({.on_state = [](const SavedState&) {}});
    ASSERT_FALSE(read);
    EXPECT_NE(read.error().text().find(words), std::string::npos) << read.error().text();
  };
  std::filesystem::resize_file(scratch.file(), 5000);
  expect_error("run.rec: ");
  std::filesystem::resize_file(scratch.file(), 0);
  expect_error("expected a recording that `--record` wrote");
  std::filesystem::remove(scratch.file());
  expect_error("run.rec: cannot be opened");
  std::ofstream(scratch.file()) << "notes of a person, which are no database and no recording either";
  expect_error("expected a recording that `--record` wrote");

  std::filesystem::rename(kept, scratch.file());
  const Seconds again = seconds_of(follower);
  EXPECT_EQ(again.size(), 100U);  // with the mark of a replaced file
  EXPECT_EQ(again.front(), -1);
}

}  // namespace
}  // namespace capstan::archive
