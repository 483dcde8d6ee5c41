#include "serve/recording_stream.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <filesystem>

#include <nlohmann/json.hpp>

#include "archive/testing.h"

namespace capstan::serve {
namespace {

using namespace std::chrono_literals;
using archive::testing::Scratch;
using archive::testing::small_state;
using fleet::testing::at;
using Kind = RecordingStream::Event::Kind;

/// Returns the next `count` events; fewer after a minute, and the test then fails.
std::vector<RecordingStream::Event> wait_for(RecordingStream& stream, std::size_t count) {
  std::vector<RecordingStream::Event> all;
  while (all.size() < count) {
    pollfd descriptor{stream.poll_fd(), POLLIN, 0};
    if (poll(&descriptor, 1, 60'000) != 1) break;
    for (RecordingStream::Event& event : stream.take_events()) all.push_back(std::move(event));
  }
  EXPECT_EQ(all.size(), count);
  all.resize(count);
  return all;
}

std::int64_t number(const RecordingStream::Event& event) {
  EXPECT_EQ(event.kind, Kind::state);
  return nlohmann::json::parse(event.state.numbers)["state"];
}

TEST(RecordingStream, FollowsAWriterAndSaysWhatIsWrong) {
  const Scratch scratch;
  Result<archive::Recorder> recorder = archive::Recorder::create(scratch.file());
  ASSERT_TRUE(recorder && recorder->add(small_state(at(0))) && recorder->add(small_state(at(15))));
  std::optional<Result<archive::Recording>> recording = archive::Recording::open(scratch.file());
  ASSERT_TRUE(*recording && (*recording)->next() && (*recording)->next());
  const auto history = std::make_shared<RecordedHistory>(1);
  RecordingStream stream(scratch.file(), (*recording)->place(), 2, history, {}, 200ms);
  recording.reset();  // SQLite keeps the write-ahead log of a file that is open

  ASSERT_TRUE(recorder->add(small_state(at(30))));
  EXPECT_EQ(number(wait_for(stream, 1)[0]), 2);
  EXPECT_EQ(nlohmann::json::parse(history->json(""))["place"], "1.1");
  ASSERT_TRUE(recorder->add(small_state(at(45))));
  EXPECT_EQ(number(wait_for(stream, 1)[0]), 3);
  ASSERT_TRUE(recorder->finish());
  // The recorder must have deleted its write-ahead log. Otherwise SQLite would apply this log to the file that replaces
  // the recording below.
  ASSERT_FALSE(std::filesystem::exists(scratch.file() + "-wal"));

  std::filesystem::resize_file(scratch.file(), 100);
  const RecordingStream::Event cut = wait_for(stream, 1)[0];
  EXPECT_EQ(cut.kind, Kind::fault);
  EXPECT_NE(cut.text.find("run.rec: "), std::string::npos) << cut.text;

  const std::string other = scratch.file() + ".other";
  recorder = archive::Recorder::create(other);
  ASSERT_TRUE(recorder && recorder->add(small_state(at(100))) && recorder->finish());
  std::filesystem::rename(other, scratch.file());
  const std::vector<RecordingStream::Event> replaced = wait_for(stream, 3);
  EXPECT_EQ(replaced[0].kind, Kind::replaced);
  EXPECT_EQ(replaced[0].text, "any");
  EXPECT_EQ(number(replaced[1]), 0);
  EXPECT_EQ(replaced[2].kind, Kind::fault);
  EXPECT_EQ(replaced[2].text, "");
}

}  // namespace
}  // namespace capstan::serve
