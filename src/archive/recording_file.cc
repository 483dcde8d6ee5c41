#include "archive/recording_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "archive/sqlite.h"

namespace capstan::archive {
namespace {

// The head of an SQLite database (https://www.sqlite.org/fileformat.html). Its numbers are big-endian.
constexpr std::string_view kMagic{"SQLite format 3\0", 16};
constexpr std::size_t kHeadBytes = 100;
constexpr std::size_t kPageSizeAt = 16, kChangesAt = 24, kPagesAt = 28, kApplicationAt = 68, kPagesValidForAt = 92;

std::uint64_t number_at(std::string_view head, std::size_t at, std::size_t bytes) {
  std::uint64_t number = 0;
  for (const char byte : head.substr(at, bytes)) number = number * 256 + static_cast<unsigned char>(byte);
  return number;
}

std::string read_head(const std::string& path) {
  std::string head(kHeadBytes, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(file.gcount()));
  return head;
}

std::uint64_t size_of(const std::string& path) {
  std::error_code failed;
  const std::uintmax_t size = std::filesystem::file_size(path, failed);
  return failed ? 0 : size;
}

/// Returns the size that the head of a database states; 0 if the size in the head is out of date.
std::uint64_t stated_size(std::string_view head) {
  if (number_at(head, kChangesAt, 4) != number_at(head, kPagesValidForAt, 4)) return 0;
  const std::uint64_t page = number_at(head, kPageSizeAt, 2);
  return number_at(head, kPagesAt, 4) * (page == 1 ? 65'536 : page);
}

/// Examines a file whose head is that of a recording.
ExaminedFile examine_database(const std::string& path) {
  Result<Database> database = Database::open(path, SQLITE_OPEN_READONLY);
  if (!database) return {FileContent::unreadable, database.error().message};
  const auto failed = [&](const Error& error) -> ExaminedFile {
    if (!database->is_damaged()) return {FileContent::unreadable, error.message};
    return {FileContent::damaged, "the recording is damaged: " + error.message};
  };
  const Result<std::int64_t> application = database->integer("PRAGMA application_id");
  if (!application) return failed(application.error());
  const Result<std::int64_t> version = database->integer("PRAGMA user_version");
  if (!version) return failed(version.error());
  if (*application != kRecordingApplication)
    return {FileContent::damaged, "the recording is damaged: its head changed"};
  if (*version >= 1 && *version <= kRecordingVersion) return {FileContent::recording};
  return {FileContent::newer, fmt::format("the recording has version {}, and this program reads versions 1 to {}",
                                          *version, kRecordingVersion)};
}

}  // namespace

ExaminedFile examine(const std::string& path) {
  const ExaminedFile foreign{FileContent::foreign,
                             "found another kind of file, expected a recording that `--record` wrote"};
  std::error_code failed;
  const std::filesystem::file_status status = std::filesystem::status(path, failed);
  if (status.type() == std::filesystem::file_type::not_found) return {FileContent::absent};
  if (status.type() == std::filesystem::file_type::directory) return foreign;
  const bool has_log = size_of(path + "-wal") > 0;
  const std::uint64_t size = size_of(path);
  if (size == 0 && !has_log) return {FileContent::absent};
  const std::string head = read_head(path);
  if (size > 0 && head.empty()) return {FileContent::unreadable, "the file cannot be read"};
  if (std::ranges::all_of(head, [](char byte) { return byte == '\0'; })) {
    return {FileContent::damaged, "the recording is damaged: its start is missing"};
  }
  if (!head.starts_with(kMagic)) return foreign;
  if (head.size() < kHeadBytes) {
    return {FileContent::damaged, fmt::format("the recording was cut after {} bytes", size)};
  }
  if (number_at(head, kApplicationAt, 4) != std::uint64_t{kRecordingApplication}) return foreign;
  ExaminedFile found = examine_database(path);
  // A database with a log may be shorter than its stated size, because the log holds the missing pages.
  if (const std::uint64_t whole = stated_size(head);
      found.content == FileContent::damaged && !has_log && size < whole) {
    found.fault = fmt::format("the recording was cut: {} of its {} bytes are left", size, whole);
  }
  return found;
}

Result<std::string> set_aside(const std::string& path) {
  std::error_code failed;
  std::string name;
  for (int i = 1; i <= kMaxSetAside; ++i) {
    name = fmt::format("{}.set-aside-{}", path, i);
    if (!std::filesystem::exists(name, failed)) break;
  }
  std::filesystem::rename(path, name, failed);
  if (failed)
    return std::unexpected(Error::about(path, "the file cannot be moved to " + name + ": " + failed.message()));
  std::filesystem::remove(name + "-wal", failed);
  if (std::filesystem::exists(path + "-wal", failed)) std::filesystem::rename(path + "-wal", name + "-wal", failed);
  std::filesystem::remove(path + "-wal", failed);  // if it could not be moved, it must not be applied to the new file
  std::filesystem::remove(path + "-shm", failed);
  return name;
}

}  // namespace capstan::archive
