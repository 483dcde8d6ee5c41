#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"

// A thin layer over SQLite: ownership, and errors that name the file.
namespace capstan::archive {

struct CloseDatabase {
  void operator()(sqlite3* database) const { sqlite3_close(database); }
};
struct FinalizeStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};

/// A statement that can run many times.
class Statement {
 public:
  Statement() = default;
  explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}

  /// The bytes must stay valid until the next reset().
  void bind(int position, std::string_view bytes) {
    sqlite3_bind_blob64(statement_.get(), position, bytes.data(), bytes.size(), SQLITE_STATIC);
  }
  void bind(int position, std::int64_t value) { sqlite3_bind_int64(statement_.get(), position, value); }
  int step() { return sqlite3_step(statement_.get()); }  ///< SQLITE_ROW, SQLITE_DONE or an error
  void reset() { sqlite3_reset(statement_.get()); }

  std::int64_t integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }
  /// Returns the bytes of a column. They are valid until the next step() or reset().
  std::string_view blob(int column) const {
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column));
    const void* data = sqlite3_column_blob(statement_.get(), column);
    return data == nullptr ? std::string_view() : std::string_view(static_cast<const char*>(data), size);
  }

 private:
  std::unique_ptr<sqlite3_stmt, FinalizeStatement> statement_;
};

class Database {
 public:
  /// @param flags  SQLITE_OPEN_...
  static Result<Database> open(const std::string& path, int flags);

  Result<void> run(const char* sql);       ///< runs statements without results
  Result<void> run(Statement& statement);  ///< runs a statement without results, which can then run again
  Result<Statement> prepare(const char* sql);
  /// Returns the first column of the only row of a query.
  Result<std::int64_t> integer(const char* sql);
  /// Returns whether the last call failed because another program has the file locked.
  bool is_busy() const { return sqlite3_errcode(database_.get()) == SQLITE_BUSY; }
  /// Returns whether the last call failed because the file was cut or overwritten.
  bool is_damaged() const {
    const int code = sqlite3_errcode(database_.get()) & 0xff;
    return code == SQLITE_CORRUPT || code == SQLITE_NOTADB;
  }
  /// Returns an input error with the file and SQLite's message for its last error.
  Error error() const;

 private:
  Database(std::string path, sqlite3* database) : path_(std::move(path)), database_(database) {}

  std::string path_;
  std::unique_ptr<sqlite3, CloseDatabase> database_;
};

}  // namespace capstan::archive
