#include "archive/sqlite.h"

namespace capstan::archive {
namespace {

/// Longest wait for another program that has the file locked, in milliseconds.
constexpr int kBusyMs = 2000;

}  // namespace

Result<Database> Database::open(const std::string& path, int flags) {
  sqlite3* opened = nullptr;
  const int status = sqlite3_open_v2(path.c_str(), &opened, flags, nullptr);
  Database database(path, opened);
  if (status == SQLITE_CANTOPEN) {
    const bool is_read = (flags & SQLITE_OPEN_READONLY) != 0;
    return std::unexpected(Error::about(path, is_read ? "cannot be opened, expected a recording that `--record` wrote"
                                                      : "cannot be opened, expected a file in a folder that exists"));
  }
  if (status != SQLITE_OK) return std::unexpected(database.error());
  sqlite3_busy_timeout(opened, kBusyMs);
  return database;
}

Result<void> Database::run(const char* sql) {
  if (sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) return std::unexpected(error());
  return {};
}

Result<void> Database::run(Statement& statement) {
  const int status = statement.step();
  statement.reset();
  if (status != SQLITE_DONE) return std::unexpected(error());
  return {};
}

Result<Statement> Database::prepare(const char* sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database_.get(), sql, -1, &statement, nullptr) != SQLITE_OK) return std::unexpected(error());
  return Statement(statement);
}

Result<std::int64_t> Database::integer(const char* sql) {
  Result<Statement> statement = prepare(sql);
  if (!statement) return std::unexpected(statement.error());
  if (statement->step() != SQLITE_ROW) return std::unexpected(error());
  return statement->integer(0);
}

Error Database::error() const {
  return {.file = path_, .message = database_ == nullptr ? "no memory" : sqlite3_errmsg(database_.get())};
}

}  // namespace capstan::archive
