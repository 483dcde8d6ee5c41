#include "base/output_folder.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <vector>

namespace capstan {

namespace {

namespace fs = std::filesystem;

/// Writes a file and creates the folders above it. Returns the cause of a failure, or an empty text.
std::string write_file(const fs::path& path, const std::string& text) {
  std::error_code failed;
  fs::create_directories(path.parent_path(), failed);
  if (failed) return failed.message();
  std::ofstream file(path, std::ios::binary);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  return file ? "" : std::strerror(errno);
}

/// Deletes the written files when it is destroyed, unless `keep` was called.
class WrittenFiles {
 public:
  WrittenFiles(fs::path target, bool is_new) : target_(std::move(target)), is_new_(is_new) {}
  ~WrittenFiles() {
    std::error_code ignored;
    for (const fs::path& path : paths_) fs::remove_all(path, ignored);
    if (is_new_ && !is_kept_) fs::remove(target_, ignored);
  }
  WrittenFiles(const WrittenFiles&) = delete;
  WrittenFiles& operator=(const WrittenFiles&) = delete;

  void add(fs::path path) { paths_.push_back(std::move(path)); }
  /// Keeps all paths except the first one, which is the folder of unfinished files. The destructor still deletes it.
  void keep() {
    paths_.resize(1);
    is_kept_ = true;
  }

 private:
  fs::path target_;
  bool is_new_;
  bool is_kept_ = false;
  std::vector<fs::path> paths_;
};

}  // namespace

std::optional<Error> check_output_folder(const std::string& folder) {
  std::error_code failed;
  fs::path nearest(folder);
  if (fs::exists(nearest, failed)) {
    if (!fs::is_directory(nearest, failed))
      return Error::about(folder, "is not a folder, expected a new or an empty one");
    const bool is_empty = fs::is_empty(nearest, failed);
    if (failed) return Error::about(folder, "cannot be read: " + failed.message());
    if (!is_empty) return Error::about(folder, "is not empty, expected a new or an empty folder");
  } else {
    nearest = fs::absolute(nearest, failed);
    while (nearest.has_relative_path() && !fs::exists(nearest, failed)) nearest = nearest.parent_path();
    if (!fs::is_directory(nearest, failed)) {
      return Error::about(folder, "cannot be created, because " + nearest.string() + " is not a folder");
    }
  }
  if (::access(nearest.c_str(), W_OK | X_OK) != 0) {
    return Error::about(folder, "cannot be written: " + nearest.string() + ": " + std::strerror(errno));
  }
  return std::nullopt;
}

std::optional<Error> write_output_folder(const std::string& folder, const std::map<std::string, std::string>& files) {
  std::error_code failed;
  const fs::path target(folder);
  const bool is_new = !fs::exists(target, failed);
  fs::create_directories(target, failed);
  if (failed) return Error::about(folder, "cannot be created: " + failed.message());
  WrittenFiles written(target, is_new);
  const fs::path unfinished = target / ".unfinished";
  written.add(unfinished);
  for (const auto& [name, text] : files) {
    if (const std::string why = write_file(unfinished / name, text); !why.empty()) {
      return Error::about((target / name).string(), "cannot be written: " + why);
    }
  }
  std::vector<fs::path> finished;
  for (const auto& entry : fs::directory_iterator(unfinished, failed)) finished.push_back(entry.path());
  if (failed) return Error::about(folder, "cannot be written: " + failed.message());
  for (const fs::path& path : finished) {
    const fs::path to = target / path.filename();
    fs::rename(path, to, failed);
    if (failed) return Error::about(to.string(), "cannot be written: " + failed.message());
    written.add(to);
  }
  written.keep();
  return std::nullopt;
}

}  // namespace capstan
