#include "archive/measured_result.h"

#include "archive/delta_codec.h"
#include "archive/sqlite.h"

namespace capstan::archive {

Result<void> write_measured(const std::string& path, const std::string& json) {
  Result<Database> database = Database::open(path, SQLITE_OPEN_READWRITE);
  if (!database) return std::unexpected(database.error());
  const Result<void> made = database->run(
      "DROP TABLE IF EXISTS measured;"
      "CREATE TABLE measured (last_state INTEGER, result BLOB NOT NULL);");
  if (!made) return made;
  Result<Statement> insert = database->prepare("INSERT INTO measured SELECT MAX(number), ?1 FROM states");
  if (!insert) return std::unexpected(insert.error());
  const std::string compressed = compress_after({}, json);
  insert->bind(1, compressed);
  return database->run(*insert);
}

Result<std::string> read_measured(const std::string& path) {
  Result<Database> database = Database::open(path, SQLITE_OPEN_READONLY);
  if (!database) return std::unexpected(database.error());
  const Result<std::int64_t> tables =
      database->integer("SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = 'measured'");
  if (!tables) return std::unexpected(tables.error());
  if (*tables == 0) return std::string();
  Result<Statement> rows =
      database->prepare("SELECT result FROM measured WHERE last_state IS (SELECT MAX(number) FROM states) LIMIT 1");
  if (!rows) return std::unexpected(rows.error());
  const int status = rows->step();
  if (status == SQLITE_DONE) return std::string();
  if (status != SQLITE_ROW) return std::unexpected(database->error());
  Result<std::string> text = decompress_after({}, rows->blob(0));
  if (text) return text;
  return std::unexpected(Error::about(path, "the measured result is damaged: " + text.error().message));
}

}  // namespace capstan::archive
