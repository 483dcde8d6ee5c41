#include "base/replace_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>

namespace capstan {
namespace {

constexpr mode_t kModeOfNewFiles = 0666;  // mode before the umask applies
constexpr mode_t kModeBits = 07777;
constexpr int kMaxNames = 100;

/// A new file in the folder of the target. It takes the name of the target once it is complete; else it is deleted.
class NewFile {
 public:
  explicit NewFile(const std::string& target) : target_(target) {
    for (int i = 0; i < kMaxNames && handle_ < 0; ++i) {
      name_ = target + ".capstan-" + std::to_string(::getpid()) + "-" + std::to_string(i);
      handle_ = ::open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, kModeOfNewFiles);
      if (handle_ < 0 && errno != EEXIST) return;
    }
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile() {
    if (handle_ >= 0) ::close(handle_);
    if (handle_ >= 0 && !placed_) ::unlink(name_.c_str());
  }

  bool is_open() const { return handle_ >= 0; }

  bool write(const std::string& text) {
    for (std::size_t at = 0; at < text.size();) {
      const ssize_t size = ::write(handle_, text.data() + at, text.size() - at);
      if (size < 0 && errno != EINTR) return false;
      if (size > 0) at += static_cast<std::size_t>(size);
    }
    return ::fsync(handle_) == 0;
  }

  /// Copies owner, group and mode of the old file. A change of owner clears bits of the mode, so the owner comes first.
  bool take_owner_and_mode(const struct stat& old) {
    struct stat created{};
    if (::fstat(handle_, &created) != 0) return false;
    const bool same_owner = created.st_uid == old.st_uid && created.st_gid == old.st_gid;
    if (!same_owner && ::fchown(handle_, old.st_uid, old.st_gid) != 0) return false;
    return ::fchmod(handle_, old.st_mode & kModeBits) == 0;
  }

  bool take_name() {
    placed_ = ::rename(name_.c_str(), target_.c_str()) == 0;
    return placed_;
  }

 private:
  std::string target_;
  std::string name_;
  int handle_ = -1;
  bool placed_ = false;
};

Error failure(const std::string& path, const std::string& what) {
  return Error::about(path, what + ": " + std::strerror(errno));
}

/// Returns the path of the file behind all symbolic links.
std::string target_of(const std::string& path) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(path, error);
  return error ? path : real.string();
}

/// Returns an error if the file exists and may not be replaced.
/// @param old  is set to the facts of a file that exists
Result<void> check_existing(const std::string& path, const std::string& target, std::optional<struct stat>& old) {
  struct stat found{};
  if (::stat(target.c_str(), &found) != 0) return {};
  if (!S_ISREG(found.st_mode)) {
    return std::unexpected(Error::about(path, "is not a regular file, expected one that can be written"));
  }
  if (::access(target.c_str(), W_OK) != 0) return std::unexpected(failure(path, "cannot be written"));
  old = found;
  return {};
}

constexpr const char* kNoNewFile = "cannot create a new file in its folder";

}  // namespace

Result<void> check_replaceable(const std::string& path) {
  const std::string target = target_of(path);
  std::optional<struct stat> old;
  if (Result<void> good = check_existing(path, target, old); !good) return good;
  const std::filesystem::path folder = std::filesystem::path(target).parent_path();
  const std::string name = folder.empty() ? "." : folder.string();
  std::error_code failed;
  const bool is_other = std::filesystem::exists(name, failed) && !std::filesystem::is_directory(name, failed);
  if (!is_other && ::access(name.c_str(), W_OK | X_OK) == 0) return {};
  if (is_other) errno = ENOTDIR;
  return std::unexpected(failure(path, kNoNewFile));
}

Result<void> replace_file(const std::string& path, const std::string& text) {
  const std::string target = target_of(path);
  std::optional<struct stat> old;
  if (Result<void> good = check_existing(path, target, old); !good) return good;
  NewFile file(target);
  if (!file.is_open()) return std::unexpected(failure(path, kNoNewFile));
  if (old && !file.take_owner_and_mode(*old)) {
    return std::unexpected(failure(path, "cannot preserve its owner and mode, so it stays unchanged"));
  }
  if (!file.write(text) || !file.take_name()) return std::unexpected(failure(path, "cannot be written"));
  return {};
}

}  // namespace capstan
