#include "archive/flight_recorder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "archive/sqlite.h"
#include "archive/testing.h"

namespace capstan::archive {
namespace {

using namespace std::chrono_literals;
using testing::at;
using testing::Scratch;
using testing::small_state;

struct Logged {
  std::vector<std::string> lines;
  FlightRecorder::Log log() {
    return [this](bool, const std::string& line) { lines.push_back(line); };
  }
};

std::int64_t states_in(const std::string& path) {
  const Result<Recording> recording = Recording::open(path);
  EXPECT_TRUE(recording) << recording.error().text();
  return recording ? recording->states() : -1;
}

/// Writes a recording of some states.
void write_recording(const std::string& path, int states) {
  Result<Recorder> recorder = Recorder::create(path);
  ASSERT_TRUE(recorder);
  for (int i = 0; i < states; ++i) ASSERT_TRUE(recorder->add(small_state(at(i))));
  ASSERT_TRUE(recorder->finish());
}

TEST(FlightRecorder, ACutRecordingIsMovedAsideAndANewOneBegins) {
  const Scratch scratch;
  write_recording(scratch.file(), 300);
  std::filesystem::resize_file(scratch.file(), 20'000);
  Logged logged;
  Result<FlightRecorder> flight = FlightRecorder::open(scratch.file(), at(0), logged.log());
  ASSERT_TRUE(flight) << flight.error().text();
  flight->add(small_state(at(1)), at(1));
  EXPECT_TRUE(flight->is_recording());
  EXPECT_EQ(flight->written(), 1);
  flight->finish();
  EXPECT_EQ(states_in(scratch.file()), 1);
  EXPECT_EQ(std::filesystem::file_size(scratch.file() + ".set-aside-1"), 20'000U);
  ASSERT_EQ(logged.lines.size(), 1U);
  EXPECT_NE(logged.lines[0].find("the recording was cut: 20000 of its "), std::string::npos) << logged.lines[0];
  EXPECT_NE(logged.lines[0].find("run.rec.set-aside-1 and begins a new recording"), std::string::npos);
}

TEST(FlightRecorder, ARecordingOfALaterVersionIsMovedAside) {
  const Scratch scratch;
  write_recording(scratch.file(), 1);
  {
    Result<Database> database = Database::open(scratch.file(), SQLITE_OPEN_READWRITE);
    ASSERT_TRUE(database && database->run("PRAGMA user_version = 4"));
  }
  Logged logged;
  Result<FlightRecorder> flight = FlightRecorder::open(scratch.file(), at(0), logged.log());
  ASSERT_TRUE(flight && flight->is_recording());
  EXPECT_TRUE(std::filesystem::exists(scratch.file() + ".set-aside-1"));
}

TEST(FlightRecorder, AnotherKindOfFileStays) {
  const Scratch scratch;
  std::ofstream(scratch.file()) << "notes";
  Logged logged;
  EXPECT_FALSE(FlightRecorder::open(scratch.file(), at(0), logged.log()));
  EXPECT_EQ(std::filesystem::file_size(scratch.file()), 5U);
}

TEST(FlightRecorder, TriesAgainAfterAnErrorAndCountsWhatItLost) {
  const Scratch scratch;
  const std::string folder = scratch.file() + ".d", path = folder + "/run.rec";
  Logged logged;
  Result<FlightRecorder> flight = FlightRecorder::open(path, at(0), logged.log());
  ASSERT_TRUE(flight) << "a missing folder does not stop the controller";
  EXPECT_FALSE(flight->is_recording());
  flight->add(small_state(at(1)), at(1));
  ASSERT_EQ(logged.lines.size(), 1U);
  EXPECT_NE(logged.lines[0].find("cannot record, and tries again every 30 s"), std::string::npos) << logged.lines[0];
  std::filesystem::create_directory(folder);
  flight->add(small_state(at(2)), at(2));
  EXPECT_EQ(flight->lost(), 2) << "30 seconds have not passed";
  flight->add(small_state(at(31)), at(31));
  EXPECT_EQ(flight->lost(), 2);
  EXPECT_EQ(flight->written(), 1);
  ASSERT_EQ(logged.lines.size(), 2U);
  EXPECT_NE(logged.lines[1].find("records again in "), std::string::npos);
  flight->finish();
  EXPECT_EQ(states_in(path), 1);
}

TEST(FlightRecorder, GoesOnInANewFileIfTheFileIsDamagedWhileItWrites) {
  const Scratch scratch;
  write_recording(scratch.file(), 400);
  const auto size = std::filesystem::file_size(scratch.file());
  {
    // Everything after the pages with the schema is overwritten, so that the file opens but cannot be continued.
    std::fstream file(scratch.file(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(4096);
    file << std::string(size - 4096, '\xff');
  }
  Logged logged;
  Result<FlightRecorder> flight = FlightRecorder::open(scratch.file(), at(0), logged.log());
  ASSERT_TRUE(flight);
  flight->add(small_state(at(500)), at(500));
  EXPECT_EQ(flight->written(), 1);
  flight->finish();
  EXPECT_EQ(states_in(scratch.file()), 1);
  EXPECT_TRUE(std::filesystem::exists(scratch.file() + ".set-aside-1"));
}

TEST(FlightRecorder, AClockThatWasSetBackDoesNotEndTheRecording) {
  const Scratch scratch;
  write_recording(scratch.file(), 100);
  Logged logged;
  Result<FlightRecorder> flight = FlightRecorder::open(scratch.file(), at(50), logged.log());
  ASSERT_TRUE(flight);
  flight->add(small_state(at(50)), at(50));
  flight->add(small_state(at(51)), at(51));
  flight->finish();
  EXPECT_EQ(logged.lines, std::vector<std::string>{});
  EXPECT_EQ(states_in(scratch.file()), 102);
}

}  // namespace
}  // namespace capstan::archive
