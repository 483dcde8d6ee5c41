#include "archive/recording_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "archive/recording.h"
#include "archive/sqlite.h"
#include "archive/testing.h"

namespace capstan::archive {
namespace {

using testing::Scratch;
using testing::small_state;

/// Writes a recording with many states.
void write_states(const std::string& path, int states = 300) {
  Result<Recorder> recorder = Recorder::create(path);
  ASSERT_TRUE(recorder);
  for (int i = 0; i < states; ++i) ASSERT_TRUE(recorder->add(small_state(testing::at(i))));
  ASSERT_TRUE(recorder->finish());
}

TEST(RecordingFile, TellsACutRecordingFromAnotherKindOfFile) {
  const Scratch scratch;
  EXPECT_EQ(examine(scratch.file()).content, FileContent::absent);
  std::ofstream(scratch.file()).close();
  EXPECT_EQ(examine(scratch.file()).content, FileContent::absent) << "an empty file is no content";
  std::ofstream(scratch.file()) << "notes";
  EXPECT_EQ(examine(scratch.file()).content, FileContent::foreign);
  EXPECT_EQ(examine(std::filesystem::path(scratch.file()).parent_path()).content, FileContent::foreign);
  std::ofstream(scratch.file()) << std::string(500, '\0');
  EXPECT_EQ(examine(scratch.file()).fault, "the recording is damaged: its start is missing");
  std::filesystem::remove(scratch.file());
  write_states(scratch.file());
  EXPECT_EQ(examine(scratch.file()).content, FileContent::recording);
  const auto whole = std::filesystem::file_size(scratch.file());
  std::filesystem::resize_file(scratch.file(), whole / 2);
  const ExaminedFile cut = examine(scratch.file());
  EXPECT_EQ(cut.content, FileContent::damaged);
  EXPECT_EQ(cut.fault, "the recording was cut: " + std::to_string(whole / 2) + " of its " + std::to_string(whole) +
                           " bytes are left");
  std::filesystem::resize_file(scratch.file(), 40);
  EXPECT_EQ(examine(scratch.file()).fault, "the recording was cut after 40 bytes");
}

TEST(RecordingFile, AnotherDatabaseIsForeignAndALaterVersionIsNamed) {
  const Scratch scratch;
  {
    Result<Database> database = Database::open(scratch.file(), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    ASSERT_TRUE(database && database->run("CREATE TABLE notes (text TEXT);"));
  }
  EXPECT_EQ(examine(scratch.file()).content, FileContent::foreign);
  {
    Result<Database> database = Database::open(scratch.file(), SQLITE_OPEN_READWRITE);
    ASSERT_TRUE(database && database->run("PRAGMA application_id = 1130459251; PRAGMA user_version = 4;"));
  }
  EXPECT_EQ(examine(scratch.file()).fault, "the recording has version 4, and this program reads versions 1 to 3");
}

TEST(RecordingFile, AtMostThreeFilesAreSetAside) {
  const Scratch scratch;
  for (const char* number : {"1", "2", "3", "3"}) {
    std::ofstream(scratch.file()) << "x";
    std::ofstream(scratch.file() + "-wal") << "log";
    const Result<std::string> name = set_aside(scratch.file());
    ASSERT_TRUE(name) << name.error().text();
    EXPECT_EQ(*name, scratch.file() + ".set-aside-" + number);
    EXPECT_TRUE(std::filesystem::exists(*name) && std::filesystem::exists(*name + "-wal"));
    EXPECT_FALSE(std::filesystem::exists(scratch.file()) || std::filesystem::exists(scratch.file() + "-wal"));
  }
  EXPECT_FALSE(set_aside(scratch.file())) << "there is no file";
}

}  // namespace
}  // namespace capstan::archive
