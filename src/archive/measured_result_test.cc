#include "archive/measured_result.h"

#include <gtest/gtest.h>

#include "archive/recording.h"
#include "archive/sqlite.h"
#include "archive/testing.h"

namespace capstan::archive {
namespace {

using testing::Scratch;
using testing::small_state;

void record(const std::string& file, int states) {
  Result<Recorder> recorder = Recorder::append(file);
  ASSERT_TRUE(recorder) << recorder.error().text();
  for (int i = 0; i < states; ++i) ASSERT_TRUE(recorder->add(small_state(fleet::testing::at(i))));
  ASSERT_TRUE(recorder->finish());
}

TEST(MeasuredResult, ARecordingOfASimulationHasIt) {
  const Scratch scratch;
  record(scratch.file(), 3);
  EXPECT_EQ(read_measured(scratch.file()), "") << "a controller measures nothing";
  ASSERT_TRUE(write_measured(scratch.file(), "{\"format_version\": 1}"));
  EXPECT_EQ(read_measured(scratch.file()), "{\"format_version\": 1}");
  ASSERT_TRUE(write_measured(scratch.file(), "{}"));
  EXPECT_EQ(read_measured(scratch.file()), "{}") << "the last one counts";
  const Result<Recording> recording = Recording::open(scratch.file());
  ASSERT_TRUE(recording);
  EXPECT_EQ(recording->states(), 3);
}

TEST(MeasuredResult, DoesNotCountForAContinuedRecording) {
  const Scratch scratch;
  record(scratch.file(), 3);
  ASSERT_TRUE(write_measured(scratch.file(), "{}"));
  record(scratch.file(), 1);
  EXPECT_EQ(read_measured(scratch.file()), "");
}

TEST(MeasuredResult, DamageIsAnError) {
  const Scratch scratch;
  record(scratch.file(), 1);
  ASSERT_TRUE(write_measured(scratch.file(), "{}"));
  Result<Database> database = Database::open(scratch.file(), SQLITE_OPEN_READWRITE);
  ASSERT_TRUE(database && database->run("UPDATE measured SET result = x'0102';"));
  const Result<std::string> read = read_measured(scratch.file());
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().text().find("the measured result is damaged"), std::string::npos) << read.error().text();
}

}  // namespace
}  // namespace capstan::archive
