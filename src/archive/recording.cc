#include "archive/recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "archive/delta_codec.h"
#include "archive/recording_file.h"
#include "archive/sqlite.h"
#include "base/assert.h"
#include "base/split.h"
#include "manifest/scalars.h"

namespace capstan::archive {
namespace {

/// Number of attempts to finish a recording while a reader has the file open, and the pause between them.
constexpr int kFinishTries = 40;
constexpr Duration kFinishPause = std::chrono::milliseconds(25);

/// Number of states in a run. The first state of a run is compressed alone, and each later one against the state
/// before it. A run can therefore only be dropped as a whole.
constexpr std::int64_t kStatesPerRun = 128;

std::string schema() {
  return fmt::format(
      "PRAGMA application_id = {};"
      "PRAGMA user_version = {};"
      "PRAGMA journal_mode = WAL;"
      "PRAGMA synchronous = NORMAL;"
      "CREATE TABLE IF NOT EXISTS states ("
      "  number INTEGER PRIMARY KEY, at_ns INTEGER NOT NULL, first INTEGER NOT NULL, state BLOB NOT NULL, due TEXT);"
      "CREATE INDEX IF NOT EXISTS states_by_first ON states (first);"
      "CREATE TABLE IF NOT EXISTS outcomes ("
      "  number INTEGER PRIMARY KEY AUTOINCREMENT, state INTEGER NOT NULL, action INTEGER NOT NULL,"
      "  result TEXT NOT NULL, why TEXT NOT NULL);"
      "CREATE INDEX IF NOT EXISTS outcomes_by_state ON outcomes (state);",
      kRecordingApplication, kRecordingVersion);
}

Result<bool> has_due(Database& database) {
  const Result<std::int64_t> columns =
      database.integer("SELECT COUNT(*) FROM pragma_table_info('states') WHERE name = 'due'");
  if (!columns) return std::unexpected(columns.error());
  return *columns > 0;
}

/// Returns which decisions were due, as one text such as "services 0 2 placement" or "all services". Empty if all
/// decisions were due.
std::string due_text(const control::DueDecisions& due) {
  if (due == control::DueDecisions{}) return "";
  std::string text = due.services ? "services" : "all services";
  for (const model::ServiceId service : due.services.value_or(std::vector<model::ServiceId>())) {
    text += fmt::format(" {}", service.value);
  }
  return text + (due.placement ? " placement" : "");
}

/// Reads what due_text() wrote.
Result<control::DueDecisions> read_due(std::string_view text) {
  if (text.empty()) return control::DueDecisions{};
  const Error unreadable = Error::about("due", fmt::format("found \"{}\", expected services and placement", text));
  std::vector<std::string_view> words = split(text, ' ');
  control::DueDecisions due{.placement = words.back() == "placement"};
  if (due.placement) words.pop_back();
  if (words == std::vector<std::string_view>{"all", "services"}) return due;
  if (words.empty() || words.front() != "services") return std::unexpected(unreadable);
  due.services.emplace();
  for (const std::string_view word : std::span(words).subspan(1)) {
    const std::optional<std::int64_t> number = manifest::read_integer(word);
    if (!number || !std::in_range<std::uint32_t>(*number)) return std::unexpected(unreadable);
    const model::ServiceId service{static_cast<std::uint32_t>(*number)};
    if (!due.services->empty() && service <= due.services->back()) return std::unexpected(unreadable);
    due.services->push_back(service);
  }
  return due;
}

/// Returns why a file cannot be continued or replaced; nothing if it can.
std::optional<Error> refusal(const std::string& path) {
  const ExaminedFile found = examine(path);
  switch (found.content) {
    case FileContent::absent:
    case FileContent::recording:
      return std::nullopt;
    case FileContent::foreign:
      return Error::about(path, "the file exists and is not a recording, expected a new name");
    case FileContent::newer:
    case FileContent::damaged:
      return Error::about(path, found.fault + ", expected a new name");
    case FileContent::unreadable:
      break;
  }
  return Error::about(path, found.fault);
}

/// Removes an earlier recording. A file that is not a recording stays.
Result<void> make_room(const std::string& path) {
  std::error_code failed;
  if (!std::filesystem::exists(path, failed)) return {};
  if (std::optional<Error> refused = refusal(path)) return std::unexpected(*std::move(refused));
  for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(path + suffix, failed);
  if (!failed) return {};
  return std::unexpected(Error::about(path, "the earlier recording cannot be removed: " + failed.message()));
}

}  // namespace

struct Recorder::File {
  std::string path;
  RecordingLimits limits;
  Database database;
  Statement insert{};
  Statement drop{};
  Statement insert_outcome{};
  Statement drop_outcomes{};
  std::map<Instant, std::int64_t> open_states{};    ///< numbers of the last states, by the time of their snapshots
  std::shared_ptr<const model::Catalog> catalog{};  ///< of the last state
  std::string previous_text{};                      ///< the last state as text
  Instant previous_at{};
  std::int64_t number = 0;  ///< number of the next state
  std::int64_t first = 0;   ///< number of the first state of the current run
  std::int64_t bytes = 0;   ///< size of all states in the file

  Result<void> prepare();
  Result<void> go_to_end();
  Result<void> write(const SavedState& state);
  Result<void> write(const RecordedOutcome& outcome);
  Result<void> drop_oldest(Instant now);
};

Result<Recorder> Recorder::create(const std::string& path, const RecordingLimits& limits) {
  if (const Result<void> free = make_room(path); !free) return std::unexpected(free.error());
  return open(path, limits);
}

Result<Recorder> Recorder::append(const std::string& path, const RecordingLimits& limits) {
  if (std::optional<Error> refused = refusal(path)) return std::unexpected(*std::move(refused));
  return open(path, limits);
}

Result<ContinuedRecorder> Recorder::append_or_set_aside(const std::string& path, const RecordingLimits& limits) {
  const ExaminedFile found = examine(path);
  if (found.content == FileContent::foreign) return std::unexpected(*refusal(path));
  bool is_useless = found.content == FileContent::damaged || found.content == FileContent::newer;
  std::string fault = path + ": " + found.fault;
  if (!is_useless) {
    Result<Recorder> continued = open(path, limits, &is_useless);
    if (continued) return ContinuedRecorder{*std::move(continued)};
    if (!is_useless) return std::unexpected(continued.error());
    fault = continued.error().text();
  }
  Result<std::string> moved = set_aside(path);
  if (!moved) return std::unexpected(moved.error());
  Result<Recorder> begun = append(path, limits);
  if (!begun) return std::unexpected(begun.error());
  return ContinuedRecorder{*std::move(begun), *std::move(moved), std::move(fault)};
}

/// @param is_damaged  becomes true if the file cannot be opened because it is damaged; null: the caller does not ask
Result<Recorder> Recorder::open(const std::string& path, const RecordingLimits& limits, bool* is_damaged) {
  Result<Database> database = Database::open(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  if (!database) return std::unexpected(database.error());
  auto file = std::make_unique<File>(File{path, limits, *std::move(database)});
  Result<void> prepared = file->prepare();
  if (prepared) prepared = file->go_to_end();
  if (prepared) return Recorder(std::move(file));
  if (is_damaged != nullptr) *is_damaged = file->database.is_damaged();
  return std::unexpected(prepared.error());
}

Result<void> Recorder::File::prepare() {
  if (const Result<void> made = database.run(schema().c_str()); !made) return made;
  const Result<bool> is_complete = has_due(database);
  if (!is_complete) return std::unexpected(is_complete.error());
  if (!*is_complete) {
    if (const Result<void> added = database.run("ALTER TABLE states ADD COLUMN due TEXT;"); !added) return added;
  }
  Result<Statement> inserts = database.prepare("INSERT INTO states VALUES (?1, ?2, ?3, ?4, ?5)");
  if (!inserts) return std::unexpected(inserts.error());
  Result<Statement> drops = database.prepare("DELETE FROM states WHERE first = ?1");
  if (!drops) return std::unexpected(drops.error());
  insert = *std::move(inserts);
  drop = *std::move(drops);
  Result<Statement> outcomes =
      database.prepare("INSERT INTO outcomes (state, action, result, why) VALUES (?1, ?2, ?3, ?4)");
  if (!outcomes) return std::unexpected(outcomes.error());
  Result<Statement> drops_outcomes =
      database.prepare("DELETE FROM outcomes WHERE state < (SELECT MIN(number) FROM states)");
  if (!drops_outcomes) return std::unexpected(drops_outcomes.error());
  insert_outcome = *std::move(outcomes);
  drop_outcomes = *std::move(drops_outcomes);
  return {};
}

/// Continues after the last state, with a new run.
Result<void> Recorder::File::go_to_end() {
  Result<Statement> end =
      database.prepare("SELECT MAX(number) + 1, MAX(at_ns), SUM(LENGTH(state)) FROM states HAVING COUNT(*) > 0");
  if (!end) return std::unexpected(end.error());
  const int status = end->step();
  if (status == SQLITE_DONE) return {};
  if (status != SQLITE_ROW) return std::unexpected(database.error());
  number = first = end->integer(0);
  previous_at = Instant{Duration(end->integer(1))};
  bytes = end->integer(2);
  return {};
}

Recorder::Recorder(std::unique_ptr<File> file) : file_(std::move(file)) {}
Recorder::Recorder(Recorder&&) noexcept = default;
Recorder& Recorder::operator=(Recorder&&) noexcept = default;
Recorder::~Recorder() = default;

Result<void> Recorder::add(const SavedState& state) {
  CAPSTAN_ASSERT(file_ != nullptr);
  return file_->write(state);
}

Result<void> Recorder::add_outcome(const control::ActionOutcome& outcome) {
  CAPSTAN_ASSERT(file_ != nullptr);
  const auto state = file_->open_states.find(outcome.decided_at);
  if (state == file_->open_states.end()) return {};
  RecordedOutcome row = recorded_outcome(outcome, *file_->catalog);
  row.state = state->second;
  return file_->write(row);
}

Result<void> Recorder::File::write(const RecordedOutcome& outcome) {
  insert_outcome.bind(1, outcome.state);
  insert_outcome.bind(2, std::bit_cast<std::int64_t>(outcome.action));
  insert_outcome.bind(3, name(outcome.result));
  insert_outcome.bind(4, outcome.why);
  return database.run(insert_outcome);
}

bool Recorder::is_damaged() const { return file_ != nullptr && file_->database.is_damaged(); }

Result<void> Recorder::File::write(const SavedState& state) {
  if (number - first == kStatesPerRun) first = number;
  std::string text = to_json(state);
  const std::string compressed = compress_after(first == number ? std::string_view() : previous_text, text);
  insert.bind(1, number);
  // The times in the table never decrease, even if the clock was set back. The stored state keeps the time of the
  // clock.
  const Instant at = std::max(previous_at, state.snapshot.at);
  insert.bind(2, at.since_start.count());
  insert.bind(3, first);
  insert.bind(4, compressed);
  const std::string due = due_text(state.due);
  insert.bind(5, due);
  if (const Result<void> written = database.run(insert); !written) return written;
  previous_text = std::move(text);
  previous_at = at;
  bytes += static_cast<std::int64_t>(compressed.size());
  // If the clock was set back, `open_states` has states with later times. They are removed, because new outcomes belong
  // to this state.
  open_states.erase(open_states.lower_bound(state.snapshot.at), open_states.end());
  open_states.emplace(state.snapshot.at, number);
  if (open_states.size() > kOpenStates) open_states.erase(open_states.begin());
  catalog = state.snapshot.catalog;
  ++number;
  return drop_oldest(at);
}

/// Drops the oldest run of states while the file has too many bytes, or while all states of that run are too old. The
/// last run always stays.
Result<void> Recorder::File::drop_oldest(Instant now) {
  if (number - first != 1) return {};  // checked only when a run begins, so that most calls cost nothing
  while (true) {
    Result<Statement> oldest = database.prepare(
        "SELECT first, MAX(at_ns), SUM(LENGTH(state)) FROM states WHERE first = (SELECT MIN(first) FROM states)");
    if (!oldest) return std::unexpected(oldest.error());
    if (oldest->step() != SQLITE_ROW) return std::unexpected(database.error());
    const std::int64_t run = oldest->integer(0);
    const Instant newest{Duration(oldest->integer(1))};
    if (run == first || (bytes <= limits.bytes && now - newest <= limits.age)) return {};
    bytes -= oldest->integer(2);
    oldest->reset();
    drop.bind(1, run);
    if (const Result<void> dropped = database.run(drop); !dropped) return dropped;
    if (const Result<void> dropped = database.run(drop_outcomes); !dropped) return dropped;
  }
}

Result<void> Recorder::finish() {
  CAPSTAN_ASSERT(file_ != nullptr);
  Result<void> written = file_->database.run("PRAGMA wal_checkpoint(TRUNCATE);");
  // A reader that follows the recording opens the file for short moments. If a reader keeps the file open, the log
  // remains, but it is empty: every state is in the file.
  for (int tries = 0; written && tries < kFinishTries; ++tries) {
    written = file_->database.run("PRAGMA journal_mode = DELETE;");
    if (written || !file_->database.is_busy()) break;
    written = {};
    sqlite3_sleep(kFinishPause / std::chrono::milliseconds(1));
  }
  file_.reset();
  return written;
}

struct Recording::File {
  std::string path;
  Database database;
  Statement rows;
  std::int64_t states = 0;
  bool has_outcome_table = false;
  Place place{};
  std::string due{};                    ///< due decisions of the last state, as due_text() writes them
  std::int64_t row = -1;                ///< number of the last row that was examined
  std::int64_t damaged_run = -1;        ///< the run with the last damaged state; its later states cannot be read
  std::set<std::int64_t> damaged{};     ///< numbers of the damaged states
  std::optional<Error> first_damage{};  ///< the first damage that was found
  bool has_read = false;                ///< true: a state was readable

  void begin_after(std::int64_t number);
  Result<bool> step();
  bool take_row();
  Result<bool> go_to_next_run();
  void note_damage(std::int64_t number, const std::string& message);
  Result<std::optional<SavedState>> state();
  Result<std::vector<RecordedOutcome>> outcomes(const char* condition, std::initializer_list<std::int64_t> values,
                                                std::int64_t* last);
  Result<std::optional<std::int64_t>> run_of(const char* sql, std::int64_t bound);
};

Result<Recording> Recording::open(const std::string& path) {
  const ExaminedFile found = examine(path);
  if (found.content != FileContent::recording && found.content != FileContent::absent) {
    return std::unexpected(Error::about(path, found.fault));
  }
  Result<Database> database = Database::open(path, SQLITE_OPEN_READONLY);
  if (!database) return std::unexpected(database.error());
  if (found.content == FileContent::absent) {
    return std::unexpected(Error::about(path, "the file is empty, expected a recording that `--record` wrote"));
  }
  const Result<std::int64_t> states = database->integer("SELECT COUNT(*) FROM states");
  if (!states) return std::unexpected(states.error());
  const Result<bool> has = has_due(*database);
  if (!has) return std::unexpected(has.error());
  Result<Statement> rows =
      database->prepare(*has ? "SELECT number, first, state, at_ns, due FROM states WHERE number > ?1 ORDER BY number"
                             : "SELECT number, first, state, at_ns, '' FROM states WHERE number > ?1 ORDER BY number");
  if (!rows) return std::unexpected(rows.error());
  const Result<std::int64_t> tables =
      database->integer("SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = 'outcomes'");
  if (!tables) return std::unexpected(tables.error());
  auto file = std::make_unique<File>(File{path, *std::move(database), *std::move(rows), *states, *tables > 0});
  file->begin_after(-1);
  return Recording(std::move(file));
}

Recording::Recording(std::unique_ptr<File> file) : file_(std::move(file)) {}
Recording::Recording(Recording&&) noexcept = default;
Recording& Recording::operator=(Recording&&) noexcept = default;
Recording::~Recording() = default;

std::int64_t Recording::states() const { return file_->states; }
std::int64_t Recording::damaged() const { return std::ssize(file_->damaged); }
Recording::Place Recording::place() const { return file_->place; }

/// Makes the next step read the state after state `number`. Until that step, no read blocks the writer of the file.
void Recording::File::begin_after(std::int64_t number) {
  rows.reset();
  rows.bind(1, number);
  row = number;
  damaged_run = -1;
}

void Recording::File::note_damage(std::int64_t number, const std::string& message) {
  damaged.insert(number);
  if (!first_damage) first_damage = Error::about(fmt::format("{}: state {}", path, number), message);
}

/// Reads the text of the next readable state. Returns false after the last one.
Result<bool> Recording::File::step() {
  while (true) {
    const int status = rows.step();
    if (status == SQLITE_ROW) {
      if (take_row()) return true;
      continue;
    }
    if (status == SQLITE_DONE) {
      begin_after(place.number);
      return false;
    }
    if (!database.is_damaged()) return std::unexpected(database.error());
    const Result<bool> found = go_to_next_run();
    if (!found) return std::unexpected(found.error());
    if (*found) continue;
    begin_after(place.number);
    return false;
  }
}

/// Reads the text of the current row. Returns false if it is damaged.
bool Recording::File::take_row() {
  const std::int64_t number = rows.integer(0), run = rows.integer(1);
  row = number;
  const bool is_alone = run == number;
  const std::string_view stored = rows.blob(2);
  const bool is_cut_off = run == damaged_run || (!is_alone && place.number != number - 1);
  const Result<std::string> text = is_cut_off
                                       ? std::unexpected(Error{.file = {}, .message = "the state before it is damaged"})
                                       : decompress_after(is_alone ? std::string_view() : place.text, stored);
  if (!text) {
    note_damage(number, text.error().message);
    damaged_run = run;
    return false;
  }
  due = rows.blob(4);
  place = {number, std::string(stored), *text, place.outcome};
  return true;
}

/// Continues with the next run after a page of the file could not be read. Returns false if there is none.
Result<bool> Recording::File::go_to_next_run() {
  const std::string message = database.error().message;
  rows.reset();
  const std::int64_t before = row;
  const auto next = run_of("SELECT first FROM states WHERE first > ?1 ORDER BY first LIMIT 1", before + 1);
  if (!next && !database.is_damaged()) return std::unexpected(next.error());
  const bool has_next = next && *next;
  std::int64_t end = has_next ? **next : before + 2;
  if (!has_next) {
    const auto last =
        run_of("SELECT MAX(number) FROM states INDEXED BY states_by_first WHERE first > ?1", before - kStatesPerRun);
    if (last && *last) end = std::max(end, **last + 1);
  }
  for (std::int64_t number = before + 1; number < end; ++number) note_damage(number, message);
  if (has_next) begin_after(end - 1);
  return has_next;
}

/// Returns the state whose text was read; nothing if it is damaged.
Result<std::optional<SavedState>> Recording::File::state() {
  const std::string name = fmt::format("{}: state {}", path, place.number);
  const Result<control::DueDecisions> decided = read_due(due);
  Result<SavedState> state = parse(place.text, name);
  if (!decided || !state) {
    note_damage(place.number, decided ? state.error().message : decided.error().text());
    return std::nullopt;
  }
  state->due = *decided;
  state->number = place.number;
  has_read = true;
  return std::move(*state);
}

/// Runs a query that selects the run of a state. Returns the number of the first state of the run, or nothing if the
/// query finds no row.
/// @param bound  value of the query's parameter
Result<std::optional<std::int64_t>> Recording::File::run_of(const char* sql, std::int64_t bound) {
  Result<Statement> run = database.prepare(sql);
  if (!run) return std::unexpected(run.error());
  run->bind(1, bound);
  const int status = run->step();
  if (status == SQLITE_DONE) return std::nullopt;
  if (status != SQLITE_ROW) return std::unexpected(database.error());
  return run->integer(0);
}

Result<std::optional<SavedState>> Recording::next() {
  while (true) {
    const Result<bool> found = file_->step();
    if (!found) return std::unexpected(found.error());
    if (!*found) break;
    Result<std::optional<SavedState>> state = file_->state();
    if (!state || *state) return state;
  }
  if (!file_->has_read && file_->first_damage) return std::unexpected(*file_->first_damage);
  return std::nullopt;
}

Result<std::optional<SavedState>> Recording::newest() {
  const std::int64_t begin = file_->place.number;
  auto run = file_->run_of("SELECT first FROM states WHERE number > ?1 ORDER BY number DESC LIMIT 1", begin);
  while (run && *run) {
    const std::int64_t first = **run;
    if (first > file_->place.number) file_->begin_after(first - 1);
    bool is_found = false;
    while (true) {
      const Result<bool> found = file_->step();
      if (!found) return std::unexpected(found.error());
      if (!*found) break;
      is_found = true;
    }
    if (is_found) return file_->state();
    // Every state of this run is damaged, so the last readable one is in an earlier run.
    if (first <= begin + 1) break;
    run = file_->run_of("SELECT first FROM states WHERE number < ?1 ORDER BY number DESC LIMIT 1", first);
  }
  if (!run) return std::unexpected(run.error());
  if (!file_->has_read && file_->first_damage) return std::unexpected(*file_->first_damage);
  return std::nullopt;
}

Result<std::optional<SavedState>> Recording::first_from(Instant at) {
  const auto run =
      file_->run_of("SELECT first FROM states WHERE at_ns >= ?1 ORDER BY number LIMIT 1", at.since_start.count());
  if (!run) return std::unexpected(run.error());
  if (!*run) return std::nullopt;
  file_->begin_after(**run - 1);
  while (true) {
    const Result<bool> found = file_->step();
    if (!found) return std::unexpected(found.error());
    if (!*found) return std::nullopt;
    if (file_->rows.integer(3) < at.since_start.count()) continue;
    Result<std::optional<SavedState>> state = file_->state();
    if (!state || *state) return state;
  }
}

/// Returns the outcomes that fulfil a condition. Damage of this table hides outcomes, but no state.
/// @param last  raised to the number of the last outcome, if it is not null
Result<std::vector<RecordedOutcome>> Recording::File::outcomes(const char* condition,
                                                               std::initializer_list<std::int64_t> values,
                                                               std::int64_t* last) {
  std::vector<RecordedOutcome> found;
  if (!has_outcome_table) return found;
  const std::string sql =
      fmt::format("SELECT number, state, action, result, why FROM outcomes WHERE {} ORDER BY number", condition);
  Result<Statement> selected = database.prepare(sql.c_str());
  if (!selected) return std::unexpected(selected.error());
  int position = 0;
  for (const std::int64_t value : values) selected->bind(++position, value);
  int status = selected->step();
  for (; status == SQLITE_ROW; status = selected->step()) {
    const std::optional<ActionResult> result = action_result(selected->blob(3));
    if (!result) continue;
    found.push_back({selected->integer(1), std::bit_cast<std::uint64_t>(selected->integer(2)), *result,
                     std::string(selected->blob(4))});
    if (last != nullptr) *last = std::max(*last, selected->integer(0));
  }
  if (status != SQLITE_DONE && !database.is_damaged()) return std::unexpected(database.error());
  return found;
}

bool Recording::has_outcomes() const {
  return file_->has_outcome_table && file_->database.integer("SELECT EXISTS (SELECT 1 FROM outcomes)").value_or(0) != 0;
}

Result<std::vector<RecordedOutcome>> Recording::outcomes_of(std::int64_t state) {
  return file_->outcomes("state = ?1", {state}, nullptr);
}

Result<std::vector<RecordedOutcome>> Recording::new_outcomes() {
  Place& place = file_->place;
  return file_->outcomes("number > ?1 AND state <= ?2", {place.outcome, place.number}, &place.outcome);
}

Result<bool> Recording::continue_from(Place place) {
  if (place.number >= 0) {
    Result<Statement> same = file_->database.prepare("SELECT state FROM states WHERE number = ?1");
    if (!same) return std::unexpected(same.error());
    same->bind(1, place.number);
    const int status = same->step();
    if (status != SQLITE_ROW && status != SQLITE_DONE) return std::unexpected(file_->database.error());
    if (status == SQLITE_ROW && same->blob(0) != place.stored) return false;
    if (status == SQLITE_DONE) {
      // The state may have been dropped because it is old. Then the recording has newer ones.
      const auto newer =
          file_->run_of("SELECT first FROM states WHERE number > ?1 ORDER BY number LIMIT 1", place.number);
      if (!newer) return std::unexpected(newer.error());
      if (!*newer) return false;
    }
  }
  file_->has_read = place.number >= 0;
  file_->place = std::move(place);
  file_->begin_after(file_->place.number);
  return true;
}

}  // namespace capstan::archive
