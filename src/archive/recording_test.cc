#include "archive/recording.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <filesystem>
#include <fstream>

#include "archive/replay.h"
#include "archive/sqlite.h"
#include "archive/testing.h"

namespace capstan::archive {
namespace {

using namespace std::chrono_literals;
using testing::Scratch;
using testing::small_state;
using testing::state_of;

std::vector<std::string> read_all(const std::string& file) {
  std::vector<std::string> texts;
  Result<Recording> recording = Recording::open(file);
  EXPECT_TRUE(recording) << recording.error().text();
  while (recording) {
    const Result<std::optional<SavedState>> state = recording->next();
    EXPECT_TRUE(state) << state.error().text();
    if (!state || !*state) break;
    texts.push_back(to_json(**state));
  }
  return texts;
}

RC_GTEST_PROP(Recording, GivesEveryStateAgain, ()) {
  const Scratch scratch;
  Result<Recorder> recorder = Recorder::create(scratch.file());
  RC_ASSERT(recorder.has_value());
  std::vector<std::string> written;
  const int states = *rc::gen::inRange(0, 6);
  for (int i = 0; i < states; ++i) {
    const SavedState state = state_of(fleet::testing::random_world(), fleet::testing::at(100 + i));
    RC_ASSERT(recorder->add(state).has_value());
    written.push_back(to_json(state));
  }
  RC_ASSERT(recorder->finish().has_value());
  RC_ASSERT(read_all(scratch.file()) == written);
}

TEST(Recording, DropsTheOldestStatesBeyondItsLimits) {
  for (const RecordingLimits limits : {RecordingLimits{.bytes = 1}, RecordingLimits{.age = 100s}}) {
    const Scratch scratch;
    Result<Recorder> recorder = Recorder::create(scratch.file(), limits);
    ASSERT_TRUE(recorder) << recorder.error().text();
    for (int i = 0; i < 1000; ++i) ASSERT_TRUE(recorder->add(small_state(fleet::testing::at(i))));
    ASSERT_TRUE(recorder->finish());
    const std::vector<std::string> kept = read_all(scratch.file());
    ASSERT_FALSE(kept.empty());
    EXPECT_LT(kept.size(), 300U);
    EXPECT_EQ(kept.back(), to_json(small_state(fleet::testing::at(999))));
  }
}

TEST(Recording, AFileCutByACrashIsReadUpToItsLastState) {
  const Scratch scratch;
  {
    Result<Recorder> recorder = Recorder::create(scratch.file());
    ASSERT_TRUE(recorder);
    for (int i = 0; i < 5; ++i) ASSERT_TRUE(recorder->add(small_state(fleet::testing::at(i))));
  }  // without finish()
  EXPECT_EQ(read_all(scratch.file()).size(), 5U);
}

TEST(Recording, EndsWellWhileAReaderHasTheFileOpen) {
  const Scratch scratch;
  Result<Recorder> recorder = Recorder::create(scratch.file());
  ASSERT_TRUE(recorder && recorder->add(small_state(fleet::testing::at(1))));
  Result<Recording> reader = Recording::open(scratch.file());
  ASSERT_TRUE(reader && reader->next());
  const Result<void> finished = recorder->finish();
  EXPECT_TRUE(finished) << finished.error().text();
  // The file alone has every state, also without its log.
  std::filesystem::copy_file(scratch.file(), scratch.file() + ".copy");
  EXPECT_EQ(read_all(scratch.file() + ".copy").size(), 1U);
}

TEST(Recording, FindsAMomentAndTheNewestState) {
  const Scratch scratch;
  Result<Recorder> recorder = Recorder::create(scratch.file());
  ASSERT_TRUE(recorder);
  for (int i = 0; i < 400; ++i) ASSERT_TRUE(recorder->add(small_state(fleet::testing::at(10 * i))));
  Result<Recording> recording = Recording::open(scratch.file());
  ASSERT_TRUE(recording);
  for (const int seconds : {0, 5, 1280, 2701, 3990}) {
    const auto found = recording->first_from(fleet::testing::at(seconds));
    ASSERT_TRUE(found && *found) << seconds;
    EXPECT_EQ(whole_seconds((*found)->snapshot.at.since_start), (seconds + 9) / 10 * 10);
  }
  EXPECT_FALSE(*recording->first_from(fleet::testing::at(3991)));
  Result<Recording> again = Recording::open(scratch.file());
  EXPECT_EQ((*again->newest())->snapshot.at, fleet::testing::at(3990));
  EXPECT_FALSE(*again->newest());
  ASSERT_TRUE(recorder->add(small_state(fleet::testing::at(4000))));
  EXPECT_EQ((*again->newest())->snapshot.at, fleet::testing::at(4000));
  EXPECT_FALSE(*again->next());
}

TEST(Recording, IsContinuedAfterARestart) {
  const Scratch scratch;
  for (int start = 0; start < 3; ++start) {
    Result<Recorder> recorder = Recorder::append(scratch.file());
    ASSERT_TRUE(recorder) << recorder.error().text();
    ASSERT_TRUE(recorder->add(small_state(fleet::testing::at(10 * start))));
    ASSERT_TRUE(recorder->add(small_state(fleet::testing::at(10 * start + 1))));
  }
  EXPECT_EQ(read_all(scratch.file()).size(), 6U);
}

TEST(Recording, HasTheStatesAfterTheClockWasSetBack) {
  const Scratch scratch;
  Result<Recorder> recorder = Recorder::create(scratch.file());
  for (const int second : {100, 40, 55, 110}) ASSERT_TRUE(recorder->add(small_state(fleet::testing::at(second))));
  ASSERT_TRUE(recorder->finish());
  EXPECT_EQ(read_all(scratch.file()).size(), 4U);
  const auto found = Recording::open(scratch.file())->first_from(fleet::testing::at(101));
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->snapshot.at, fleet::testing::at(110)) << "the times in the file never decrease";
}

/// The seconds of the states that can be read, and the number of damaged states.
struct ReadableStates {
  std::vector<std::int64_t> seconds;
  std::int64_t damaged = 0;
};
ReadableStates readable_states(const std::string& path) {
  ReadableStates found;
  Result<Recording> recording = Recording::open(path);
  EXPECT_TRUE(recording) << recording.error().text();
  while (recording) {
    const auto state = recording->next();
    EXPECT_TRUE(state) << state.error().text();
    if (!state || !*state) break;
    found.seconds.push_back(whole_seconds((*state)->snapshot.at.since_start));
  }
  if (recording) found.damaged = recording->damaged();
  return found;
}

TEST(Recording, ADamagedStateIsLeftOutWithThoseThatBuildOnIt) {
  const Scratch scratch;
  Result<Recorder> recorder = Recorder::create(scratch.file());
  for (int i = 0; i < 300; ++i) ASSERT_TRUE(recorder->add(small_state(fleet::testing::at(i))));
  ASSERT_TRUE(recorder->finish());
  {
    Result<Database> database = Database::open(scratch.file(), SQLITE_OPEN_READWRITE);
    ASSERT_TRUE(database->run("UPDATE states SET state = X'00112233' WHERE number IN (100, 299)"));
  }
  const ReadableStates found = readable_states(scratch.file());
  EXPECT_EQ(found.damaged, 29) << "100 to 127, which end the run, and 299";
  ASSERT_EQ(found.seconds.size(), 271U);
  EXPECT_EQ(found.seconds[99], 99);
  EXPECT_EQ(found.seconds[100], 128);
  EXPECT_EQ((*Recording::open(scratch.file())->newest())->snapshot.at, fleet::testing::at(298));
  EXPECT_EQ((*Recording::open(scratch.file())->first_from(fleet::testing::at(110)))->snapshot.at,
            fleet::testing::at(128));
}

TEST(Recording, TheNewestReadableStateMayBeInAnEarlierRun) {
  const Scratch scratch;
  Result<Recorder> recorder = Recorder::create(scratch.file());
  for (int i = 0; i < 300; ++i) ASSERT_TRUE(recorder->add(small_state(fleet::testing::at(i))));
  ASSERT_TRUE(recorder->finish());
  Result<Database> database = Database::open(scratch.file(), SQLITE_OPEN_READWRITE);
  ASSERT_TRUE(database->run("UPDATE states SET state = X'00112233' WHERE number = 256"));
  Result<Recording> recording = Recording::open(scratch.file());
  EXPECT_EQ((*recording->newest())->snapshot.at, fleet::testing::at(255));
  EXPECT_EQ(recording->damaged(), 44);
  EXPECT_FALSE(*recording->newest());
  EXPECT_EQ(recording->damaged(), 44) << "no state counts twice";
}

/// Checks that the states of a recording come in order and without error.
void check_order(Recording& recording) {
  std::int64_t last = -1;
  while (true) {
    const auto state = recording.next();
    if (!state || !*state) break;
    const std::int64_t second = whole_seconds((*state)->snapshot.at.since_start);
    ASSERT_GT(second, last);
    last = second;
  }
}

TEST(Recording, OverwrittenBytesLoseStatesAndNothingElse) {
  const Scratch scratch;
  Result<Recorder> recorder = Recorder::create(scratch.file());
  for (int i = 0; i < 400; ++i) ASSERT_TRUE(recorder->add(small_state(fleet::testing::at(i))));
  ASSERT_TRUE(recorder->finish());
  const auto size = static_cast<int>(std::filesystem::file_size(scratch.file()));
  const std::string damaged = scratch.file() + ".damaged";
  int read = 0;
  std::int64_t damaged_states = 0;
  for (int at = 4096; at < size; at += size / 12) {
    std::filesystem::copy_file(scratch.file(), damaged, std::filesystem::copy_options::overwrite_existing);
    {
      std::fstream file(damaged, std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(at);
      file << std::string(300, '\xff');
    }
    Result<Recording> recording = Recording::open(damaged);
    if (!recording) continue;  // the index of the table is damaged
    check_order(*recording);
    damaged_states += recording->damaged();
    ++read;
  }
  EXPECT_GT(damaged_states, 0);
  EXPECT_GT(read, 3) << "most damage leaves states that can be read";
}

TEST(Recording, ReplacesARecordingAndNothingElse) {
  const Scratch scratch;
  ASSERT_TRUE(Recorder::create(scratch.file())->finish());
  EXPECT_TRUE(Recorder::create(scratch.file()));
  std::ofstream(scratch.file()) << "notes";
  EXPECT_FALSE(Recorder::append(scratch.file()));
  const Result<Recorder> over_notes = Recorder::create(scratch.file());
  ASSERT_FALSE(over_notes);
  EXPECT_NE(over_notes.error().text().find("is not a recording, expected a new name"), std::string::npos);
  std::string notes;
  std::getline(std::ifstream(scratch.file()), notes);
  EXPECT_EQ(notes, "notes");
}

TEST(Recording, ForeignDamagedAndNewerFilesAreErrors) {
  const Scratch scratch;
  EXPECT_FALSE(Recording::open(scratch.file()));
  std::ofstream(scratch.file()) << "not a database, but long enough to be read as the head of one";
  EXPECT_NE(Recording::open(scratch.file()).error().text().find("expected a recording that `--record` wrote"),
            std::string::npos);

  std::filesystem::remove(scratch.file());
  Result<Recorder> recorder = Recorder::create(scratch.file());
  ASSERT_TRUE(recorder && recorder->add(small_state(fleet::testing::at(1))) && recorder->finish());
  const auto change = [&](const char* sql) {
    Result<Database> database = Database::open(scratch.file(), SQLITE_OPEN_READWRITE);
    ASSERT_TRUE(database && database->run(sql));
  };
  change("UPDATE states SET state = X'00112233'");
  const Result<std::optional<SavedState>> damaged = Recording::open(scratch.file())->next();
  ASSERT_FALSE(damaged);
  EXPECT_NE(damaged.error().text().find("run.rec: state 0: the compressed state is damaged"), std::string::npos)
      << damaged.error().text();
  change("PRAGMA user_version = 4");
  EXPECT_NE(Recording::open(scratch.file()).error().text().find("the recording has version 4"), std::string::npos);
}

TEST(Recording, KeepsTheLayersThatDecided) {
  const Scratch scratch;
  const std::vector<control::DueDecisions> all = {
      {},
      {.services = {}, .placement = false},
      {.services = std::vector<model::ServiceId>(), .placement = true},
      {.services = std::vector<model::ServiceId>{{0}, {3}, {12}}, .placement = true},
      {.services = std::vector<model::ServiceId>{{7}}, .placement = false},
  };
  Result<Recorder> recorder = Recorder::create(scratch.file());
  for (std::size_t i = 0; i < all.size(); ++i) {
    SavedState state = small_state(fleet::testing::at(static_cast<int>(i)));
    state.due = all[i];
    ASSERT_TRUE(recorder->add(state));
  }
  ASSERT_TRUE(recorder->finish());
  {
    Result<Recording> recording = Recording::open(scratch.file());
    for (const control::DueDecisions& due : all) EXPECT_EQ((*recording->next())->due, due);
  }
  Result<Database> database = Database::open(scratch.file(), SQLITE_OPEN_READWRITE);
  for (const char* bad : {"services 3 2", "services x", "placement", "services 1 place"}) {
    ASSERT_TRUE(database->run((std::string("UPDATE states SET due = '") + bad + "'").c_str()));
    const auto state = Recording::open(scratch.file())->next();
    ASSERT_FALSE(state) << bad;
    EXPECT_NE(state.error().text().find("state 0: due: found"), std::string::npos) << state.error().text();
  }
}

TEST(Recording, KeepsTheOutcomesOfActions) {
  const Scratch scratch;
  const model::Action action{.effect = model::SetReplicas{.service = {0}, .replicas = 3, .drain = {}}, .why = {}};
  const auto shadow = [&](int second) {
    return control::ActionOutcome{.decided_at = fleet::testing::at(second),
                                  .action = action,
                                  .kind = control::ActionOutcome::Kind::refused,
                                  .why = model::Reason{model::ReasonCode::shadow_mode, {}}};
  };
  Result<Recorder> recorder = Recorder::create(scratch.file(), {.bytes = 1});
  ASSERT_TRUE(recorder && recorder->add(small_state(fleet::testing::at(1))));
  ASSERT_TRUE(recorder->add_outcome(shadow(99))) << "of a state that is not in the file";
  ASSERT_TRUE(recorder->add_outcome(shadow(1)));
  {
    Result<Recording> recording = Recording::open(scratch.file());
    ASSERT_TRUE(recording && recording->has_outcomes());
    EXPECT_EQ(recording->new_outcomes()->size(), 0U) << "their state was not read";
    EXPECT_EQ((*recording->next())->number, 0);
    const std::vector<RecordedOutcome> outcomes = *recording->new_outcomes();
    ASSERT_EQ(outcomes.size(), 1U);
    EXPECT_EQ(outcomes[0].state, 0);
    EXPECT_EQ(outcomes[0].action, action_key(action));
    EXPECT_EQ(outcomes[0].result, ActionResult::shadow);
    EXPECT_EQ(recording->new_outcomes()->size(), 0U) << "they were read";
    EXPECT_EQ(recording->outcomes_of(0)->size(), 1U);
  }
  for (int i = 2; i < 400; ++i) {
    ASSERT_TRUE(recorder->add(small_state(fleet::testing::at(i))) && recorder->add_outcome(shadow(i)));
  }
  Result<Recording> recording = Recording::open(scratch.file());
  EXPECT_EQ(recording->outcomes_of(0)->size(), 0U) << "they are dropped with their states";
  while (*recording->next()) {
  }
  EXPECT_EQ(std::ssize(*recording->new_outcomes()), recording->states());
}

TEST(Recording, WithoutATableOfOutcomesIsRead) {
  const Scratch scratch;
  Result<Recorder> recorder = Recorder::create(scratch.file());
  ASSERT_TRUE(recorder->add(small_state(fleet::testing::at(1))) && recorder->finish());
  {
    Result<Database> database = Database::open(scratch.file(), SQLITE_OPEN_READWRITE);
    ASSERT_TRUE(database->run("DROP TABLE outcomes; PRAGMA user_version = 2;"));
  }
  {
    Result<Recording> recording = Recording::open(scratch.file());
    ASSERT_TRUE(recording && *recording->next());
    EXPECT_FALSE(recording->has_outcomes());
    EXPECT_EQ(recording->new_outcomes()->size() + recording->outcomes_of(0)->size(), 0U);
  }
  EXPECT_TRUE(Recorder::append(scratch.file()));
}

TEST(Recording, OfTheFirstVersionIsReadAndContinued) {
  const Scratch scratch;
  Result<Recorder> recorder = Recorder::create(scratch.file());
  ASSERT_TRUE(recorder->add(small_state(fleet::testing::at(1))) && recorder->finish());
  {
    Result<Database> database = Database::open(scratch.file(), SQLITE_OPEN_READWRITE);
    ASSERT_TRUE(database->run("ALTER TABLE states DROP COLUMN due; PRAGMA user_version = 1;"));
  }
  EXPECT_EQ((*Recording::open(scratch.file())->next())->due, control::DueDecisions{});
  Result<Recorder> continued = Recorder::append(scratch.file());
  ASSERT_TRUE(continued) << continued.error().text();
  SavedState second = small_state(fleet::testing::at(2));
  second.due = {.services = std::vector<model::ServiceId>(), .placement = true};
  ASSERT_TRUE(continued->add(second) && continued->finish());
  Result<Recording> recording = Recording::open(scratch.file());
  EXPECT_EQ((*recording->next())->due, control::DueDecisions{});
  EXPECT_EQ((*recording->next())->due, second.due);
}

RC_GTEST_PROP(Replay, TheRecordedPoliciesDecideTheSame, ()) {
  const Scratch scratch;
  Result<Recorder> recorder = Recorder::create(scratch.file());
  const SavedState state = state_of(fleet::testing::random_world(), fleet::testing::at(100));
  RC_ASSERT((recorder->add(state).has_value() && recorder->finish().has_value()));
  Result<Recording> recording = Recording::open(scratch.file());
  const Result<ReplayCount> count =
      replay(*recording, {.place = decide::place::Policy{}}, [](const ReplayedState&) { return true; });
  RC_ASSERT((count.has_value() && count->states == 1));
  RC_ASSERT(count->differing == 0);
}

TEST(Replay, FindsTheFirstStateWithDifferentActions) {
  const Scratch scratch;
  Result<Recorder> recorder = Recorder::create(scratch.file());
  ASSERT_TRUE(recorder);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(recorder->add(small_state(fleet::testing::at(15 * i))));
  ASSERT_TRUE(recorder->finish());
  Result<Recording> recording = Recording::open(scratch.file());
  std::vector<bool> differs;
  const Result<ReplayCount> count =
      replay(*recording, {.scale = decide::scale::Fixed{7}}, [&](const ReplayedState& replayed) {
        differs.push_back(replayed.differs);
        return !replayed.differs;
      });
  ASSERT_TRUE(count);
  ASSERT_FALSE(differs.empty());
  EXPECT_EQ(count->differing, 1);
  EXPECT_TRUE(differs.back());
}

TEST(OtherPolicies, AreReadFromAFileWithAtLeastOneLayer) {
  const Scratch scratch;
  const auto read = [&](const std::string& text) {
    std::ofstream(scratch.file()) << text;
    return read_policies(scratch.file());
  };
  EXPECT_FALSE(read_policies("")->any());
  const auto place = read("place: gang\n");
  ASSERT_TRUE(place) << place.error().text();
  EXPECT_TRUE(place->place);
  EXPECT_FALSE(place->scale || place->provision);
  EXPECT_TRUE(read("{}\n").error().text().contains("no policy is given, expected scale, place or provision"));
  EXPECT_FALSE(read("replace: gang\n"));
}

}  // namespace
}  // namespace capstan::archive
