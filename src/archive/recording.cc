#include "archive/recording.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "archive/delta_codec.h"
#include "archive/sqlite.h"
#include "base/assert.h"
#include "base/split.h"
#include "manifest/scalars.h"

namespace capstan::archive {
namespace {

// Identifies the file: `file FILE` and other programs show it as an SQLite database with this application id.
constexpr std::int64_t kApplication = 0x43617073;  // "Caps"
/// Version 2 has the layers that decided. A recording of version 1 has only states in which all layers did.
constexpr std::int64_t kVersion = 2;

/// Number of attempts to finish a recording while a reader has the file open, and the pause between them.
constexpr int kFinishTries = 40;
constexpr Duration kFinishPause = std::chrono::milliseconds(25);

/// Number of states in a run. The first state of a run is compressed alone, and each later one against the state
/// before it. A run can therefore only be dropped as a whole.
constexpr std::int64_t kStatesTogether = 128;

std::string schema() {
  return fmt::format(
      "PRAGMA application_id = {};"
      "PRAGMA user_version = {};"
      "PRAGMA journal_mode = WAL;"
      "PRAGMA synchronous = NORMAL;"
      "CREATE TABLE IF NOT EXISTS states ("
      "  number INTEGER PRIMARY KEY, at_ns INTEGER NOT NULL, first INTEGER NOT NULL, state BLOB NOT NULL, due TEXT);"
      "CREATE INDEX IF NOT EXISTS states_by_first ON states (first);",
      kApplication, kVersion);
}

Error not_a_recording(const std::string& path) {
  return Error::about(path, "found another kind of file, expected a recording that `--record` wrote");
}

/// Checks that an open database is a recording that this program can read.
Result<void> check_identity(Database& database, const std::string& path) {
  const Result<std::int64_t> application = database.integer("PRAGMA application_id");
  if (!application || *application != kApplication) return std::unexpected(not_a_recording(path));
  const Result<std::int64_t> version = database.integer("PRAGMA user_version");
  if (!version) return std::unexpected(version.error());
  if (*version >= 1 && *version <= kVersion) return {};
  return std::unexpected(Error::about(
      path, fmt::format("the recording has version {}, and this program reads versions 1 to {}", *version, kVersion)));
}

Result<bool> has_due(Database& database) {
  const Result<std::int64_t> columns =
      database.integer("SELECT COUNT(*) FROM pragma_table_info('states') WHERE name = 'due'");
  if (!columns) return std::unexpected(columns.error());
  return *columns > 0;
}

/// Returns the layers that decided as one text: the numbers of the services, then "placement". Empty if all decided.
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

bool is_recording(const std::string& path) {
  Result<Database> database = Database::open(path, SQLITE_OPEN_READONLY);
  return database && check_identity(*database, path).has_value();
}

Error not_ours(const std::string& path) {
  return Error::about(path, "the file exists and is not a recording, expected a new name");
}

/// Removes an earlier recording. A file that is not a recording stays.
Result<void> make_room(const std::string& path) {
  std::error_code failed;
  if (!std::filesystem::exists(path, failed)) return {};
  if (!is_recording(path)) return std::unexpected(not_ours(path));
  for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(path + suffix, failed);
  if (!failed) return {};
  return std::unexpected(Error::about(path, "the earlier recording cannot be removed: " + failed.message()));
}

}  // namespace

struct Recorder::File {
  std::string path;
  RecordingLimits limits;
  Database database;
  Statement insert;
  Statement drop;
  std::string before{};  ///< the last state as text
  Instant before_at{};
  std::int64_t number = 0;  ///< number of the next state
  std::int64_t first = 0;   ///< number of the last state that was compressed alone
  std::int64_t bytes = 0;   ///< size of all states in the file

  Result<void> write(const SavedState& state);
  Result<void> drop_oldest(Instant now);
};

Result<Recorder> Recorder::create(const std::string& path, const RecordingLimits& limits) {
  if (const Result<void> free = make_room(path); !free) return std::unexpected(free.error());
  return open(path, limits);
}

Result<Recorder> Recorder::append(const std::string& path, const RecordingLimits& limits) {
  std::error_code failed;
  if (std::filesystem::exists(path, failed) && !is_recording(path)) return std::unexpected(not_ours(path));
  Result<Recorder> recorder = open(path, limits);
  if (!recorder) return recorder;
  File& file = *recorder->file_;
  Result<Statement> end =
      file.database.prepare("SELECT MAX(number) + 1, MAX(at_ns), SUM(LENGTH(state)) FROM states HAVING COUNT(*) > 0");
  if (!end) return std::unexpected(end.error());
  if (end->step() != SQLITE_ROW) return recorder;
  file.number = file.first = end->integer(0);
  file.before_at = Instant{Duration(end->integer(1))};
  file.bytes = end->integer(2);
  return recorder;
}

Result<Recorder> Recorder::open(const std::string& path, const RecordingLimits& limits) {
  Result<Database> database = Database::open(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  if (!database) return std::unexpected(database.error());
  if (const Result<void> made = database->run(schema().c_str()); !made) return std::unexpected(made.error());
  const Result<bool> is_complete = has_due(*database);
  if (!is_complete) return std::unexpected(is_complete.error());
  if (!*is_complete) {
    const Result<void> added = database->run("ALTER TABLE states ADD COLUMN due TEXT;");
    if (!added) return std::unexpected(added.error());
  }
  Result<Statement> insert = database->prepare("INSERT INTO states VALUES (?1, ?2, ?3, ?4, ?5)");
  if (!insert) return std::unexpected(insert.error());
  Result<Statement> drop = database->prepare("DELETE FROM states WHERE first = ?1");
  if (!drop) return std::unexpected(drop.error());
  return Recorder(
      std::make_unique<File>(File{path, limits, *std::move(database), *std::move(insert), *std::move(drop)}));
}

Recorder::Recorder(std::unique_ptr<File> file) : file_(std::move(file)) {}
Recorder::Recorder(Recorder&&) noexcept = default;
Recorder& Recorder::operator=(Recorder&&) noexcept = default;
Recorder::~Recorder() = default;

Result<void> Recorder::add(const SavedState& state) {
  CAPSTAN_ASSERT(file_ != nullptr);
  if (state.snapshot.at < file_->before_at) {
    return std::unexpected(Error::about(file_->path, "the state is older than the last one of the recording"));
  }
  return file_->write(state);
}

Result<void> Recorder::File::write(const SavedState& state) {
  if (number - first == kStatesTogether) first = number;
  std::string text = to_json(state);
  const std::string compressed = compress_after(first == number ? std::string_view() : before, text);
  insert.bind(1, number);
  insert.bind(2, state.snapshot.at.since_start.count());
  insert.bind(3, first);
  insert.bind(4, compressed);
  const std::string due = due_text(state.due);
  insert.bind(5, due);
  if (const Result<void> written = database.run(insert); !written) return written;
  before = std::move(text);
  before_at = state.snapshot.at;
  bytes += static_cast<std::int64_t>(compressed.size());
  ++number;
  return drop_oldest(state.snapshot.at);
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
  }
}

Result<void> Recorder::finish() {
  CAPSTAN_ASSERT(file_ != nullptr);
  Result<void> written = file_->database.run("PRAGMA wal_checkpoint(TRUNCATE);");
  // A reader that follows the recording opens the file for short moments. If one keeps it open, the log remains, but it
  // is empty: every state is in the file.
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
  Place place{};
  std::string due{};  ///< of the last state, as due_text() writes it

  void begin_after(std::int64_t number);
  Result<bool> step();
  Result<SavedState> state() const;
  Result<std::optional<std::int64_t>> run_of(const char* sql, std::int64_t bound);
};

Result<Recording> Recording::open(const std::string& path) {
  Result<Database> database = Database::open(path, SQLITE_OPEN_READONLY);
  if (!database) return std::unexpected(database.error());
  if (const Result<void> known = check_identity(*database, path); !known) return std::unexpected(known.error());
  const Result<std::int64_t> states = database->integer("SELECT COUNT(*) FROM states");
  if (!states) return std::unexpected(states.error());
  const Result<bool> has = has_due(*database);
  if (!has) return std::unexpected(has.error());
  Result<Statement> rows =
      database->prepare(*has ? "SELECT number, first, state, at_ns, due FROM states WHERE number > ?1 ORDER BY number"
                             : "SELECT number, first, state, at_ns, '' FROM states WHERE number > ?1 ORDER BY number");
  if (!rows) return std::unexpected(rows.error());
  auto file = std::make_unique<File>(File{path, *std::move(database), *std::move(rows), *states});
  file->begin_after(-1);
  return Recording(std::move(file));
}

Recording::Recording(std::unique_ptr<File> file) : file_(std::move(file)) {}
Recording::Recording(Recording&&) noexcept = default;
Recording& Recording::operator=(Recording&&) noexcept = default;
Recording::~Recording() = default;

std::int64_t Recording::states() const { return file_->states; }
Recording::Place Recording::place() const { return file_->place; }

/// Sets the state after which the next step begins. The writer can work on the file until then.
void Recording::File::begin_after(std::int64_t number) {
  rows.reset();
  rows.bind(1, number);
}

/// Reads the text of the next state. Returns false after the last one.
Result<bool> Recording::File::step() {
  const int status = rows.step();
  if (status == SQLITE_DONE) {
    begin_after(place.number);
    return false;
  }
  if (status != SQLITE_ROW) return std::unexpected(database.error());
  const std::int64_t number = rows.integer(0);
  const bool alone = rows.integer(1) == number;
  const std::string_view stored = rows.blob(2);
  Result<std::string> text = decompress_after(alone ? std::string_view() : place.text, stored);
  if (!text) {
    return std::unexpected(Error::about(fmt::format("{}: state {}", path, number), text.error().message));
  }
  due = rows.blob(4);
  place = {number, std::string(stored), *std::move(text)};
  return true;
}

Result<SavedState> Recording::File::state() const {
  const std::string name = fmt::format("{}: state {}", path, place.number);
  const Result<control::DueDecisions> decided = read_due(due);
  if (!decided) return std::unexpected(Error::about(name, decided.error().text()));
  Result<SavedState> state = parse(place.text, name);
  if (state) state->due = *decided;
  return state;
}

/// Returns the first number of the run that a query selects, for a value of its parameter; nothing if it has no row.
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
  const Result<bool> found = file_->step();
  if (!found) return std::unexpected(found.error());
  if (!*found) return std::nullopt;
  Result<SavedState> state = file_->state();
  if (!state) return std::unexpected(state.error());
  return std::move(*state);
}

Result<std::optional<SavedState>> Recording::newest() {
  const auto run =
      file_->run_of("SELECT first FROM states WHERE number > ?1 ORDER BY number DESC LIMIT 1", file_->place.number);
  if (!run) return std::unexpected(run.error());
  if (!*run) return std::nullopt;
  if (**run > file_->place.number) file_->begin_after(**run - 1);
  while (true) {
    const Result<bool> found = file_->step();
    if (!found) return std::unexpected(found.error());
    if (!*found) break;
  }
  Result<SavedState> state = file_->state();
  if (!state) return std::unexpected(state.error());
  return std::move(*state);
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
    Result<SavedState> state = file_->state();
    if (!state) return std::unexpected(state.error());
    return std::move(*state);
  }
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
  file_->place = std::move(place);
  file_->begin_after(file_->place.number);
  return true;
}

}  // namespace capstan::archive
